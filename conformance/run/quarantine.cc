#include "conformance/run/quarantine.h"

namespace lockstep::judge {
namespace {

// Per operator and per backend. A broken channel counts as a hang does, because a flood takes as
// long as one.
constexpr i64 kMaxHangs = 3, kMaxCrashes = 10;
constexpr i64 kMaxHangsInAll = 10, kMaxPrints = 3;
constexpr i64 kMaxSilent = 3;  // before any answer

}  // namespace

std::string Quarantine::reason(const std::string& op) const {
  if (!answered_ && (hangs_ > 0 || crashes_ + breaks_ >= kMaxSilent))
    return "the backend never answered: " + last_;
  if (prints_ >= kMaxPrints) return last_ + " (" + std::to_string(kMaxPrints) + " times)";
  if (hangs_ >= kMaxHangsInAll) return "the backend hangs too often";
  if (breaks_ >= kMaxHangsInAll) return "the backend breaks its channel too often";
  const auto at = ops_.find(op);
  if (at == ops_.end()) return "";
  if (at->second.hangs >= kMaxHangs) return op + " hung " + std::to_string(kMaxHangs) + " times";
  if (at->second.crashes >= kMaxCrashes)
    return op + " crashed " + std::to_string(kMaxCrashes) + " times";
  if (at->second.breaks >= kMaxHangs)
    return op + " broke its channel " + std::to_string(kMaxHangs) + " times";
  return "";
}

void Quarantine::note(
    const std::string& op, Outcome outcome, const std::string& text, AnswerKind answer) {
  const bool broke = answer == AnswerKind::broken_channel;
  answered_ = answered_ || outcome == Outcome::passed || (outcome == Outcome::failed && !broke);
  if (broke) ++ops_[op].breaks, ++breaks_, last_ = text;
  if (answer == AnswerKind::printed) ++prints_, last_ = text;
  if (outcome == Outcome::timed_out) ++ops_[op].hangs, ++hangs_, last_ = text;
  if (outcome == Outcome::crashed) ++ops_[op].crashes, ++crashes_, last_ = text;
}

}  // namespace lockstep::judge
