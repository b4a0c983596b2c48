/// @file
/// What a run found, as data; every form of report derives from it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "conformance/cases/select.h"

namespace lockstep::judge {

/// Exit codes of the program, with their words.
enum class Exit {
  pass = 0,
  fail = 1,
  usage = 2,
  incomplete = 3,  ///< or vacuous
  judge_broke = 4
};
string_view word_of(Exit e);

/// How the selected cases ended. selected = executed + not_claimed + missing + quarantined;
/// executed = passed + failed + crashed + timed_out.
struct Counts {
  i64 selected = 0, executed = 0, passed = 0, failed = 0, not_claimed = 0, missing = 0,
      quarantined = 0, crashed = 0, timed_out = 0, calls = 0;
};

/// A cell of the table operator x property.
struct Cell {
  i64 judged = 0, failed = 0;
};

/// The first failure of a property for an operator.
struct Failure {
  std::string op, property, id, text;
  i64 count = 0;                    ///< cases of this operator that violate the property
  std::string shrunk, shrunk_text;  ///< the smallest case found, and what it shows
  std::string repeat;               ///< the command that repeats it
};

struct Report {
  std::string backend, name, version, device, manifest_hash, set_hash;
  int tier = 1;
  u64 seed = 1;
  bool partial = false;
  int operators_selected = 0, operators_claimed = 0, operators_all = 0;
  Counts counts;
  i64 legal_selected = 0, legal_not_claimed = 0;
  std::map<std::string, std::map<std::string, Cell>> cells;  ///< operator, property
  std::map<std::string, i64> executed_legal;                 ///< operator
  std::vector<std::string> below_floor;                      ///< operators
  std::map<std::string, std::map<std::string, i64>> paths;   ///< operator, kernel, executions
  std::vector<Failure> failures;
  std::vector<std::string> quarantine;  ///< operators, with the reason
  std::vector<std::string> missing;     ///< cases that nobody answered
  i64 canaries_planted = 0, canaries_flagged = 0;
  std::string verdict;  ///< PASS FAIL NONDETERMINISTIC CRASH INCOMPLETE BROKEN
  Exit exit = Exit::pass;
};

/// The most missing cases that a report names; their number is always told.
inline constexpr std::size_t kMissingNamed = 20;

/// Settles verdict and exit code from everything else.
void conclude(Report& r);

/// The verdict and what it is about, in one line.
std::string verdict_line(const Report& r);

/// What a person reads after a run: failures, each in at most twelve lines, then the verdict line.
std::string summary(const Report& r, bool colour);

/// The report as JSON: stable order, no time, no address. report_schema() describes it.
std::string json_report(const Report& r);
std::string report_schema();

/// The report for CI systems: a test suite per operator, a test case per property.
std::string junit_report(const Report& r);

}  // namespace lockstep::judge
