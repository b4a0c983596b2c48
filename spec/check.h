/// @file
/// The outcome of a call: the order in which its rules are judged, the same for every operator.
#pragma once
#include <string>
#include <type_traits>
#include <utility>

#include "spec/formula.h"

namespace lockstep {

/// Why a call is refused: a label `scope.word`, and the number of the attribute, input, output or
/// rule.
struct Refusal {
  string_view scope, word;
  int which = -1;
  constexpr bool refused() const { return !word.empty(); }
  /// Whether the label is this one; compares without building it.
  constexpr bool is(string_view s, string_view w) const { return scope == s && word == w; }
  std::string label() const {
    return refused() ? std::string(scope) + "." + std::string(word) : std::string();
  }
};

/// Step 2 for typed values: entry counts, then ranges, attribute by attribute.
constexpr Refusal check_attributes(const OpInfo& op, Attributes values) {
  for (int i = 0; i < op.attrs.size(); ++i) {
    const AttrInfo& a = op.attrs[i];
    const Attr& v = values[i];
    if (v.kind == AttrKind::tuple && (!v.ints.fits() || !a.entries.contains(v.ints.size)))
      return {"attr", "length", i};
    for (i64 e : v.ints)
      if (!a.range.contains(e)) return {"attr", "range", i};
  }
  return {};
}

/// Steps 3 and 4: the input count, then rank, extents, volume and precision of each input.
constexpr Refusal check_inputs(const OpInfo& op, Attributes values, Types in) {
  const int needed = op.inputs_needed(values), ports = op.inputs.size();
  const bool counted =
      needed < 0 ? ports <= in.size() && in.size() <= kMaxInputs : in.size() == needed;
  if (!counted) return {"op", "inputs", in.size()};
  for (int k = 0; k < in.size(); ++k) {
    const Port& port = op.inputs[k < ports ? k : ports - 1];
    const Shape& s = in[k].shape;
    if (s.size < port.rank.min || s.size > port.rank.max) return {"input", "rank", k};
    for (i64 e : s)
      if (e < 1 || e > kMaxExtent) return {"input", "extent", k};
    if (volume(s) > kMaxVolume) return {"input", "volume", k};
    if (in[k].precision < 1 || in[k].precision > kMaxPrecision) return {"input", "precision", k};
  }
  return {};
}

/// Steps 2 to 7 of the order of judgement. A call that passes has exact outputs, of the types that
/// `infer` gives.
/// @throws BrokenSpecification if an operator lacks a rule `shape` or `precision` that it needs.
constexpr Refusal check(const OpInfo& op, Attributes values, Types in) {
  if (const Refusal r = check_attributes(op, values); r.refused()) return r;
  if (const Refusal r = check_inputs(op, values, in); r.refused()) return r;
  if (const int i = op.first_broken(values, in); i >= 0) return {op.name, op.rules[i].label, i};
  const Inferred y = op.infer(values, in);
  for (int k = 0; k < y.count; ++k)
    if (!legal(y[k].shape)) {
      if (!(op.exceeds & kShape)) throw BrokenSpecification("an inferred shape is not legal");
      return {op.name, "shape", k};
    }
  for (int k = 0; k < y.count; ++k)
    if (y[k].precision < 1 || y[k].precision > kMaxPrecision) {
      if (!(op.exceeds & kPrecision))
        throw BrokenSpecification("an inferred precision is above 32");
      return {op.name, "precision", k};
    }
  return {};
}

/// Whether example `i` of an operator is true.
constexpr bool example_holds(const OpInfo& op, int i) {
  const AnyExample e = op.example(i);
  const Drawn& call = e.call;
  if (check(op, call.attributes(), call.types()).refused()) return false;
  i32 data[3][kMaxLiteral]{}, got[kMaxOutputs][kMaxLiteral]{};
  CheckedView in[3];
  for (int k = 0; k < call.in_count; ++k) {
    if (e.in[k].data.size != volume(e.in[k].shape)) return false;
    for (int j = 0; j < e.in[k].data.size; ++j) data[k][j] = static_cast<i32>(e.in[k].data[j]);
    in[k] = CheckedView(call.in[k], data[k]);
  }
  const Inferred y = op.infer(call.attributes(), call.types());
  CheckedOut out[kMaxOutputs];
  for (int k = 0; k < y.count; ++k) {
    if (y[k] != Type{e.out[k].shape, e.out[k].precision} || volume(y[k].shape) > kMaxLiteral)
      return false;
    if (stated_shape(op, k, call.attributes(), call.types()) != y[k].shape) return false;
    if (stated_precision(op, k, call.attributes(), call.types(), y) != y[k].precision) return false;
    out[k] = CheckedOut(y[k], got[k]);
  }
  op.evaluate(call.attributes(), {in, call.in_count}, {out, y.count});
  for (int k = 0; k < y.count; ++k) {
    if (e.out[k].data.size != volume(y[k].shape)) return false;
    for (int j = 0; j < e.out[k].data.size; ++j)
      if (got[k][j] != e.out[k].data[j]) return false;
  }
  return true;
}

/// Whether every example of an operator is true; asserted in the operator's unit. A compiler proves
/// each of them by itself, because it limits the steps of a proof.
template <const OpInfo& op> constexpr bool examples_hold() {
  return []<int... I>(std::integer_sequence<int, I...>) {
    return (std::bool_constant<example_holds(op, I)>::value && ...);
  }
  (std::make_integer_sequence<int, op.example_count>());
}

}  // namespace lockstep
