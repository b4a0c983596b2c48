/// @file
/// What a case set should begin with, and what random draws alone leave out of it.
#pragma once
#include <vector>

#include "conformance/cases/item.h"

namespace lockstep::judge {

/// Puts those items of one operator first that together show every tuple (tuples.h) that all of
/// them show, each time the one that adds most; the others keep their order.
/// @param complete whether calls are added first that show the tuples which a search reached and
/// the items do not show, again each time the one that adds most.
void put_telling_first(std::vector<Item>& items, const OpInfo& op, bool complete);

}  // namespace lockstep::judge
