#include "conformance/cases/intermediates.h"

#include <algorithm>

namespace lockstep::judge {
namespace {

using Tensors = std::vector<Tensor>;

enum class Intermediate {
  difference,
  half_added,
  one_added,
  step_from,
  step_after,
  area,
  areas,
  overlap,
  percent,
  share
};
constexpr string_view kIntermediateNames[] = {"a difference beyond 2^31",
    "a value and half a unit beyond 2^31", "a magnitude and one beyond 2^31",
    "a position and a step beyond 2^31", "a length and a step beyond 2^31", "an area beyond 2^31",
    "two areas beyond 2^31", "an overlap beyond 2^31", "a hundred overlaps beyond 2^31",
    "a threshold of a union beyond 2^31"};

constexpr Intermediates only(Intermediate k) { return Intermediates{1} << static_cast<int>(k); }
constexpr Intermediates kDifferences = only(Intermediate::difference);

// Whether a number leaves 32 bits.
bool leaves(i64 v) { return v != static_cast<i32>(v); }
bool product_leaves(i64 a, i64 b) { return b > 0 && a > INT32_MAX / b; }

const Attr& attribute(const Case& c, string_view name) {
  int i = 0;
  while (c.op->attrs[i].name != name) ++i;
  return c.attrs[static_cast<std::size_t>(i)];
}
i64 number(const Case& c, string_view name) { return attribute(c, name).ints[0]; }

// Whether a value differs so much from one of two others.
bool differs_much(const Tensor& t, i64 low, i64 high) {
  return std::any_of(
      t.data.begin(), t.data.end(), [&](i32 v) { return leaves(v - low) || leaves(v - high); });
}

// Pairs the elements of two inputs in order, as calls with equal shapes do.
Intermediates of_pairs(const Case&, const Tensors& in) {
  const std::vector<i32>&a = in[0].data, &b = in[1].data;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    if (leaves(i64{a[i % a.size()]} - b[i % b.size()])) return kDifferences;
  return 0;
}

Intermediates of_clip(const Case& c, const Tensors& in) {
  return differs_much(in[0], number(c, "a_min"), number(c, "a_max")) ? kDifferences : 0;
}

Intermediates of_cvm_clip(const Case& c, const Tensors& in) {
  const i64 most = max_of(static_cast<int>(number(c, "precision")));
  return differs_much(in[0], -most, most) ? kDifferences : 0;
}

Intermediates of_right_shift(const Case& c, const Tensors& in) {
  const i64 half = i64{1} << (number(c, "shift_bit") - 1);
  return differs_much(in[0], -half, -half) ? only(Intermediate::half_added) : 0;
}

Intermediates of_precision(const Case&, const Tensors& in) {
  const bool is = std::any_of(
      in[0].data.begin(), in[0].data.end(), [](i32 v) { return leaves(magnitude(v) + 1); });
  return is ? only(Intermediate::one_added) : 0;
}

// An index is compared with 0 and the last position.
Intermediates of_lut(const Case& c, const Tensors& in) {
  return differs_much(in[0], 0, volume(c.in[1].shape) - 1) ? kDifferences : 0;
}

Intermediates of_take(const Case& c, const Tensors& in) {
  const Attr& axis = attribute(c, "axis");
  const Type& x = c.in[0];
  const i64 n = axis.none ? volume(x.shape) : x.dim(wrap(axis.ints[0], x.rank()));
  return differs_much(in[1], 0, n - 1) ? kDifferences : 0;
}

Intermediates of_counts(const Case& c, const Tensors& in) {
  constexpr i64 kScore = 1;
  const i64 threshold = number(c, "score_threshold"), columns = c.in[0].dim(2);
  for (i64 i = kScore; i < std::ssize(in[0].data); i += columns)
    if (leaves(in[0].data[static_cast<std::size_t>(i)] - threshold)) return kDifferences;
  return 0;
}

// The elements that compete for one output differ by the largest less the smallest, which is the
// largest of the negated ones.
Intermediates of_largest(const Case& c, const Tensors& in) {
  Tensor negated = in[0];
  for (i32& v : negated.data) v = -v;
  const std::vector<Tensor> largest = reference::outputs(*c.op, c.attributes(), in),
                            smallest = reference::outputs(*c.op, c.attributes(), {negated});
  for (std::size_t i = 0; i < largest[0].data.size(); ++i)
    if (leaves(i64{largest[0].data[i]} + smallest[0].data[i])) return kDifferences;
  return 0;
}

// The first position and the length of each axis meet the step: from one element to the next, and
// in the quotient that is rounded up.
Intermediates of_slice(const Case& c, const Tensors&) {
  const Tuple &begin = attribute(c, "begin").ints, &end = attribute(c, "end").ints,
              &stride = attribute(c, "stride").ints;
  Intermediates all = 0;
  for (int d = 0; d < min(stride.size, c.in[0].rank()); ++d) {
    const i64 n = c.in[0].dim(d), step = stride[d], low = step < 0 ? -1 : 0;
    const auto place = [&](i64 v) { return clamp(v < 0 ? v + n : v, low, n + low); };
    const i64 first = place(d < begin.size ? begin[d] : 0), past = place(d < end.size ? end[d] : n);
    if (leaves(first + step)) all |= only(Intermediate::step_from);
    if (leaves(magnitude(past - first) + magnitude(step) - 1))
      all |= only(Intermediate::step_after);
  }
  return all;
}

struct Box {
  i64 id, x1, y1, x2, y2;
  i64 area() const { return (x2 - x1) * (y2 - y1); }
  i64 overlap(const Box& b) const {
    return max(0, min(x2, b.x2) - max(x1, b.x1)) * max(0, min(y2, b.y2) - max(y1, b.y1));
  }
};

Intermediates of_rivals(const Box& p, const Box& q, i64 threshold) {
  const i64 overlap = p.overlap(q), areas = p.area() + q.area();
  if (overlap == 0) return 0;
  Intermediates all = 0;
  const bool fit = !leaves(p.area()) && !leaves(q.area());
  if (fit && leaves(areas)) all |= only(Intermediate::areas);
  if (leaves(overlap)) all |= only(Intermediate::overlap);
  if (!leaves(overlap) && product_leaves(overlap, 100)) all |= only(Intermediate::percent);
  const i64 both = areas - overlap;
  if (!leaves(both) && product_leaves(both, threshold)) all |= only(Intermediate::share);
  return all;
}

// The rows of a batch that are read and whose id is not negative.
std::vector<Box> boxes_of(const Tensor& x, i64 batch, i64 rows) {
  constexpr i64 kColumns = 6;
  std::vector<Box> all;
  for (i64 r = 0; r < rows; ++r) {
    const i32* v = x.data.data() + (batch * x.type.dim(1) + r) * kColumns;
    if (v[0] >= 0) all.push_back({v[0], v[2], v[3], v[4], v[5]});
  }
  return all;
}

constexpr Intermediates kOfBoxes = kDifferences | only(Intermediate::area) |
    only(Intermediate::areas) | only(Intermediate::overlap) | only(Intermediate::percent) |
    only(Intermediate::share);

Intermediates of_suppression(const Case& c, const Tensors& in) {
  constexpr std::size_t kNear = 64;  // a box meets so many before it: all would take too long
  const bool is_forced = number(c, "force_suppress") != 0;
  const i64 threshold = number(c, "iou_threshold"), n = c.in[0].dim(1);
  Intermediates all = 0;
  for (i64 b = 0; b < c.in[0].dim(0) && all != kOfBoxes; ++b) {
    const i64 count = in[1].data[static_cast<std::size_t>(b)];
    if (leaves(count - n)) all |= kDifferences;
    const std::vector<Box> boxes = boxes_of(in[0], b, clamp(count, 0, n));
    for (std::size_t p = 0; p < boxes.size() && all != kOfBoxes; ++p) {
      if (leaves(boxes[p].area())) all |= only(Intermediate::area);
      for (std::size_t q = p < kNear ? 0 : p - kNear; q < p; ++q)
        if (is_forced || boxes[p].id == boxes[q].id)
          all |= of_rivals(boxes[p], boxes[q], threshold);
    }
  }
  return all;
}

struct OfOperator {
  string_view op;
  Intermediates room;
  Intermediates (*of)(const Case&, const Tensors&);
};
constexpr OfOperator kOfOperators[] = {{"broadcast_div", kDifferences, of_pairs},
    {"broadcast_greater", kDifferences, of_pairs}, {"broadcast_max", kDifferences, of_pairs},
    {"clip", kDifferences, of_clip}, {"cvm_clip", kDifferences, of_cvm_clip},
    {"cvm_lut", kDifferences, of_lut},
    {"cvm_precision", only(Intermediate::one_added), of_precision},
    {"cvm_right_shift", only(Intermediate::half_added), of_right_shift},
    {"get_valid_counts", kDifferences, of_counts}, {"max", kDifferences, of_largest},
    {"max_pool2d", kDifferences, of_largest}, {"non_max_suppression", kOfBoxes, of_suppression},
    {"strided_slice", only(Intermediate::step_from) | only(Intermediate::step_after), of_slice},
    {"take", kDifferences, of_take}};

const OfOperator* of_operator(const OpInfo& op) {
  const auto* at = std::find_if(std::begin(kOfOperators), std::end(kOfOperators),
      [&](const OfOperator& r) { return r.op == op.name; });
  return at == std::end(kOfOperators) ? nullptr : at;
}

}  // namespace

string_view intermediate_name(int k) { return kIntermediateNames[k]; }

Intermediates intermediates_of(const OpInfo& op) {
  const OfOperator* row = of_operator(op);
  return row ? row->room : 0;
}

Intermediates intermediates_of(const Case& c, const Tensors& in) {
  const OfOperator* row = of_operator(*c.op);
  return row ? row->of(c, in) : 0;
}

}  // namespace lockstep::judge
