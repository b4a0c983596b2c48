/// @file
/// Selects the cases of a run: tier, seed and filters determine them, their order and their hash.
#pragma once
#include <string>
#include <vector>

#include "conformance/base/interrupted.h"
#include "conformance/cases/item.h"
#include "conformance/cases/shard.h"

namespace lockstep::judge {

/// The user's selection of cases.
struct Selection {
  int tier = 1;
  u64 seed = 1;
  std::vector<std::string> operators = {};   ///< globs; none: all
  std::vector<std::string> profiles = {};    ///< names; none: all
  std::vector<std::string> properties = {};  ///< names; none: all
  std::vector<std::string> cases = {};       ///< explicit ids; none: the tier's
  std::string model = {};                    ///< directory: only the calls of this model
  i64 budget = 0;                            ///< the most cases; 0: no limit
  std::string nonce = {};                    ///< a verifier's words, which determine further cases
  std::string vectors = {};                  ///< directory of golden vectors; empty: none
  std::string kills = {};                    ///< file of the kill matrix; empty: none
  Shard part = {};                           ///< the shard to judge
  bool wants(string_view property) const;
  /// Whether it leaves out a part of its tier.
  bool partial() const {
    return !operators.empty() || !profiles.empty() || !properties.empty() || !cases.empty() ||
        !model.empty() || budget > 0;
  }
};

/// The number of cases per operator of a tier: legal ones, illegal ones per label, settings of an
/// is_enumerable() operator (counting.h) that get edge values and all values, and rounds of large
/// calls (large.h).
struct TierSize {
  int legal, illegal, edges, ranges, large;
  int of_model;  ///< cases of each call of a model, at most
};
TierSize tier_size(int tier);

/// The fewest legal cases of a claimed operator that permit a verdict.
int tier_floor(int tier);

/// The operators that match the selection's globs and profiles.
/// @throws UsageError for a glob or a profile that matches none, or if no operator is left.
std::vector<const OpInfo*> selected_operators(const Selection& s);

/// Whether golden vectors are among the cases.
bool takes_vectors(const Selection& s);

/// Every selected case in discriminating order: first those that kill the most mutants
/// (kill_matrix.h); then operators take turns, each with its most discriminating cases first.
/// Large calls come last, since what a cheap one shows need not wait for them; the largest of them
/// first, so that judging processes end together.
/// @param threads how many make the cases, which do not depend on their number
/// @throws UsageError for an unknown operator, property or case.
/// @throws Interrupted
std::vector<Item> select_cases(
    const Selection& s, int threads = 1, const Interruption& interrupted = {});

/// @throws UsageError if the selection names an unknown property.
void check_properties(const Selection& s);

/// Number `n` of an endless sequence of legal and some illegal calls. No tier has them, as each
/// call has its own seed for extents, precisions and values.
Item endless_item(const OpInfo& op, u64 seed, i64 n);

/// SHA-256, in hex, over the sorted ids of all items; it does not depend on their order.
std::string set_hash(const std::vector<Item>& items);
/// SHA-256, in hex, over the ids of all items in order, which determines the numbers of cases and
/// the shards of a run.
std::string order_hash(const std::vector<Item>& items);

/// Moves the items to the front that together show every combination (combinations.h) of all items,
/// each time the one that adds most; the others keep their order.
/// @param complete whether to add calls first that show the combinations which a search reached
/// and the items do not show.
void put_discriminating_first(std::vector<Item>& items, const OpInfo& op, bool complete);

}  // namespace lockstep::judge
