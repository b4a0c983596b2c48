#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#include "conformance/base/places.h"
#include "conformance/base/sha256.h"
#include "conformance/cases/model_calls.h"
#include "conformance/cli/verbs.h"
#include "conformance/reports/html.h"
#include "conformance/run/jobs.h"
#include "conformance/selection/select.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/report.h"
#include "conformance/verdict/verdict.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

struct CheckOptions {
  std::string backend, results, json, junit, markdown, html, failures, expected;
  Selection selection;
  Conduct conduct;
  std::string shard;
  double deadline_s = 0;  // 0: none
  bool quiet = false, schema = false;
};

std::string text_of(const std::tm& day) {
  return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

// Today in UTC, so that expectations expire at the same time everywhere.
std::string day_of_today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return text_of(utc);
}

// A CLI11 validator: empty if the text is a day. timegm() makes February 30 a day of March.
std::string is_day(const std::string& text) {
  std::tm day{};
  const bool read = strptime(text.c_str(), "%Y-%m-%d", &day) != nullptr;
  timegm(&day);
  return read && text_of(day) == text ? "" : "'" + text + "' is not a date such as 2027-01-31";
}

// A kind of output of a run, and its file: empty for none, - for standard output.
struct Form {
  std::string file;
  std::function<std::string(const Report&)> text;
};

// An expectation made today holds for a season.
std::string day_after_a_season(const std::string& today) {
  constexpr int kDays = 90;
  std::tm day{};
  strptime(today.c_str(), "%Y-%m-%d", &day);
  day.tm_mday += kDays;
  timegm(&day);
  return text_of(day);
}

// @param failing the ids of the cases that fail, a line each
std::vector<Form> forms(const CheckOptions& o, const std::string& failing) {
  return {{o.json, json_report}, {o.junit, junit_report}, {o.markdown, markdown_report},
      {o.html, [](const Report& r) { return html_report(r, {}); }},
      {o.failures, [&](const Report&) { return failing; }},
      {o.expected, [&](const Report& r) {
         return expectations_of(r, day_after_a_season(o.conduct.today));
       }}};
}

// The summary of a run; if quiet, only its verdict, and the first quarantine that explains it.
std::string verdict_text(const Report& r, bool quiet) {
  if (!quiet) return summary(r, colour_wanted(), screen());
  std::string s;
  if (!r.quarantine.empty()) s = "quarantined: " + printable(r.quarantine[0]) + "\n";
  return s + verdict_line(r) + "\n";
}

// Writes all that can be written: a file that fails stops neither other reports nor the verdict.
// @param words text for standard output; empty if a report goes there
void write_all(std::vector<Form> all, const Report& r, const std::string& words) {
  if (!words.empty()) all.insert(all.begin(), {"-", [&](const Report&) { return words; }});
  std::string failed;
  for (const Form& form : all) {
    if (form.file.empty()) continue;
    try {
      write_output(form.file, form.text(r));
    } catch (const std::runtime_error& e) {
      failed += (failed.empty() ? "" : "; ") + std::string(e.what());
      if (form.file == "-") fmt::print(stderr, "{}\n", verdict_line(r));
    }
  }
  if (!failed.empty()) throw std::runtime_error(failed);
}

int check(CheckOptions& o) {
  if (o.schema) {
    fmt::print("{}", report_schema());
    return 0;
  }
  if (!o.results.empty()) {
    if (!o.backend.empty()) throw UsageError("check takes a BACKEND or --results, not both");
    o.backend = "results:" + o.results;
  }
  if (o.backend.empty()) throw UsageError("check needs a BACKEND (lockstep list --backends)");
  finish_selection(o.selection);
  std::string failing;
  const std::vector<Form> all = forms(o, failing);
  std::vector<std::string> files;
  for (const Form& form : all) files.push_back(form.file);
  const bool printed = require_writable(files);
  o.conduct.writes_expectations = !o.expected.empty();
  o.conduct.failing = [&](const Item& item) { failing += item.id + "\n"; };
  o.conduct.progress = progress_to_stderr("check " + printable(o.backend), o.quiet);
  if (!o.shard.empty()) o.selection.part = read_shard(o.shard, std::getenv);
  if (o.conduct.today.empty()) o.conduct.today = day_of_today();
  const Interruptible until_reported;
  using Clock = std::chrono::steady_clock;
  o.conduct.interrupted = [&, begin = Clock::now()] {
    const std::chrono::duration<double> spent = Clock::now() - begin;
    return Interruptible::interrupted() || (o.deadline_s > 0 && spent.count() > o.deadline_s);
  };
  Report r = judge(o.backend, o.selection, o.conduct);
  add_file_hashes(r, o.selection);
  write_all(all, r, printed ? "" : verdict_text(r, o.quiet));
  return static_cast<int>(r.exit);
}

