#pragma once
#include "conformance/trial/properties/rejects.h"

namespace lockstep::judge {

/// A backend that compiles graphs checks all that it relies on before anything runs. One legal case
/// in 4 gets a graph with one mistake, one illegal case in 4 a graph of its call.
inline constexpr Property kRefusesGraphs{.name = "refuses_graphs",
    .text = "a malformed graph, or one with an illegal call, is refused with its label",
    .about = kLegal | kIllegal,
    .ask =
        [](Probe& p) {
          if (p.manifest().errors != Errors::none && !p.large() && p.chosen(7)) p.ask_malformed();
        },
    .inspect = [](const Trial& t, Observations seen) -> std::optional<Finding> {
      for (const Observation& o : seen)
        if (std::optional<Finding> f = not_refused(t, *o.answer, o.refused_with)) {
          f->text = o.when + ": " + f->text;
          return f;
        }
      return std::nullopt;
    },
    .plant =
        [](Trial&, std::span<Observation> seen, u64 draw) {
          *seen[draw % seen.size()].answer = {};  // accepts the graph
          return true;
        }};

}  // namespace lockstep::judge
