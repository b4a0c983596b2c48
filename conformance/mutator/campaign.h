/// @file
/// Mutation of the project's own sources: one mistake at a time is written into a copy of the tree,
/// which is built and put to the tests that should notice.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "conformance/mutator/edits.h"
#include "spec/random.h"

namespace lockstep::judge {

/// A command that passes on the sources as they are, and by failing notices a mistake in them.
struct MutantTest {
  std::string name;
  std::vector<std::string> command;
};

/// A part of what is built, and the tests that need no more: what dies of them is built no further.
struct MutantStage {
  std::vector<std::string> targets;
  /// In the order in which they are run, the cheapest first.
  std::function<std::vector<MutantTest>(const std::string& build)> tests;
  /// The programs, where this stage makes them: equal products, equal programs.
  std::vector<std::string> products = {};
};

/// Sources that are mutated, and what is built and run then.
struct MutantRoom {
  std::string path;                    ///< of the sources in the tree; `tests` in it are left alone
  std::vector<std::string> configure;  ///< arguments of CMake
  std::vector<MutantStage> stages;
};

/// What became of a mutant.
struct SourceFate {
  enum State {
    dead,         ///< a test failed or took too long
    survived,     ///< no test noticed
    equivalent,   ///< the products are those of the sources as they are, or the list says so
    not_compiled  ///< it is no program
  };
  Edit edit;
  State state = dead;
  std::string before, after;  ///< the line
  std::string detail;         ///< the test that noticed; of a survivor the list's explanation
};
string_view name_of(SourceFate::State s);

/// A survivor that somebody looked at: the line as it was and as it became, and why no test can or
/// need notice.
struct Explanation {
  std::string file, before, after, reason;
  bool equivalent = false;  ///< no program can tell the two apart
};
/// Reads the committed list, a TOML file of [[mutant]] tables.
/// @throws UsageError naming file, line and what is wrong.
std::vector<Explanation> read_explanations(const std::string& file);

/// What is asked of a campaign.
struct Campaign {
  std::string tree;  ///< the sources, which are only read
  std::string work;  ///< where the copy and its build are; kept for the next campaign
  u64 seed = 1;
  i64 mutants = 20;  ///< that compile and are not equivalent
  std::vector<Explanation> explanations;
  std::function<void(const SourceFate&)> told;  ///< of each mutant, as it becomes known
};

/// Judges mutants in an order drawn from the seed until there are enough.
/// @throws UsageError if the tree has no such room.
/// @throws std::runtime_error if the sources cannot be built or fail as they are.
std::vector<SourceFate> run_campaign(const MutantRoom& room, const Campaign& campaign);

}  // namespace lockstep::judge
