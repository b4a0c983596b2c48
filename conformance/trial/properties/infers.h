#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

std::optional<Finding> inspect_infers(const Trial& t, Observations seen);

/// If an adapter's answers carry types, the types of the plain answer are judged.
inline constexpr Property kInfers{.name = "infers",
    .text = "shapes and precisions of the outputs are inferred as specified",
    .about = kLegal | kIllegal | kVectors | kTyped,
    .ask = [](Probe& p) { return p.infer(); },
    .applies =
        [](const Trial& t) {
          return t.inferred || (!t.refusal && t.base.ok() && !t.base.types.empty());
        },
    .inspect = inspect_infers};

}  // namespace lockstep::judge
