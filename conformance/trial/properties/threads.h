#pragma once
#include <set>
#include <thread>
#include <utility>

#include "conformance/trial/properties/forced.h"

namespace lockstep::judge {

/// Few threads, a number that seldom divides work evenly, and more than there are processors.
inline std::vector<Forced> threads_to_force(const Manifest& m) {
  if (!m.has_option("threads")) return {};
  std::vector<i64> wanted = {1, 2, 3, 7, 16};
  while (std::cmp_less_equal(wanted.back(), std::thread::hardware_concurrency()))
    wanted.push_back(2 * wanted.back());
  std::set<i64> counts;
  for (i64 n : wanted) counts.insert(clamp(n, m.threads.min, m.threads.max));
  std::vector<Forced> all;
  for (i64 n : counts) all.push_back({"threads", std::to_string(n)});
  return all;
}

/// One number of threads, chosen by the case. A large case, whose work kernels do share, gets two.
inline void ask_threads(Probe& p) {
  const std::vector<Forced>& counts = p.forced();
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const std::size_t one = p.choice(0, counts.size()), other = (one + 2) % counts.size();
    if (!p.spelled_out() && k != one && !(p.large() && k == other)) continue;
    p.ask({.poison = kPoison, .config = counts[k].config}, counts[k]);
  }
}

/// If a backend reports its number of threads, it must be the forced one.
inline std::optional<Finding> inspect_threads(const Trial& t, Observations seen) {
  return inspect_forced(t, seen, [](const Forced& f, const Answer& a) -> std::optional<Finding> {
    if (a.threads == 0 || std::to_string(a.threads) == f.value) return std::nullopt;
    return Finding{"threads=" + f.value + " was asked for, and the work is shared among " +
            std::to_string(a.threads),
        a.kind};
  });
}

inline constexpr Property kThreads{.name = "threads",
    .text = "every number of threads gives the same result",
    .forced = threads_to_force,
    .ask = ask_threads,
    .inspect = inspect_threads,
    .plant = flip_observed};

}  // namespace lockstep::judge
