/// @file
/// What a run found, as data; every form of report derives from it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "conformance/cases/select.h"
#include "conformance/kills.h"
#include "conformance/outputs.h"
#include "conformance/property.h"

namespace lockstep::judge {

/// Exit codes of the program, with their words.
enum class Exit {
  pass = 0,
  fail = 1,
  usage = 2,
  incomplete = 3,  ///< or vacuous
  judge_broke = 4,
  stale = 5,          ///< expectations
  known_failures = 6  ///< and no others
};
string_view word_of(Exit e);
/// As the program prints it: exit 0 (pass).
std::string exit_text(Exit e);

/// How the selected cases ended. selected = executed + not_claimed + missing + quarantined;
/// executed = passed + failed + crashed + timed_out.
struct Counts {
  i64 selected = 0, executed = 0, passed = 0, failed = 0, not_claimed = 0, missing = 0,
      quarantined = 0, crashed = 0, timed_out = 0, calls = 0;
};

/// The cases among them whose failures are all expected.
struct Known {
  i64 failed = 0, crashed = 0, timed_out = 0, quarantined = 0;
};

/// A cell of the table operator x property.
struct Cell {
  i64 judged = 0, failed = 0;
};

/// The first failure of a property for an operator.
struct Failure {
  std::string op, property, id, text;
  i64 count = 0;                       ///< cases of this operator that violate the property
  std::string shrunk, shrunk_text;     ///< the smallest case found, and what it shows
  std::string repeat;                  ///< the command that repeats it
  std::string hint = {};               ///< where the wrong elements are, if that has a pattern
  std::vector<Element> elements = {};  ///< the first wrong elements
  i64 number = -1;                     ///< of the case in its set; -1: it is of the whole run
  std::string known = {};              ///< why it is expected; empty: it is not
};

/// What was asked for beside tier and seed.
struct Chosen {
  std::vector<std::string> operators, profiles, properties, cases;
  i64 budget = 0;
  std::string nonce;         ///< a verifier's, from which some of the cases follow
  std::string vectors_hash;  ///< of the golden vectors that took part; empty: none
};

/// A failure that the owner of a backend knows of, and what a run made of it.
struct Expectation {
  std::string place;         ///< where it is written: the file and the line
  std::string op, property;  ///< patterns: they match whole texts, with '*' and '?'
  std::string id;            ///< pattern of cases; empty: some case of the operator
  std::string kind;          ///< fail, crash or timeout
  std::string reason, link;
  std::string expires;          ///< the last day on which it holds, as 2027-01-31
  int tier = 0;                 ///< the lowest at which it has to show
  bool expired = false;         ///< so that it excuses nothing
  i64 matched = 0, judged = 0;  ///< violations and judgements that the patterns match
  std::string passed;           ///< the first case named here that holds
  i64 passed_number = -1;       ///< its number in the set; -1: there is none
  /// The reason, and the link if there is one.
  std::string why() const { return link.empty() ? reason : reason + " (" + link + ")"; }
};

/// Where a run took place.
struct Environment {
  std::string judge, system, machine, processor;
  auto all() const { return std::tie(judge, system, machine, processor); }
  bool operator==(const Environment& e) const { return all() == e.all(); }
  bool operator<(const Environment& e) const { return all() < e.all(); }
};

struct Report {
  std::string backend, name, version, device, manifest_hash, set_hash, order_hash;
  std::string determinism;                     ///< the class its manifest states; empty: none
  std::string file_hash;                       ///< SHA-256 of the library; empty: it is none
  std::map<std::string, std::string> options;  ///< of the backend
  std::vector<KernelInfo> kernels;             ///< that the manifest lists
  std::vector<std::string> claimed;            ///< of the selected operators
  std::vector<Environment> environments;
  Chosen chosen;
  Part part;
  i64 set_cases = 0;  ///< of the whole set, whatever part of it was judged
  int tier = 1;
  u64 seed = 1;
  bool partial = false;
  int operators_selected = 0, operators_claimed = 0, operators_all = 0;
  Counts counts;
  Known known;
  std::vector<Expectation> expectations;
  std::vector<std::string> stale;  ///< of these, with the reason
  i64 legal_selected = 0, legal_not_claimed = 0;
  std::map<std::string, std::map<std::string, Cell>> cells;  ///< operator, property
  std::map<std::string, Outputs> outputs;                    ///< operator
  std::map<std::string, i64> executed_legal;                 ///< operator
  bool floor_judged = false;             ///< whether each operator needed so many cases
  std::vector<std::string> below_floor;  ///< operators
  std::map<std::string, std::map<std::string, i64>> paths;  ///< operator, kernel, executions
  std::vector<Failure> failures;
  std::vector<std::string> quarantine;  ///< operators, with the reason
  Score score;                          ///< of the first cases, where there is a budget
  std::vector<std::string> missing;     ///< cases that nobody answered, or that did not run
  i64 canaries_planted = 0, canaries_flagged = 0;
  std::string verdict;  ///< PASS FAIL NONDETERMINISTIC CRASH INCOMPLETE STALE BROKEN
  Exit exit = Exit::pass;
};

/// The most missing cases that a report names; their number is always told.
inline constexpr std::size_t kMissingNamed = 20;

/// What was asked for: whoever holds the report can ask for the same again. Where the golden
/// vectors are it does not say.
Selection selection_of(const Report& r);

/// What only a whole run shows: kernels that never ran, operators with too few cases. A part of a
/// run is not judged by it.
void judge_whole(Report& r);

/// Judges the run by a property of no single case.
/// @param violation what is wrong, which may be known; empty: nothing.
void judge_run(Report& r, const std::string& op, const std::string& property,
               const std::string& violation);

/// How many failures are expected, of cases and of the whole run.
i64 known_failures(const Report& r);

/// Settles stale expectations, verdict and exit code from everything else.
void conclude(Report& r);

/// The verdict and what it is about, in one line.
std::string verdict_line(const Report& r);

/// The size of a terminal; 0: it is none, and nothing has to fit.
struct Screen {
  int rows = 0, columns = 0;
};

/// What a person should know beside failures and verdict: what was left out or is missing, what is
/// stale, why the run is incomplete.
struct Remark {
  std::string kind, text;
};
/// At most so many of a kind, and then how many more there are.
std::vector<Remark> remarks(const Report& r, std::size_t most = SIZE_MAX);

/// What a person reads after a run: failures, each in at most twelve lines, then the verdict line.
/// On a screen as many as it has room for, at least one.
std::string summary(const Report& r, bool colour, Screen screen = {});

/// The report as JSON: stable order, no time, no address. report_schema() describes it.
std::string json_report(const Report& r);
std::string report_schema();

/// Reads a report. What follows from its other members is derived again and has to be the same.
/// @throws UsageError naming the place and what is wrong there.
Report read_report(const std::string& text);

/// The report for CI systems: a test suite per operator, a test case per property.
std::string junit_report(const Report& r);

/// The report for the page of a CI run.
std::string markdown_report(const Report& r);

/// SHA-256 over the outputs of every operator, the one number that two devices compare.
std::string digest_of(const Report& r);
/// How many calls that is over.
i64 digested(const Report& r);

/// The failures that seem to have one cause: a symptom, whatever the operator or property.
struct Cluster {
  std::string symptom;
  std::vector<const Failure*> failures;  ///< of the report, which has to outlive the cluster
  i64 count = 0;                         ///< failed judgements
};
/// Every failure in one cluster, the largest clusters first.
std::vector<Cluster> clusters(const Report& r);

/// How many of the listed mutants die of a run's first cases; empty where it judged all cases.
std::string power_of(const Report& r);

/// What the verdict is about: the whole claim, or a part of it.
std::string scope(const Report& r);

/// The sum of two counts, at most the largest that a document holds.
i64 capped_sum(i64 a, i64 b);

/// A number with its thousands apart, so that a denominator can be read.
std::string grouped(i64 n);

}  // namespace lockstep::judge
