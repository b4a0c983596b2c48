#include "containers/array/copy.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "containers/array/ndarray.h"
#include "containers/logging.h"

namespace lockstep::ndarray {
namespace {

/// An axis of a copy; strides in bytes.
struct Axis {
  i64 extent = 1, from = 0, to = 0;
};

/// A copy as loops, the outermost first, and as few as the layouts allow. They write the target
/// forward, in the order that is closest to that of its memory.
struct Loops {
  std::array<Axis, params::kMaxDimensions> axes;
  std::size_t count = 0;
  const std::byte* from;
  std::byte* to;
};

/// Whether one step along `outer` continues where `inner` ends, so that both are one loop.
bool continues(const Axis& outer, const Axis& inner) {
  return outer.from == inner.from * inner.extent && outer.to == inner.to * inner.extent;
}

Loops plan(const DLTensor& from, const DLTensor& to) {
  Loops loops{.axes = {}, .from = first_element(from), .to = first_element(to)};
  const Extents from_strides = strides_of(from);
  const Extents to_strides = strides_of(to);
  const i64 width = element_bytes(from.dtype);
  for (int i = 0; i < to.ndim; ++i) {
    if (to.shape[i] == 1) continue;
    Axis axis{to.shape[i], from_strides[i] * width, to_strides[i] * width};
    if (axis.to < 0) {
      loops.from += axis.from * (axis.extent - 1);
      loops.to += axis.to * (axis.extent - 1);
      axis.from = -axis.from;
      axis.to = -axis.to;
    }
    loops.axes[loops.count++] = axis;
  }
  const auto end = loops.axes.begin() + static_cast<std::ptrdiff_t>(loops.count);
  std::sort(loops.axes.begin(), end, [](const Axis& a, const Axis& b) { return a.to > b.to; });
  std::size_t merged = 0;
  for (std::size_t i = 0; i < loops.count; ++i) {
    const Axis axis = loops.axes[i];
    if (merged > 0 && continues(loops.axes[merged - 1], axis)) {
      loops.axes[merged - 1] = {loops.axes[merged - 1].extent * axis.extent, axis.from, axis.to};
    } else {
      loops.axes[merged++] = axis;
    }
  }
  loops.count = merged;
  return loops;
}

/// Removes and returns the innermost loop; a loop of one step where there is none.
Axis take_innermost(Loops& loops) { return loops.count == 0 ? Axis() : loops.axes[--loops.count]; }

/// Calls `visit(from, to)` at every position of the loops.
template <class Visit> void for_each(const Loops& loops, const Visit& visit) {
  std::array<i64, params::kMaxDimensions> index{};
  const std::byte* from = loops.from;
  std::byte* to = loops.to;
  for (;;) {
    visit(from, to);
    std::size_t i = loops.count;
    for (;; --i) {
      if (i == 0) return;
      const Axis& axis = loops.axes[i - 1];
      from += axis.from;
      to += axis.to;
      if (++index[i - 1] < axis.extent) break;
      from -= axis.from * axis.extent;
      to -= axis.to * axis.extent;
      index[i - 1] = 0;
    }
  }
}

/// Copies a plane of elements in squares, so that the side which runs across memory's order uses
/// each cache line while it is cached.
template <std::size_t kWidth>
void copy_plane(const std::byte* from, std::byte* to, const Axis& rows, const Axis& columns) {
  constexpr i64 kSide = 32;
  for (i64 row = 0; row < rows.extent; row += kSide) {
    for (i64 column = 0; column < columns.extent; column += kSide) {
      const i64 row_end = std::min(row + kSide, rows.extent);
      const i64 column_end = std::min(column + kSide, columns.extent);
      for (i64 r = row; r < row_end; ++r) {
        for (i64 c = column; c < column_end; ++c)
          std::memcpy(
              to + r * rows.to + c * columns.to, from + r * rows.from + c * columns.from, kWidth);
      }
    }
  }
}

template <std::size_t kWidth> void copy_elements(Loops loops) {
  const Axis columns = take_innermost(loops);
  // The other side of the squares is the axis along which the source's steps are shortest.
  const auto end = loops.axes.begin() + static_cast<std::ptrdiff_t>(loops.count);
  const auto nearest = std::min_element(loops.axes.begin(), end,
      [](const Axis& a, const Axis& b) { return std::abs(a.from) < std::abs(b.from); });
  if (nearest != end) std::rotate(nearest, nearest + 1, end);
  const Axis rows = take_innermost(loops);
  for_each(loops,
      [&](const std::byte* from, std::byte* to) { copy_plane<kWidth>(from, to, rows, columns); });
}

/// Whether the innermost loop runs over adjacent bytes on either side.
bool has_runs(const Loops& loops, i64 width) {
  if (loops.count == 0) return true;
  const Axis& innermost = loops.axes[loops.count - 1];
  return innermost.from == width && innermost.to == width;
}

/// Copies between host memory that does not overlap.
void copy_on_host(const Loops& loops, i64 width) {
  switch (width) {
    case 1: return copy_elements<1>(loops);
    case 2: return copy_elements<2>(loops);
    case 4: return copy_elements<4>(loops);
    default: return copy_elements<8>(loops);
  }
}

/// Copies run by run, each with `move(to, from, bytes)`.
template <class Move> void copy_runs(Loops loops, i64 width, const Move& move) {
  Axis run{1, width, width};
  if (has_runs(loops, width) && loops.count > 0) run = take_innermost(loops);
  const auto bytes = static_cast<std::size_t>(run.extent * width);
  for_each(loops, [&](const std::byte* from, std::byte* to) { move(to, from, bytes); });
}

/// Whether some byte may belong to elements of both. Devices have different addresses.
bool overlap(const DLTensor& a, const DLTensor& b) {
  const Reach in_a = reach(shape_of(a), strides_of(a), element_bytes(a.dtype));
  const Reach in_b = reach(shape_of(b), strides_of(b), element_bytes(b.dtype));
  const std::byte* at_a = first_element(a);
  const std::byte* at_b = first_element(b);
  // std::less orders addresses of different objects; < need not.
  const std::less<> before;
  return before(at_a + in_a.first, at_b + in_b.end) && before(at_b + in_b.first, at_a + in_a.end);
}

/// The same elements on the host, with the bytes between them.
NDArray fetch(const DLTensor& from, i64 width) {
  const Reach within = reach(shape_of(from), strides_of(from), width);
  const i64 bytes[] = {within.end - within.first};
  NDArray block = NDArray::empty(bytes, {kDLUInt, 8, 1});
  copy_bytes(block.mutable_data(), kHost, first_element(from) + within.first, from.device,
      static_cast<std::size_t>(bytes[0]));
  DLTensor here = from;
  here.device = kHost;
  here.data = block.mutable_data();
  here.byte_offset = static_cast<std::uint64_t>(-within.first);
  return NDArray::adopt(here, std::make_unique<NDArray>(std::move(block)), true);
}

/// Each run is a call to a device, which takes longer than copying many bytes. This therefore
/// gathers scattered elements on the host, unless that would write between those of the target.
void copy_with_devices(const DLTensor& from, const DLTensor& to, const Loops& loops, i64 width) {
  const bool is_one_run = loops.count == 0 || (loops.count == 1 && has_runs(loops, width));
  if (!is_one_run && !is_host(from.device)) return copy(fetch(from, width).tensor(), to);
  if (!is_one_run && is_compact(shape_of(to), strides_of(to)))
    return copy(NDArray::adopt(from, nullptr, nullptr, true).copy().tensor(), to);
  copy_runs(loops, width, [&](std::byte* target, const std::byte* source, std::size_t bytes) {
    copy_bytes(target, to.device, source, from.device, bytes);
  });
}

/// A compact, row-major tensor over host bytes.
DLTensor over_bytes(const void* bytes, std::size_t size, const DLTensor& like) {
  verify(like, "the array");
  VERIFY_EQ(size, byte_count(like)) << "the bytes given and those of the array's elements";
  VERIFY(bytes != nullptr || size == 0) << "there are no bytes: the pointer is null";
  DLTensor tensor = like;
  tensor.data = const_cast<void*>(bytes);
  tensor.device = kHost;
  tensor.strides = nullptr;
  tensor.byte_offset = 0;
  return tensor;
}

}  // namespace

void copy(const DLTensor& from, const DLTensor& to) {
  verify(from, "the source of a copy");
  verify(to, "the target of a copy");
  VERIFY(same_type(from.dtype, to.dtype))
      << "the source has elements of type code " << from.dtype.code << " with " << from.dtype.bits
      << " bits, the target of " << to.dtype.code << " with " << to.dtype.bits;
  VERIFY(std::ranges::equal(shape_of(from), shape_of(to)))
      << "the source has shape " << shape_text(shape_of(from)) << ", the target "
      << shape_text(shape_of(to));
  VERIFY(elements_are_distinct(shape_of(to), strides_of(to)))
      << "elements of the target of a copy share memory";
  if (byte_count(to) == 0) return;
  if (overlap(from, to)) {
    const NDArray third = NDArray::adopt(from, nullptr, nullptr, true).copy();
    return copy(third.tensor(), to);
  }
  const i64 width = element_bytes(to.dtype);
  const Loops loops = plan(from, to);
  if (!is_host(from.device) || !is_host(to.device)) {
    copy_with_devices(from, to, loops, width);
  } else if (has_runs(loops, width)) {
    copy_runs(loops, width, [](std::byte* target, const std::byte* source, std::size_t bytes) {
      std::memcpy(target, source, bytes);
    });
  } else {
    copy_on_host(loops, width);
  }
}

void copy_from_bytes(const void* from, std::size_t bytes, const DLTensor& to) {
  copy(over_bytes(from, bytes, to), to);
}

void copy_to_bytes(const DLTensor& from, void* to, std::size_t bytes) {
  copy(from, over_bytes(to, bytes, from));
}

}  // namespace lockstep::ndarray
