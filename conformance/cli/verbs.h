/// @file
/// The verbs of the program. Each adds its subcommand; the callback leaves the exit code in `exit`.
#pragma once
#include <CLI/CLI.hpp>

#include "conformance/reports/power.h"
#include "conformance/reports/report.h"
#include "conformance/run/judge.h"

namespace lockstep::judge {

/// What the program ends with.
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

/// What verbs that judge a backend are asked for.
struct RunOptions {
  std::string backend;
  Selection selection;
  Conduct conduct;
  bool quiet = false;
};
/// The backend and all options of a run.
void add_run(CLI::App& verb, RunOptions& o);
/// Options that choose cases.
void add_selection(CLI::App& verb, Selection& s);
/// Reads what add_selection left in files. Call it in the verb's callback.
void finish_selection(Selection& s);
/// What an option's number must be, at least.
CLI::Range positive();
CLI::Range not_negative();
/// Options that say how a backend is treated.
void add_limits(CLI::App& verb, Limits& l);
/// These, and among how many processes the work is shared.
void add_conduct(CLI::App& verb, Conduct& c);

/// What `mutants --source` is asked for.
struct SourceMutants {
  std::string room, tree = ".", work, json_file;
  i64 mutants = 20;
};
/// Options of `mutants` that make it mutate sources. Those that only say how backends are judged,
/// which stand before them, are refused beside them.
void add_source_mutants(CLI::App& verb, SourceMutants& s);
/// Mutates sources and prints each mutant's fate. @return the exit code.
int run_source_mutants(const SourceMutants& s, u64 seed, bool quiet);

/// Puts cases to backends with one mistake each.
/// @return what kills which of them. For each operator as few cases as kill what its cases can.
Kills measure_kills(const std::string& backend, const std::vector<Fate>& mutants,
                    const Selection& selection, const Conduct& conduct, bool quiet);

/// Writes a file whole, or says why not.
/// @throws std::runtime_error naming the file.
void write_file(const std::string& path, const std::string& text);

/// Writes a file whole, or standard output for "-".
/// @throws std::runtime_error naming the file.
void write_output(const std::string& path, const std::string& text);

/// Progress on standard error: a line that is rewritten on a terminal, now and then a new one
/// elsewhere, nothing when quiet.
std::function<void(i64, i64, i64)> progress_to_stderr(const std::string& what, bool quiet);

bool colour_wanted();

/// The terminal that standard output is.
Screen screen();

}  // namespace lockstep::judge
