/// @file
/// Damage that a backend did to memory which it must not write.
#pragma once
#include "conformance/trial/property.h"

namespace lockstep::judge {

/// A finding for the first answer of the trial with such damage.
inline std::optional<Finding> first_damage(const Trial& t, std::string Answer::*damage) {
  for (const Trial::Told& a : t.answers())
    if (const std::string& text = a.answer->*damage; !text.empty())
      return Finding{text + (a.when.empty() ? "" : " (" + a.when + ")"), a.answer->kind};
  return std::nullopt;
}

/// Notes such damage of one of the answers.
template <std::string Answer::*damage>
bool plant_damage(Trial& t, std::span<Observation>, u64 draw) {
  const std::size_t k = draw % (1 + t.seen.size());
  Observation* const o = k > 0 ? &t.seen[k - 1] : nullptr;
  Answer& a = o && o->answer && o->refused_with.empty() ? *o->answer : t.base;
  a.*damage = "a fault that the judge planted";
  return true;
}

inline bool memory_was_watched(const Trial& t) { return t.watched && t.item->runs(); }

}  // namespace lockstep::judge
