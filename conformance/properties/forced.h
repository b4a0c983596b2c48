/// @file
/// Answers that were given while an option of the backend was forced.
#pragma once
#include "conformance/property.h"

namespace lockstep::judge {

/// The first answer that is not the expected one, or was given as if nothing had been forced.
/// @param disobeyed says so of a Forced and an Answer; nothing if the backend obeyed.
template <class F>
std::optional<Finding> inspect_forced(const Trial& t,
                                      const std::vector<std::pair<Forced, Answer>>& all,
                                      F disobeyed) {
  for (const auto& [forced, answer] : all) {
    if (std::optional<Finding> f = difference(t.expected, answer)) {
      f->text = "with " + forced.option + "=" + forced.value + ": " + f->text;
      return f;
    }
    if (std::optional<Finding> f = disobeyed(forced, answer)) return f;
  }
  return std::nullopt;
}

}  // namespace lockstep::judge
