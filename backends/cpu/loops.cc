#include "backends/cpu/loops.h"

#include <algorithm>

namespace lockstep::cpu {
namespace {

constexpr i64 kLine = 16;              // elements of a cache line
constexpr i64 kRunMost = 256;          // elements in a row that are worth reading at once
constexpr i64 kCached = i64{1} << 12;  // elements that the first cache keeps

/// Whether an outer axis goes on where the inner one ends, in every tensor.
bool continues(const LoopAxis& outer, const LoopAxis& inner, int tensors) {
  for (std::size_t t = 0; t < static_cast<std::size_t>(tensors); ++t)
    if (outer.stride[t] != inner.stride[t] * inner.extent) return false;
  return true;
}

}  // namespace

void Loops::add(i64 extent, const PerTensor& stride) {
  if (extent != 1) axis_[static_cast<std::size_t>(rank_++)] = {extent, stride};
}

void Loops::join() {
  const auto begin = axis_.begin(), end = begin + rank_;
  std::stable_sort(begin, end, [](const LoopAxis& a, const LoopAxis& b) {
    return magnitude(a.stride[0]) > magnitude(b.stride[0]);
  });
  auto last = begin;
  for (auto a = begin; a != end; ++a) {
    if (a == begin) continue;
    if (continues(*last, *a, tensors_))
      *last = {last->extent * a->extent, a->stride};
    else
      *++last = *a;
  }
  if (rank_ > 0) rank_ = static_cast<int>(last - begin) + 1;
}

i64 Loops::volume() const {
  i64 n = 1;
  for (int d = 0; d < rank_; ++d) n *= (*this)[d].extent;
  return n;
}

bool Loops::is_compact(const LoopBox& box, int tensor) const {
  i64 n = 1;
  for (int d = rank_ - 1; d >= 0; --d) {
    const i64 extent = box.extent[static_cast<std::size_t>(d)];
    if (extent > 1 && (*this)[d].stride[static_cast<std::size_t>(tensor)] != n) return false;
    n *= extent;
  }
  return true;
}

bool Loops::is_constant(int tensor) const {
  for (int d = 0; d < rank_; ++d)
    if ((*this)[d].stride[static_cast<std::size_t>(tensor)] != 0) return false;
  return true;
}

bool Loops::moves_as_output(int tensor) const {
  for (int d = 0; d < rank_; ++d)
    if ((*this)[d].stride[static_cast<std::size_t>(tensor)] != (*this)[d].stride[0]) return false;
  return true;
}

// Whether more elements of a tensor are read than the first cache keeps.
bool Loops::is_large(int tensor) const {
  i64 n = 1;
  for (int d = 0; d < rank_; ++d)
    if ((*this)[d].stride[static_cast<std::size_t>(tensor)] != 0) n *= (*this)[d].extent;
  return n > kCached;
}

// Lets a box reach along the axes of the smallest strides of a tensor, while they continue each
// other, to `run` elements in a row. @return whether there is room for them
bool Loops::reach(int tensor, i64 run, i64 elements) {
  const auto stride = [&](int d) {
    return magnitude((*this)[d].stride[static_cast<std::size_t>(tensor)]);
  };
  int closest = -1;
  for (int d = rank_ - 1; d >= 0; --d)
    if (stride(d) > 0 && (closest < 0 || stride(d) < stride(closest))) closest = d;
  for (i64 length = 1; closest >= 0 && length < run;) {
    i64& cut = cut_[static_cast<std::size_t>(closest)];
    const i64 extent = (*this)[closest].extent, wanted = min(ceil_div(run, length), extent);
    const i64 room = elements / (box_volume() / cut);
    cut = max(cut, min(wanted, room));
    if (cut < wanted) return false;
    length *= cut;
    const i64 next = stride(closest) * extent;
    closest = -1;
    for (int d = 0; d < rank_ && cut == extent; ++d)
      if (stride(d) == next) closest = d;
  }
  return true;
}

void Loops::cut(i64 elements) {
  bool fits = false;
  for (i64 run = kRunMost; run >= kLine && !fits; run /= 2) {
    cut_.fill(1);
    fits = true;
    for (int t = 0; t < tensors_; ++t)
      if (t == 0 || is_large(t)) fits = reach(t, run, elements) && fits;
  }
  grow(elements);
}

void Loops::cut_rows(i64 elements) {
  cut_.fill(1);
  grow(elements);
}

// Lets a box reach further, along the innermost axes first.
void Loops::grow(i64 elements) {
  const auto at = [](int d) { return static_cast<std::size_t>(d); };
  for (int d = rank_ - 1; d >= 0; --d) {
    const i64 extent = (*this)[d].extent, others = box_volume() / cut_[at(d)];
    const i64 most = max(cut_[at(d)], elements / others);
    // Parts of equal size; whole cache lines, as long as there are several.
    const i64 parts = ceil_div(extent, most), part = ceil_div(extent, parts);
    cut_[at(d)] = parts == 1 ? extent : min(ceil_div(part, kLine) * kLine, most);
    if (parts > 1) break;
  }
}

i64 Loops::box_volume() const {
  i64 n = 1;
  for (int d = 0; d < rank_; ++d) n *= cut_[static_cast<std::size_t>(d)];
  return n;
}

i64 Loops::boxes() const {
  i64 n = 1;
  for (int d = 0; d < rank_; ++d)
    n *= ceil_div((*this)[d].extent, cut_[static_cast<std::size_t>(d)]);
  return n;
}

LoopBox Loops::box(i64 number) const {
  LoopBox b;
  for (int d = rank_ - 1; d >= 0; --d) {
    const auto at = static_cast<std::size_t>(d);
    const LoopAxis& a = axis_[at];
    b.extent[at] = a.extent;
    if (cut_[at] >= a.extent) continue;
    const i64 parts = ceil_div(a.extent, cut_[at]), first = number % parts * cut_[at];
    number /= parts;
    b.extent[at] = min(cut_[at], a.extent - first);
    for (std::size_t t = 0; t < static_cast<std::size_t>(tensors_); ++t)
      b.offset[t] += first * a.stride[t];
  }
  return b;
}

}  // namespace lockstep::cpu
