// Evidence: `attest` writes it beside a check, `verify` checks it elsewhere.
#include "conformance/reports/attest.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "conformance/base/places.h"
#include "conformance/base/read_file.h"
#include "conformance/base/sha256.h"
#include "conformance/cli/verbs.h"
#include "conformance/golden/vectors.h"
#include "conformance/reports/exhaustion.h"
#include "conformance/selection/select.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

struct AttestOptions : RunOptions {
  std::string directory, values;
  std::vector<std::string> subject;
};

// All files of a subject: those of the backend, and others that a user names.
std::vector<JudgedFile> subject_of(
    const std::string& backend, const std::vector<std::string>& others) {
  std::vector<JudgedFile> files = judged_files(backend);
  for (const std::string& file : others)
    files.push_back({fs::path(file).filename(), sha256(read_file(file))});
  return files;
}

// The journal of exhaust, without a last line that was cut off.
std::string values_in(const AttestOptions& o) {
  std::string text = read_file(o.values);
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
  try {
    values_of_subject(text, file_hash(o.backend), o.backend);
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("values '{}': {}", o.values, printable(e.what())));
  }
  return text;
}

// Whether the journal of exhaust records a wrong value.
bool is_wrong(const Attestation& a) {
  return !a.values.empty() && read_value_journal(a.values).known.exit() == Exit::fail;
}

int attest(AttestOptions& o) {
  finish_selection(o.selection);
  if (!o.selection.cases.empty())
    throw UsageError("evidence is of a whole tier; attest takes no chosen cases");
  Attestation a;
  a.subject = subject_of(o.backend, o.subject);
  if (a.subject.empty())
    throw UsageError("the command names no file; give what is judged with --subject FILE");
  // Fail before minutes of work, not after them.
  if (!o.values.empty()) a.values = values_in(o);
  if (!fs::create_directories(o.directory))
    throw UsageError("'" + o.directory + "' is there already");
  o.conduct.progress = progress_to_stderr("attest " + printable(o.backend), o.quiet);
  o.conduct.record = recorder(a.results);
  try {
    a.report = judge(o.backend, o.selection, o.conduct);
  } catch (...) {
    fs::remove(o.directory);
    throw;
  }
  add_file_hashes(a.report, o.selection);
  for (const auto& [name, text] : bundle_of(a)) write_file(o.directory + "/" + name, text);
  fmt::print("{}SELF-DECLARED  nobody has run the cases of {} again; written to {}\n",
      summary(a.report, colour_wanted(), screen()), printable(a.report.name), o.directory);
  return static_cast<int>(is_wrong(a) ? Exit::fail : a.report.exit);
}

struct VerifyOptions {
  std::string directory, backend, vectors = vector_directory();
  std::vector<std::string> subject;
  std::optional<std::string> nonce;
  i64 rerun = 0;  // 0: as many as kMissed asks for, if there is a backend
  std::optional<u64> seed;
  Conduct conduct;
  bool quiet = false;
};

Attestation read_directory(const std::string& directory) {
  std::map<std::string, std::string> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none))
    if (entry.is_regular_file()) files[entry.path().filename()] = read_file(entry.path());
  try {
    return read_bundle(files);
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("'{}' is no evidence: {}", directory, printable(e.what())));
  }
}

// An unpredictable seed: a forger must not know which cases will be run again.
u64 unforeseeable() {
  u64 seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) throw std::runtime_error("no random seed");
  return seed;
}

// How many of 10^6 samples of so many cases miss a forgery of one result in 50. A sample without
// repetitions misses it less often.
constexpr i64 kAttempts = 1'000'000, kMissed = 20'000;
i64 missed_by(i64 cases) {
  constexpr i64 kForged = 50;
  i64 missed = kAttempts * kAttempts;
  for (i64 k = 0; k < cases && missed > 0; ++k) missed -= missed / kForged;
  return (missed + kAttempts - 1) / kAttempts;
}
// The size of the smallest sample that misses such a forgery seldom enough.
i64 enough_cases() {
  i64 cases = 1;
  while (missed_by(cases) > kMissed) ++cases;
  return cases;
}

