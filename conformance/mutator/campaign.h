/// @file
/// Mutation of the project's own sources: writes one mistake at a time into a copy of the tree,
/// builds the copy and runs the tests that should notice.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "conformance/mutator/edits.h"
#include "conformance/reports/report.h"
#include "spec/random.h"

namespace lockstep::judge {

/// A command that passes on the unchanged sources and fails if it notices a mistake.
struct MutantTest {
  std::string name;
  std::vector<std::string> command;
};

/// Build targets and the tests that need only these. A mutant that they kill is built no further.
struct MutantStage {
  std::vector<std::string> targets;
  /// The tests in the order in which they run: the judge's first, so that a campaign also tells
  /// what a user's `check` would notice.
  std::function<std::vector<MutantTest>(const std::string& build)> tests;
};

/// Sources to mutate, and what to build and run for each mutant.
struct MutantRoom {
  std::string path;                    ///< of the sources in the tree; `tests` in it are left alone
  std::vector<std::string> configure;  ///< arguments of CMake
  std::vector<MutantStage> stages;
};

/// The fate of a mutant.
struct SourceFate {
  enum State {
    dead,         ///< a test failed or took too long
    survived,     ///< no test noticed
    equivalent,   ///< its optimized object code is unchanged in every stage
    not_compiled  ///< it does not compile
  };
  Edit edit;
  State state = dead;
  std::string before, after;  ///< the line
  std::string noticed_by;     ///< the first test that failed; empty unless dead
  std::string detail;         ///< how that test failed, or why the mutant is equivalent
};
string_view name_of(SourceFate::State s);

/// The options of a campaign.
struct Campaign {
  std::string tree;  ///< the sources, which are only read
  std::string work;  ///< directory of the copy and its build; kept for the next campaign
  std::vector<std::string> files = {};  ///< globs of the files to mutate; none: all of the room
  u64 seed = 1;
  i64 mutants = 20;  ///< number of mutants that compile and are not equivalent
  std::function<void(const SourceFate&)> told;  ///< called for each mutant
};

/// Judges mutants in an order drawn from the seed until there are enough.
/// @throws UsageError if the tree has no such room, or the room no such file.
/// @throws std::runtime_error if the sources cannot be built or fail as they are.
std::vector<SourceFate> run_campaign(const MutantRoom& room, const Campaign& campaign);

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
