#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

std::vector<Forced> threads_to_force(const Manifest& m);
bool ask_threads(Probe& p);
std::optional<Finding> inspect_threads(const Trial& t, Observations seen);

inline constexpr Property kThreads{.name = "threads",
    .text = "every number of threads gives the same result",
    .forced = threads_to_force,
    .ask = ask_threads,
    .inspect = inspect_threads};

}  // namespace lockstep::judge