// The first values of a tensor, and how many there are.
std::string values(const std::vector<i32>& v) {
  std::string s;
  for (std::size_t i = 0; i < v.size() && i < kMaxLiteral; ++i)
    s += (i ? " " : "") + std::to_string(v[i]);
  return s + (v.size() > kMaxLiteral ? fmt::format(" ... ({} in all)", v.size()) : "");
}

struct ReproOptions {
  std::string backend, id, bundle, model, vectors = vector_directory();
  std::vector<std::string> properties;
  Conduct conduct;
};

// Prints the tensors that a graph is given.
void print_graph(const CallGraph& g) {
  for (int e = 0; e < g.given; ++e) {
    const Tensor& t = g.entries[static_cast<std::size_t>(e)];
    fmt::print("{} e{} {}: {}\n", e < g.feeds ? "feed    " : "constant", e, operand_text(t.type),
        values(t.data));
  }
}

// Prints a refusal or another failure. @param note says when it came
void print_failure(const Answer& a, const std::string& note) {
  fmt::print("{} {} {} {}{}\n", a.gone() ? "no answer" : "answered ", name_of(a.kind), a.label,
      a.message, note);
}

void print_trial(const Trial& t, const Case& c) {
  if (t.refusal) {
    fmt::print("expected  logic_error {}\n", t.item->label);
    print_failure(*t.refusal, "");
    return;
  }
  const std::vector<Tensor> in = inputs_of(c);
  for (std::size_t k = 0; k < in.size(); ++k) fmt::print("input {}   {}\n", k, values(in[k].data));
  for (std::size_t k = 0; k < t.expected.size(); ++k)
    fmt::print("expected  output {}: {}\n", k, values(t.expected[k].data));
  for (const auto& [when, answer, right, is_graph] : t.answers()) {
    const std::string note = when.empty() ? "" : " (" + when + ")";
    if (!answer->ok()) print_failure(*answer, note);
    if (is_graph) print_graph(*t.graph);
    for (std::size_t k = 0; right != &t.expected && k < right->size(); ++k)
      fmt::print("expected  output {}: {}{}\n", k, values((*right)[k].data), note);
    for (std::size_t k = 0; k < answer->out.size(); ++k)
      fmt::print("got       output {}: {}{}\n", k, values(answer->out[k]), note);
  }
}

// The id in FILE, or the id in FILE#HASH whose hash begins with HASH.
std::string id_in_file(const std::string& place) {
  const std::size_t at = std::min(place.rfind('#'), place.size());
  const std::string file = place.substr(0, at), hash = place.substr(std::min(at + 1, place.size()));
  Selection s;
  s.cases = {"@" + file};
  finish_selection(s);
  std::vector<std::string> ids;
  for (const std::string& id : s.cases)
    if (sha256(id).starts_with(hash)) ids.push_back(id);
  if (ids.size() != 1)
    throw UsageError(fmt::format("'{}' holds {} cases{}; repro takes one: @{}#HASH", file,
        ids.size(), hash.empty() ? "" : " with the hash " + hash, file));
  return ids[0];
}

