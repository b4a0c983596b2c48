#pragma once
#include "conformance/trial/canary.h"

namespace lockstep::judge {

/// Visits the places (output, element) that still hold the poison from before both calls, or, in
/// the second run of one plan, from before that run. An output may well equal a poison: then the
/// plain call holds that, too.
template <class F> void for_each_unwritten(const Trial& t, const Observation& o, F at) {
  const auto &first = t.base.out, &second = o.answer->out;
  for (std::size_t k = 0; k < std::min(first.size(), second.size()); ++k) {
    const auto end = second[k].begin() +
        static_cast<std::ptrdiff_t>(std::min(first[k].size(), second[k].size()));
    for (auto it = second[k].begin(); (it = std::find(it, end, kOtherPoison)) != end; ++it) {
      const auto i = static_cast<std::size_t>(it - second[k].begin());
      const i32 plain = first[k][i];
      if (plain == kPoison || (o.again && plain != kOtherPoison)) at(k, i);
    }
  }
}

inline std::optional<Finding> inspect_second(const Trial& t, const Observation& o) {
  Answer second = *o.answer;
  if (!t.base.ok() && t.base.kind == second.kind) return std::nullopt;
  if (second.types == t.base.types) second.types.clear();
  std::vector<Tensor> first;
  for (std::size_t k = 0; k < t.base.out.size(); ++k)
    first.push_back({t.types[static_cast<int>(k)], t.base.out[k]});
  // writes_all judges elements that were never written.
  for_each_unwritten(
      t, o, [&](std::size_t k, std::size_t i) { second.out[k][i] = first[k].data[i]; });
  std::optional<Finding> f = difference(first, second);
  if (f) f->text = "the same call answered differently " + o.when + ": " + f->text;
  return f;
}

inline std::optional<Finding> inspect_deterministic(const Trial& t, Observations seen) {
  for (const Observation& o : seen)
    if (std::optional<Finding> f = inspect_second(t, o)) return f;
  return std::nullopt;
}

/// In one case of 4 a plan also runs twice in a row with the same values, and its outputs hold the
/// poison again before the second run: a plan that keeps its last result must write it again.
inline void ask_again(Probe& p) {
  p.ask({.poison = kOtherPoison, .base = Base::begin}, "the second time");
  if (p.watched() && !p.large() && p.chosen(12))
    p.ask({.poison = kOtherPoison, .runs = 2}, "in the second run of one plan");
}

inline constexpr Property kDeterministic{.name = "deterministic",
    .text = "the same call gives the same answer twice",
    .ask = ask_again,
    .inspect = inspect_deterministic,
    .plant = flip_observed};

}  // namespace lockstep::judge