// What a sample shows: one word, and the numbers behind it.
std::string word_of(std::size_t cases, std::size_t all) {
  const i64 missed = cases == all ? 0 : missed_by(static_cast<i64>(cases));
  return fmt::format(
      "{}  {} of {} cases were run again, all as declared; a forgery of 2 % of them "
      "would have passed with probability {}.{:02} %",
      missed > kMissed ? "SAMPLED" : "WITNESSED", cases, all, missed / 10'000, missed / 100 % 100);
}

// Runs a sample again and notes the disagreements. @return what the sample shows, from word_of()
std::string run_again(VerifyOptions& o, const Attestation& a, const Selection& s,
    const std::vector<Item>& items, std::vector<std::string>& found) {
  const std::vector<JudgedFile> here = subject_of(o.backend, o.subject);
  for (const JudgedFile& judged : a.subject)
    if (std::none_of(
            here.begin(), here.end(), [&](const JudgedFile& f) { return f.hash == judged.hash; }))
      found.push_back(
          fmt::format("no file of '{}' is the '{}' that was judged", o.backend, judged.name));
  const u64 seed = o.seed ? *o.seed : unforeseeable();
  const std::vector<Declared> declared = sample(a, o.rerun > 0 ? o.rerun : enough_cases(), seed);
  const std::size_t all = sample(a, std::ssize(a.results), seed).size();
  std::vector<Item> some;
  for (const Declared& d : declared) some.push_back(items[static_cast<std::size_t>(d.number)]);
  std::vector<Declared> again;
  o.conduct.record = recorder(again);
  o.conduct.shrink = false;
  o.conduct.limits.set = a.report.options;
  o.conduct.progress = progress_to_stderr("verify " + printable(o.backend), o.quiet);
  judge(o.backend, s, some, o.conduct);
  for (Declared& d : again) d.number = declared[static_cast<std::size_t>(d.number)].number;
  for (std::string& text : refutations(declared, again, items)) found.push_back(std::move(text));
  fmt::print("run again: {} of {} cases (--rerun-seed {})\n", declared.size(), all, seed);
  if (declared.empty()) found.emplace_back("no case could be run again");
  return word_of(declared.size(), all);
}

// Puts some of the ranges of values to the backend again.
void put_values_again(
    const VerifyOptions& o, const Attestation& a, std::vector<std::string>& found) {
  constexpr i64 kRanges = 4;  // of up to 2^26 values
  const ValueJournal declared = read_value_journal(a.values);
  i64 again = 0;
  if (found.empty() && !o.backend.empty()) {
    Limits limits = o.conduct.limits;
    limits.set = declared.known.options;
    again = put_again(declared, *open_subject(o.backend, limits), kRanges,
        o.seed ? *o.seed : unforeseeable(), found);
  }
  fmt::print("values: {}; {} ranges were put again\n", exhaustion_line(declared.known), again);
}

int verify(VerifyOptions& o) {
  constexpr std::size_t kShown = 10;
  const Attestation a = read_directory(o.directory);
  // Refuse a wrong command line before the cases are made, which takes seconds.
  if (o.rerun > 0 && o.backend.empty())
    throw UsageError("--rerun needs the BACKEND that runs the cases again");
  if (!o.backend.empty()) open_subject(o.backend, o.conduct.limits);
  Selection s = selection_of(a.report);
  s.kills = kill_matrix_file();
  if (!a.report.chosen.vectors_hash.empty()) s.vectors = o.vectors;
  const std::vector<Item> items = select_cases(s);
  std::vector<std::string> found = contradictions(a, items);
  if (o.nonce && *o.nonce != a.report.chosen.nonce)
    found.emplace_back("the nonce differs: the run may be older than yours");
  if (!s.vectors.empty() && vectors_hash(s.vectors) != a.report.chosen.vectors_hash)
    found.emplace_back("the golden vectors are others than those here");
  std::string word = "SELF-DECLARED  nothing was run again (name the BACKEND)";
  if (found.empty() && !o.backend.empty()) word = run_again(o, a, s, items, found);
  if (!a.values.empty()) put_values_again(o, a, found);
  for (std::size_t k = 0; k < std::min(kShown, found.size()); ++k)
    fmt::print("refuted: {}\n", printable(found[k]));
  if (found.size() > kShown) fmt::print("refuted: {} more\n", found.size() - kShown);
  fmt::print("{}\n", verdict_line(a.report));
  const Exit e = found.empty() && !is_wrong(a) ? a.report.exit : Exit::fail;
  fmt::print("{}; {}\n", found.empty() ? word : "REFUTED", exit_text(e));
  return static_cast<int>(e);
}

void add_subject(CLI::App& verb, std::vector<std::string>& files) {
  verb.add_option(
          "--subject", files, "a file that is judged beside those that BACKEND names (repeatable)")
      ->allow_extra_args(false);
}

}  // namespace

void add_attest(CLI::App& group, Session& session) {
  auto o = std::make_shared<AttestOptions>();
  CLI::App* verb = group.add_subcommand("attest",
      "Judge a backend and write evidence of it:\n"
      "lockstep report attest ./relu.so evidence --nonce WORDS-OF-THE-VERIFIER");
  add_run(*verb, *o);
  verb->add_option("directory", o->directory, "a new directory for the evidence")->required();
  add_subject(*verb, o->subject);
  verb->add_option("--values", o->values,
      "state what a journal of lockstep exhaust knows of the same backend, too");
  verb->callback([o, &session] { session.exit = attest(*o); });
}

void add_verify(CLI::App& group, Session& session) {
  auto o = std::make_shared<VerifyOptions>();
  CLI::App* verb = group.add_subcommand("verify",
      "Check evidence, and run a part of it again:\n"
      "lockstep report verify evidence --nonce WORDS ./relu.so");
  verb->add_option("directory", o->directory, "the evidence")->required();
  verb->add_option("backend", o->backend, "what runs cases again");
  verb->add_option("--rerun", o->rerun,
          "run so many cases again, by default enough to miss a forgery of 2 % in 2 % of attempts")
      ->check(positive());
  verb->add_option(
          "--rerun-seed", o->seed, "seed that chooses them (default: one that nobody can foresee)")
      ->check(without_sign());
  verb->add_option("--nonce", o->nonce, "the words that were asked for");
  add_subject(*verb, o->subject);
  verb->add_option("--vectors", o->vectors, "directory of golden vectors");
  add_conduct(*verb, o->conduct);
  verb->add_flag("--quiet", o->quiet, "no progress");
  verb->callback([o, &session] { session.exit = verify(*o); });
}

}  // namespace lockstep::judge
