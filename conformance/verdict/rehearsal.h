/// @file
/// The rehearsal: cases put to a subject that does everything right and notes what it is asked, and
/// some of them to one that often answers wrongly, in every way that a trial can tell.
///
/// A mistake in what a property asks for weakens the judge, and no backend would show it: fewer
/// runs of a plan, no other layout, one caller instead of four. Nor does a right backend show what
/// the judge says of a wrong one. So the questions of some cases and what is found wrong are
/// frozen, too (frozen.h).
#pragma once
#include <string>
#include <vector>

#include "conformance/cases/item.h"

namespace lockstep::judge {

/// SHA-256 over all questions that properties ask about these cases, in this order, which of them
/// then have something to judge, what they find wrong about some of these cases if many answers
/// are, what is read back of replies, and which planted faults are noticed. The same on every
/// machine.
/// @param properties only these; an empty list means all
std::string questions_hash(
    const std::vector<const Item*>& items, const std::vector<std::string>& properties = {});

/// SHA-256 over what is said of wrong elements in each pattern that a finding can name, along each
/// axis of a tensor. The same on every machine.
std::string words_hash();

}  // namespace lockstep::judge
