#include "conformance/property.h"

namespace lockstep::judge {

const Property kLayout{"layout",
                       "padded, offset, permuted and scattered tensors give the same result",
                       [](const Trial& t) { return t.strided.has_value(); },
                       [](const Trial& t) { return difference(t.expected, *t.strided); }};

}  // namespace lockstep::judge
