#include "backends/cpu/stages.h"

namespace lockstep::cpu {
namespace {

Numbers within(i64 low, i64 high, i64 shift = 0) {
  return {static_cast<i32>(low), static_cast<i32>(high), static_cast<int>(shift)};
}
Numbers within_precision(i64 precision, i64 shift = 0) {
  return within(-max_of(precision), max_of(precision), shift);
}

Stage stage(const Abs&, const NoAttrs&, Types) { return {Formula::absolute}; }
Stage stage(const Negative&, const NoAttrs&, Types) { return {Formula::negated}; }
Stage stage(const Relu&, const NoAttrs&, Types) { return {Formula::clipped, within(0, kIntMax)}; }
Stage stage(const Clip&, const ClipAttrs& a, Types) {
  return {Formula::clipped, within(a.a_min, a.a_max)};
}
Stage stage(const CvmClip&, const CvmClipAttrs& a, Types) {
  return {Formula::clipped, within_precision(a.precision)};
}
Stage stage(const CvmRightShift&, const CvmRightShiftAttrs& a, Types) {
  return {Formula::shifted_right, within_precision(a.precision, a.shift_bit)};
}
Stage stage(const CvmLeftShift&, const CvmLeftShiftAttrs& a, Types) {
  return {Formula::shifted_left, within_precision(a.precision, a.shift_bit)};
}
Stage stage(const CvmPrecision&, const NoAttrs&, Types) { return {Formula::counted}; }
Stage stage(const BroadcastAdd&, const NoAttrs&, Types) { return {Formula::added}; }
Stage stage(const BroadcastSub&, const NoAttrs&, Types) { return {Formula::subtracted}; }
Stage stage(const BroadcastMul&, const NoAttrs&, Types) { return {Formula::multiplied}; }
Stage stage(const BroadcastMax&, const NoAttrs&, Types) { return {Formula::largest}; }
Stage stage(const BroadcastGreater&, const NoAttrs&, Types) { return {Formula::greater}; }
Stage stage(const BroadcastDiv&, const NoAttrs&, Types in) {
  constexpr int kFloat = 24;  // bits of a float's significand, as many as a value and its sign
  const bool is_short = in[0].precision <= kFloat && in[1].precision <= kFloat;
  return {is_short ? Formula::divided_short : Formula::divided};
}
Stage stage(const ElemwiseAdd&, const NoAttrs&, Types) { return {Formula::added}; }
Stage stage(const ElemwiseSub&, const NoAttrs&, Types) { return {Formula::subtracted}; }
Stage stage(const Where&, const NoAttrs&, Types) { return {Formula::chosen}; }

template <class... Op>
std::optional<Stage> stage_of(const backend::LegalCall& c, OperatorList<Op...>) {
  std::vector<Type> types(c.in.begin(), c.in.end());
  std::optional<Stage> found;
  ((c.op->name == Op::name ? void(found = stage(Op(), from_attributes<Op>(c.attributes()),
                                      Types{types.data(), static_cast<int>(types.size())}))
                           : void()),
      ...);
  return found;
}

}  // namespace

std::optional<Stage> stage_of(const backend::LegalCall& call) {
  return stage_of(call, ElementwiseOperators{});
}

}  // namespace lockstep::cpu
