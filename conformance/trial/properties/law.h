/// @file
/// Judges the laws of operators on a backend's own outputs.
#pragma once
#include <fmt/format.h>

#include "conformance/trial/property.h"

namespace lockstep::judge {

/// Whether a law says that the batch around a result does not matter.
inline bool is_batch_law(const LawInfo& law) { return law.label == law::batchwise<0>.label; }

/// How the first violated law is violated; nothing if no observed law is.
inline std::optional<Finding> broken_law(const Trial&, Observations seen) {
  for (const Observation& o : seen) {
    const LawTrial& tried = *o.law;
    const std::string law = fmt::format("the law {} ({})", tried.law->label, tried.law->text);
    if (o.answer)
      return Finding{fmt::format("{} made a call: the backend {}: {}", law, deed(o.answer->kind),
                         o.answer->message),
          o.answer->kind};
    if (tried.result.kind == reference::LawResult::broken)
      return Finding{law + " is broken: " + tried.result.message, {}};
  }
  return std::nullopt;
}

/// Breaks one of the observed laws.
inline bool break_law(Trial&, std::span<Observation> seen, u64 draw) {
  seen[draw % seen.size()].law->result.kind = reference::LawResult::broken;
  return true;
}

}  // namespace lockstep::judge
