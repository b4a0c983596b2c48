/// @file
/// The findings of a run as data, from which every format of report derives.
#pragma once
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "conformance/selection/kill_matrix.h"
#include "conformance/selection/select.h"
#include "conformance/verdict/expectations.h"
#include "conformance/verdict/outputs.h"

namespace lockstep::judge {

/// Exit codes of the program.
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
/// The exit code as printed, such as: exit 0 (pass).
std::string exit_text(Exit e);

/// How the selected cases ended. selected = executed + not_claimed + missing + quarantined;
/// executed = passed + failed + crashed + timed_out.
struct Counts {
  i64 selected = 0, executed = 0, passed = 0, failed = 0, not_claimed = 0, missing = 0,
      quarantined = 0, crashed = 0, timed_out = 0, calls = 0;
};

/// The numbers of those cases whose failures are all expected.
struct Known {
  i64 failed = 0, crashed = 0, timed_out = 0, quarantined = 0;
};

/// Classes that the cases of a failure share: each case has one of these values of an axis, as
/// `attribute dilation` and `2..3` (cases/classes.h).
struct SharedClass {
  std::string axis;
  std::vector<std::string> values;
};

/// Faults that the judge planted in what a property observed.
struct Canaries {
  i64 planted = 0, noticed = 0;
};

/// The cases of an operator that violate a property, seemingly for one cause.
struct Failure {
  std::string op, property, id, text;   ///< id and text: of the first of them
  i64 count = 0;                        ///< how many
  std::string shrunk, shrunk_text;      ///< the smallest case found, and its finding
  std::string repeat;                   ///< the command that repeats it
  std::string hint = {};                ///< the pattern of the wrong elements, if there is one
  std::vector<Element> elements = {};   ///< the first wrong elements
  i64 number = -1;                      ///< of the case in its set; -1: of the whole run
  std::string known = {};               ///< why it is expected; empty: it is unexpected
  std::string outcome = "fail";         ///< of the cases: fail, crash or timeout
  std::string answer = "ok";            ///< the kind of the answer that violates the property
  std::string label = {};               ///< of that answer
  std::string rule = {};                ///< the label that an illegal call must give
  std::string pattern = {};             ///< of the wrong values, as "off by one"; empty: none
  std::vector<SharedClass> cells = {};  ///< what tells these cases from those that pass
  i64 causes = 1;                       ///< more than one: causes that are not shown one by one
  std::string vector = {};              ///< name of the first case if it is a vector; not reported
  bool unexpected() const { return known.empty(); }
};

/// The filters of the selection beside tier and seed.
struct Chosen {
  std::vector<std::string> operators, profiles, properties, cases;
  i64 budget = 0;
  std::string nonce;         ///< a verifier's words, which determine some cases
  std::string model;         ///< directory of the model whose calls were judged; empty: of none
  std::string vectors_hash;  ///< of the golden vectors that took part; empty: none
};

/// The machine of a run.
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
  Shard part;
  i64 set_cases = 0;    ///< of the whole set, not only of the judged shard
  i64 typed_cases = 0;  ///< of these, calls too large to run, of which only the types are asked
  int tier = 1;
  u64 seed = 1;
  bool partial = false;
  int operators_selected = 0, operators_claimed = 0, operators_all = 0;
  Counts counts;
  Known known;
  std::vector<Expectation> expectations;
  std::vector<std::string> stale;     ///< of these, with the reason
  std::vector<std::string> exceeded;  ///< of these, with the reason
  i64 legal_selected = 0, legal_not_claimed = 0;
  std::map<std::string, std::map<std::string, Cell>> cells;  ///< operator, property
  std::map<std::string, Outputs> outputs;                    ///< operator
  /// Operator, property, kind (expected_kind): the failing cases by their ids.
  std::map<std::string, std::map<std::string, std::map<std::string, Outputs>>> failing;
  std::map<std::string, i64> executed_legal;  ///< operator
  std::map<std::string, i64> largest_tensor;  ///< operator, elements of an executed legal call
  bool floor_judged = false;                  ///< whether the floor was judged
  std::vector<std::string> below_floor;       ///< operators
  std::map<std::string, std::map<std::string, i64>> paths;  ///< operator, kernel, executions
  std::vector<Failure> failures;
  std::vector<std::string> quarantine;       ///< operators, with the reason
  Score score;                               ///< of a budget's cases, if there is one
  std::vector<std::string> missing;          ///< cases without an answer, or that did not run
  std::map<std::string, Canaries> canaries;  ///< property
  /// What the run was doing when its deadline or a signal ended it outside of cases; empty:
  /// nothing.
  std::string ended_early;
  std::string verdict;  ///< PASS FAIL NONDETERMINISTIC CRASH TIMEOUT INCOMPLETE STALE BROKEN
  Exit exit = Exit::pass;
};

