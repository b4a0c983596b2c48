// lockstep_bench: times backends beside their peers and the machine's limits.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "bench/limits/limits.h"
#include "bench/peers/peer.h"
#include "bench/run.h"
#include "conformance/base/read_file.h"

namespace lockstep::bench {
namespace {

enum Exit { kPass = 0, kFail = 1, kUsage = 2, kBroken = 4 };

struct Options {
  BenchmarkOptions wishes;
  std::vector<std::string> settings;
  std::string json, markdown, before, times;
  int percent = 15;
  double deadline_s = 0;  // 0: none
  bool list = false, schema = false;
};

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw judge::UsageError("cannot write '" + path + "'");
}

void list_workloads(const BenchmarkOptions& wishes) {
  for (const OpInfo* op : operators())
    for (const Workload& w : workloads(*op))
      if (wishes.want(std::string(op->name), w.name))
        fmt::print("{:<48} {:>12} {:>11} {}\n", w.id(),
            w.unit == Unit::macs ? work_text("mac", w.units()) : "", work_text("byte", w.bytes()),
            case_id(w.call));
}

Results describe_run() {
  Results r;
  r.date = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
  r.processor = processor_name();
  r.processors = static_cast<int>(std::thread::hardware_concurrency());
  r.compiler = __VERSION__;
  r.peer_libraries = peer_names();
  if (getloadavg(&r.load, 1) != 1) r.load = 0;
  return r;
}

// Prints a line on the terminal, which the next one overwrites.
void announce(const std::string& what) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K{}", what);
}

// Reads the lines that bench/build_times.sh prints.
void take_times(const std::string& file, const BenchmarkOptions& wishes, const Take& take) {
  std::istringstream in(judge::read_file(file));
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Measurement row;
    double seconds = 0;
    if (!(words >> seconds >> row.workload >> std::ws) || seconds <= 0)
      throw judge::UsageError("'" + file + "': '" + line + "' is not SECONDS NAME COMMAND");
    std::getline(words, row.call);
    row.op = "build";
    row.unit = "build";
    row.time = {seconds * 1e9, seconds * 1e9, seconds * 1e9, 1};
    if (wishes.want(row.op, row.workload)) take(std::move(row));
  }
}

int run(Options& o) {
  for (const std::string& s : o.settings) {
    const std::size_t eq = s.find('=');
    if (eq == std::string::npos) throw judge::UsageError("--set needs KEY=VALUE, not '" + s + "'");
    o.wishes.set[s.substr(0, eq)] = s.substr(eq + 1);
  }
  if (o.schema) {
    fmt::print("{}", results_schema());
    return kPass;
  }
  if (o.list) {
    list_workloads(o.wishes);
    return kPass;
  }
  // Read now, so that an error shows before minutes of work and not after them.
  const Results before = o.before.empty() ? Results{} : results_of(judge::read_file(o.before));
  for (const std::string& file : {o.json, o.markdown})
    if (!file.empty() && !std::ofstream(file, std::ios::app))
      throw judge::UsageError("cannot write '" + file + "'");
  Results results = describe_run();
  fmt::print("{}\n{}", table_title(results), table_head());
  o.wishes.announce = announce;
  using Clock = std::chrono::steady_clock;
  o.wishes.over = [&o, begin = Clock::now()] {
    const std::chrono::duration<double> spent = Clock::now() - begin;
    return o.deadline_s > 0 && spent.count() > o.deadline_s;
  };
  const Take take = [&](Measurement row) {
    announce("");
    fmt::print("{}", table_row(row));
    std::fflush(stdout);
    results.rows.push_back(std::move(row));
  };
  run_judge(o.wishes, take);
  run_limits(o.wishes, take);
  run_arrays(o.wishes, take);
  // Networks are what users feel, so they come before a deadline that cuts operators off.
  run_graphs(o.wishes, take);
  run_operators(o.wishes, take);
  run_params(o.wishes, take);
  if (!o.times.empty()) take_times(o.times, o.wishes, take);
  if (results.rows.empty()) throw judge::UsageError("the filters leave nothing to time");
  fmt::print("{}", table_means(means_of(results.rows)));
  if (!o.json.empty()) write_file(o.json, json_of(results));
  if (!o.markdown.empty()) write_file(o.markdown, markdown_of(results));
  for (const std::string& f : o.wishes.filters)
    if (std::none_of(results.rows.begin(), results.rows.end(), [&](const Measurement& row) {
          return BenchmarkOptions::names(f, row.op, row.workload);
        }))
      throw judge::UsageError(fmt::format("the filter '{}' leaves nothing to time", f));
  bool passed = !results.fails();
  if (!o.before.empty()) {
    const Comparison c = compare(before, results, o.percent);
    fmt::print("\n{}", c.text);
    passed = passed && c.passed;
  }
  return passed ? kPass : kFail;
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("--backend", o.wishes.backends, "names or paths of libraries")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--set", o.settings, "an option of the backends, KEY=VALUE (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--isa", o.wishes.isas,
         "instruction sets, for backends with that option; all: those of their kernels that run "
         "here")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--threads", o.wishes.threads, "for backends with that option")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--filter,filter", o.wishes.filters,
         "only these: OPERATOR, WORKLOAD, OPERATOR/WORKLOAD, limit, graph, network, array, pool, "
         "judge, params, build; * and ? match")
      ->delimiter(',');
  app.add_option("--model", o.wishes.models,
         "directories with symbol.json and params; with these, "
         "only rows that a filter names are timed beside them")
      ->check(CLI::ExistingDirectory);
  app.add_option("--min-time", o.wishes.effort.repetition_s, "seconds of a repetition, at least")
      ->check(CLI::Range(0.00001, 60.0))
      ->capture_default_str();
  app.add_option("--repetitions", o.wishes.effort.repetitions, "at most")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--deadline", o.deadline_s,
         "seconds after which operators and graphs are no longer timed; their rows say so")
      ->check(CLI::Range(1e-6, 1e6));
  app.add_option("--judge-tier", o.wishes.judge_tier,
         "of the judge's rows; 0 for properties and 1 for whole runs unless given")
      ->check(CLI::Range(0, 3));
  app.add_option("--times", o.times, "a file of rows measured elsewhere: SECONDS NAME COMMAND");
  app.add_option("--json", o.json, "write the results as JSON");
  app.add_option("--markdown", o.markdown, "write the results as tables in Markdown");
  app.add_option("--compare", o.before, "an older JSON file: fail where a row got slower");
  app.add_option("--threshold", o.percent, "percent that a row may get slower")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--list", o.list, "print the workloads: multiply-adds, bytes and calls");
  app.add_flag("--schema", o.schema, "print the JSON Schema of the results");
}

int complain(Exit code, const char* what) {
  fmt::print(stderr, "lockstep_bench: {} (exit {})\n", what, static_cast<int>(code));
  return code;
}

int run_program(int argc, char** argv) {
  CLI::App app{
      "lockstep_bench: operators of backends, timed beside their peers and the machine's limits.\n"
      "Every result is compared with the reference, whole, before it is timed.\n"
      "Exit codes: 0 pass, 1 wrong result, unusable peer or slower than before, 2 usage, 4 "
      "broken.",
      "lockstep_bench"};
  Options o;
  add_options(app, o);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kPass : kUsage;
  }
  return run(o);
}

}  // namespace
}  // namespace lockstep::bench

int main(int argc, char** argv) {
  using namespace lockstep::bench;
  try {
    return run_program(argc, argv);
  } catch (const std::logic_error& e) {
    return complain(kUsage, e.what());
  } catch (const std::exception& e) {
    return complain(kBroken, e.what());
  }
}
