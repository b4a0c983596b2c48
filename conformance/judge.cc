#include "conformance/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <thread>
#include <utility>

#include "conformance/property.h"
#include "conformance/shard.h"
#include "conformance/shrink.h"
#include "conformance/subjects/library_subject.h"

namespace lockstep::judge {
namespace {

// The instruction sets to force: those of the kernels that can run here, if there is a choice.
std::vector<std::string> isas_of(const Manifest& m) {
  std::set<std::string> isas;
  for (const KernelInfo& k : m.kernels)
    if (k.runnable) isas.insert(k.isa);
  if (!m.has_option("isa") || isas.size() < 2) return {};
  return {isas.begin(), isas.end()};
}

// The numbers of threads to force: few, some that divide nothing, and more than this machine has
// processors.
std::set<i64> threads_of(const Manifest& m) {
  if (!m.has_option("threads")) return {};
  std::vector<i64> wanted = {1, 2, 3, 7, 16};
  while (std::cmp_less_equal(wanted.back(), std::thread::hardware_concurrency()))
    wanted.push_back(2 * wanted.back());
  std::set<i64> counts;
  for (i64 n : wanted) counts.insert(clamp(n, m.threads.min, m.threads.max));
  return counts;
}

void describe_subject(Report& r, const std::string& backend, const Manifest& m) {
  r.backend = backend;
  r.name = m.name;
  r.version = m.version;
  r.device = m.device;
  r.manifest_hash = sha256(m.text);
  r.operators_all = static_cast<int>(operators().size());
  for (const OpInfo* op : operators()) r.operators_claimed += m.claims_operator(op->name);
}

// Sets apart what the backend does not claim. Illegal calls belong to a claimed operator's claim
// when the backend promises errors at all.
bool claimed(const Manifest& m, const Item& item) {
  if (item.what == Item::illegal)
    return m.errors != Errors::none && m.claims_operator(item.call.op->name);
  return m.claims_call(item.call);
}

void add_failure(Report& r, const std::string& op, const std::string& property, const Item& item,
                 const std::string& text) {
  for (Failure& f : r.failures)
    if (f.op == op && f.property == property) {
      ++f.count;
      return;
    }
  // Only the property about vectors is about their names; for others the case is a call as any.
  const bool named = item.what != Item::vector || property == kMatchesVectors.name;
  r.failures.push_back({op, property, named ? item.id : case_id(item.call), text, 1, {}, {}, {}});
}

void count(Report& r, const Item& item, const ItemResult& result) {
  Counts& c = r.counts;
  const std::string op(item.call.op->name);
  c.calls += result.calls;
  if (result.outcome == Outcome::quarantined) {
    ++c.quarantined;
    return;
  }
  ++c.executed;
  c.passed += result.outcome == Outcome::passed;
  c.failed += result.outcome == Outcome::failed;
  c.crashed += result.outcome == Outcome::crashed;
  c.timed_out += result.outcome == Outcome::timed_out;
  if (item.runs()) ++r.executed_legal[op];
  for (const std::string& p : result.judged) ++r.cells[op][p].judged;
  for (const std::string& p : result.paths) ++r.paths[op][p];
  for (const auto& [property, text] : result.findings) {
    ++r.cells[op][property].failed;
    add_failure(r, op, property, item, text);
  }
}

// Every kernel that ran is in the manifest, and every kernel that the manifest calls runnable ran,
// where the cases are enough to reach them all.
void judge_paths(Report& r, const Manifest& m, const Selection& s) {
  if (!s.wants(kPathsCovered) || !m.stated()) return;
  const bool reaching = s.cases.empty() && s.budget == 0;
  const auto fail = [&](const std::string& op, const std::string& text) {
    ++r.cells[op][std::string(kPathsCovered)].failed;
    r.failures.push_back({op, std::string(kPathsCovered), "", text, 1, {}, {}, {}});
  };
  for (const KernelInfo& k : m.kernels) {
    bool selected = false, ran = false;
    for (const auto& [op, n] : r.executed_legal) selected = selected || k.op == op || k.op == "*";
    for (const auto& [op, paths] : r.paths)
      ran = ran || ((k.op == op || k.op == "*") && paths.contains(k.name));
    if (!reaching || !selected || !k.runnable) continue;
    ++r.cells[k.op][std::string(kPathsCovered)].judged;
    if (!ran) fail(k.op, "kernel '" + k.name + "' (isa " + k.isa + ") never ran");
  }
  for (const auto& [op, paths] : r.paths)
    for (const auto& [path, n] : paths) {
      if (m.kernel(op, path)) continue;
      ++r.cells[op][std::string(kPathsCovered)].judged;
      fail(op, "kernel '" + path + "' ran and is not in the manifest");
    }
}

// A whole run needs enough legal cases of each claimed operator; a chosen part says so itself.
void judge_floor(Report& r, const Manifest& m, const Selection& s) {
  if (!s.cases.empty() || s.budget > 0 || !s.properties.empty()) return;
  for (const OpInfo* op : selected_operators(s)) {
    if (!m.claims_operator(op->name)) continue;
    const auto n = r.executed_legal.find(std::string(op->name));
    if (n == r.executed_legal.end() || n->second < tier_floor(s.tier))
      r.below_floor.push_back(std::string(op->name));
  }
}

// The instruction sets of which this machine can run no kernel.
std::set<std::string> lacking(const Manifest& m) {
  std::set<std::string> isas;
  for (const KernelInfo& k : m.kernels) isas.insert(k.isa);
  for (const KernelInfo& k : m.kernels)
    if (k.runnable) isas.erase(k.isa);
  return isas;
}

// An instruction set that this machine lacks is refused by its name: to run another in its place
// would prove nothing about either. A case of the run is used to ask.
void judge_refusals(Report& r, Subject& subject, const Selection& s,
                    const std::vector<const Item*>& put) {
  const Manifest& m = subject.manifest();
  const auto any = std::find_if(put.begin(), put.end(), [](const Item* i) { return i->runs(); });
  if (!s.wants(kIsa.name) || !s.cases.empty() || !m.has_option("isa") || any == put.end()) return;
  const Case& c = (*any)->call;
  const std::string isa_property(kIsa.name);
  for (const std::string& isa : lacking(m)) {
    const Answer a = subject.execute(c, inputs_of(c), c.op->infer(c.attributes(), c.types()),
                                     {.config = subject.configure({{"isa", isa}})});
    ++r.counts.calls;
    Cell& cell = r.cells["*"][isa_property];
    ++cell.judged;
    const bool named = a.message.find(isa) != std::string::npos;
    if (a.kind == Answer::Kind::logic_error && named) continue;
    ++cell.failed;
    Failure& f = r.failures.emplace_back();
    f.op = "*";
    f.property = isa_property;
    f.text = "isa=" + isa + ", which this machine lacks, was not refused by name: answered " +
             std::string(name_of(a.kind)) + (a.message.empty() ? "" : ": " + a.message);
    f.count = 1;
  }
}

// Those of the cases that are put as calls: the types of others are asked for alone.
std::vector<std::string> ids_of(const std::vector<Item>& items) {
  std::vector<std::string> ids;
  for (const Item& item : items)
    if (item.what != Item::typed) ids.push_back(item.id);
  return ids;
}

// A word as a shell reads it back, in one line.
std::string shell_word(const std::string& word) {
  if (printable(word) != word) {
    std::string escaped;
    for (char c : word) escaped += fmt::format("\\0{:03o}", static_cast<unsigned char>(c));
    return "\"$(printf %b '" + escaped + "')\"";
  }
  const bool plain = std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) ||
           string_view("_-./=:,+@").find(static_cast<char>(c)) != string_view::npos;
  });
  if (plain && !word.empty()) return word;
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Nothing can be put to a backend that loading kills, whatever it would have claimed.
Report report_load_crash(Report r, const std::string& backend, const std::string& why) {
  Manifest unknown = default_manifest(backend);
  unknown.claims.clear();
  describe_subject(r, backend, unknown);
  r.counts.quarantined = r.counts.selected;
  r.quarantine = {why};
  conclude(r);
  return r;
}

}  // namespace

