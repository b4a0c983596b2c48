// Compares runs: two reports, or one line per device.
#include <fmt/format.h>

#include "conformance/cli/verbs.h"
#include "conformance/reports/report.h"
#include "conformance/selection/select.h"
#include "conformance/trial/properties.h"

namespace lockstep::judge {
namespace {

int diff(const std::string& before, const std::string& after) {
  int results = 0;
  for (const Change& c : changes(report_of(before), report_of(after))) {
    fmt::print("{}{}\n", c.result ? "" : "(not a result) ", printable(c.text));
    results += c.result;
  }
  const Exit e = results == 0 ? Exit::pass : Exit::fail;
  fmt::print("{} differences of results; {}\n", results, exit_text(e));
  return static_cast<int>(e);
}

// Puts the calls of a check to the backend, each once, which suffices for the digest of its
// outputs.
int digest(RunOptions& o) {
  finish_selection(o.selection);
  // Refuse a wrong name before the cases are made, which takes seconds.
  open_subject(o.backend, o.conduct.limits);
  const std::vector<Item> items = select_cases(o.selection);
  Selection once = o.selection;
  once.properties = {std::string(kMatchesReference.name)};
  o.conduct.shrink = false;
  o.conduct.progress = progress_to_stderr("digest " + printable(o.backend), o.quiet);
  const Report r = judge(o.backend, once, items, o.conduct);
  fmt::print("{}\n", digest_line(r));
  const Counts& c = r.counts;
  const i64 dead = c.crashed + c.timed_out + c.quarantined;
  if (dead > 0) fmt::print(stderr, "lockstep: {} cases crashed, hung or were left out\n", dead);
  const Exit e = digested(r) == 0 || c.missing > 0 ? Exit::incomplete
      : dead > 0                                   ? Exit::fail
                                                   : Exit::pass;
  return static_cast<int>(e);
}

}  // namespace

void add_diff(CLI::App& app, Session& session) {
  auto files = std::make_shared<std::pair<std::string, std::string>>();
  CLI::App* verb = app.add_subcommand("diff",
      "Compare two runs: lockstep diff before.json after.json\n"
      "Exit 0: the same results, 1: other results.");
  verb->add_option("before", files->first, "a report of check --json")->required();
  verb->add_option("after", files->second, "a report of check --json")->required();
  verb->callback([files, &session] { session.exit = diff(files->first, files->second); });
}

void add_digest(CLI::App& app, Session& session) {
  auto o = std::make_shared<RunOptions>();
  CLI::App* verb = app.add_subcommand("digest",
      "Print one line about everything that a backend computes, for two devices to\n"
      "compare: number of calls, case set, hash of all outputs");
  add_run(*verb, *o);
  verb->callback([o, &session] { session.exit = digest(*o); });
}

}  // namespace lockstep::judge
