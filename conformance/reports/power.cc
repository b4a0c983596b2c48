#include "conformance/reports/power.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/base/form.h"

namespace lockstep::judge {

using form::Like;

static void fields(auto& f, Like<MutantFate> auto& m) {
  f("name", m.name);
  f("operator", m.op);
  f("kind", m.kind);
  f("provenance", m.provenance);
  f("tier", m.tier, {.max = 3});
  f("dead", m.dead);
  f("property", m.property);
  f("kills", m.kills);
  f("executed", m.executed);
}

static void fields(auto& f, Like<Power> auto& p) {
  f.constant("schema", 1);
  f("tier", p.tier, {.max = 3});
  f("seed", p.seed);
  f("set_hash", p.set_hash, {.hash = true, .text = "of the cases that judged the control"});
  f.derived("dead", p.dead());
  f("beyond", p.beyond, {.text = "mutants that only a higher tier reaches; they are not judged"});
  f("mutants", p.mutants);
}

i64 Power::dead() const {
  return std::count_if(mutants.begin(), mutants.end(), [](const MutantFate& f) { return f.dead; });
}

std::string power_json(const Power& p) { return form::text_of(form::written(p)); }

std::string power_schema() { return form::schema<Power>("Fates of lockstep mutants"); }

Power read_power(const std::string& text) { return form::parsed<Power>(text); }

std::string density_text(const Power& p) {
  constexpr std::size_t kRarest = 3;
  std::vector<const MutantFate*> dead;
  for (const MutantFate& f : p.mutants)
    if (f.dead) dead.push_back(&f);
  if (dead.empty()) return "";
  std::stable_sort(dead.begin(), dead.end(),
      [](const MutantFate* a, const MutantFate* b) { return a->density() < b->density(); });
  const auto percent = [](const MutantFate& f) {
    return fmt::format("{}.{}%", f.density() / 10, f.density() % 10);
  };
  std::string s = fmt::format("kill density: {} of the cases at least, {} in the median\n",
      percent(*dead[0]), percent(*dead[dead.size() / 2]));
  for (std::size_t k = 0; k < std::min(kRarest, dead.size()); ++k)
    s += fmt::format(
        "  rarest  {:<34} {} of {} cases\n", dead[k]->name, dead[k]->kills, dead[k]->executed);
  return s;
}

}  // namespace lockstep::judge