/// The most missing cases that a report names; it always gives their number.
inline constexpr std::size_t kMissingNamed = 20;

/// The selection of a run, without the directory of its golden vectors, so that a reader of the
/// report can repeat the run.
Selection selection_of(const Report& r);

/// Judges what only a whole run shows: kernels that never ran, operators with too few cases. Does
/// nothing for one shard of a run.
void judge_whole(Report& r);

/// Counts a canary as missed for each property that every case kept and in which no fault was
/// planted: a judge that plants none has not shown that it would notice one.
void miss_unplanted(Report& r);

/// In a run where every case passed, blames operators of which a small call had no answer before
/// the cases: no graph with one of them ran call by call.
void judge_silent(Report& r, const std::set<string_view>& silent);

/// In a whole run, blames operators of which a call in a graph was wrong by itself although all
/// their cases had right values and passed.
/// @param wrong the first such call of each, by operator
void judge_wrong_calls(Report& r, const std::map<std::string, WrongCall>& wrong);

/// Judges the whole run by a property.
/// @param violation what is wrong, which may be expected; empty: nothing.
/// @param flaky whether it was not found again, so that it cannot be expected
void judge_run(Report& r, const std::string& op, const std::string& property,
    const std::string& violation, bool flaky = false);

/// The number of expected failures, of cases and of the whole run.
i64 known_failures(const Report& r);

/// The number of cases that crashed, hung or were quarantined, and those of them that are expected.
i64 deaths(const Report& r);
i64 known_deaths(const Report& r);

/// The canaries of all properties together.
Canaries all_canaries(const Report& r);

/// Whether any property was judged of any case.
bool any_judged(const Report& r);

/// Settles stale expectations, verdict and exit code from everything else.
void conclude(Report& r);

Environment this_environment();

/// SHA-256 of a backend's file; empty for a command.
/// @throws UsageError if there is no such file.
std::string file_hash(const std::string& backend);

/// A file by the last part of its name, and its SHA-256.
struct JudgedFile {
  std::string name, hash;
};

/// The files of a backend: its library, its recorded results, or those that the words of a command
/// name; the first word is also looked for where programs are.
std::vector<JudgedFile> judged_files(const std::string& backend);

/// Adds to a report the hashes of the files that it is about: the backend's, and the vectors'.
void add_file_hashes(Report& r, const Selection& s);

/// The longest id that is printed, and that shrinking makes.
inline constexpr std::size_t kMaxShown = 300;

/// An id as it is printed: one that is too long ends in '#' and the beginning of its SHA-256, by
/// which `repro @FILE#...` finds it in a file of `check --failures FILE`.
std::string shown_id(const std::string& id);

/// A word quoted for a shell, in one line.
std::string shell_word(const std::string& word);

/// The command that repeats a case for one property, or for all if none is named.
/// @param model the directory of the model whose operators graphs have; empty: they have all
std::string repeat_command(const std::string& backend, const Options& options,
    const std::string& id, const std::string& property = "", const std::string& model = "");

/// The command that repeats a failure.
std::string repeat_command(const Report& r, const Failure& f);

/// The command that repeats the run.
std::string check_command(const Report& r);

}  // namespace lockstep::judge
