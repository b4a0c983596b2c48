// Laws of layouts over drawn shapes, against enumerations of every address.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <set>

#include "containers/layout/shape_descriptor.h"

namespace lockstep::ndarray {
namespace {

// The same cases in every run, unless the environment asks for others.
const bool kSeededLayouts = ::setenv("RC_PARAMS", "seed=20 max_success=1000", 0) == 0;

constexpr params::DType kInt8{0, 8};

Extents draw_extents(int rank, i64 lowest, i64 limit) {
  Extents list;
  for (int axis = 0; axis < rank; ++axis) list.push(*rc::gen::inRange(lowest, limit));
  return list;
}

Order draw_order() { return *rc::gen::element(Order::kC, Order::kF); }

/// The addresses of all elements in the order in which `order` counts them, by an odometer.
std::vector<i64> addresses(const Extents& shape, const Extents& strides, Order order) {
  std::vector<i64> found;
  if (is_empty(shape)) return found;
  Extents at = Extents::filled(shape.size, 0);
  while (true) {
    i64 address = 0;
    for (int axis = 0; axis < shape.size; ++axis) address += at[axis] * strides[axis];
    found.push_back(address);
    int k = 0;
    for (; k < shape.size; ++k) {
      const int axis = from_innermost(k, shape.size, order);
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
    if (k == shape.size) return found;
  }
}

struct Padded {
  Extents paddings, offsets;
  ShapeDescriptor descriptor;
};

Padded draw_padded() {
  const int rank = *rc::gen::inRange(1, 9);
  Padded p;
  Extents shape = draw_extents(rank, 1, rank > 5 ? 4 : 6);
  for (int axis = 0; axis < rank; ++axis) {
    if (*rc::gen::inRange(0, 4) == 0) shape[axis] = 1;
    p.paddings.push(*rc::gen::inRange<i64>(0, 5));
    p.offsets.push(*rc::gen::inRange<i64>(0, p.paddings[axis] + 1));
  }
  p.descriptor = paddedBufferDescriptor(kInt8, draw_order(), shape, p.paddings, p.offsets);
  return p;
}

bool has_one(const Extents& shape) {
  return std::find(shape.begin(), shape.end(), 1) != shape.end();
}

RC_GTEST_PROP(LayoutProperty, PaddingIsRecovered, ()) {
  const Padded p = draw_padded();
  const RecoveredPadding found = p.descriptor.recover_padding();
  RC_ASSERT(found.failure == "");
  RC_ASSERT(found.paddings == p.paddings);
  RC_ASSERT(found.offsets == p.offsets);
  RC_CLASSIFY(has_one(p.descriptor.shape), "an axis of extent 1");
}

// Where the stride of an axis of extent 1 is left over from something else, the answer may be
// another, for the same memory; without padding on such an axis there always is one.
RC_GTEST_PROP(LayoutProperty, WhatIsRecoveredIsTheSameMemory, ()) {
  const Padded p = draw_padded();
  ShapeDescriptor d = p.descriptor;
  bool has_padded_one = false;
  for (int axis = 0; axis < d.shape.size; ++axis) {
    if (d.shape[axis] != 1) continue;
    has_padded_one = has_padded_one || p.paddings[axis] != 0;
    if (*rc::gen::arbitrary<bool>()) d.strides[axis] = *rc::gen::inRange<i64>(-3, 40);
  }
  const RecoveredPadding found = d.recover_padding();
  RC_CLASSIFY(found.recovered(), "recovered");
  RC_CLASSIFY(has_padded_one, "an axis of extent 1 is padded");
  RC_ASSERT(found.recovered() || has_padded_one);
  if (!found.recovered()) return;
  const ShapeDescriptor again =
      paddedBufferDescriptor(d.dtype, d.order, d.shape, found.paddings, found.offsets);
  RC_ASSERT(again.offset == d.offset);
  RC_ASSERT(again.allocated == d.allocated);
  for (int axis = 0; axis < d.shape.size; ++axis)
    RC_ASSERT(d.shape[axis] == 1 || again.strides[axis] == d.strides[axis]);
}

RC_GTEST_PROP(LayoutProperty, PaddedElementsLieInTheBuffer, ()) {
  const ShapeDescriptor d = draw_padded().descriptor;
  RC_ASSERT(d.validate() == ShapeDescriptor::kOk);
  const std::vector<i64> all = addresses(d.shape, d.strides, d.order);
  RC_ASSERT(d.offset >= 0);
  RC_ASSERT(d.offset + *std::max_element(all.begin(), all.end()) < d.allocated);
  RC_ASSERT(std::set<i64>(all.begin(), all.end()).size() == all.size());
}

RC_GTEST_PROP(LayoutProperty, LengthsReachTheLastElement, ()) {
  const int rank = *rc::gen::inRange(0, 6);
  const Extents shape = draw_extents(rank, 0, 5);
  const Extents strides = draw_extents(rank, 0, 40);
  const ShapeDescriptor d{.shape = shape, .strides = strides};
  const std::vector<i64> all = addresses(shape, strides, Order::kC);
  const i64 last = all.empty() ? -1 : *std::max_element(all.begin(), all.end());
  RC_ASSERT(d.allocLength() == last + 1);
}

/// The strides for tests of `validate`: legal chains, with damage now and then.
Extents draw_strides(const Extents& shape, Order order) {
  Extents strides = Extents::filled(shape.size, 0);
  i64 stride = *rc::gen::element<i64>(1, 1, 1, 2, 5);
  for (int k = 0; k < shape.size; ++k) {
    const int axis = from_innermost(k, shape.size, order);
    strides[axis] = stride;
    stride = stride * shape[axis] + *rc::gen::element<i64>(0, 0, 0, 1, 7);
    stride += *rc::gen::weightedElement<i64>({{6, 0}, {1, -1}, {1, -stride}, {1, -2 * stride}});
  }
  return strides;
}

// By repeated addition alone: as many steps along the inner axis as it has elements must not lead
// beyond one step along the outer one.
bool steps_over(i64 inner_stride, i64 inner_extent, i64 stride) {
  i64 reach = 0;
  for (i64 step = 0; step < inner_extent; ++step) reach += inner_stride;
  return inner_stride > 0 && stride > 0 && reach <= stride;
}

RC_GTEST_PROP(LayoutProperty, StridesAreJudgedAsByStepping, ()) {
  const int rank = *rc::gen::inRange(0, 6);
  const Order order = draw_order();
  const Extents shape = draw_extents(rank, 1, 5);
  const Extents strides = draw_strides(shape, order);
  bool fit = true;
  int inner = -1;
  for (int k = 0; k < rank; ++k) {
    const int axis = from_innermost(k, rank, order);
    if (shape[axis] == 1) continue;
    fit = fit &&
        (inner < 0 ? strides[axis] > 0 : steps_over(strides[inner], shape[inner], strides[axis]));
    inner = axis;
  }
  const ShapeDescriptor d{.order = order, .shape = shape, .strides = strides};
  RC_ASSERT(((d.validate() & ShapeDescriptor::kBadStrides) == 0) == fit);
  RC_CLASSIFY(!fit, "bad strides");
  if (!fit) return;
  // Where the strides fit, the addresses say whether all steps are one.
  const std::vector<i64> all = addresses(shape, strides, order);
  std::set<i64> steps;
  for (std::size_t k = 1; k < all.size(); ++k) steps.insert(all[k] - all[k - 1]);
  const i64 ews = steps.empty() ? 1 : steps.size() == 1 ? *steps.begin() : 0;
  ShapeDescriptor stated = d;
  stated.ews = ews;
  RC_ASSERT(stated.validate() == ShapeDescriptor::kOk);
  stated.ews = *rc::gen::inRange<i64>(-1, 9);
  RC_ASSERT((stated.validate() == ShapeDescriptor::kOk) == (stated.ews == ews));
  RC_CLASSIFY(ews == 0, "steps vary");
}

RC_GTEST_PROP(LayoutProperty, CompactIsWhatCountsUp, ()) {
  const int rank = *rc::gen::inRange(0, 6);
  const Order order = draw_order();
  Extents shape = draw_extents(rank, 1, 4);
  if (rank > 0 && *rc::gen::inRange(0, 10) == 0) shape[0] = 0;
  const Extents strides =
      *rc::gen::arbitrary<bool>() ? compact_strides(shape, order) : draw_strides(shape, order);
  const std::vector<i64> all = addresses(shape, strides, order);
  bool counts = true;
  for (std::size_t k = 0; k < all.size(); ++k) counts = counts && all[k] == static_cast<i64>(k);
  RC_ASSERT(is_compact(shape, strides, order) == counts);
  RC_CLASSIFY(counts, "compact");
}

RC_GTEST_PROP(LayoutProperty, DisjointElementsShareNothing, ()) {
  const int rank = *rc::gen::inRange(1, 6);
  Extents shape = draw_extents(rank, 1, 5);
  Extents strides = draw_strides(shape, Order::kC);
  const bool disjoint = is_disjoint(shape, strides);
  const bool nested = is_nested(shape, strides);
  const std::vector<i64> all = addresses(shape, strides, Order::kC);
  if (disjoint) RC_ASSERT(std::set<i64>(all.begin(), all.end()).size() == all.size());
  if (nested) RC_ASSERT(disjoint);
  const ShapeDescriptor d{.shape = shape, .strides = strides};
  if ((d.validate() & ShapeDescriptor::kBadStrides) == 0) RC_ASSERT(nested);
  for (int k = rank - 1; k > 0; --k) {
    const int other = *rc::gen::inRange(0, k + 1);
    std::swap(shape[k], shape[other]);
    std::swap(strides[k], strides[other]);
  }
  RC_ASSERT(is_disjoint(shape, strides) == disjoint);
  RC_ASSERT(is_nested(shape, strides) == nested);
  RC_CLASSIFY(disjoint, "disjoint");
  RC_CLASSIFY(nested, "nested");
}

RC_GTEST_PROP(LayoutProperty, SlicesOfCompactTensorsAreDisjoint, ()) {
  const int rank = *rc::gen::inRange(1, 6);
  Extents shape = draw_extents(rank, 1, 6);
  Extents strides = compact_strides(shape, draw_order());
  for (int axis = 0; axis < rank; ++axis) {
    const i64 step = *rc::gen::inRange<i64>(1, 4);
    shape[axis] = (shape[axis] + step - 1) / step;
    strides[axis] *= step;
  }
  RC_ASSERT(is_disjoint(shape, strides));
  RC_CLASSIFY(!is_nested(shape, strides), "not nested");
}

}  // namespace
}  // namespace lockstep::ndarray
