/// @file
/// Which cases kill which of the backends that are wrong on purpose.
///
/// A set should begin with the cases that tell most, and a run of its first few should say how much
/// they tell; but to run every mutant first takes minutes. So that is measured once, by `lockstep
/// mutants --order`, and kept beside the program. A case spells its call out, so what it kills does
/// not depend on the set it is in: of another set those cases count that it has in common, and a
/// score is at least what is said, never less.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/cases/item.h"

namespace lockstep::judge {

struct Kills {
  struct Mutant {
    std::string name, op;  ///< op is "*" for a mistake that is of no operator
  };
  struct Killer {
    std::string id;
    std::vector<i64> mutants;  ///< places in the list
  };
  std::string judge;  ///< the version of the program that measured
  std::vector<Mutant> mutants;
  std::vector<Killer> cases;
};

std::string kills_json(const Kills& k);
/// @throws UsageError naming the place and what is wrong there.
Kills read_kills(const std::string& text);

/// The kills of a file; nothing if there is no file, or if another version of the program made it,
/// which may have judged otherwise.
/// @throws UsageError naming the file and what is wrong in it.
std::optional<Kills> kills_of(const std::string& file);

/// Puts some of the killers among the items first: each kills most of what those before it left
/// alive, until the others kill nothing more.
void put_killers_first(std::vector<Item>& items, const Kills& k);

/// Orders killers so that each kills most of what those before it left alive, and drops those that
/// kill nothing more.
void order_killers(std::vector<Kills::Killer>& killers, std::size_t mutants);

/// How many of the listed mutants are known to die.
struct Score {
  i64 killed = 0, listed = 0;  ///< nothing listed: unknown
};

/// The score of items among the mutants of some operators and those of no operator.
Score score_of(const std::vector<const Item*>& items, std::set<string_view> operators,
               const Kills& k);

}  // namespace lockstep::judge
