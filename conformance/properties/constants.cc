#include "conformance/property.h"

namespace lockstep::judge {

const Property kConstants{"constants",
                          "inputs given to prepare() as constants give the same result",
                          [](const Trial& t) { return t.constant.has_value(); },
                          [](const Trial& t) { return difference(t.expected, *t.constant); }};

}  // namespace lockstep::judge
