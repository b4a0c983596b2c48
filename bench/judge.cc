#include "conformance/run/judge.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "bench/run.h"
#include "conformance/base/places.h"
#include "conformance/reports/report.h"
#include "conformance/trial/properties.h"
#include "conformance/trial/property.h"

namespace lockstep::bench {
namespace {

// One run of the judge, which must pass: a run that fails early would look fast.
judge::Counts counts_of(const std::string& backend, const judge::Selection& selection,
    const judge::Options& set, int jobs) {
  judge::Conduct conduct;
  conduct.jobs = jobs;
  conduct.limits.set = set;
  const judge::Report r = judge::judge(backend, selection, conduct);
  if (r.exit != judge::Exit::pass) throw std::runtime_error(judge::verdict_line(r));
  return r.counts;
}

judge::Selection selection_of(int tier) {
  judge::Selection selection;
  selection.tier = tier;
  selection.vectors = judge::vector_directory();
  return selection;
}

// A row of the judge that `measured` fills; if that fails, the row says why.
Measurement judge_row(const std::string& backend, const std::string& workload,
    const std::string& call, const std::string& unit,
    const std::function<void(Measurement&)>& measured) {
  Measurement row{
      .op = "judge", .workload = workload, .call = call, .backend = backend, .unit = unit};
  try {
    measured(row);
  } catch (const std::runtime_error& e) {
    row.trouble = std::string("FAILED, not timed: ") + e.what();
    row.failed = true;
  }
  return row;
}

Measurement property_row(
    const std::string& backend, const std::string& property, const BenchmarkOptions& wishes) {
  judge::Selection selection = selection_of(wishes.judge_tier.value_or(0));
  std::string call = fmt::format("lockstep check {} --tier {} --jobs 1", backend, selection.tier);
  if (property != "all") {
    selection.properties = {property};
    call += " --property " + property;
  }
  return judge_row(backend, property, call, "case", [&](Measurement& row) {
    const auto run = [&] { return counts_of(backend, selection, wishes.set, 1).executed; };
    row.units = run();
    row.time = measure({run}, wishes.effort)[0];
  });
}

// The time that the judge adds to a call of a few nanoseconds: it lays out tensors, asks another
// process, and inspects the memory around the tensors.
Measurement call_row(const std::string& backend, const BenchmarkOptions& wishes) {
  const judge::Case c = judge::parse_case("relu/in=6@8/fill=dense:1");
  return judge_row(backend, "call", case_id(c), "call", [&](Measurement& row) {
    judge::Limits limits;
    limits.set = wishes.set;
    const auto subject = judge::open_subject(backend, limits);
    const auto in = judge::inputs_of(c);
    const Inferred out = c.op->infer(c.attributes(), c.types());
    const auto ask = [&] {
      const judge::Answer a = subject->execute(c, in, out, {});
      if (!a.ok()) throw std::runtime_error(a.message);
    };
    row.time = measure({ask}, wishes.effort)[0];
  });
}

// The peak memory of this process, or of the children for which it waited.
i64 peak_bytes(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return i64{usage.ru_maxrss} * 1024;
}

// A whole run as users start it, timed once because it is slow.
Measurement whole_row(const std::string& backend, const BenchmarkOptions& wishes) {
  const judge::Selection selection = selection_of(wishes.judge_tier.value_or(1));
  const int jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const std::string call =
      fmt::format("lockstep check {} --tier {} --jobs {}", backend, selection.tier, jobs);
  return judge_row(backend, "whole", call, "call", [&](Measurement& row) {
    const auto begin = std::chrono::steady_clock::now();
    row.threads = jobs;
    row.units = counts_of(backend, selection, wishes.set, jobs).calls;
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    row.time = {took.count(), took.count(), took.count(), 1};
    // Each job has a judging process and a worker process.
    row.peak_bytes = peak_bytes(RUSAGE_SELF) + i64{2} * jobs * peak_bytes(RUSAGE_CHILDREN);
  });
}

}  // namespace

void run_judge(const BenchmarkOptions& wishes, const Take& take) {
  std::vector<std::string> names{"all"};
  for (const judge::Property* p : judge::kProperties) names.emplace_back(p->name);
  const auto want = [&](const std::string& name) {
    if (!wishes.want("judge", name)) return false;
    wishes.announce("judge/" + name);
    return true;
  };
  for (const std::string& backend : wishes.backends) {
    for (const std::string& name : names)
      if (want(name)) take(property_row(backend, name, wishes));
    if (want("call")) take(call_row(backend, wishes));
    if (want("whole")) take(whole_row(backend, wishes));
  }
}

}  // namespace lockstep::bench
