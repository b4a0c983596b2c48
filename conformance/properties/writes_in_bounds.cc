#include "conformance/property.h"

namespace lockstep::judge {
namespace {

std::optional<Finding> inspect_writes_in_bounds(const Trial& t) {
  for (const auto& [when, answer] : t.answers())
    if (!answer->out_damage.empty())
      return Finding{answer->out_damage + (when.empty() ? "" : " (" + when + ")"), answer->kind};
  return std::nullopt;
}

}  // namespace

const Property kWritesInBounds{
    "writes_in_bounds", "nothing beside the outputs is written, padding cells included",
    [](const Trial& t) { return t.watched && t.item->runs(); }, inspect_writes_in_bounds};

}  // namespace lockstep::judge
