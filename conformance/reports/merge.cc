#include <fmt/format.h>

#include <algorithm>

#include "conformance/base/form.h"
#include "conformance/reports/report.h"
#include "conformance/verdict/causes.h"
#include "conformance/verdict/pattern.h"

namespace lockstep::judge {
namespace {

// A hash of the expectations, without their file names and their results in a part.
std::string expectations_hash(const Report& r) {
  std::string lines;
  for (const Expectation& e : r.expectations)
    lines += fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", e.op, e.property, e.id,
        e.kind, e.reason, e.link, e.expires, e.tier, e.count, e.ids, e.seed);
  return lines.empty() ? "none" : sha256(lines);
}

// The properties that all parts of one run share, each with its name.
std::vector<std::pair<const char*, std::string>> identity(const Report& r) {
  std::string options;
  for (const auto& [key, value] : r.options) options += key + "=" + value + " ";
  const auto list = [](const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, ","));
  };
  return {{"case set", r.set_hash}, {"order of cases", r.order_hash},
      {"number of cases", std::to_string(r.set_cases)}, {"tier", std::to_string(r.tier)},
      {"seed", std::to_string(r.seed)}, {"choice of operators", list(r.chosen.operators)},
      {"choice of profiles", list(r.chosen.profiles)},
      {"choice of properties", list(r.chosen.properties)}, {"model", r.chosen.model},
      {"budget", std::to_string(r.chosen.budget)}, {"nonce", r.chosen.nonce},
      {"set of golden vectors", r.chosen.vectors_hash}, {"backend", r.name + " " + r.version},
      {"library", r.file_hash}, {"manifest", r.manifest_hash}, {"options", options},
      {"file of expectations", expectations_hash(r)},
      {"number of parts", std::to_string(r.part.of)}};
}

void check_same_run(const std::vector<Named>& parts) {
  const auto first = identity(parts[0].report);
  for (const Named& p : parts) {
    const auto now = identity(p.report);
    for (std::size_t k = 0; k < first.size(); ++k)
      if (now[k].second != first[k].second)
        throw UsageError(fmt::format("'{}' and '{}' are of different runs: the {} is '{}' and '{}'",
            parts[0].file, p.file, now[k].first, printable(first[k].second),
            printable(now[k].second)));
  }
}

void check_complete(const std::vector<Named>& parts) {
  std::map<i64, const Named*> by_number;
  for (const Named& p : parts)
    if (const auto [at, fresh] = by_number.emplace(p.report.part.number, &p); !fresh)
      throw UsageError(fmt::format("'{}' and '{}' are both part {} of {}", at->second->file, p.file,
          p.report.part.number, p.report.part.of));
  std::string missing;
  const i64 of = parts[0].report.part.of;
  constexpr int kNamed = 20;
  int named = 0;
  for (i64 n = 1; n <= of && named < kNamed; ++n)
    if (!by_number.contains(n)) {
      missing += (missing.empty() ? "" : ", ") + std::to_string(n);
      ++named;
    }
  if (named > 0)
    throw UsageError(fmt::format("of {} parts {} are here, missing: {}{}", of, by_number.size(),
        missing, named == kNamed ? ", ..." : ""));
}

void add(i64& to, i64 more) { to = capped_sum(to, more); }

void add_counts(Counts& to, const Counts& more) {
  add(to.selected, more.selected);
  add(to.executed, more.executed);
  add(to.passed, more.passed);
  add(to.failed, more.failed);
  add(to.not_claimed, more.not_claimed);
  add(to.missing, more.missing);
  add(to.quarantined, more.quarantined);
  add(to.crashed, more.crashed);
  add(to.timed_out, more.timed_out);
  add(to.calls, more.calls);
}

template <class T> void unite(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
}

bool same_cause(const Failure& a, const Failure& b) {
  const auto key = [](const Failure& f) {
    std::string cells;
    for (const SharedClass& c : f.cells) cells += c.axis + ",";
    return std::tuple(f.op, f.property, f.known, f.outcome, f.answer, f.label, f.rule, f.pattern,
        cells, f.causes > 1, f.elements.empty() ? without_details(f.text) : "");
  };
  return key(a) == key(b);
}

