#include "bench/workloads.h"

#include <algorithm>
#include <stdexcept>

namespace lockstep::bench {
namespace {

constexpr u64 kDraws = 64;

using judge::Case;

i64 largest_volume(const Case& c) {
  i64 most = 0;
  for (const Type& t : c.in) most = max(most, volume(t.shape));
  const Inferred out = c.op->infer(c.attributes(), c.types());
  for (int k = 0; k < out.count; ++k) most = max(most, volume(out[k].shape));
  return most;
}

// An operator with `eval` may need quadratic time, so its workload is smaller.
i64 wanted_volume(const OpInfo& op) { return op.pointwise ? kDrawnVolume : kDrawnVolume >> 7; }

bool grown(const Case& c) { return largest_volume(c) >= wanted_volume(*c.op); }

// Which extents, and which integers of attributes, are doubled together.
enum class Together { alone, same_axis, same_axis_from_the_back, equal_values };

bool joins(Together how, const Type& chosen, int d, const Type& t, int e) {
  if (t.dim(e) != chosen.dim(d)) return false;
  if (how == Together::same_axis) return e == d;
  if (how == Together::same_axis_from_the_back) return t.rank() - e == chosen.rank() - d;
  return how == Together::equal_values;
}

Case doubled(const Case& c, std::size_t k, int d, Together how) {
  Case big = c;
  const i64 n = c.in[k].dim(d);
  for (std::size_t j = 0; j < c.in.size(); ++j)
    for (int e = 0; e < c.in[j].rank(); ++e)
      if ((j == k && e == d) || joins(how, c.in[k], d, c.in[j], e)) big.in[j].shape[e] = 2 * n;
  if (how != Together::equal_values) return big;
  for (Attr& a : big.attrs)
    if (a.kind == AttrKind::integer || a.kind == AttrKind::tuple)
      for (int i = 0; i < a.ints.size; ++i)
        if (a.ints[i] == n) a.ints[i] = 2 * n;
  return big;
}

bool usable(const Case& c) {
  return !judge::refusal(c).refused() && largest_volume(c) <= 4 * wanted_volume(*c.op);
}

// Doubles one extent and as few others as a legal call requires.
bool grow(Case& c, std::size_t k, int d) {
  for (Together how : {Together::alone, Together::same_axis, Together::same_axis_from_the_back,
           Together::equal_values})
    if (Case big = doubled(c, k, d, how); usable(big)) {
      c = std::move(big);
      return true;
    }
  return false;
}

// Doubles extents in turn, so that all of them grow.
void grow(Case& c) {
  for (bool any = true; any && !grown(c);) {
    any = false;
    for (std::size_t k = 0; k < c.in.size(); ++k)
      for (int d = 0; d < c.in[k].rank() && !grown(c); ++d) any = grow(c, k, d) || any;
  }
}

// Whether the outputs vary, since a constant output hides mistakes.
bool varies(const Case& c) {
  const auto out = reference::outputs(*c.op, c.attributes(), judge::inputs_of(c));
  return std::all_of(out.begin(), out.end(), [](const reference::Tensor& t) {
    return std::adjacent_find(t.data.begin(), t.data.end(), std::not_equal_to<>()) != t.data.end();
  });
}

Workload named_workload(const Named& n) {
  Workload w{std::string(n.name), judge::parse_case(std::string(n.call)), n.unit};
  if (const Refusal r = judge::refusal(w.call); r.refused())
    throw std::logic_error("the workload " + w.id() + " is refused: " + r.label());
  return w;
}

}  // namespace

i64 Workload::units() const {
  if (unit == Unit::calls) return 1;
  if (unit == Unit::bytes) return bytes();
  // Each output element uses one row of the weights.
  const Shape& weights = call.in[1].shape;
  return volume(outputs()[0].shape) * (volume(weights) / weights[0]);
}

i64 Workload::bytes() const {
  i64 elements = 0;
  for (const Type& t : call.in) elements += volume(t.shape);
  const Inferred out = outputs();
  for (int k = 0; k < out.count; ++k) elements += volume(out[k].shape);
  return elements * static_cast<i64>(sizeof(i32));
}

Workload drawn_workload(const OpInfo& op) {
  for (u64 seed = 1; seed <= kDraws; ++seed) {
    Seeded draw(seed);
    Case c = judge::draw_case(op, draw);
    c.fill = judge::Fill::hinted;
    c.seed = seed;
    if (!varies(c)) continue;
    grow(c);
    if (grown(c)) return {"drawn", std::move(c), Unit::bytes};
  }
  throw std::logic_error("no draw of " + std::string(op.name) + " grows to " +
      std::to_string(wanted_volume(op)) + " elements");
}

std::vector<Workload> workloads(const OpInfo& op) {
  std::vector<Workload> all;
  for (const Named& n : kNamed)
    if (n.call.substr(0, n.call.find('/')) == op.name) all.push_back(named_workload(n));
  if (all.empty()) all.push_back(drawn_workload(op));
  return all;
}

}  // namespace lockstep::bench
