#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <memory>

#include "conformance/cli/fuzz_state.h"
#include "conformance/cli/verbs.h"
#include "conformance/run/judge.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr i64 kFirstBatch = 200, kLargestBatch = 20000;
constexpr double kBatchSeconds = 2;  // between saves, at which the search can end

struct FuzzOptions {
  std::string backend, time = "60s", directory = "lockstep-fuzz";
  Selection selection;
  Conduct conduct;
  i64 count = 0;
  bool quiet = false;
};

// Reads 30, 30s, 10m or 2h.
double seconds_of(const std::string& text) {
  double n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const std::string unit(end, text.data() + text.size());
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc() || factor == 0 || !(n > 0) || !(n * factor < 1e7))
    throw UsageError("--time takes a number with s, m or h, as 90s, not '" + text + "'");
  return n * factor;
}

// Shrinks failures and saves them. The subject is opened for the first one.
class Saver {
 public:
  Saver(const FuzzOptions& o, FuzzState& state) : o_(o), state_(state) {}

  void take(const Report& r) {
    for (const Failure& f : r.failures) {
      if (f.id.empty() || !state_.wanted(f.op, f.property)) continue;
      FuzzFinding finding{
          f.op, f.property, f.id, f.text, f.id, r.name + " " + r.version, r.manifest_hash, {}};
      // A backend that never answers fails every case alike, so shrinking is pointless.
      if (r.counts.passed + r.counts.failed > 0) make_small(f, finding);
      finding.repeat = repeat_command(o_.backend, o_.conduct.limits.set, finding.id, f.property);
      const std::string file = state_.save(finding);
      if (file.empty()) continue;
      ++fresh_;
      fmt::print("{} violates {}\n  case    {}\n  shows   {}\n  repeat  {}\n  saved   {}\n\n", f.op,
          f.property, finding.id, finding.text, finding.repeat, o_.directory + "/" + file);
      std::fflush(stdout);
    }
  }
  i64 fresh() const { return fresh_; }

 private:
  void make_small(const Failure& failure, FuzzFinding& f) {
    if (!subject_) {
      subject_ = open_subject(o_.backend, o_.conduct.limits);
      plan_ = plan_for(*subject_, o_.selection.properties);
    }
    f.id = case_id(shrink(*subject_, plan_, failure, f.text));
  }

  const FuzzOptions& o_;
  FuzzState& state_;
  std::unique_ptr<Subject> subject_;
  TrialPlan plan_;
  i64 fresh_ = 0;
};

std::vector<Item> batch_of(const std::vector<const OpInfo*>& ops, u64 seed, i64 first, i64 count) {
  const auto n = std::ssize(ops);
  std::vector<Item> items;
  for (i64 k = first; k < first + count; ++k)
    items.push_back(endless_item(*ops[static_cast<std::size_t>(k % n)], seed, k / n));
  return items;
}

FuzzTarget target_of(const FuzzOptions& o, const std::vector<const OpInfo*>& ops) {
  FuzzTarget t{o.backend, o.conduct.limits.set, {}, o.selection.properties, o.selection.seed};
  for (const OpInfo* op : ops) t.operators.emplace_back(op->name);
  return t;
}

int fuzz(FuzzOptions& o) {
  const double limit = seconds_of(o.time);
  check_properties(o.selection);
  const std::vector<const OpInfo*> ops = selected_operators(o.selection);
  // Fail before a directory is made if there is no such backend.
  open_subject(o.backend, o.conduct.limits);
  FuzzState state(o.directory, target_of(o, ops));
  Saver saver(o, state);
  o.conduct.shrink = false;
  const Interruptible until_reported;  // the search ends after the current batch
  const auto begin = Clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const i64 first = state.progress().next, before = state.progress().executed;
  for (i64 size = kFirstBatch; !Interruptible::interrupted() && spent() < limit;) {
    if (o.count > 0) size = min(size, o.count - (state.progress().next - first));
    if (size == 0) break;
    const double started = spent();
    o.selection.budget = size;  // a batch is judged without floor or paths_covered
    const Report r = judge(o.backend, o.selection,
        batch_of(ops, o.selection.seed, state.progress().next, size), o.conduct);
    if (const Canaries c = all_canaries(r); c.noticed < c.planted)
      throw std::runtime_error("the judge missed a canary: its comparison does not work");
    saver.take(r);
    state.advance(size, r.counts.executed);
    const double rate = static_cast<double>(size) / std::max(spent() - started, 1e-3);
    size = clamp(static_cast<i64>(rate * kBatchSeconds), kFirstBatch, kLargestBatch);
    if (!o.quiet)
      fmt::print(stderr, "fuzz {}: {} calls, {} findings, {:.0f} s left\n", printable(o.backend),
          state.progress().next - first, state.progress().findings.size(),
          std::max(limit - spent(), 0.0));
  }
  const i64 executed = state.progress().executed - before;
  const Exit exit = executed == 0         ? Exit::incomplete
      : state.progress().findings.empty() ? Exit::pass
                                          : Exit::fail;
  fmt::print(
      "fuzz {}: numbers {} to {} of {} operators, seed {}: {} executed\n{} findings in {}, {} "
      "of them new\n{}\n",
      printable(o.backend), first, state.progress().next - 1, ops.size(), o.selection.seed,
      executed, state.progress().findings.size(), o.directory, saver.fresh(), exit_text(exit));
  return static_cast<int>(exit);
}

}  // namespace

void add_fuzz(CLI::App& app, Session& session) {
  auto o = std::make_shared<FuzzOptions>();
  CLI::App* verb =
      app.add_subcommand("fuzz", "Search for failures with random calls; shrink and save each");
  verb->add_option("backend", o->backend, "name, library or exec:COMMAND")->required();
  verb->add_option("--time", o->time, "how long: 90s, 10m, 2h")->capture_default_str();
  verb->add_option("--count", o->count, "at most so many calls")->check(positive());
  verb->add_option("--state", o->directory,
          "directory of the search: it goes on where the last one ended, and has the "
          "findings")
      ->capture_default_str();
  verb->add_option("--seed", o->selection.seed, "seed of the calls")
      ->check(without_sign())
      ->capture_default_str();
  verb->add_option("--op", o->selection.operators, "only these operators; * and ? match")
      ->delimiter(',');
  verb->add_option("--profile", o->selection.profiles, "only operators of these profiles")
      ->delimiter(',');
  verb->add_option("--property", o->selection.properties, "only these properties")->delimiter(',');
  add_conduct(*verb, o->conduct);
  verb->add_flag("--quiet", o->quiet, "no progress");
  verb->footer(
      "Exit codes: 0 nothing found so far, 1 findings, 2 usage, 3 nothing was executed.\n"
      "Example: lockstep fuzz ./mine.so --op conv2d --time 10m --state conv2d-search\n"
      "         lockstep vectors add my-vectors conv2d-search/conv2d-*.json");
  verb->callback([o, &session] { session.exit = fuzz(*o); });
}

}  // namespace lockstep::judge
