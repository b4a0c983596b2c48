#pragma once
#include "conformance/trial/canary.h"

namespace lockstep::judge {

inline std::optional<Finding> inspect_deterministic(const Trial& t, Observations seen) {
  Answer second = *seen[0].answer;
  if (!t.base.ok() && t.base.kind == second.kind) return std::nullopt;
  if (second.types == t.base.types) second.types.clear();
  std::vector<Tensor> first;
  for (std::size_t k = 0; k < t.base.out.size(); ++k)
    first.push_back({t.types[static_cast<int>(k)], t.base.out[k]});
  // An element that was never written shows the poison; writes_all judges that.
  for (std::size_t k = 0; k < first.size() && k < second.out.size(); ++k)
    for (std::size_t i = 0; i < first[k].data.size() && i < second.out[k].size(); ++i)
      if (first[k].data[i] == kPoison && second.out[k][i] == kOtherPoison)
        second.out[k][i] = kPoison;
  std::optional<Finding> f = difference(first, second);
  if (f) f->text = "the same call answered differently the second time: " + f->text;
  return f;
}

inline constexpr Property kDeterministic{.name = "deterministic",
    .text = "the same call gives the same answer twice",
    .ask =
        [](Probe& p) { p.ask({.poison = kOtherPoison, .base = Base::begin}, "the second time"); },
    .inspect = inspect_deterministic,
    .plant = flip_observed};

}  // namespace lockstep::judge
