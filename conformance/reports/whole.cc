// What only a whole run shows.
#include <algorithm>

#include "conformance/reports/report.h"

namespace lockstep::judge {
namespace {

// A prefix or single cases need not reach every kernel, nor a number of cases of each operator.
bool is_prefix(const Report& r) { return !r.chosen.cases.empty() || r.chosen.budget > 0; }

bool matches(const KernelInfo& k, const std::string& op) { return k.op == op || k.op == "*"; }

bool ran(const Report& r, const KernelInfo& k) {
  return std::any_of(r.paths.begin(), r.paths.end(), [&](const auto& row) {
    return matches(k, row.first) && row.second.contains(k.name);
  });
}

bool listed(const Report& r, const std::string& op, const std::string& kernel) {
  return std::any_of(r.kernels.begin(), r.kernels.end(),
                     [&](const KernelInfo& k) { return matches(k, op) && k.name == kernel; });
}

// Every kernel that ran is in the manifest, and every kernel that the manifest calls runnable ran,
// where the cases are enough to reach them all.
void judge_paths(Report& r) {
  const std::string property(kPathsCovered);
  const auto& wanted = r.chosen.properties;
  const bool selected =
      wanted.empty() || std::find(wanted.begin(), wanted.end(), property) != wanted.end();
  if (!selected || r.manifest_hash.empty()) return;
  const auto judge = [&](const std::string& op, bool holds, const std::string& text) {
    ++r.cells[op][property].judged;
    if (holds) return;
    ++r.cells[op][property].failed;
    r.failures.push_back({op, property, "", text, 1, {}, {}, {}});
  };
  for (const KernelInfo& k : r.kernels)
    if (!is_prefix(r) && k.runnable &&
        std::any_of(r.executed_legal.begin(), r.executed_legal.end(),
                    [&](const auto& row) { return matches(k, row.first); }))
      judge(k.op, ran(r, k), "kernel '" + k.name + "' (isa " + k.isa + ") never ran");
  for (const auto& [op, paths] : r.paths)
    for (const auto& [path, n] : paths)
      if (!listed(r, op, path))
        judge(op, false, "kernel '" + path + "' ran and is not in the manifest");
}

void judge_floor(Report& r) {
  if (is_prefix(r) || !r.chosen.properties.empty()) return;
  for (const std::string& op : r.claimed) {
    const auto n = r.executed_legal.find(op);
    if (n == r.executed_legal.end() || n->second < tier_floor(r.tier)) r.below_floor.push_back(op);
  }
}

}  // namespace

void judge_whole(Report& r) {
  if (r.part.of > 1) return;
  judge_paths(r);
  judge_floor(r);
}

}  // namespace lockstep::judge
