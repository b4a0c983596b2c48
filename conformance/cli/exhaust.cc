#include "conformance/run/exhaust.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "conformance/base/places.h"
#include "conformance/cli/verbs.h"
#include "conformance/reports/exhaustion.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

struct ExhaustOptions {
  std::string backend, json, witness = witness_file();
  std::vector<std::string> operators;
  std::vector<int> precisions;
  Conduct conduct;
  double deadline_s = 0;  // 0: none
  bool quiet = false;
};

int exhaust_values(ExhaustOptions& o) {
  using Clock = std::chrono::steady_clock;
  const bool printed = require_writable({o.json});
  if (!o.witness.empty() && !fs::is_regular_file(o.witness))
    throw UsageError("there is no witness '" + o.witness + "'");
  const ValuePlan plan = plan_values(o.operators, o.precisions);
  o.conduct.progress =
      progress_to_stderr("exhaust " + printable(o.backend), o.quiet, "blocks of 2^20 values");
  const Interruptible until_reported;
  o.conduct.interrupted = [&, begin = Clock::now()] {
    const std::chrono::duration<double> spent = Clock::now() - begin;
    return Interruptible::interrupted() || (o.deadline_s > 0 && spent.count() > o.deadline_s);
  };
  const Exhaustion e = exhaust(
      o.backend, plan, o.conduct, o.witness.empty() ? "" : fs::absolute(o.witness).string());
  if (!o.json.empty()) write_output(o.json, exhaustion_json(e));
  if (!printed) fmt::print("{}", exhaustion_text(e));
  return static_cast<int>(e.exit());
}

}  // namespace

void add_exhaust(CLI::App& app, Session& session) {
  auto o = std::make_shared<ExhaustOptions>();
  CLI::App* verb = app.add_subcommand(
      "exhaust", "Put every value to elementwise operators of one input, with every setting");
  verb->add_option("backend", o->backend, "name, library or exec:COMMAND")->required();
  verb->add_option("--op", o->operators, "only these operators (patterns, comma-separated)")
      ->delimiter(',');
  verb->add_option("--precision", o->precisions, "only these precisions of the input")
      ->delimiter(',')
      ->check(CLI::Range(1, kMaxPrecision));
  verb->add_option("--resume", o->conduct.journal,
      "note each range of values in this file, and continue from what it holds");
  verb->add_option("--witness", o->witness,
      "library that compares the values on the device of a backend that has one; \"\" compares "
      "them in this process (default: the installed one)");
  verb->add_option("--deadline", o->deadline_s, "seconds after which the run ends")
      ->check(CLI::Range(0.001, 1e9))
      ->check(number());
  add_conduct(*verb, o->conduct);
  verb->add_option("--json", o->json, "write the results so far as JSON; - is standard output");
  verb->add_flag("--quiet", o->quiet, "no progress");
  verb->callback([o, &session] { session.exit = exhaust_values(*o); });
}

}  // namespace lockstep::judge
