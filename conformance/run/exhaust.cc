#include "conformance/run/exhaust.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "conformance/base/form.h"
#include "conformance/base/read_file.h"
#include "conformance/base/text.h"
#include "conformance/cases/counting.h"
#include "conformance/run/jobs.h"
#include "conformance/run/journal.h"
#include "conformance/run/processes.h"
#include "conformance/trial/poison.h"
#include "spec/random.h"
#include "spec/values.h"

namespace lockstep::judge {

using json = nlohmann::ordered_json;

static void fields(auto& f, form::Like<RangeResult> auto& r) {
  f("n", r.n);
  f.optional("not_claimed", r.not_claimed);
  f("digest", r.digest, {.hash = true});
  f.optional("wrong", r.wrong);
  f.optional("finding", r.finding);
  f.optional("case", r.id);
}

namespace {

// A killed run loses at most one range of each process; the tensors of one call stay in a cache.
constexpr i64 kRange = i64{1} << 26, kCall = i64{1} << 17, kProgress = i64{1} << 20;
constexpr i64 kSample = i64{1} << 12;  // of each range that a witness compares
static_assert(kRange % kCall == 0);

i64 values_of_precision(int precision) { return 2 * max_of(precision) + 1; }

// What is wrong with an answer; `wrong` receives the number of wrong values.
std::string finding_of(
    const Answer& a, const std::vector<i32>& in, const std::vector<i32>& expected, i64& wrong) {
  wrong = std::ssize(expected);
  if (!a.ok())
    return std::string(name_of(a.kind)) + (a.message.empty() ? "" : ": ") + printable(a.message);
  if (a.out.size() != 1 || a.out[0].size() != expected.size())
    return "it answered with other outputs than one of these elements";
  const std::vector<i32>& got = a.out[0];
  wrong = 0;
  if (got != expected) {
    for (std::size_t k = 0; k < got.size(); ++k) wrong += got[k] != expected[k];
    const auto at = static_cast<std::size_t>(
        std::mismatch(got.begin(), got.end(), expected.begin()).first - got.begin());
    const bool unwritten = got[at] == drawn_poison(kPoison);
    return fmt::format("of {}: expected {}, got {}", in[at], expected[at],
        unwritten ? "nothing" : std::to_string(got[at]));
  }
  const std::string damage = a.out_damage.empty() ? a.in_damage : a.out_damage;
  wrong = !damage.empty();
  return printable(damage);
}

std::string plan_hash(const ValuePlan& plan) {
  std::string text;
  for (const Case& c : plan.settings) text += case_id(c) + "\n";
  for (const ValuePlan::Range& r : plan.ranges)
    text += fmt::format("{} {} {}\n", r.setting, r.first, r.values);
  return sha256(text);
}

json identity(const std::string& backend, const Subject& s, const ValuePlan& p, const Conduct& c,
    const std::string& witness) {
  std::vector<std::string> names;
  for (const OpInfo* op : p.operators) names.emplace_back(op->name);
  const Manifest& m = s.manifest();
  return {{"judge", LOCKSTEP_VERSION}, {"backend", backend}, {"file_sha256", file_hash(backend)},
      {"manifest_sha256", m.stated() ? sha256(m.text) : ""}, {"options", c.limits.set},
      {"operators", names}, {"precisions", p.precisions}, {"values_sha256", plan_hash(p)},
      {"witness_sha256", witness.empty() ? "" : sha256(read_file(witness))}};
}

using RangeResults = std::vector<std::optional<RangeResult>>;

RangeResult range_result(const json& line, const ValuePlan& plan) {
  auto r = form::loaded<RangeResult>(line);
  if (r.n >= plan.ranges.size() || r.wrong > plan.ranges[r.n].values ||
      (r.digest.empty() && !r.not_claimed))
    form::wrong("", "is no result of a range");
  return r;
}

Exhaustion summary_of(const ValuePlan& plan, const RangeResults& results) {
  Exhaustion e;
  e.precisions = plan.precisions;
  std::vector<std::string> digests(plan.operators.size());
  for (const OpInfo* op : plan.operators)
    e.operators.push_back({std::string(op->name), !has_wide_attribute(*op)});
  const auto number_of = [&](const ValuePlan::Range& r) {
    return static_cast<std::size_t>(
        std::find(plan.operators.begin(), plan.operators.end(), plan.settings[r.setting].op) -
        plan.operators.begin());
  };
  for (std::size_t n = 0; n < plan.ranges.size(); ++n) {
    const ValuePlan::Range& range = plan.ranges[n];
    const std::size_t k = number_of(range);
    OperatorValues& v = e.operators[k];
    v.settings += range.first == 0;
    v.values += range.values;
    if (!results[n]) continue;
    const RangeResult& r = *results[n];
    (r.not_claimed ? v.not_claimed : v.judged) += range.values;
    v.wrong += r.wrong;
    if (!r.not_claimed) digests[k] += fmt::format("{} {}\n", n, r.digest);
    if (r.wrong > 0 && v.finding.empty()) v.finding = r.finding, v.id = r.id;
  }
  for (std::size_t k = 0; k < digests.size(); ++k)
    if (!digests[k].empty()) e.operators[k].digest = sha256(digests[k]);
  return e;
}

// Counts what a run does for Conduct::progress.
class Progress {
 public:
  Progress(const ValuePlan& plan, const RangeResults& known, const Conduct& conduct)
      : plan_(plan), conduct_(conduct) {
    for (std::size_t n = 0; n < plan.ranges.size(); ++n)
      if (!known[n]) all_ += plan.ranges[n].values;
  }
  void add(const RangeResult& r) {
    done_ += plan_.ranges[r.n].values;
    wrong_ += r.wrong;
    show();
  }
  void show() const {
    if (conduct_.progress) conduct_.progress(done_ / kProgress, all_ / kProgress, wrong_);
  }

