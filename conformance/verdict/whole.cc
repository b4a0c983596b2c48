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

// Requires that the manifest lists every kernel that ran, and that every kernel ran that it calls
// runnable, unless the run is a prefix.
void judge_paths(Report& r) {
  const std::string property(kPathsCovered.name);
  if (!selection_of(r).wants(property) || r.manifest_hash.empty()) return;
  for (const KernelInfo& k : r.kernels)
    if (!is_prefix(r) && k.runnable && called_for(r, k))
      judge_run(r, k.op, property,
          ran(r, k) ? "" : "kernel '" + k.name + "' (isa " + k.isa + ") never ran");
  for (const auto& [op, paths] : r.paths)
    for (const auto& [path, n] : paths)
      if (!listed(r, op, path))
        judge_run(r, op, property, "kernel '" + path + "' ran and is not in the manifest");
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

void miss_unplanted(Report& r) {
  const Counts& c = r.counts;
  // Canaries are planted in right answers only; other properties may pass where those are wrong.
  if (c.passed < c.executed || c.quarantined > 0 || !r.chosen.properties.empty()) return;
  for (const auto& [op, row] : r.cells)
    for (const Property* p : kProperties) {
      const std::string name(p->name);
      const bool of_cases = op != "*" && !p->of_run() && row.contains(name);
      if (of_cases && !r.canaries.contains(name)) r.canaries[name] = {1, 0};
    }
}

void judge_whole(Report& r) {
  if (r.part.of > 1) return;
  judge_paths(r);
  judge_floor(r);
}

}  // namespace lockstep::judge
