#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

std::optional<Finding> inspect_rejects(const Trial& t, Observations seen);

inline constexpr Property kRejects{.name = "rejects",
    .text = "an illegal call is refused with the label of the first violated rule",
    .about = kIllegal,
    .applies = [](const Trial& t) { return t.refusal && t.manifest->errors != Errors::none; },
    .inspect = inspect_rejects};

}  // namespace lockstep::judge
