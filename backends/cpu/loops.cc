#include "backends/cpu/loops.h"

#include <algorithm>

namespace lockstep::cpu {
namespace {

constexpr i64 kLine = 16;  // elements of a cache line

/// Whether an outer axis goes on where the inner one ends, in every tensor.
bool continues(const LoopAxis& outer, const LoopAxis& inner, int tensors) {
  for (std::size_t t = 0; t < static_cast<std::size_t>(tensors); ++t)
    if (outer.stride[t] != inner.stride[t] * inner.extent) return false;
  return true;
}

i64 power(i64 base, i64 exponent) {
  i64 p = 1;
  for (; exponent > 0; --exponent) p *= base;
  return p;
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

int Loops::closest_axis(int tensor) const {
  const auto stride = [&](int d) {
    return magnitude((*this)[d].stride[static_cast<std::size_t>(tensor)]);
  };
  int closest = rank_ - 1;
  for (int d = rank_ - 1; d >= 0; --d)
    if (stride(d) > 0 && (stride(closest) == 0 || stride(d) < stride(closest))) closest = d;
  return closest;
}

void Loops::cut(i64 elements) {
  cut_.fill(1);
  const auto at = [](int d) { return static_cast<std::size_t>(d); };
  std::array<bool, kLoopAxesMax> is_closest{};
  for (int t = 0; t < tensors_ && rank_ > 0; ++t) is_closest[at(closest_axis(t))] = true;
  // The same number of whole cache lines along each such axis.
  const i64 axes = std::count(is_closest.begin(), is_closest.end(), true);
  i64 part = 8 * kLine;
  while (part > kLine && power(part, axes) > elements) part /= 2;
  for (int d = rank_ - 1; d >= 0; --d) {
    if (!is_closest[at(d)]) continue;
    const i64 room = elements / box_volume();
    cut_[at(d)] = min(min(part, (*this)[d].extent), room);
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
