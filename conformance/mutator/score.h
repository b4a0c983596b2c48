/// @file
/// The mutation score of a campaign, as numbers and as text.
#pragma once

#include "conformance/mutator/campaign.h"
#include "conformance/reports/report.h"

namespace lockstep::judge {

/// How many mutants had which fate, and whether enough of them died.
struct SourceScore {
  i64 dead = 0, survived = 0, equivalent = 0, not_compiled = 0;
  i64 judged() const { return dead + survived; }
  i64 tenths() const;  ///< share of the judged mutants that died, in 0.1 %, rounded down
  /// Incomplete if none was judged; fails below 95 %.
  Exit exit() const;
};
SourceScore score_of(const std::vector<SourceFate>& fates);

/// One mutant: its fate, its place, the line before and after, and the test that noticed.
std::string fate_text(const SourceFate& f);
/// The summary of a campaign: the survivors and the score.
std::string score_text(const std::string& room, u64 seed, const std::vector<SourceFate>& fates);
/// Score and mutants of a room as JSON.
std::string fates_json(const std::string& room, u64 seed, const std::vector<SourceFate>& fates);

}  // namespace lockstep::judge
