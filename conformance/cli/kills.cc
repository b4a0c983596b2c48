// Measures the kill matrix.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "conformance/cli/verbs.h"
#include "conformance/run/jobs.h"
#include "conformance/selection/kill_matrix.h"
#include "conformance/selection/select.h"
#include "conformance/verdict/verdict.h"

namespace lockstep::judge {
namespace {

// The `first` items, and `more` of the others, evenly spread.
std::vector<Item> spread(const std::vector<Item>& items, std::size_t first, std::size_t more) {
  first = std::min(first, items.size());
  more = std::min(more, items.size() - first);
  std::vector<Item> some(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(first));
  for (std::size_t k = 0; k < more; ++k)
    some.push_back(items[first + k * (items.size() - first) / more]);
  return some;
}

class Measure {
 public:
  Measure(const std::string& backend, const std::vector<MutantFate>& mutants, const Selection& s,
      const Conduct& c, bool quiet)
      : backend_(backend), mutants_(mutants), selection_(s), conduct_(c), quiet_(quiet) {
    selection_.kills.clear();
    selection_.budget = 0;
    conduct_.shrink = false;
  }

  // Judges a mutant of one operator by the first cases of the operator and some more; a contract
  // mutant by the cases that kill others and by some of every operator, since hangs take long.
  KillMatrix take() && {
    constexpr std::size_t kFirst = 200, kSome = 60, kFew = 4;
    std::vector<Item> some, few_of_all;
    for (const OpInfo* op : selected_operators(selection_)) {
      Selection s = selection_;
      s.operators = {std::string(op->name)};
      const std::vector<Item> items = select_cases(s), few = spread(items, kFirst, kSome);
      for (std::size_t m = 0; m < mutants_.size(); ++m)
        if (mutants_[m].op == op->name && put(m, few).empty()) put(m, items);
      for (Item& item : spread(items, 0, kSome)) some.push_back(std::move(item));
      for (Item& item : spread(items, kFew, kFew)) few_of_all.push_back(std::move(item));
    }
    const std::vector<Item> discriminating = chosen();
    few_of_all.insert(few_of_all.begin(), discriminating.begin(), discriminating.end());
    for (std::size_t m = 0; m < mutants_.size(); ++m)
      if (mutants_[m].op == "*" && put(m, few_of_all).empty() && put(m, some).empty())
        put_alone(m, discriminating);
    confirm();
    return kills();
  }

 private:
  struct Found {
    Item item;
    std::vector<i64> mutants;
  };

  // Judges a mutant by some cases. @param killers receives the cases that kill it
  Report judge_by(
      std::size_t m, const std::vector<Item>& items, std::vector<const Item*>& killers) {
    Selection s = selection_;
    s.budget = std::ssize(items);
    Conduct c = conduct_;
    c.limits.set["mutant"] = mutants_[m].name;
    c.record = [&](i64 number, const ItemResult& result) {
      if (result.outcome != Outcome::passed && result.outcome != Outcome::quarantined)
        killers.push_back(&items[static_cast<std::size_t>(number)]);
    };
    Report r = judge(backend_, s, items, c);
    if (r.exit == Exit::judge_broke)
      throw std::runtime_error("the judge broke on mutant " + mutants_[m].name);
    return r;
  }

  void note(std::size_t m, const std::vector<const Item*>& killers) {
    for (const Item* item : killers) {
      Found& f = found_[item->id];
      f.item = *item;
      if (f.mutants.empty() || f.mutants.back() != static_cast<i64>(m))
        f.mutants.push_back(static_cast<i64>(m));
    }
  }

  std::vector<const Item*> put(std::size_t m, const std::vector<Item>& items) {
    std::vector<const Item*> killers;
    judge_by(m, items, killers);
    note(m, killers);
    if (!quiet_)
      fmt::print("{:<34} dies of {} of {} cases\n", mutants_[m].name, killers.size(), items.size());
    std::fflush(stdout);
    return killers;
  }

  // Some mutants fail only a property of the whole run, so each case is run by itself.
  void put_alone(std::size_t m, const std::vector<Item>& items) {
    for (const Item& item : items) {
      std::vector<const Item*> none;
      if (judge_by(m, {item}, none).exit == Exit::fail) note(m, {&item});
    }
  }

  // Keeps only the cases that kill a contract mutant a second time, among other cases: a mutant
  // that keeps state, or races, may die by chance.
  void confirm() {
    const std::vector<Item> discriminating = chosen();
    for (std::size_t m = 0; m < mutants_.size(); ++m) {
      if (mutants_[m].op != "*") continue;
      std::vector<const Item*> killers;
      judge_by(m, discriminating, killers);
      std::set<string_view> again;
      for (const Item* item : killers) again.insert(item->id);
      if (again.empty()) continue;
      for (auto& [id, found] : found_)
        if (!again.contains(id)) std::erase(found.mutants, static_cast<i64>(m));
    }
  }

  // The kill matrix, with few cases of each operator, which kill all mutants that its cases kill.
  KillMatrix kills() const {
    KillMatrix k{LOCKSTEP_VERSION, {}, {}};
    for (const MutantFate& m : mutants_) k.mutants.push_back({m.name, m.op});
    std::map<string_view, std::vector<KillMatrix::Killer>> by_operator;
    for (const auto& [id, found] : found_)
      by_operator[found.item.call.op->name].push_back({id, found.mutants});
    for (auto& [op, killers] : by_operator) {
      order_killers(killers, mutants_.size());
      k.cases.insert(k.cases.end(), killers.begin(), killers.end());
    }
    return k;
  }
  std::vector<Item> chosen() const {
    std::vector<Item> items;
    for (const KillMatrix::Killer& killer : kills().cases)
      items.push_back(found_.at(killer.id).item);
    return items;
  }

  const std::string backend_;
  const std::vector<MutantFate>& mutants_;
  Selection selection_;
  Conduct conduct_;
  bool quiet_;
  std::map<std::string, Found> found_;  // by case
};

}  // namespace

KillMatrix measure_kills(const std::string& backend, const std::vector<MutantFate>& mutants,
    const Selection& selection, const Conduct& conduct, bool quiet) {
  return Measure(backend, mutants, selection, conduct, quiet).take();
}

}  // namespace lockstep::judge
