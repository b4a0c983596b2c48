#include <fmt/format.h>

#include <algorithm>

#include "bench/row.h"

namespace lockstep::bench {
namespace {

// The comparison of a row with the older one.
struct Change {
  enum Effect { kept, slower, gone, incomparable } kind = kept;
  std::string text;
};

const Measurement* find(const Results& results, const std::string& key) {
  const auto at = std::find_if(results.rows.begin(), results.rows.end(),
      [&](const Measurement& r) { return r.key() == key; });
  return at == results.rows.end() ? nullptr : &*at;
}

Change incomparable(const std::string& why) { return {Change::incomparable, why}; }

Change change_of(
    const Measurement& before, const Measurement* now, bool same_processor, int percent) {
  if (!before.trouble.empty()) return incomparable("was not timed before");
  if (!now) return {Change::gone, "is gone"};
  if (!now->trouble.empty()) return {Change::gone, "is not timed now: " + now->trouble};
  if (now->call != before.call) return incomparable("is another call now");
  if (now->limit != before.limit) return incomparable("is bounded by another limit now");
  if (now->limit.empty() && !same_processor)
    return incomparable("has no limit to compare processors by");
  const double old_unit = before.limit.empty() ? 1 : before.limit_ns;
  const double new_unit = now->limit.empty() ? 1 : now->limit_ns;
  const double old_median = before.time.median_ns / old_unit;
  const double factor = now->time.median_ns / new_unit / old_median;
  const bool slower = factor > 1 + percent / 100.0 && now->time.min_ns / new_unit > old_median;
  return {
      slower ? Change::slower : Change::kept, fmt::format("takes {:.2f} times as long", factor)};
}

}  // namespace

Comparison compare(const Results& before, const Results& now, int percent) {
  i64 count[4] = {};
  Comparison c;
  const bool same_processor = before.processor == now.processor;
  for (const Measurement& row : before.rows) {
    const Change change = change_of(row, find(now, row.key()), same_processor, percent);
    ++count[change.kind];
    constexpr const char* kWords[] = {"kept", "SLOWER", "GONE", "not compared"};
    c.text += fmt::format("{:<13} {} {}\n", kWords[change.kind], row.key(), change.text);
  }
  const i64 compared = count[Change::kept] + count[Change::slower];
  c.passed = compared > 0 && count[Change::slower] == 0 && count[Change::gone] == 0;
  c.text += fmt::format("{}: {} compared, {} slower by more than {} %, {} gone, {} not compared\n",
      c.passed ? "PASS" : "FAIL", compared, count[Change::slower], percent, count[Change::gone],
      count[Change::incomparable]);
  return c;
}

}  // namespace lockstep::bench
