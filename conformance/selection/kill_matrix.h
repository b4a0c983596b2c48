/// @file
/// The kill matrix: which cases kill which mutants.
///
/// It orders a case set and gives the mutation score of a prefix. Since running every mutant takes
/// minutes, `lockstep mutants --order` measures the matrix once, and it is installed with the
/// program. A case id spells the call out, so the mutants that it kills do not depend on its case
/// set. In another set only the cases in the matrix count, so the score is a lower bound.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/cases/item.h"

namespace lockstep::judge {

struct KillMatrix {
  struct Mutant {
    std::string name, op;  ///< op is "*" for a mistake outside every operator
  };
  struct Killer {
    std::string id;
    std::vector<i64> mutants;  ///< places in the list
  };
  std::string judge;  ///< the version of the program that measured
  std::vector<Mutant> mutants;
  std::vector<Killer> cases;
};

std::string kills_json(const KillMatrix& k);
/// @throws UsageError naming the place and what is wrong there.
KillMatrix read_kills(const std::string& text);

/// The kill matrix in a file; nothing if there is no file, or if another version of the program
/// made it, which may have judged differently.
/// @throws UsageError naming the file and what is wrong in it.
std::optional<KillMatrix> kills_of(const std::string& file);

/// Moves killers among the items to the front. Each kills the most mutants that those before it
/// left alive, until the others kill nothing more.
void put_killers_first(std::vector<Item>& items, const KillMatrix& k);

/// Orders killers so that each kills the most mutants that those before it left alive, and drops
/// those that kill nothing more.
void order_killers(std::vector<KillMatrix::Killer>& killers, std::size_t mutants);

/// How many mutants of the kill matrix a set of cases kills.
struct Score {
  i64 killed = 0, listed = 0;  ///< listed is 0 if the score is unknown
};

/// The score of items among the mutants of some operators and those outside every operator.
Score score_of(
    const std::vector<const Item*>& items, std::set<string_view> operators, const KillMatrix& k);

}  // namespace lockstep::judge