 private:
  const ValuePlan& plan_;
  const Conduct& conduct_;
  i64 done_ = 0, all_ = 0, wrong_ = 0;
};

}  // namespace

Case ValuePlan::call(std::size_t setting, i64 first, i64 values) const {
  Case c = settings[setting];
  c.fill = Fill::range;
  c.seed = static_cast<u64>(first);
  c.in[0].shape = {values};
  return c;
}

ValuePlan plan_values(
    const std::vector<std::string>& operators, const std::vector<int>& precisions) {
  ValuePlan plan;
  plan.precisions = precisions;
  for (int p = kMaxPrecision; precisions.empty() && p >= 1; --p) plan.precisions.push_back(p);
  for (const OpInfo* op : lockstep::operators())
    if (values_of(*op) &&
        (operators.empty() || std::any_of(operators.begin(), operators.end(), [&](const auto& g) {
          return glob(g, op->name);
        })))
      plan.operators.push_back(op);
  for (const std::string& g : operators)
    if (std::none_of(plan.operators.begin(), plan.operators.end(),
            [&](const OpInfo* op) { return glob(g, op->name); }))
      throw UsageError("no elementwise operator of one input matches '" + g + "'");
  // Operators of which every setting can be tried come first.
  std::stable_partition(plan.operators.begin(), plan.operators.end(),
      [](const OpInfo* op) { return !has_wide_attribute(*op); });
  for (int p : plan.precisions)
    for (const OpInfo* op : plan.operators)
      for (Case& c : value_settings(*op, p)) {
        const i64 values = values_of_precision(p);
        for (i64 first = 0; first < values; first += kRange)
          plan.ranges.push_back({plan.settings.size(), first, min(kRange, values - first)});
        plan.settings.push_back(std::move(c));
      }
  return plan;
}

namespace {

// Judges a part of a range, with the values in this process. @return the sum over its outputs
u64 judge_part(Subject& subject, const ValuePlan& plan, ValuePlan::Range part, RangeResult& r) {
  const Case call = plan.call(part.setting, part.first, part.values);
  std::vector<Tensor> in{{call.in[0], {}}};
  in[0].data.resize(static_cast<std::size_t>(part.values));
  std::iota(in[0].data.begin(), in[0].data.end(),
      static_cast<i32>(part.first - max_of(call.in[0].precision)));
  std::vector<i32> expected(in[0].data.size());
  values_of (*call.op)(call.attributes(), in[0].data.data(), expected.data(), part.values);
  const Answer a = subject.execute(call, in, call.op->infer(call.attributes(), call.types()),
      {.poison = drawn_poison(kPoison), .filler = drawn_poison(kOtherPoison)});
  u64 sum = 0;
  for (const std::vector<i32>& out : a.out)
    for (i64 number = part.first; const i32 v : out) sum += value_sum(number++, v);
  i64 wrong = 0;
  std::string finding = finding_of(a, in[0].data, expected, wrong);
  if (wrong > 0 && r.wrong == 0) r.finding = std::move(finding), r.id = case_id(call);
  r.wrong += wrong;
  return sum;
}

// What is wrong with a range that a witness compared; `wrong` receives the number of wrong values.
std::string finding_there(const Answer& a, const Case& call, i64& wrong) {
  wrong = call.in[0].dim(0);
  if (!a.ok() || !a.tally)
    return std::string(name_of(a.kind)) + (a.message.empty() ? "" : ": ") + printable(a.message);
  wrong = a.tally->wrong;
  const i64 first = static_cast<i64>(call.seed) - max_of(call.in[0].precision);
  if (wrong > 0) return fmt::format("of {}: got {}", first + a.tally->place, a.tally->got);
  wrong = a.tally->beside > 0 || !a.out_damage.empty();
  return a.tally->beside == 0 ? a.out_damage
                              : fmt::format("words written beside the output: {}", a.tally->beside);
}

// Has a witness compare a range. A few of its values are also judged here, because the compiler
// that made the witness may have made the backend's kernels, too; and those around the first wrong
// one, so that fewer values repeat it.
u64 judge_there(Subject& subject, const ValuePlan& plan, const std::string& witness,
    const ValuePlan::Range& range, RangeResult& r) {
  const Case call = plan.call(range.setting, range.first, range.values);
  const Answer a = subject.tally(call, witness);
  i64 wrong = 0;
  std::string finding = finding_there(a, call, wrong);
  const auto judge_around = [&](i64 place, i64 values) {
    const i64 first = clamp(place, 0, range.values - values);
    judge_part(subject, plan, {range.setting, range.first + first, values}, r);
  };
  judge_around(lockstep::within(word(r.n, 0, 0), 0, range.values - 1), min(kSample, range.values));
  if (r.wrong == 0 && wrong > 0)
    judge_around(a.tally ? a.tally->place : 0, min(kCall, range.values));
  if (r.wrong == 0 && wrong > 0) r.finding = std::move(finding), r.id = case_id(call);
  r.wrong = std::max(r.wrong, wrong);
  return a.tally ? a.tally->sum : 0;
}

}  // namespace

RangeResult judge_range(
    Subject& subject, const ValuePlan& plan, std::size_t n, const std::string& witness) {
  const ValuePlan::Range& range = plan.ranges[n];
  RangeResult r{.n = n};
  if (!subject.manifest().claims_call(plan.settings[range.setting])) {
    r.not_claimed = true;
    return r;
  }
  u64 sum = 0;
  if (!witness.empty())
    sum = judge_there(subject, plan, witness, range, r);
  else
    for (i64 at = 0; at < range.values; at += kCall)
      sum += judge_part(
          subject, plan, {range.setting, range.first + at, min(kCall, range.values - at)}, r);
  r.digest = sha256(std::to_string(sum));
  return r;
}

i64 Exhaustion::sum(i64 OperatorValues::*member) const {
  i64 all = 0;
  for (const OperatorValues& v : operators) all += v.*member;
  return all;
}

bool Exhaustion::is_complete() const {
  return sum(&OperatorValues::judged) + sum(&OperatorValues::not_claimed) ==
      sum(&OperatorValues::values);
}

Exit Exhaustion::exit() const {
  if (sum(&OperatorValues::wrong) > 0) return Exit::fail;
  return is_complete() && sum(&OperatorValues::judged) > 0 ? Exit::pass : Exit::incomplete;
}

// Whether a witness reaches the memory of a backend.
// @throws UsageError if it is none.
static bool reaches(Subject& subject, const ValuePlan& plan, const std::string& witness) {
  if (witness.empty() || !subject.takes_turns()) return false;
  const ValuePlan::Range& r = plan.ranges[0];
  const Answer a = subject.tally(plan.call(r.setting, r.first, min(kSample, r.values)), witness);
  if (a.kind == AnswerKind::protocol) throw UsageError("the witness: " + a.message);
  return a.tally.has_value();
}

static RangeResults judged_ranges(const std::string& backend, const ValuePlan& plan,
    const Conduct& conduct, std::string& witness) {
  Limits limits = conduct.limits;
  limits.interrupted = conduct.interrupted;
  const std::unique_ptr<Subject> subject = open_subject(backend, limits);
  if (!subject->live()) throw UsageError("recorded answers hold no ranges of values");
  if (!reaches(*subject, plan, witness)) witness.clear();
  RangeResults results(plan.ranges.size());
  std::optional<Journal> journal;
  if (!conduct.journal.empty()) {
    journal.emplace(
        conduct.journal, identity(backend, *subject, plan, conduct, witness), plan.ranges.size());
    for (const auto& [n, line] : journal->known()) {
      try {
        results[n] = range_result(json::parse(line), plan);
      } catch (const UsageError& e) {
        throw UsageError(fmt::format("the journal's line of range {}: {}", n, e.what()));
      }
    }
  }
  const RangeResults known = results;
  Progress progress(plan, known, conduct);
  progress.show();
  const auto interrupted = [&] { return conduct.interrupted && conduct.interrupted(); };
  const auto jobs = static_cast<std::size_t>(jobs_of(conduct));
  Processes processes;
  for (std::size_t k = 0; k < jobs; ++k)
    processes.start([&, k](int fd) {
      const std::unique_ptr<Subject> own = open_subject(backend, conduct.limits);
      for (std::size_t n = k; n < plan.ranges.size(); n += jobs)
        if (!known[n]) send_line(fd, form::written(judge_range(*own, plan, n, witness)));
    });
  while (processes.working() && !interrupted())
    processes.receive(interrupted, [&](const std::string& line, const json& j) {
      RangeResult r = range_result(j, plan);
      if (journal) journal->add(line);
      progress.add(r);
      results[r.n] = std::move(r);
    });
  return results;
}

Exhaustion exhaust(const std::string& backend, const ValuePlan& plan, const Conduct& conduct,
    std::string witness) {
  RangeResults results(plan.ranges.size());
  try {
    results = judged_ranges(backend, plan, conduct, witness);
  } catch (const Interrupted&) {
    // It was ended while the backend was opened.
    witness.clear();
  }
  Exhaustion e = summary_of(plan, results);
  e.backend = backend, e.file_hash = file_hash(backend), e.options = conduct.limits.set;
  e.witness_hash = witness.empty() ? "" : sha256(read_file(witness));
  return e;
}

ValueJournal read_value_journal(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const json head = json::parse(line, nullptr, false);
  ValueJournal j;
  try {
    const json& run = head.at("run");
    std::vector<std::string> names = run.at("operators");
    j.plan = plan_values(names, run.at("precisions").get<std::vector<int>>());
    if (plan_hash(j.plan) != run.at("values_sha256"))
      throw UsageError("this program makes other ranges of its operators and precisions");
    j.results.resize(j.plan.ranges.size());
    while (std::getline(lines, line)) {
      RangeResult r = range_result(json::parse(line), j.plan);
      if (j.results[r.n]) form::wrong("", fmt::format("holds range {} twice", r.n));
      j.results[r.n] = std::move(r);
    }
    j.known = summary_of(j.plan, j.results);
    j.known.backend = run.at("backend"), j.known.file_hash = run.at("file_sha256");
    j.known.options = run.at("options").get<Options>();
    j.known.witness_hash = run.at("witness_sha256");
  } catch (const json::exception&) {
    throw UsageError("it is no journal of lockstep exhaust");
  }
  return j;
}

}  // namespace lockstep::judge
