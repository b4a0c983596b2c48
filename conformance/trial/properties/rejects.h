#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

/// How an answer is not the refusal with a label that it should be; nothing if it is.
inline std::optional<Finding> not_refused(
    const Trial& t, const Answer& a, const std::string& label) {
  const std::string want = "expected a logic error " + label + ", ";
  if (a.ok()) return Finding{want + "the call was accepted", a.kind};
  if (a.kind != AnswerKind::logic_error)
    return Finding{
        want + deed(a.kind) + (a.message.empty() ? "" : ": " + a.message), a.kind, {}, {}, a.label};
  if (t.manifest->errors == Errors::label && a.label != label)
    return Finding{want + "got the label '" + a.label + "'", a.kind, {}, {}, a.label};
  return std::nullopt;
}

/// Accepts the illegal call.
inline bool accept_call(Trial& t, std::span<Observation>, u64) {
  *t.refusal = {};
  return true;
}

inline constexpr Property kRejects{.name = "rejects",
    .text = "an illegal call is refused with the label of the first violated rule",
    .about = kIllegal,
    .applies = [](const Trial& t) { return t.refusal && t.manifest->errors != Errors::none; },
    .inspect = [](const Trial& t,
                   Observations) { return not_refused(t, *t.refusal, t.item->label); },
    .plant = accept_call};

}  // namespace lockstep::judge
