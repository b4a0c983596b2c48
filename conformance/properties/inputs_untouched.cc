#include "conformance/property.h"

namespace lockstep::judge {
namespace {

std::optional<Finding> inspect_inputs_untouched(const Trial& t) {
  for (const auto& [when, answer] : t.answers())
    if (!answer->in_damage.empty())
      return Finding{answer->in_damage + (when.empty() ? "" : " (" + when + ")"), answer->kind};
  return std::nullopt;
}

}  // namespace

const Property kInputsUntouched{
    "inputs_untouched", "inputs, and memory beside them, stay as they were",
    [](const Trial& t) { return t.watched && t.item->runs(); }, inspect_inputs_untouched};

}  // namespace lockstep::judge
