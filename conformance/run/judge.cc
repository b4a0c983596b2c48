#include "conformance/run/judge.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "conformance/base/sha256.h"
#include "conformance/cases/large.h"
#include "conformance/cases/model_calls.h"
#include "conformance/golden/vectors.h"
#include "conformance/run/jobs.h"
#include "conformance/run/watch.h"
#include "conformance/subjects/library_subject.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/causes.h"
#include "conformance/verdict/frozen.h"
#include "conformance/verdict/pattern.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {
namespace {

void describe_subject(Report& r, const std::string& backend, const Manifest& m) {
  r.backend = backend;
  r.name = m.name;
  r.version = m.version;
  r.device = m.device;
  if (m.stated()) r.manifest_hash = sha256(m.text), r.determinism = m.determinism;
  r.kernels = m.kernels;
  r.operators_all = static_cast<int>(operators().size());
  for (const OpInfo* op : operators()) r.operators_claimed += m.claims_operator(op->name);
}

// Notes what was asked for, and where, so that a reader of the report can repeat the run.
void describe_run(Report& r, const Selection& s, const std::vector<Item>& items) {
  r.tier = s.tier;
  r.seed = s.seed;
  r.chosen = {s.operators, s.profiles, s.properties, s.cases, s.budget, s.nonce, s.model, {}};
  r.partial = s.partial();
  r.environments = {this_environment()};
  r.set_hash = set_hash(items);
  r.order_hash = order_hash(items);
  r.set_cases = std::ssize(items);
  r.typed_cases = std::count_if(
      items.begin(), items.end(), [](const Item& i) { return i.what == Item::typed; });
  r.part = s.part;
  for (i64 k = 0; k < r.set_cases; ++k) r.counts.selected += s.part.holds(k);
}

// Whether the backend claims an item. It claims the illegal calls of an operator if it claims the
// operator and promises errors.
bool claimed(const Manifest& m, const Item& item) {
  if (item.what == Item::illegal)
    return m.errors != Errors::none && m.claims_operator(item.call.op->name);
  return m.claims_call(item.call);
}

bool is_put(Subject& subject, const Item& item) {
  return claimed(subject.manifest(), item) && (item.what != Item::typed || subject.can_infer()) &&
      (!item.texts || subject.takes_text());
}

void count(Report& r, Causes& causes, const Item& item, i64 number, const ItemResult& result) {
  Counts& c = r.counts;
  const std::string op(item.call.op->name);
  c.calls += result.calls;
  for (const auto& [property, noticed] : result.canaries) {
    ++r.canaries[property].planted;
    r.canaries[property].noticed += noticed;
  }
  if (result.outcome == Outcome::quarantined) {
    ++c.quarantined;
    r.known.quarantined += expects_crashes_of(r.expectations, op);
    const auto at = std::lower_bound(r.quarantine.begin(), r.quarantine.end(), result.quarantine);
    if (at == r.quarantine.end() || *at != result.quarantine)
      r.quarantine.insert(at, result.quarantine);
    return;
  }
  ++c.executed;
  c.passed += result.outcome == Outcome::passed;
  c.failed += result.outcome == Outcome::failed;
  c.crashed += result.outcome == Outcome::crashed;
  c.timed_out += result.outcome == Outcome::timed_out;
  if (item.runs()) {
    ++r.executed_legal[op];
    i64& largest = r.largest_tensor[op];
    largest = std::max(largest, largest_tensor(item.call));
    r.outputs[op].add(result.outputs);
  }
  for (const std::string& p : result.judged) ++r.cells[op][p].judged;
  for (const std::string& p : result.paths) ++r.paths[op][p];
  const std::vector<const Expectation*> knowing =
      match_expectations(r.expectations, item, number, result);
  if (!knowing.empty() && std::find(knowing.begin(), knowing.end(), nullptr) == knowing.end()) {
    r.known.failed += result.outcome == Outcome::failed;
    r.known.crashed += result.outcome == Outcome::crashed;
    r.known.timed_out += result.outcome == Outcome::timed_out;
  }
  for (const auto& [property, found] : result.findings) {
    ++r.cells[op][property].failed;
    r.failing[op][property][expected_kind(result)].add(sha256(item.id));
  }
  causes.add(item, number, result, knowing);
}

// The instruction sets whose kernels cannot run on this machine.
std::set<std::string> lacking(const Manifest& m) {
  std::set<std::string> isas;
  for (const KernelInfo& k : m.kernels) isas.insert(k.isa);
  for (const KernelInfo& k : m.kernels)
    if (k.runnable) isas.erase(k.isa);
  return isas;
}

// The answer to a question at the end of a run, whose findings must not be lost if the backend dies
// while it is loaded once more.
template <class Ask> Answer asked(Ask ask) {
  try {
    return ask();
  } catch (const LoadCrash& e) {
    return {.kind = AnswerKind::crashed, .message = e.what()};
  }
}

// Judges what a question at the end of a run shows. A violation that does not show again when the
// question is put once more cannot be expected.
// @param ask puts the question and says what the answer violates
// @return whether nothing was violated
template <class Ask> bool judge_asked(Report& r, const Property& property, Ask ask) {
  const std::string violation = ask();
  const bool flaky = !violation.empty() && without_details(ask()) != without_details(violation);
  judge_run(r, "*", std::string(property.name), violation, flaky);
  return violation.empty();
}

// The backend must refuse an instruction set that this machine lacks, and name it: a run with
// another set would prove nothing about either. Any case of the run serves to ask.
void judge_refusals(
    Report& r, Subject& subject, const Selection& s, const std::vector<const Item*>& put) {
  const Manifest& m = subject.manifest();
  const auto any = std::find_if(put.begin(), put.end(), [](const Item* i) { return i->runs(); });
  // Only the first shard asks.
  const bool asks = s.wants(kIsa.name) && s.cases.empty() && s.part.number == 1;
  if (!asks || !m.has_option("isa") || any == put.end()) return;
  const Case& c = (*any)->call;
  for (const std::string& isa : lacking(m)) {
    const int config = subject.configure({{"isa", isa}});
    judge_asked(r, kIsa, [&] {
      const Answer a = asked([&] {
        return subject.execute(
            c, inputs_of(c), c.op->infer(c.attributes(), c.types()), {.config = config});
      });
      ++r.counts.calls;
      const bool named = a.message.find(isa) != std::string::npos;
      return a.kind == AnswerKind::logic_error && named
          ? std::string()
          : "isa=" + isa + ", which this machine lacks, was not refused by name: " + deed(a.kind) +
              (a.message.empty() ? "" : ": " + a.message);
    });
  }
}

// Closes the backend after it ran a case of each operator in every configuration. A backend that
// died before is not asked.
void judge_close(Report& r, Subject& subject, const Selection& s, const TrialPlan& plan,
    const std::vector<const Item*>& put) {
  const bool asks = s.wants(kCloses.name) && s.cases.empty() && r.part.number == 1;
  if (!asks || r.counts.crashed + r.counts.timed_out + r.counts.quarantined > 0) return;
  std::set<const OpInfo*> ops;
  std::vector<const Item*> items;
  const Item* largest = nullptr;  // for which a backend starts threads that must end
  for (const Item* item : put) {
    if (!item->runs()) continue;
    if (ops.insert(item->call.op).second) items.push_back(item);
    if (!largest || elements_of(item->call) > elements_of(largest->call)) largest = item;
  }
  if (!largest || !subject.can_close()) return;
  items.push_back(largest);
  Answer seen;
  const bool closes = judge_asked(r, kCloses, [&] {
    seen = asked([&] {
      perform(subject, items, plan);
      return subject.close();
    });
    return closing_violation(seen);
  });
  if (!closes) return;
  // The host's canary ends the process, so this one hangs. A backend with a device, in whose place
  // the host commits no fault, has no other.
  seen.kind = AnswerKind::timed_out;
  Canaries& c = r.canaries[std::string(kCloses.name)];
  ++c.planted;
  c.noticed += !closing_violation(seen).empty();
}

// The ids of the cases that are run; for the others only types are asked.
std::vector<std::string> ids_of(const std::vector<Item>& items) {
  std::vector<std::string> ids;
  for (const Item& item : items)
    if (item.what != Item::typed) ids.push_back(item.id);
  return ids;
}

// Everything on which a result depends: two runs with the same identity may share a journal. The
// manifest contributes which kernels can run on this machine.
nlohmann::ordered_json identity(const Report& r, const Selection& s, const Conduct& c) {
  return {{"judge", LOCKSTEP_VERSION}, {"backend", r.backend},
      {"file_sha256", file_hash(r.backend)}, {"manifest_sha256", r.manifest_hash},
      {"options", c.limits.set}, {"timeout", c.limits.timeout_s},
      {"start_timeout", c.limits.start_s}, {"memory_gib", c.limits.memory_gib},
      {"set_hash", r.set_hash}, {"order_hash", r.order_hash},
      {"vectors_sha256", takes_vectors(s) ? vectors_hash(s.vectors) : ""},
      {"part", {r.part.number, r.part.of}}, {"properties", s.properties},
      {"graph_operators", operators_of_model(s.model)}, {"repeats_failures", repeats_failures(c)}};
}

void name_missing(Report& r, const std::vector<const Item*>& put, const std::vector<bool>& seen) {
  for (std::size_t n = 0; n < put.size() && r.missing.size() < kMissingNamed; ++n)
    if (!seen[n]) r.missing.push_back(put[n]->id);
}

// What a run needs besides its cases.
struct RunInputs {
  std::vector<Expectation> expectations;
  std::unique_ptr<Subject> subject;
  std::string death;  // how loading the backend ended its process
};

// Refuses wrong inputs before the cases are made, which takes seconds.
RunInputs prepare_run(const std::string& backend, const Conduct& conduct) {
  RunInputs r;
  if (!conduct.expectations.empty())
    r.expectations = read_expectations(conduct.expectations, conduct.today);
  Limits limits = conduct.limits;
  limits.interrupted = conduct.interrupted;
  try {
    r.subject = open_subject(backend, limits);
  } catch (const LoadCrash& e) {
    r.death = e.what();
  }
  return r;
}

// The mutants of claimed operators that the cases of a budget kill, according to the kill matrix.
Score prefix_score(Subject& subject, const Selection& s, const std::vector<Item>& items) {
  const std::optional<KillMatrix> known = s.budget > 0 ? kills_of(s.kills) : std::nullopt;
  if (!known) return {};
  std::set<string_view> ops;
  for (const OpInfo* op : selected_operators(s))
    if (subject.manifest().claims_operator(op->name)) ops.insert(op->name);
  std::vector<const Item*> put;
  for (const Item& item : items)
    if (is_put(subject, item)) put.push_back(&item);
  return score_of(put, std::move(ops), *known);
}

// A backend that dies while it is loaded has no manifest, so all its cases are quarantined.
Report report_load_crash(
    Report r, const std::string& backend, const std::string& why, const Conduct& conduct) {
  Manifest unknown = default_manifest(backend);
  unknown.claims.clear();
  describe_subject(r, backend, unknown);
  r.counts.quarantined = r.counts.selected;
  r.quarantine = {why};
  ItemResult aside;
  aside.outcome = Outcome::quarantined;
  for (i64 n = 0; conduct.record && n < r.set_cases; ++n)
    if (r.part.holds(n)) conduct.record(n, aside);
  conclude(r);
  return r;
}

// The cases that are put to the backend. Counts the others.
std::vector<const Item*> claimed_items(
    Report& r, Subject& subject, const Selection& selection, const std::vector<Item>& items) {
  const std::set<std::string> absent = subject.unanswered(ids_of(items));
  std::vector<const Item*> put;
  std::set<string_view> ops;
  for (const Item& item : items) {
    ops.insert(item.call.op->name);
    if (!selection.part.holds(&item - items.data())) continue;
    const bool wanted = is_put(subject, item);
    if (item.runs()) ++r.legal_selected, r.legal_not_claimed += !wanted;
    if (!wanted)
      ++r.counts.not_claimed;
    else if (!absent.contains(item.id))
      put.push_back(&item);
    else if (++r.counts.missing <= static_cast<i64>(kMissingNamed))
      r.missing.push_back(item.id);
  }
  r.operators_selected = static_cast<int>(ops.size());
  for (string_view op : ops)
    if (subject.manifest().claims_operator(op)) r.claimed.emplace_back(op);
  return put;
}

// The first wrong call of each operator in the order of cases, which is not that of results.
std::map<std::string, WrongCall> first_wrong(
    const std::map<std::size_t, std::vector<WrongCall>>& by_case) {
  std::map<std::string, WrongCall> first;
  for (const auto& [n, calls] : by_case)
    for (const WrongCall& c : calls) first.emplace(c.op, c);
  return first;
}

// Judges what only the run as a whole shows, once all its cases are done.
void judge_run_as_a_whole(Report& r, Subject& subject, const Selection& selection,
    const TrialPlan& plan, const std::vector<const Item*>& put,
    const std::map<std::string, WrongCall>& wrong, const Limits& limits) {
  try {
    judge_silent(r, plan.silent.unanswered);
    judge_wrong_calls(r, wrong);
    judge_refusals(r, subject, selection, put);
    plant_in_process(r, subject, put, limits);
    judge_close(r, subject, selection, plan, put);
  } catch (const Interrupted&) {
    r.ended_early = "after the cases, while the backend was asked about the run as a whole";
    return;
  }
  judge_whole(r);
  miss_unplanted(r);
  disown_exceeded(r);
}

Report judge_ready(RunInputs ready, const std::string& backend, const Selection& selection,
    const std::vector<Item>& items, const Conduct& conduct) {
  Report r;
  r.expectations = std::move(ready.expectations);
  r.options = conduct.limits.set;
  describe_run(r, selection, items);
  if (!ready.subject) return report_load_crash(std::move(r), backend, ready.death, conduct);
  Subject& subject = *ready.subject;
  describe_subject(r, backend, subject.manifest());
  const std::vector<const Item*> put = claimed_items(r, subject, selection, items);
  r.score = prefix_score(subject, selection, items);
  TrialPlan plan = plan_for(subject, selection.properties, operators_of_model(selection.model));
  if (is_meant(kGraphs, selection.properties) && subject.shares_memory())
    plan.silent = silent_operators(subject);
  std::optional<Journal> journal;
  if (!conduct.journal.empty())
    journal.emplace(conduct.journal, identity(r, selection, conduct), put.size());
  i64 done = 0, failed = 0;
  Causes causes;
  std::vector<bool> seen(put.size());
  std::map<std::size_t, std::vector<WrongCall>> wrong;
  const auto take = [&](std::size_t n, const ItemResult& result) {
    seen[n] = true;
    const i64 number = put[n] - items.data();
    count(r, causes, *put[n], number, result);
    if (!result.wrong_calls.empty()) wrong[n] = result.wrong_calls;
    if (conduct.record) conduct.record(number, result);
    if (conduct.failing && !result.findings.empty()) conduct.failing(*put[n]);
    failed += result.outcome != Outcome::passed;
    ++done;
    if (conduct.progress) conduct.progress(done, std::ssize(put), failed);
    return failed == 0 || !conduct.until_failure;
  };
  judge_in_processes(backend, put, plan, selection, conduct, jobs_of(conduct, subject),
      journal ? &*journal : nullptr, take);
  r.counts.missing += std::ssize(put) - done;
  r.failures = causes.failures();
  name_missing(r, put, seen);
  if (std::cmp_equal(done, put.size())) {
    judge_run_as_a_whole(r, subject, selection, plan, put, first_wrong(wrong), conduct.limits);
    if (conduct.shrink && subject.live()) shrink_failures(r, subject, plan, conduct.interrupted);
  }
  for (Failure& f : r.failures) {
    if (f.id.size() > kMaxShown && !f.vector.empty()) f.id = f.vector;
    if (!f.id.empty()) f.repeat = repeat_command(r, f);
  }
  conclude(r);
  return r;
}

// The report of a run that was ended before any of its cases, as far as these are made.
Report ended_before_cases(const std::string& backend, const Selection& s,
    const std::vector<Item>& items, const Conduct& conduct, const char* when) {
  Report r;
  r.backend = r.name = backend;
  r.options = conduct.limits.set;
  describe_run(r, s, items);
  r.counts.missing = r.counts.selected;
  for (const Item& item : items)
    if (s.part.holds(&item - items.data()) && r.missing.size() < kMissingNamed)
      r.missing.push_back(item.id);
  r.ended_early = when;
  conclude(r);
  return r;
}

}  // namespace

Report judge(const std::string& backend, const Selection& selection, const Conduct& conduct) {
  const char* now = "while the backend was opened";
  try {
    RunInputs ready = prepare_run(backend, conduct);
    now = "while the cases were made";
    const std::optional<Frozen> frozen = installed_frozen();
    const std::vector<Item> items = select_cases(selection, jobs_of(conduct), conduct.interrupted);
    hold_cases(frozen, selection, items, jobs_of(conduct));
    Report r = judge_ready(std::move(ready), backend, selection, items, conduct);
    hold_outputs(frozen, selection, r);
    return r;
  } catch (const Interrupted&) {
    return ended_before_cases(backend, selection, {}, conduct, now);
  }
}

Report judge(const std::string& backend, const Selection& selection, const std::vector<Item>& items,
    const Conduct& conduct) {
  try {
    return judge_ready(prepare_run(backend, conduct), backend, selection, items, conduct);
  } catch (const Interrupted&) {
    return ended_before_cases(backend, selection, items, conduct, "while the backend was opened");
  }
}

}  // namespace lockstep::judge
