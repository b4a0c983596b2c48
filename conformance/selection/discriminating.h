/// @file
/// The discriminating order of a case set, and the calls that random draws leave out.
#pragma once
#include <vector>

#include "conformance/cases/item.h"

namespace lockstep::judge {

/// Moves the items to the front that together show every combination (combinations.h) of all items,
/// each time the one that adds most; the others keep their order.
/// @param complete whether to add calls first that show the combinations which a search reached
/// and the items do not show.
void put_discriminating_first(std::vector<Item>& items, const OpInfo& op, bool complete);

}  // namespace lockstep::judge
