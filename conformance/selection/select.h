/// @file
/// Which cases a run judges: fixed by tier, seed and filters, hashed, in one order.
#pragma once
#include <string>
#include <vector>

#include "conformance/cases/item.h"
#include "conformance/cases/part.h"

namespace lockstep::judge {

/// What the user asked for.
struct Selection {
  int tier = 1;
  u64 seed = 1;
  std::vector<std::string> operators;   ///< globs; none: all
  std::vector<std::string> profiles;    ///< names; none: all
  std::vector<std::string> properties;  ///< names; none: all
  std::vector<std::string> cases;       ///< explicit ids; none: the tier's
  i64 budget = 0;                       ///< at most so many cases; 0: no limit
  std::string nonce;                    ///< a verifier's words, from which more cases follow
  std::string vectors;                  ///< directory of golden vectors; empty: none
  std::string kills;                    ///< file of what kills which mutants; empty: none
  Part part;                            ///< of these cases, to be judged
  bool wants(string_view property) const;
  /// Whether it leaves anything of its tier out.
  bool partial() const {
    return !operators.empty() || !profiles.empty() || !properties.empty() || !cases.empty() ||
           budget > 0;
  }
};

/// Cases per operator of a tier, legal and per label; and of how many settings of a countable
/// operator (counting.h) the edge values, and all values, are judged.
struct TierSize {
  int legal, illegal, edges, ranges;
};
TierSize tier_size(int tier);

/// The least number of legal cases of a claimed operator that make a verdict.
int tier_floor(int tier);

/// The operators that the selection's globs name, of its profiles.
/// @throws UsageError for a glob or a profile that matches none, and if none is left.
std::vector<const OpInfo*> selected_operators(const Selection& s);

/// Whether golden vectors are among the cases.
bool takes_vectors(const Selection& s);

/// Every selected case. First those that are known to kill the most mutants (kills.h); then
/// operators take turns, each with its most telling cases first. So a prefix is worth most.
/// @throws UsageError for an unknown operator, property or case.
std::vector<Item> select_cases(const Selection& s);

/// @throws UsageError for a property that the selection names and nobody knows.
void check_properties(const Selection& s);

/// Number `n` of an endless sequence of calls, legal ones and illegal ones between them. No tier
/// has them: each has a seed of its own, and its extents, precisions and values with it.
Item endless_item(const OpInfo& op, u64 seed, i64 n);

/// SHA-256, in hex, over the sorted ids of all items: it is of the set, in whatever order.
std::string set_hash(const std::vector<Item>& items);
/// SHA-256, in hex, over the ids of all items in order: numbers of cases follow from the order, and
/// so do the parts of a run.
std::string order_hash(const std::vector<Item>& items);

}  // namespace lockstep::judge
