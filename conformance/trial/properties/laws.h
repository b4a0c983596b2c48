#pragma once
#include "conformance/trial/properties/law.h"

namespace lockstep::judge {

/// Puts one law of the operator, or all of them if the case has its values written out.
inline void ask_laws(Probe& p) {
  const Span<LawInfo> laws = p.call().op->laws;
  if (p.too_large_for_laws() || !p.chosen(2)) return;
  const std::size_t one = p.choice(3, static_cast<std::size_t>(max(laws.size(), 1)));
  for (int i = 0; i < laws.size(); ++i) {
    const bool wanted = p.spelled_out() || static_cast<std::size_t>(i) == one;
    if (wanted && !is_batch_law(laws[i])) p.ask_law(i);
  }
}

inline constexpr Property kLaws{.name = "laws",
    .text = "the outputs keep the equations that the operator states",
    .ask = ask_laws,
    .inspect = broken_law,
    .plant = break_law};

}  // namespace lockstep::judge
