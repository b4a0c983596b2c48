#include "conformance/property.h"

namespace lockstep::judge {
namespace {

std::optional<Finding> inspect_rejects(const Trial& t) {
  const Answer& a = *t.refusal;
  const std::string want = "expected a logic error " + t.item->label + ", ";
  if (a.ok()) return Finding{want + "the call was accepted", a.kind};
  if (a.kind != Answer::Kind::logic_error)
    return Finding{want + "answered " + std::string(name_of(a.kind)) +
                       (a.message.empty() ? "" : ": " + a.message),
                   a.kind};
  if (t.manifest->errors == Errors::label && a.label != t.item->label)
    return Finding{want + "got the label '" + a.label + "'", a.kind};
  return std::nullopt;
}

}  // namespace

const Property kRejects{
    "rejects", "an illegal call is refused with the label of the first violated rule",
    [](const Trial& t) { return t.refusal && t.manifest->errors != Errors::none; },
    inspect_rejects};

}  // namespace lockstep::judge
