#include "conformance/property.h"

namespace lockstep::judge {

const Property kAlignment{"alignment",
                          "tensors aligned to 4 bytes and not to 64 give the same result",
                          [](const Trial& t) { return t.unaligned.has_value(); },
                          [](const Trial& t) { return difference(t.expected, *t.unaligned); }};

}  // namespace lockstep::judge