TrialPlan plan_for(Subject& subject, const Selection& s) {
  TrialPlan plan;
  // Who has answered once cannot be asked anything else.
  if (!subject.live()) return {false, false, false, false, false, false, false, false, {}, {}};
  plan.repeat = s.wants(kDeterministic.name) || s.wants(kWritesAll.name);
  plan.alignment = s.wants(kAlignment.name);
  plan.layouts = s.wants(kLayout.name) || s.wants(kWritesInBounds.name);
  plan.constants = s.wants(kConstants.name);
  plan.infer = s.wants(kInfers.name);
  plan.concurrent = s.wants(kConcurrent.name);
  plan.batch = s.wants(kBatch.name);
  plan.laws = s.wants(kLaws.name);
  const auto force = [&](std::vector<Forced>& all, const std::string& option,
                         const std::string& value) {
    all.push_back({option, value, subject.configure({{option, value}})});
  };
  if (s.wants(kIsa.name) || s.wants(kPathsCovered))
    for (const std::string& isa : isas_of(subject.manifest())) force(plan.isas, "isa", isa);
  if (s.wants(kThreads.name))
    for (i64 n : threads_of(subject.manifest())) force(plan.threads, "threads", std::to_string(n));
  return plan;
}

void configure(Subject& subject, const TrialPlan& plan) {
  for (const auto* forced : {&plan.isas, &plan.threads})
    for (const Forced& f : *forced) subject.configure({{f.option, f.value}});
}