int repro(const ReproOptions& o) {
  Selection s;
  s.properties = o.properties;
  s.cases = {o.id.starts_with('@') ? id_in_file(o.id.substr(1)) : o.id};
  s.vectors = o.vectors;
  const std::vector<Item> items = select_cases(s);
  const std::unique_ptr<Subject> subject = open_subject(o.backend, o.conduct.limits);
  const TrialPlan plan = plan_for(*subject, s.properties, operators_of_model(o.model));
  const Trial t = perform(*subject, items[0], plan);
  fmt::print("case      {}\n", shown_id(items[0].id));
  print_trial(t, items[0].call);
  const ItemResult result = judge_trial(t, s.properties);
  for (const std::string& p : result.judged) {
    const auto f = std::find_if(result.findings.begin(), result.findings.end(),
        [&](const auto& found) { return found.first == p; });
    fmt::print("{}  {}{}\n", f == result.findings.end() ? "holds   " : "violates", p,
        f == result.findings.end() ? "" : ": " + f->second.text);
  }
  const Exit e = result.judged.empty() ? Exit::incomplete
      : result.findings.empty()        ? Exit::pass
                                       : Exit::fail;
  if (!o.bundle.empty()) {
    write_bundle(
        o.bundle, t, repeat_command(o.backend, o.conduct.limits.set, items[0].id, "", o.model));
    fmt::print("bundle    {}\n", o.bundle);
  }
  fmt::print("{}\n", exit_text(e));
  return static_cast<int>(e);
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  auto o = std::make_shared<CheckOptions>();
  CLI::App* verb = app.add_subcommand("check", "Judge a backend and print the verdict");
  verb->add_option("backend", o->backend, "name, library, exec:COMMAND or results:FILE");
  verb->add_option("--results", o->results,
      "judge the answers of a file to the calls of emit; the same as results:FILE");
  add_selection(*verb, o->selection);
  add_conduct(*verb, o->conduct);
  verb->add_option("--json", o->json, "write the report as JSON; - is standard output");
  verb->add_option("--junit", o->junit, "write the report as JUnit XML");
  verb->add_option("--markdown", o->markdown, "write the report for the page of a CI run");
  verb->add_option("--html", o->html, "write the report as one page for a browser");
  verb->add_option(
      "--failures", o->failures, "write the ids of all cases that fail, for --cases and repro");
  verb->add_option("--resume", o->conduct.journal,
      "note each result in this file, and continue from what it holds");
  verb->add_option(
      "--shard", o->shard, "judge only part I of N (1/4), or what a job's environment says (auto)");
  verb->add_option("--deadline", o->deadline_s,
          "seconds after which the run ends; cases not judged by then are missing")
      ->check(CLI::Range(0.001, 1e9))
      ->check(number());
  verb->add_option("--expectations", o->conduct.expectations,
      "a TOML file of known failures; others fail the run, and so do those that are gone");
  verb->add_option(
      "--write-expectations", o->expected, "write a TOML file that expects what fails in this run");
  verb->add_option("--today", o->conduct.today,
          "the day on which expectations must not be expired (default: today)")
      ->check(CLI::Validator(is_day, "YYYY-MM-DD"));
  verb->add_flag("--schema", o->schema, "print the JSON Schema of the report");
  verb->add_flag("--quiet", o->quiet, "no progress, only the verdict");
  verb->add_flag("!--no-shrink", o->conduct.shrink, "report failures as they were found");
  verb->callback([o, &session] { session.exit = check(*o); });
}

void add_repro(CLI::App& app, Session& session) {
  auto o = std::make_shared<ReproOptions>();
  CLI::App* verb = app.add_subcommand("repro", "Repeat one case and show inputs and outputs");
  verb->add_option("backend", o->backend, "name, library or exec:COMMAND")->required();
  verb->add_option("case", o->id,
          "a case id, as a report prints it, or a vector's; @FILE: that of a file, "
          "@FILE#HASH: of several\n"
          "the one whose SHA-256 begins so")
      ->required();
  verb->add_option("--vectors", o->vectors, "directory of golden vectors");
  verb->add_option("--property", o->properties, "only these properties")->delimiter(',');
  verb->add_option("--model", o->model, "in graphs only the operators of this model, as in check")
      ->check(CLI::ExistingDirectory);
  verb->add_option("--bundle", o->bundle,
      "write inputs, expected and got into a directory: .npy, .memh, C and a program");
  add_conduct(*verb, o->conduct);
  verb->footer(
      "Example: lockstep repro ./mine.so 'relu/in=1@2/data=1' --bundle relu && cd relu &&\n"
      "         cc -std=c11 show.c -o show && ./show");
  verb->callback([o, &session] { session.exit = repro(*o); });
}

}  // namespace lockstep::judge
