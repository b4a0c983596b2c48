#pragma once
#include "conformance/trial/properties/isa.h"
#include "conformance/trial/properties/threads.h"

namespace lockstep::judge {

/// The options that may choose the kernels of a graph.
inline std::vector<Forced> options_of_graphs(const Manifest& m) {
  std::vector<Forced> all = isas_to_force(m);
  for (const Forced& f : threads_to_force(m)) all.push_back(f);
  return all;
}

/// The call stands in the middle of a graph with drawn calls, which shows mistakes in what a
/// backend folds, fuses, keeps in another form or overwrites; and, where it runs call by call, in
/// what plans that live at once share. Of calls with one input, which compilers seldom treat in a
/// way of their own, one in 4 gets a graph. A graph runs three times. A compiled one does as it
/// comes or with an option forced that may change its kernels.
inline constexpr Property kGraphs{.name = "graphs",
    .text = "a graph of calls, compiled or run call by call, gives what each call gives alone",
    .forced = options_of_graphs,
    .ask =
        [](Probe& p) {
          const bool wanted = p.weighted() || p.chosen(6);
          if (p.watched() && wanted && !p.too_large_for_laws()) p.ask_graph();
        },
    .inspect = inspect_runs,
    .plant = flip_observed};

}  // namespace lockstep::judge
