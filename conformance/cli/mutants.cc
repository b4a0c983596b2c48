#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "conformance/base/text.h"
#include "conformance/cli/verbs.h"
#include "conformance/reports/power.h"
#include "conformance/selection/select.h"

namespace lockstep::judge {
namespace {

struct MutantOptions {
  std::string backend = "faulty", only = "*", json_file, order;
  Selection selection;
  Conduct conduct;
  SourceMutants source;
  bool quiet = false, until_dead = false, schema = false;
};

std::vector<MutantFate> mutants_of(const std::string& backend, const Limits& limits) {
  Limits any = limits;
  any.set["mutant"] = "none";
  const Manifest m = open_subject(backend, any)->manifest();
  const nlohmann::json j = nlohmann::json::parse(m.text);
  if (!j.contains("mutants"))
    throw UsageError("'" + backend + "' lists no mutants in its manifest");
  std::vector<MutantFate> all;
  for (const nlohmann::json& row : j["mutants"])
    all.push_back({row["name"], row["op"], row["kind"], row["provenance"], row.value("tier", 0)});
  return all;
}

// The numbers of cases by which a mutant is judged, the next one only if it survives. A contract
// mutant is judged by a prefix first; 0 means all cases.
std::vector<i64> stages(const MutantOptions& o, const MutantFate& m) {
  const i64 all = o.selection.budget;
  if (all > 0) return {all};
  if (o.until_dead) return {200, 2000, all};
  return m.op == "*" ? std::vector<i64>{2000, all} : std::vector<i64>{all};
}

// The cases of a mutant's operator, kept for the next mutant in the list. With a budget, only those
// of the budget's cases that belong to the operator.
class Cases {
 public:
  explicit Cases(const Selection& s) : selection_(s) {}
  const std::vector<Item>& of(const std::string& op) {
    if (op != op_) {
      Selection s = selection_;
      if (op != "*" && s.budget == 0) s.operators = {op};
      items_ = select_cases(s);
      if (op != "*") std::erase_if(items_, [&](const Item& i) { return i.call.op->name != op; });
      op_ = op;
    }
    return items_;
  }

