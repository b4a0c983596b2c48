/// @file
/// The verbs of the program. Each adds its subcommand; the callback leaves the exit code in `exit`.
#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <string>

#include "conformance/base/read_file.h"
#include "conformance/base/write_file.h"
#include "conformance/reports/power.h"
#include "conformance/reports/report.h"
#include "conformance/run/judge.h"

namespace lockstep::judge {

/// The exit code of the program.
struct Session {
  int exit = 0;
};

void add_check(CLI::App& app, Session& session);
void add_repro(CLI::App& app, Session& session);
void add_list(CLI::App& app, Session& session);
void add_show(CLI::App& app, Session& session);
void add_spec(CLI::App& app, Session& session);
void add_eval(CLI::App& app, Session& session);
void add_emit(CLI::App& app, Session& session);
void add_exhaust(CLI::App& app, Session& session);
void add_fuzz(CLI::App& app, Session& session);
void add_cover(CLI::App& app, Session& session);
void add_mutants(CLI::App& app, Session& session);
void add_diff(CLI::App& app, Session& session);
void add_digest(CLI::App& app, Session& session);
void add_report(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_model(CLI::App& app, Session& session);
void add_params(CLI::App& app, Session& session);
void add_vectors(CLI::App& app, Session& session);
void add_completion(CLI::App& app, Session& session);
// Verbs of `lockstep model`.
void add_model_make(CLI::App& group, Session& session);
// Verbs of `lockstep report` about evidence.
void add_attest(CLI::App& group, Session& session);
void add_verify(CLI::App& group, Session& session);

/// Options of the verbs that judge a backend.
struct RunOptions {
  std::string backend;
  Selection selection;
  Conduct conduct;
  bool quiet = false;
};
/// Adds the backend and all options of a run.
void add_run(CLI::App& verb, RunOptions& o);
/// Adds the options that choose cases.
void add_selection(CLI::App& verb, Selection& s);
/// Reads the files that options of add_selection name. Call it in the verb's callback.
void finish_selection(Selection& s);
/// Requires a positive number.
CLI::Validator positive();
CLI::Validator not_negative();
/// Refuse what a range does not: nan, and a negative number that an unsigned type wraps around.
CLI::Validator number();
CLI::Validator without_sign();
/// Adds the option --set, the options of a backend.
void add_settings(CLI::App& verb, Options& set);
/// Adds the limits and options of a backend.
void add_limits(CLI::App& verb, Limits& l);
/// Adds the limits and the number of judging processes.
void add_conduct(CLI::App& verb, Conduct& c);

/// The options of `mutants --source`.
struct SourceMutants {
  std::string room, tree = ".", work, json_file;
  i64 mutants = 20;
  std::vector<std::string> files = {};
  bool check_alone = false;
};
/// Adds the options of `mutants` that mutate sources. They refuse the options added before, which
/// only apply to backends.
void add_source_mutants(CLI::App& verb, SourceMutants& s);
/// Mutates sources and prints each mutant's fate. @return the exit code.
int run_source_mutants(const SourceMutants& s, u64 seed, bool quiet);

/// Puts cases to mutants of a backend.
/// @return the kill matrix, with the few cases of each operator that kill all mutants which its
/// cases kill.
KillMatrix measure_kills(const std::string& backend, const std::vector<MutantFate>& mutants,
    const Selection& selection, const Conduct& conduct, bool quiet);

/// @throws std::runtime_error if something that was printed did not arrive.
void flush_output();

/// Writes a whole file, or to standard output for "-".
/// @throws std::runtime_error naming the file.
void write_output(const std::string& path, const std::string& text);

/// Requires that these files can be written, before minutes of work and not after them. Ignores
/// empty names. @return whether standard output, "-", is one of them
/// @throws UsageError naming the file and the reason, or where "-" stands twice.
bool require_writable(const std::vector<std::string>& files);

/// Progress on standard error: a line that is rewritten on a terminal, occasional lines elsewhere,
/// nothing when quiet. `unit` is what is counted.
std::function<void(i64, i64, i64)> progress_to_stderr(
    const std::string& what, bool quiet, const char* unit = "cases");

bool colour_wanted();

/// The size of the terminal on standard output.
Screen screen();

/// Writes a trial as files that a debugger or a simulator reads without this program: the inputs,
/// the expected outputs and those of the first wrong answer (the first answer, if none is wrong) as
/// .npy files, as hexadecimal words, and as C arrays with a program that shows the difference, and
/// the call as a line of `eval`. Of an illegal call it writes only that line. After a failure no
/// part of the directory remains.
/// @param command the command that repeats the case
/// @throws UsageError if the directory exists and is not empty, or the case is too large;
///   std::runtime_error if it cannot be written.
void write_bundle(const std::string& directory, const Trial& t, const std::string& command);

/// While it exists, the first interrupt (SIGINT, or SIGTERM from a scheduler) only ends the work;
/// the second one ends the program as usual.
class Interruptible {
 public:
  Interruptible();
  Interruptible(const Interruptible&) = delete;
  ~Interruptible();
  /// Whether there was an interrupt.
  static bool interrupted();

 private:
  static constexpr int kSignals[2] = {SIGINT, SIGTERM};
  struct sigaction before_[2];
};

/// Reads a document from a file; errors name the file.
template <class F> auto read_document(const std::string& file, const char* kind, F read) {
  const std::string text = read_file(file);
  try {
    return read(text);
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("'{}' is no {}: {}", file, kind, printable(e.what())));
  }
}

/// Reads a report from a file.
inline Report report_of(const std::string& file) {
  return read_document(file, "report of lockstep check", read_report);
}

}  // namespace lockstep::judge
