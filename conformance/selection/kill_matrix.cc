#include "conformance/selection/kill_matrix.h"

#include <algorithm>
#include <map>
#include <set>

#include "conformance/base/form.h"
#include "conformance/base/read_file.h"

namespace lockstep::judge {

using form::Like;

static void fields(auto& f, Like<KillMatrix::Mutant> auto& m) {
  f("name", m.name);
  f("operator", m.op);
}

static void fields(auto& f, Like<KillMatrix::Killer> auto& k) {
  f("case", k.id);
  f("kills", k.mutants);
}

static void fields(auto& f, Like<KillMatrix> auto& k) {
  f.constant("format", 1);
  f("judge", k.judge);
  f("mutants", k.mutants);
  f("cases", k.cases);
}

namespace {

void settle(KillMatrix& k) {
  for (std::size_t n = 0; n < k.cases.size(); ++n)
    for (i64 m : k.cases[n].mutants)
      if (m < 0 || std::cmp_greater_equal(m, k.mutants.size()))
        form::wrong("/cases/" + std::to_string(n) + "/kills", "names no mutant of the list");
}

}  // namespace

// Writes one line for each operator, so that a diff shows whose mutants and killers changed.
std::string kills_json(const KillMatrix& k) {
  form::json all = form::written(k);
  const auto lines = [&](const char* key) {
    std::string s, op;
    for (const form::json& row : all[key]) {
      std::string of = row.value("operator", row.value("case", ""));
      of.erase(std::min(of.find('/'), of.size()));
      s += (s.empty() ? "[\n  " : of == op ? ", " : ",\n  ") + row.dump();
      op = of;
    }
    return s.empty() ? "[]" : s + "\n ]";
  };
  return "{\n \"format\": 1,\n \"judge\": " + all["judge"].dump() +
      ",\n \"mutants\": " + lines("mutants") + ",\n \"cases\": " + lines("cases") + "\n}\n";
}

KillMatrix read_kills(const std::string& text) { return form::parsed<KillMatrix>(text, settle); }

std::optional<KillMatrix> kills_of(const std::string& file) {
  if (file.empty()) return std::nullopt;
  try {
    KillMatrix k = read_kills(read_file(file));
    return k.judge == LOCKSTEP_VERSION ? std::optional(std::move(k)) : std::nullopt;
  } catch (const UsageError& e) {
    throw UsageError("'" + file + "': " + e.what());
  }
}

void put_killers_first(std::vector<Item>& items, const KillMatrix& k) {
  std::set<string_view> here;
  for (const Item& item : items) here.insert(item.id);
  std::vector<KillMatrix::Killer> killers = k.cases;
  std::erase_if(
      killers, [&](const KillMatrix::Killer& killer) { return !here.contains(killer.id); });
  order_killers(killers, k.mutants.size());
  std::map<std::string, std::size_t> places;
  for (const KillMatrix::Killer& killer : killers) places.emplace(killer.id, places.size());
  const auto rank = [&](const Item& item) {
    const auto at = places.find(item.id);
    return at == places.end() ? places.size() : at->second;
  };
  const auto rest = std::stable_partition(
      items.begin(), items.end(), [&](const Item& item) { return rank(item) < places.size(); });
  std::stable_sort(
      items.begin(), rest, [&](const Item& a, const Item& b) { return rank(a) < rank(b); });
}

void order_killers(std::vector<KillMatrix::Killer>& killers, std::size_t mutants) {
  std::vector<bool> dead(mutants);
  const auto news = [&](const KillMatrix::Killer& k) {
    return std::count_if(k.mutants.begin(), k.mutants.end(),
        [&](i64 m) { return !dead[static_cast<std::size_t>(m)]; });
  };
  for (auto next = killers.begin(); next != killers.end(); ++next) {
    const auto best = std::max_element(
        next, killers.end(), [&](const auto& a, const auto& b) { return news(a) < news(b); });
    if (news(*best) == 0) {
      killers.erase(next, killers.end());
      return;
    }
    std::rotate(next, best, best + 1);
    for (i64 m : next->mutants) dead[static_cast<std::size_t>(m)] = true;
  }
}

Score score_of(
    const std::vector<const Item*>& items, std::set<string_view> operators, const KillMatrix& k) {
  std::map<std::string, const KillMatrix::Killer*> killers;
  for (const KillMatrix::Killer& killer : k.cases) killers.emplace(killer.id, &killer);
  std::set<i64> dead;
  for (const Item* item : items)
    if (const auto at = killers.find(item->id); at != killers.end())
      dead.insert(at->second->mutants.begin(), at->second->mutants.end());
  operators.insert("*");
  Score s;
  for (std::size_t m = 0; m < k.mutants.size(); ++m) {
    if (!operators.contains(k.mutants[m].op)) continue;
    ++s.listed;
    s.killed += dead.contains(static_cast<i64>(m));
  }
  return s;
}

}  // namespace lockstep::judge