 private:
  Selection selection_;
  std::string op_;
  std::vector<Item> items_;
};

// Adds the case that a report names first; all of them where the whole run is what failed.
void add_killers(const Report& r, const std::vector<Item>& items, std::vector<Item>& killers) {
  if (r.failures.empty()) return;
  const auto named = [&](const Item& i) { return i.id == r.failures[0].id; };
  const bool is_case = std::any_of(items.begin(), items.end(), named);
  for (const Item& i : items) {
    const auto same = [&](const Item& k) { return k.id == i.id; };
    if ((!is_case || named(i)) && std::none_of(killers.begin(), killers.end(), same))
      killers.push_back(i);
  }
}

// @param killers receives the cases that kill the mutant.
MutantFate judge_mutant(
    const MutantOptions& o, const MutantFate& m, Cases& cases, std::vector<Item>& killers) {
  Selection s = o.selection;
  if (m.op != "*") s.operators = {m.op};
  s.kills.clear();  // what these cases kill is measured here
  Conduct c = o.conduct;
  c.limits.set["mutant"] = m.name;
  c.shrink = false;
  c.until_failure = o.until_dead;
  Report r;
  for (i64 budget : stages(o, m)) {
    s.budget = budget;
    const std::vector<Item>& all = cases.of(m.op);
    const i64 n = budget > 0 ? std::min(budget, std::ssize(all)) : std::ssize(all);
    const std::vector<Item> items(all.begin(), all.begin() + n);
    r = judge(o.backend, s, items, c);
    if (o.until_dead) add_killers(r, items, killers);
    if (r.exit != Exit::pass) break;
  }
  if (r.exit == Exit::judge_broke) throw std::runtime_error("the judge broke on mutant " + m.name);
  const i64 kills = r.counts.failed + r.counts.crashed + r.counts.timed_out;
  MutantFate f = m;
  f.dead = r.exit == Exit::fail || kills > 0;
  f.kills = kills;
  f.executed = r.counts.executed;
  if (!r.failures.empty()) f.property = r.failures[0].property;
  return f;
}

// Checks that the backend without a mistake passes; otherwise no kill would mean anything.
void judge_control(const MutantOptions& o, const std::vector<Item>& items) {
  Conduct c = o.conduct;
  c.limits.set["mutant"] = "none";
  c.shrink = false;
  c.progress = progress_to_stderr("control " + o.backend, o.quiet);
  const Report r = judge(o.backend, o.selection, items, c);
  // The few cases that kill need not reach the floor that a whole run is held to.
  const bool is_right =
      r.failures.empty() && r.counts.passed + r.counts.not_claimed == std::ssize(items);
  if (o.until_dead ? !is_right : r.exit != Exit::pass)
    throw std::runtime_error("'" + o.backend +
        "' fails without a mutant, so a kill proves nothing:\n" + summary(r, false));
}

// Makes all cases, which are gone on return, so that no later process inherits them. Judges the
// backend by them, unless the run is --until-dead. @return the hash of their set
std::string judged_without_mutant(const MutantOptions& o) {
  const std::vector<Item> all = select_cases(o.selection);
  if (!o.until_dead) judge_control(o, all);
  return set_hash(all);
}

void print_fate(const MutantFate& f) {
  fmt::print("{:<6} {:<34} {:<20} {:<18} {:>3}.{}%  {}\n", f.dead ? "dead" : "ALIVE", f.name, f.op,
      f.property, f.density() / 10, f.density() % 10, f.kind);
}

// Writes the kill matrix.
int order(const MutantOptions& o, const std::vector<MutantFate>& mutants) {
  judge_control(o, select_cases(o.selection));
  const KillMatrix k = measure_kills(o.backend, mutants, o.selection, o.conduct, o.quiet);
  std::set<i64> dead;
  for (const KillMatrix::Killer& c : k.cases) dead.insert(c.mutants.begin(), c.mutants.end());
  const Exit e = std::cmp_equal(dead.size(), mutants.size()) ? Exit::pass : Exit::fail;
  write_output(o.order, kills_json(k));
  if (o.order == "-") return static_cast<int>(e);
  for (std::size_t m = 0; m < mutants.size(); ++m)
    if (!dead.contains(static_cast<i64>(m))) fmt::print("no case kills {}\n", mutants[m].name);
  fmt::print("{} cases kill {} of {} mutants\nexit {} ({})\n", k.cases.size(), dead.size(),
      mutants.size(), static_cast<int>(e), word_of(e));
  return static_cast<int>(e);
}

// Whether to print text: JSON on standard output must stand there alone.
bool is_text(const MutantOptions& o) { return o.json_file != "-"; }

int run(MutantOptions& o) {
  if (o.schema) {
    fmt::print("{}", power_schema());
    return 0;
  }
  require_writable({o.json_file, o.order});
  if (!o.source.room.empty()) {
    o.source.json_file = o.json_file;
    return run_source_mutants(o.source, o.selection.seed, o.quiet);
  }
  finish_selection(o.selection);
  std::vector<MutantFate> mutants = mutants_of(o.backend, o.conduct.limits);
  std::erase_if(mutants, [&](const MutantFate& m) { return !glob(o.only, m.name); });
  if (!o.order.empty()) return order(o, mutants);
  const auto beyond = static_cast<i64>(
      std::erase_if(mutants, [&](const MutantFate& m) { return m.tier > o.selection.tier; }));
  Power p{o.selection.tier, o.selection.seed, judged_without_mutant(o), {}, beyond};
  Cases cases(o.selection);
  std::vector<Item> killers;
  for (const MutantFate& mutant : mutants) {
    p.mutants.push_back(judge_mutant(o, mutant, cases, killers));
    if (!o.quiet && is_text(o)) print_fate(p.mutants.back());
    std::fflush(stdout);
  }
  if (!killers.empty() && o.until_dead) judge_control(o, killers);
  const Exit e = mutants.empty()        ? Exit::incomplete
      : p.dead() == std::ssize(mutants) ? Exit::pass
                                        : Exit::fail;
  if (!o.json_file.empty()) write_output(o.json_file, power_json(p));
  if (!is_text(o)) return static_cast<int>(e);
  if (beyond > 0) fmt::print("{} more need a higher tier and were not judged\n", beyond);
  fmt::print("{}{} of {} mutants are dead at tier {}\n{}\n", density_text(p), p.dead(),
      mutants.size(), o.selection.tier, exit_text(e));
  return static_cast<int>(e);
}

}  // namespace

void add_mutants(CLI::App& app, Session& session) {
  auto o = std::make_shared<MutantOptions>();
  CLI::App* verb = app.add_subcommand(
      "mutants", "Judge mutants, backends with one deliberate mistake: each must be caught");
  verb->add_option("mutant", o->only, "only these mutants; * and ? match")->capture_default_str();
  verb->add_option("--backend", o->backend, "a backend whose manifest lists mutants")
      ->capture_default_str();
  add_selection(*verb, o->selection);
  add_conduct(*verb, o->conduct);
  verb->add_option(
      "--json", o->json_file, "write what became of every mutant as JSON; - is standard output");
  verb->add_option("--order", o->order,
      "measure which cases kill which mutants and write this file; a case set starts with the "
      "cases listed in share/lockstep/kill_matrix.json");
  verb->add_flag("--schema", o->schema, "print the JSON Schema of what --json writes");
  verb->add_flag("--quiet", o->quiet, "only the totals");
  verb->add_flag(
      "--until-dead", o->until_dead, "judge each only until the first case that kills it");
  verb->footer("Example: lockstep mutants 'conv2d.*' --op conv2d --budget 40");
  add_source_mutants(*verb, o->source);
  verb->callback([o, &session] { session.exit = run(*o); });
}

}  // namespace lockstep::judge
