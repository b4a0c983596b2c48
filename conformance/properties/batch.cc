#include "conformance/property.h"

namespace lockstep::judge {

const Property kBatch{"batch", "a result does not depend on the batch around it",
                      [](const Trial& t) { return !t.batch.empty(); },
                      [](const Trial& t) { return broken_law(t.batch); }};

}  // namespace lockstep::judge
