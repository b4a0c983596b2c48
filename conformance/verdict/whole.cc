// Judges what only a whole run shows.
#include <algorithm>

#include "conformance/base/sha256.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {
namespace {

// Whether the run is a prefix of a case set or has single cases, and so may miss kernels or the
// floor.
bool is_prefix(const Report& r) {
  return !r.chosen.cases.empty() || !r.chosen.model.empty() || r.chosen.budget > 0;
}

bool matches(const KernelInfo& k, const std::string& op) { return k.op == op || k.op == "*"; }

bool ran(const Report& r, const KernelInfo& k) {
  return std::any_of(r.paths.begin(), r.paths.end(),
      [&](const auto& row) { return matches(k, row.first) && row.second.contains(k.name); });
}

bool listed(const Report& r, const std::string& op, const std::string& kernel) {
  return std::any_of(r.kernels.begin(), r.kernels.end(),
      [&](const KernelInfo& k) { return matches(k, op) && k.name == kernel; });
}

// Whether a run had calls for a kernel. A kernel of all operators serves those without kernels of
// their own.
bool called_for(const Report& r, const KernelInfo& k) {
  return std::any_of(r.executed_legal.begin(), r.executed_legal.end(), [&](const auto& row) {
    return k.op == row.first ||
        (k.op == "*" &&
            std::none_of(r.kernels.begin(), r.kernels.end(),
                [&](const KernelInfo& other) { return other.runnable && other.op == row.first; }));
  });
}

// What was judged of the kernels of an operator, and how it violates the property; empty: it does
// not.
struct PathVerdict {
  std::string op, violation;
};

// Requires that the manifest lists every kernel that ran, and that every kernel ran that it calls
// runnable, unless the run is a prefix.
std::vector<PathVerdict> path_verdicts(const Report& r) {
  std::vector<PathVerdict> all;
  for (const KernelInfo& k : r.kernels)
    if (!is_prefix(r) && k.runnable && called_for(r, k))
      all.push_back(
          {k.op, ran(r, k) ? "" : "kernel '" + k.name + "' (isa " + k.isa + ") never ran"});
  for (const auto& [op, paths] : r.paths)
    for (const auto& [path, n] : paths)
      if (!listed(r, op, path))
        all.push_back({op, "kernel '" + path + "' ran and is not in the manifest"});
  return all;
}

bool holds(const std::vector<PathVerdict>& all) {
  return std::all_of(
      all.begin(), all.end(), [](const PathVerdict& v) { return v.violation.empty(); });
}

// Plants faults in the kernels that ran: one that the manifest does not list, and one that it lists
// and that never ran.
void plant_in_paths(Report& r) {
  if (r.executed_legal.empty()) return;
  const std::string op = r.executed_legal.begin()->first, name = "a kernel that the judge planted";
  Canaries& c = r.canaries[std::string(kPathsCovered.name)];
  const auto plant = [&](const Report& tampered) {
    ++c.planted;
    c.noticed += !holds(path_verdicts(tampered));
  };
  Report unlisted = r;
  unlisted.paths[op][name] = 1;
  plant(unlisted);
  if (is_prefix(r)) return;
  Report idle = r;
  idle.kernels.push_back({op, name, "", true});
  plant(idle);
}

void judge_paths(Report& r) {
  const std::string property(kPathsCovered.name);
  if (!selection_of(r).wants(property) || r.manifest_hash.empty()) return;
  const std::vector<PathVerdict> all = path_verdicts(r);
  for (const auto& [op, violation] : all) judge_run(r, op, property, violation);
  if (holds(all)) plant_in_paths(r);
}

bool violated(const Report& r, const std::string& property) {
  return std::any_of(r.cells.begin(), r.cells.end(), [&](const auto& row) {
    const auto cell = row.second.find(property);
    return cell != row.second.end() && cell->second.failed > 0;
  });
}

void judge_floor(Report& r) {
  if (is_prefix(r) || !r.chosen.properties.empty()) return;
  r.floor_judged = !r.claimed.empty();
  for (const std::string& op : r.claimed) {
    const auto n = r.executed_legal.find(op);
    if (n == r.executed_legal.end() || n->second < tier_floor(r.tier)) r.below_floor.push_back(op);
  }
}

}  // namespace

void judge_run(Report& r, const std::string& op, const std::string& property,
    const std::string& violation, bool flaky) {
  Cell& cell = r.cells[op][property];
  ++cell.judged;
  if (violation.empty()) return;
  ++cell.failed;
  ItemResult result;
  result.outcome = Outcome::failed;
  result.flaky = flaky;
  r.failing[op][property][expected_kind(result)].add(sha256(violation));
  const Expectation* known =
      flaky ? nullptr : match_expectations(r.expectations, op, property, violation);
  Failure& f = r.failures.emplace_back();
  f.op = op;
  f.property = property;
  f.text = violation + (flaky ? kNotAgain : "");
  f.count = 1;
  if (known) f.known = known->why();
}

void judge_silent(Report& r, const std::set<string_view>& silent) {
  if (r.counts.passed < r.counts.executed) return;
  for (const string_view op : silent)
    judge_run(r, std::string(op), std::string(kGraphs.name),
        "a small call before the cases got no answer, so that no graph with it ran call by call");
}

void judge_wrong_calls(Report& r, const std::map<std::string, WrongCall>& wrong) {
  if (is_prefix(r) || r.part.of > 1) return;
  const auto is_right = [&](const std::string& op) {
    const auto row = r.cells.find(op);
    if (row == r.cells.end() || !row->second.contains(std::string(kMatchesReference.name)))
      return false;
    return std::all_of(row->second.begin(), row->second.end(),
        [](const auto& cell) { return cell.second.failed == 0; });
  };
  for (const auto& [op, call] : wrong)
    if (is_right(op))
      judge_run(r, op, std::string(kGraphs.name),
          "a call of a graph was wrong by itself, and no case was: " + call.id + ": " + call.text);
}

void miss_unplanted(Report& r) {
  const Counts& c = r.counts;
  // Canaries are planted in right answers only; other properties may pass where those are wrong.
  if (c.passed < c.executed || c.quarantined > 0 || !r.chosen.properties.empty()) return;
  for (const auto& [op, row] : r.cells)
    for (const Property* p : kProperties) {
      const std::string name(p->name);
      // Of "*" properties of cases are judged without a case, and so without a canary.
      const bool has_place = !violated(r, name) && (p->of_run() || op != "*");
      if (has_place && row.contains(name) && !r.canaries.contains(name)) r.canaries[name] = {1, 0};
    }
}

void judge_whole(Report& r) {
  if (r.part.of > 1) return;
  judge_paths(r);
  judge_floor(r);
}

}  // namespace lockstep::judge