// Keeps, of two failures with one cause, the one of the earlier case.
void add_failure(std::vector<Failure>& all, const Failure& more) {
  for (Failure& f : all) {
    if (!same_cause(f, more)) continue;
    const i64 count = capped_sum(f.count, more.count), causes = std::max(f.causes, more.causes);
    std::vector<SharedClass> cells = f.cells;
    for (std::size_t k = 0; k < cells.size(); ++k) unite(cells[k].values, more.cells[k].values);
    if (more.number < f.number) f = more;
    f.count = count;
    f.causes = causes;
    f.cells = std::move(cells);
    return;
  }
  all.push_back(more);
}

void add_cells(std::map<std::string, Cell>& to, const std::map<std::string, Cell>& more) {
  for (const auto& [name, cell] : more) {
    add(to[name].judged, cell.judged);
    add(to[name].failed, cell.failed);
  }
}

// Adds up two results of one list. An entry that had expired in any part counts as expired.
void add_expectations(std::vector<Expectation>& to, const std::vector<Expectation>& more) {
  for (std::size_t k = 0; k < to.size(); ++k) {
    Expectation& e = to[k];
    const Expectation& m = more[k];
    e.expired = e.expired || m.expired;
    add(e.matched, m.matched);
    add(e.judged, m.judged);
    e.seen.add(m.seen);
    add_cells(e.operators, m.operators);
    add_cells(e.properties, m.properties);
    const bool first = e.passed.empty() || m.passed_number < e.passed_number;
    if (!m.passed.empty() && first) e.passed = m.passed, e.passed_number = m.passed_number;
  }
}

void add_report(Report& to, const Report& more) {
  if (to.ended_early.empty()) to.ended_early = more.ended_early;
  add_counts(to.counts, more.counts);
  add(to.legal_selected, more.legal_selected);
  add(to.legal_not_claimed, more.legal_not_claimed);
  for (const auto& [op, row] : more.cells) add_cells(to.cells[op], row);
  for (const auto& [op, row] : more.failing)
    for (const auto& [property, kinds] : row)
      for (const auto& [kind, cases] : kinds) to.failing[op][property][kind].add(cases);
  for (const auto& [op, outputs] : more.outputs) to.outputs[op].add(outputs);
  for (const auto& [op, n] : more.executed_legal) add(to.executed_legal[op], n);
  for (const auto& [op, n] : more.largest_tensor)
    to.largest_tensor[op] = std::max(to.largest_tensor[op], n);
  for (const auto& [op, paths] : more.paths)
    for (const auto& [path, n] : paths) add(to.paths[op][path], n);
  for (const Failure& f : more.failures) add_failure(to.failures, f);
  add(to.known.failed, more.known.failed);
  add(to.known.crashed, more.known.crashed);
  add(to.known.timed_out, more.known.timed_out);
  add(to.known.quarantined, more.known.quarantined);
  for (const auto& [property, c] : more.canaries) {
    add(to.canaries[property].planted, c.planted);
    add(to.canaries[property].noticed, c.noticed);
  }
  add_expectations(to.expectations, more.expectations);
}

}  // namespace

Report merged(const std::vector<Named>& parts) {
  if (parts.empty()) throw UsageError("no report to merge");
  check_same_run(parts);
  check_complete(parts);
  Report r = parts[0].report;
  if (r.part.of == 1) return r;
  for (std::size_t k = 1; k < parts.size(); ++k) {
    const Report& more = parts[k].report;
    add_report(r, more);
    unite(r.quarantine, more.quarantine);
    unite(r.missing, more.missing);
    unite(r.environments, more.environments);
    unite(r.claimed, more.claimed);
    r.operators_selected = std::max(r.operators_selected, more.operators_selected);
  }
  sort_failures(r.failures);
  if (r.missing.size() > kMissingNamed) r.missing.resize(kMissingNamed);
  r.part = {1, 1};
  if (r.counts.selected != r.set_cases)
    throw UsageError(
        fmt::format("the parts hold {} cases, the set has {}", r.counts.selected, r.set_cases));
  judge_whole(r);
  disown_exceeded(r);
  conclude(r);
  return r;
}

}  // namespace lockstep::judge
