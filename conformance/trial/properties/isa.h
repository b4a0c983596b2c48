#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

std::vector<Forced> isas_to_force(const Manifest& m);
bool ask_isas(Probe& p);
std::optional<Finding> inspect_isas(const Trial& t, Observations seen);

inline constexpr Property kIsa{.name = "isa",
    .text = "every instruction set the backend contains gives the same result",
    .forced = isas_to_force,
    .ask = ask_isas,
    .inspect = inspect_isas};

}  // namespace lockstep::judge
