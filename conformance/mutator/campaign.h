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
    equivalent,   ///< the optimizing compiler makes the same object code of it in every stage
    not_compiled  ///< it is no program
  };
  Edit edit;
  State state = dead;
  std::string before, after;  ///< the line
  std::string detail;         ///< the test that noticed, or why it is equivalent
};
string_view name_of(SourceFate::State s);

/// What is asked of a campaign.
struct Campaign {
  std::string tree;  ///< the sources, which are only read
  std::string work;  ///< where the copy and its build are; kept for the next campaign
  u64 seed = 1;
  i64 mutants = 20;                             ///< that compile and are not equivalent
  std::function<void(const SourceFate&)> told;  ///< of each mutant, as it becomes known
};

/// Judges mutants in an order drawn from the seed until there are enough.
/// @throws UsageError if the tree has no such room.
/// @throws std::runtime_error if the sources cannot be built or fail as they are.
std::vector<SourceFate> run_campaign(const MutantRoom& room, const Campaign& campaign);

}  // namespace lockstep::judge
