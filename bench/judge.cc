#include "conformance/judge.h"

#include <fmt/format.h>

#include "bench/run.h"
#include "conformance/places.h"
#include "conformance/property.h"

namespace lockstep::bench {
namespace {

// One run of the judge, which must pass: a verdict that fails early would look fast.
i64 executed_cases(const std::string& backend, const judge::Selection& selection,
                   const judge::Options& set) {
  judge::Conduct conduct;
  conduct.jobs = 1;
  conduct.limits.set = set;
  const judge::Report r = judge::judge(backend, selection, conduct);
  if (r.exit != judge::Exit::pass) throw std::runtime_error(judge::verdict_line(r));
  return r.counts.executed;
}

Row judge_row(const std::string& backend, const std::string& property, const Wishes& wishes) {
  judge::Selection selection;
  selection.tier = wishes.judge_tier;
  selection.vectors = judge::vector_directory();
  if (property != "all") selection.properties = {property};
  Row row;
  row.op = "judge";
  row.workload = property;
  row.call = fmt::format("lockstep check {} --tier {} --jobs 1", backend, selection.tier);
  if (property != "all") row.call += " --property " + property;
  row.backend = backend;
  row.unit = "case";
  try {
    row.units = executed_cases(backend, selection, wishes.set);
    const auto call = [&] { executed_cases(backend, selection, wishes.set); };
    row.time = measure({call}, wishes.effort)[0];
  } catch (const std::runtime_error& e) {
    row.trouble = std::string("FAILED, not timed: ") + e.what();
    row.failed = true;
  }
  return row;
}

}  // namespace

void run_judge(const Wishes& wishes, const Take& take) {
  std::vector<std::string> names{"all"};
  for (const judge::Property* p : judge::properties()) names.emplace_back(p->name);
  for (const std::string& backend : wishes.backends)
    for (const std::string& name : names)
      if (wishes.want("judge", name)) {
        wishes.announce("judge/" + name);
        take(judge_row(backend, name, wishes));
      }
}

}  // namespace lockstep::bench
