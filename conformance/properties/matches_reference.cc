#include "conformance/property.h"

namespace lockstep::judge {

const Property kMatchesReference{"matches_reference",
                                 "every output equals the executable specification's",
                                 [](const Trial& t) { return t.item->what == Item::legal; },
                                 [](const Trial& t) { return difference(t.expected, t.base); }};

}  // namespace lockstep::judge
