#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "conformance/cli/verbs.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

struct MutantOptions {
  std::string backend = "faulty", only = "*", json_file;
  Selection selection;
  Conduct conduct;
  SourceMutants source;
  bool quiet = false, until_dead = false;
};

struct Mutant {
  std::string name, op, kind, provenance;
};

struct Fate {
  Mutant mutant;
  bool dead = false;
  std::string property;  ///< the first that noticed
  i64 kills = 0, executed = 0;
};

std::vector<Mutant> mutants_of(const std::string& backend, const Limits& limits) {
  Limits any = limits;
  any.set["mutant"] = "none";
  const Manifest m = open_subject(backend, any)->manifest();
  const json j = json::parse(m.text);
  if (!j.contains("mutants"))
    throw UsageError("'" + backend + "' lists no mutants in its manifest");
  std::vector<Mutant> all;
  for (const json& row : j["mutants"])
    all.push_back({row["name"], row["op"], row["kind"], row["provenance"]});
  return all;
}

// How many cases of its set a mutant is judged by: first so many, and more if it survives those.
// That of one operator is judged by all cases of that operator, one of every operator by a prefix.
std::vector<i64> stages(const MutantOptions& o, const Mutant& m) {
  const i64 all = o.selection.budget;
  if (all > 0) return {all};
  if (o.until_dead) return {200, 2000, all};
  return m.op == "*" ? std::vector<i64>{2000, all} : std::vector<i64>{all};
}

// The cases of a mutant's operator; its neighbours in the list ask for the same.
class Cases {
 public:
  explicit Cases(const Selection& s) : selection_(s) {}
  const std::vector<Item>& of(const std::string& op) {
    if (op != op_) {
      Selection s = selection_;
      if (op != "*") s.operators = {op};
      items_ = select_cases(s);
      op_ = op;
    }
    return items_;
  }

 private:
  Selection selection_;
  std::string op_;
  std::vector<Item> items_;
};

Fate judge_mutant(const MutantOptions& o, const Mutant& m, Cases& cases) {
  Selection s = o.selection;
  if (m.op != "*") s.operators = {m.op};
  Conduct c = o.conduct;
  c.limits.set["mutant"] = m.name;
  c.shrink = false;
  c.until_failure = o.until_dead;
  Report r;
  for (i64 budget : stages(o, m)) {
    s.budget = budget;
    std::vector<Item> items = cases.of(m.op);
    if (budget > 0 && std::cmp_less(budget, items.size()))
      items.resize(static_cast<std::size_t>(budget));
    r = judge(o.backend, s, items, c);
    if (r.exit != Exit::pass) break;
  }
  if (r.exit == Exit::judge_broke) throw std::runtime_error("the judge broke on mutant " + m.name);
  const i64 kills = r.counts.failed + r.counts.crashed + r.counts.timed_out;
  Fate f{m, r.exit == Exit::fail || kills > 0, {}, kills, 0};
  f.executed = r.counts.executed;
  if (!r.failures.empty()) f.property = r.failures[0].property;
  return f;
}

// Without its mistake the backend must pass, or the death of a mutant says nothing.
void judge_control(const MutantOptions& o) {
  Selection s = o.selection;
  Conduct c = o.conduct;
  c.limits.set["mutant"] = "none";
  c.shrink = false;
  c.progress = progress_to_stderr("control " + o.backend, o.quiet);
  const Report r = judge(o.backend, s, c);
  if (r.exit != Exit::pass)
    throw std::runtime_error("'" + o.backend + "' fails without a mutant, so nothing follows:\n" +
                             summary(r, false));
}

void print_fate(const Fate& f) {
  // Tenths of a percent, in integers.
  const i64 density = f.executed ? 1000 * f.kills / f.executed : 0;
  fmt::print("{:<6} {:<34} {:<20} {:<18} {:>3}.{}%  {}\n", f.dead ? "dead" : "ALIVE", f.mutant.name,
             f.mutant.op, f.property, density / 10, density % 10, f.mutant.kind);
}

json fate_json(const Fate& f) {
  return {{"name", f.mutant.name}, {"operator", f.mutant.op},
          {"kind", f.mutant.kind}, {"provenance", f.mutant.provenance},
          {"dead", f.dead},        {"property", f.property},
          {"kills", f.kills},      {"executed", f.executed}};
}

int run(MutantOptions& o) {
  if (!o.source.room.empty()) {
    o.source.json_file = o.json_file;
    return run_source_mutants(o.source, o.selection.seed, o.quiet);
  }
  finish_selection(o.selection);
  std::vector<Mutant> mutants = mutants_of(o.backend, o.conduct.limits);
  std::erase_if(mutants, [&](const Mutant& m) { return !glob(o.only, m.name); });
  judge_control(o);
  Cases cases(o.selection);
  json all = json::array();
  i64 dead = 0;
  for (std::size_t k = 0; k < mutants.size(); ++k) {
    const Fate f = judge_mutant(o, mutants[k], cases);
    dead += f.dead;
    all.push_back(fate_json(f));
    if (!o.quiet) print_fate(f);
    std::fflush(stdout);
  }
  const Exit e = mutants.empty()                            ? Exit::incomplete
                 : dead == static_cast<i64>(mutants.size()) ? Exit::pass
                                                            : Exit::fail;
  if (!o.json_file.empty())
    write_file(o.json_file, json{{"tier", o.selection.tier},
                                 {"seed", o.selection.seed},
                                 {"dead", dead},
                                 {"mutants", all}}
                                    .dump(1) +
                                "\n");
  fmt::print("{} of {} mutants are dead at tier {}\nexit {} ({})\n", dead, mutants.size(),
             o.selection.tier, static_cast<int>(e), word_of(e));
  return static_cast<int>(e);
}

}  // namespace

void add_mutants(CLI::App& app, Session& session) {
  auto o = std::make_shared<MutantOptions>();
  CLI::App* verb = app.add_subcommand(
      "mutants", "Judge backends that are wrong on purpose: each must be caught");
  verb->add_option("mutant", o->only, "only these mutants; * and ? match")->capture_default_str();
  verb->add_option("--backend", o->backend, "a backend whose manifest lists mutants")
      ->capture_default_str();
  add_selection(*verb, o->selection);
  add_conduct(*verb, o->conduct);
  verb->add_option("--json", o->json_file, "write every mutant's fate as JSON");
  verb->add_flag("--quiet", o->quiet, "only the totals");
  verb->add_flag("--until-dead", o->until_dead,
                 "judge each only until the first case that kills it");
  add_source_mutants(*verb, o->source);
  verb->callback([o, &session] { session.exit = run(*o); });
}

}  // namespace lockstep::judge
