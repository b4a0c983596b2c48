#pragma once
#include "conformance/trial/properties/law.h"

namespace lockstep::judge {

inline void ask_batch(Probe& p) {
  const Span<LawInfo> laws = p.call().op->laws;
  if (p.too_large_for_laws() || !p.chosen(4)) return;
  for (int i = 0; i < laws.size(); ++i)
    if (is_batch_law(laws[i])) p.ask_law(i);
}

inline constexpr Property kBatch{.name = "batch",
    .text = "a result does not depend on the batch around it",
    .ask = ask_batch,
    .inspect = broken_law,
    .plant = break_law};

}  // namespace lockstep::judge
