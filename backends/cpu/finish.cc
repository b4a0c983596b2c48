#include "backends/cpu/finish.h"

namespace lockstep::cpu {
namespace {

void clamp_to(Rescale& r, const Numbers& n) {
  r.low = static_cast<i32>(clamp(r.low, n.low, n.high));
  r.high = static_cast<i32>(clamp(r.high, n.low, n.high));
}

bool is_sum(const Stage& s) {
  return s.formula == Formula::added && (s.operand[0] == 0) != (s.operand[1] == 0);
}

}  // namespace

// Refuses a second shift, and one whose half a unit could overflow the sum.
bool FinishedStages::shift(Rescale& r, int bits) const {
  constexpr int kMost = 31;
  if (r.shift > 0 || precision_ > kMost || bits >= kMost) return false;
  const i64 half = i64{1} << (bits - 1);
  const auto rounded = [&](i64 v) { return static_cast<i32>(floor_shift(v + half, bits)); };
  r = {static_cast<i32>(half), bits, rounded(r.low), rounded(r.high)};
  return true;
}

bool FinishedStages::append(const Stage& stage, int precision) {
  Rescale& r = finish_.adds ? finish_.total : finish_.sum;
  switch (stage.formula) {
    case Formula::shifted_right:
      if (!shift(r, stage.numbers.shift)) return false;
      [[fallthrough]];
    case Formula::clipped: clamp_to(r, stage.numbers); return true;
    case Formula::added:
      if (finish_.adds || !is_sum(stage)) return false;
      finish_.adds = true;
      precision_ = precision;
      return true;
    default: return false;
  }
}

}  // namespace lockstep::cpu
