#include "conformance/property.h"

namespace lockstep::judge {

const Property kLaws{"laws", "the outputs keep the equations that the operator states",
                     [](const Trial& t) { return !t.laws.empty(); },
                     [](const Trial& t) { return broken_law(t.laws); }};

}  // namespace lockstep::judge