std::string repeat_command(const std::string& backend, const Conduct& conduct,
                           const std::string& id, const std::string& property) {
  std::string s = "lockstep repro " + shell_word(backend);
  for (const auto& [key, value] : conduct.limits.set)
    s += " --set " + shell_word(key + "=" + value);
  if (!property.empty()) s += " --property " + property;
  return s + " '" + id + "'";
}

Report judge(const std::string& backend, const Selection& selection, const Conduct& conduct) {
  return judge(backend, selection, select_cases(selection), conduct);
}

Report judge(const std::string& backend, const Selection& selection, const std::vector<Item>& items,
             const Conduct& conduct) {
  Report r;
  r.tier = selection.tier;
  r.seed = selection.seed;
  r.partial = selection.partial();
  r.set_hash = set_hash(items);
  r.counts.selected = static_cast<i64>(items.size());
  std::unique_ptr<Subject> subject;
  try {
    subject = open_subject(backend, conduct.limits);
  } catch (const LoadCrash& e) {
    return report_load_crash(std::move(r), backend, e.what());
  }
  describe_subject(r, backend, subject->manifest());
  const std::set<std::string> absent = subject->unanswered(ids_of(items));
  std::vector<const Item*> put;
  std::set<string_view> ops;
  for (const Item& item : items) {
    ops.insert(item.call.op->name);
    const bool wanted =
        claimed(subject->manifest(), item) && (item.what != Item::typed || subject->can_infer());
    if (item.runs()) ++r.legal_selected, r.legal_not_claimed += !wanted;
    if (!wanted)
      ++r.counts.not_claimed;
    else if (absent.contains(item.id))
      r.missing.push_back(item.id);
    else
      put.push_back(&item);
  }
  r.operators_selected = static_cast<int>(ops.size());
  const TrialPlan plan = plan_for(*subject, selection);

  i64 done = 0, failed = 0;
  const auto take = [&](std::size_t n, const ItemResult& result) {
    count(r, *put[n], result);
    failed += result.outcome != Outcome::passed;
    ++done;
    if (conduct.progress) conduct.progress(done, static_cast<i64>(put.size()), failed);
    return failed == 0 || !conduct.until_failure;
  };
  const int jobs = conduct.jobs > 0
                       ? conduct.jobs
                       : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const ShardTotals totals = judge_in_processes(backend, put, plan, selection, conduct, jobs, take);
  r.canaries_planted = totals.canaries_planted;
  r.canaries_flagged = totals.canaries_flagged;
  r.quarantine = totals.quarantine;
  r.counts.missing = static_cast<i64>(put.size() + r.missing.size()) - done;
  judge_refusals(r, *subject, selection, put);
  judge_paths(r, subject->manifest(), selection);
  judge_floor(r, subject->manifest(), selection);
  if (conduct.shrink && subject->live()) shrink_failures(r, *subject, plan);
  for (Failure& f : r.failures)
    if (!f.id.empty())
      f.repeat = repeat_command(backend, conduct, f.shrunk.empty() ? f.id : f.shrunk, f.property);
  conclude(r);
  return r;
}

}  // namespace lockstep::judge
