/// @file
/// What became of the mutants of a campaign, counted and in words.
#pragma once

#include "conformance/mutator/campaign.h"
#include "conformance/reports/report.h"

namespace lockstep::judge {

/// How many mutants ended how, and whether enough of them died.
struct SourceScore {
  i64 dead = 0, survived = 0, equivalent = 0, not_compiled = 0;
  i64 judged() const { return dead + survived; }
  i64 tenths() const;  ///< of the judged ones that died, in tenths of a percent, rounded down
  /// Incomplete if none was judged; fails below 95 %.
  Exit exit() const;
};
SourceScore score_of(const std::vector<SourceFate>& fates);

/// One mutant: what became of it, where it is, the line before and after, and who noticed.
std::string fate_text(const SourceFate& f);
/// The last words of a campaign: the survivors, and the score.
std::string score_text(const std::string& room, u64 seed, const std::vector<SourceFate>& fates);
/// Score and mutants of a room as JSON.
std::string fates_json(const std::string& room, u64 seed, const std::vector<SourceFate>& fates);

}  // namespace lockstep::judge
