#include "conformance/property.h"

namespace lockstep::judge {

const Property kMatchesVectors{"matches_vectors",
                               "the frozen golden vectors give their frozen results",
                               [](const Trial& t) { return t.item->what == Item::vector; },
                               [](const Trial& t) { return difference(t.expected, t.base); }};

}  // namespace lockstep::judge
