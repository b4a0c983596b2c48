#pragma once
#include "conformance/trial/properties/isa.h"
#include "conformance/trial/properties/threads.h"

namespace lockstep::judge {

/// The options that may choose the kernels of a compiled graph.
inline std::vector<Forced> ways_to_compile(const Manifest& m) {
  std::vector<Forced> all = isas_to_force(m);
  for (const Forced& f : threads_to_force(m)) all.push_back(f);
  return all;
}

/// The call stands in the middle of a graph with drawn calls, which shows mistakes in what a
/// backend folds, fuses, keeps in another form or overwrites. Of calls with one input, which
/// compilers seldom treat in a way of their own, one in 4 gets a graph. A graph runs three times,
/// as it comes or with an option forced that may change its kernels.
inline constexpr Property kCompiled{.name = "compiled",
    .text = "a compiled graph of calls gives what the calls give one by one",
    .forced = ways_to_compile,
    .ask =
        [](Probe& p) {
          const bool wanted = p.weighted() || p.chosen(6);
          if (p.watched() && wanted && !p.too_large_for_laws()) p.ask_compiled();
        },
    .inspect = inspect_runs,
    .plant = flip_observed};

}  // namespace lockstep::judge
