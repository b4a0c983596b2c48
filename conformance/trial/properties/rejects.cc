#include "conformance/trial/properties/rejects.h"

namespace lockstep::judge {
std::optional<Finding> inspect_rejects(const Trial& t, Observations) {
  const Answer& a = *t.refusal;
  const std::string want = "expected a logic error " + t.item->label + ", ";
  if (a.ok()) return Finding{want + "the call was accepted", a.kind};
  if (a.kind != AnswerKind::logic_error)
    return Finding{want + "answered " + std::string(name_of(a.kind)) +
            (a.message.empty() ? "" : ": " + a.message),
        a.kind};
  if (t.manifest->errors == Errors::label && a.label != t.item->label)
    return Finding{want + "got the label '" + a.label + "'", a.kind};
  return std::nullopt;
}

}  // namespace lockstep::judge
