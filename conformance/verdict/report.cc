#include "conformance/verdict/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/trial/properties/deterministic.h"

namespace lockstep::judge {
namespace {

bool any_failed(const Report& r) {
  return r.counts.failed > r.known.failed || !r.exceeded.empty() ||
      std::any_of(
          r.failures.begin(), r.failures.end(), [](const Failure& f) { return f.unexpected(); });
}

bool nondeterministic(const Report& r) {
  return std::any_of(r.failures.begin(), r.failures.end(),
      [](const Failure& f) { return f.unexpected() && f.property == kDeterministic.name; });
}

// Whether every unexpected end of the backend is a timeout.
bool only_hung(const Report& r) {
  return r.counts.timed_out > r.known.timed_out && r.counts.crashed == r.known.crashed;
}

// Whether cases were quarantined only for what the backend wrote where only answers belong.
bool only_strayed(const Report& r) {
  return r.counts.crashed + r.counts.timed_out == 0 && any_failed(r);
}

}  // namespace

i64 deaths(const Report& r) { return r.counts.crashed + r.counts.timed_out + r.counts.quarantined; }
i64 known_deaths(const Report& r) {
  return r.known.crashed + r.known.timed_out + r.known.quarantined;
}

Canaries all_canaries(const Report& r) {
  Canaries all;
  for (const auto& [property, c] : r.canaries) all.planted += c.planted, all.noticed += c.noticed;
  return all;
}

bool any_judged(const Report& r) {
  for (const auto& [op, row] : r.cells)
    for (const auto& [property, cell] : row)
      if (cell.judged > 0) return true;
  return false;
}

i64 known_failures(const Report& r) {
  const auto of_run = std::count_if(r.failures.begin(), r.failures.end(),
      [](const Failure& f) { return !f.unexpected() && f.id.empty(); });
  return r.known.failed + known_deaths(r) + of_run;
}

Selection selection_of(const Report& r) {
  Selection s;
  s.tier = r.tier;
  s.seed = r.seed;
  s.operators = r.chosen.operators;
  s.profiles = r.chosen.profiles;
  s.properties = r.chosen.properties;
  s.cases = r.chosen.cases;
  s.budget = r.chosen.budget;
  s.model = r.chosen.model;
  s.nonce = r.chosen.nonce;
  s.part = r.part;
  return s;
}

string_view word_of(Exit e) {
  constexpr string_view kWords[] = {
      "pass", "fail", "usage", "incomplete", "judge broke", "stale expectations", "known failures"};
  return kWords[static_cast<int>(e)];
}

std::string exit_text(Exit e) {
  return fmt::format("exit {} ({})", static_cast<int>(e), word_of(e));
}

void conclude(Report& r) {
  r.stale = stale(r);
  r.exceeded = exceeded(r);
  const Counts& c = r.counts;
  const Canaries canaries = all_canaries(r);
  const bool blind = canaries.noticed < canaries.planted;
  // A run that judged no property proves no more than a run without cases.
  const bool vacuous = c.executed + c.quarantined == 0 || (!any_judged(r) && deaths(r) == 0);
  if (blind) {
    r.verdict = "BROKEN";
    r.exit = Exit::judge_broke;
  } else if (vacuous || c.missing > 0 || !r.ended_early.empty() ||
      (!r.below_floor.empty() && c.quarantined == 0)) {
    r.verdict = "INCOMPLETE";
    r.exit = Exit::incomplete;
  } else if (deaths(r) > known_deaths(r) && !only_strayed(r)) {
    r.verdict = only_hung(r) ? "TIMEOUT" : "CRASH";
    r.exit = Exit::fail;
  } else if (nondeterministic(r)) {
    r.verdict = "NONDETERMINISTIC";
    r.exit = Exit::fail;
  } else if (any_failed(r)) {
    r.verdict = "FAIL";
    r.exit = Exit::fail;
  } else if (!r.stale.empty()) {
    r.verdict = "STALE";
    r.exit = Exit::stale;
  } else {
    r.verdict = "PASS";
    r.exit = known_failures(r) > 0 ? Exit::known_failures : Exit::pass;
  }
}

}  // namespace lockstep::judge
