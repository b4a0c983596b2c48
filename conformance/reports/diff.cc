#include <fmt/format.h>

#include <set>

#include "conformance/reports/report.h"

namespace lockstep::judge {
namespace {

class Comparison {
 public:
  Comparison(const Report& before, const Report& after) : before_(before), after_(after) {}

  std::vector<Change> all() {
    results();
    subject();
    return changes_;
  }

 private:
  void say(bool result, std::string text) { changes_.push_back({result, std::move(text)}); }

  template <class T> void compare(bool result, const char* what, const T& before, const T& after) {
    if (before != after) say(result, fmt::format("{}: {} -> {}", what, before, after));
  }

  void results() {
    compare(true, "verdict", before_.verdict, after_.verdict);
    if (before_.set_hash != after_.set_hash)
      say(true,
          fmt::format("other cases: {} in set {} -> {} in set {}", grouped(before_.set_cases),
              before_.set_hash.substr(0, 16), grouped(after_.set_cases),
              after_.set_hash.substr(0, 16)));
    compare(true, "part", part(before_), part(after_));
    for (const std::string& op : differing_outputs(before_, after_))
      say(true, "outputs of " + op + ": " + outputs(before_, op) + " -> " + outputs(after_, op));
    cells();
    compare(true, "quarantined", fmt::format("{}", fmt::join(before_.quarantine, "; ")),
        fmt::format("{}", fmt::join(after_.quarantine, "; ")));
    const Counts &b = before_.counts, &a = after_.counts;
    for (const auto& [word, n, m] :
        {std::tuple{"selected", b.selected, a.selected}, {"executed", b.executed, a.executed},
            {"passed", b.passed, a.passed}, {"failed", b.failed, a.failed},
            {"crashed", b.crashed, a.crashed}, {"timed out", b.timed_out, a.timed_out},
            {"not claimed", b.not_claimed, a.not_claimed}, {"missing", b.missing, a.missing}})
      compare(true, word, grouped(n), grouped(m));
  }

  void cells() {
    std::set<std::pair<std::string, std::string>> keys;
    for (const Report* r : {&before_, &after_})
      for (const auto& [op, row] : r->cells)
        for (const auto& [property, cell] : row) keys.emplace(op, property);
    for (const auto& [op, property] : keys) {
      const Cell b = cell(before_, op, property), a = cell(after_, op, property);
      const std::string what = op + " " + property;
      if (b.failed == 0 && a.failed > 0)
        say(true,
            fmt::format(
                "{} fails now: {} of {} cases", what, grouped(a.failed), grouped(a.judged)));
      else if (b.failed > 0 && a.failed == 0 && a.judged > 0)
        say(true, fmt::format("{} fails no more: {} cases did", what, grouped(b.failed)));
      else if (b.failed != a.failed)
        say(true,
            fmt::format("{} fails in {} -> {} cases", what, grouped(b.failed), grouped(a.failed)));
      if (b.failed > 0) causes(op, property);
      if (b.judged != a.judged)
        say(true,
            fmt::format("{} judged in {} -> {} cases", what, grouped(b.judged), grouped(a.judged)));
    }
  }

  // Adds causes that were not seen before, of an operator and property that failed before, too.
  void causes(const std::string& op, const std::string& property) {
    std::set<std::string> known;
    for (const Failure* f : failures_of(before_, op, property)) known.insert(way_of(*f));
    for (const Failure* f : failures_of(after_, op, property))
      if (known.insert(way_of(*f)).second)
        say(true, fmt::format("{} {} fails in another way: {}", op, property, way_of(*f)));
  }

  void subject() {
    compare(
        false, "backend", before_.name + " " + before_.version, after_.name + " " + after_.version);
    compare(false, "device", before_.device, after_.device);
    compare(false, "library", before_.file_hash, after_.file_hash);
    compare(false, "manifest", before_.manifest_hash, after_.manifest_hash);
    compare(false, "options", options(before_), options(after_));
    compare(false, "golden vectors", before_.chosen.vectors_hash, after_.chosen.vectors_hash);
    compare(false, "run by", places(before_), places(after_));
  }

  static Cell cell(const Report& r, const std::string& op, const std::string& property) {
    const auto row = r.cells.find(op);
    if (row == r.cells.end()) return {};
    const auto at = row->second.find(property);
    return at == row->second.end() ? Cell{} : at->second;
  }
  static std::string part(const Report& r) {
    return fmt::format("{} of {}", r.part.number, r.part.of);
  }
  static std::string outputs(const Report& r, const std::string& op) {
    const auto at = r.outputs.find(op);
    if (at == r.outputs.end()) return "none";
    return fmt::format("{} calls, {}", grouped(at->second.calls), at->second.sum.substr(0, 16));
  }
  static std::string options(const Report& r) {
    std::string s;
    for (const auto& [key, value] : r.options) s += (s.empty() ? "" : " ") + key + "=" + value;
    return s.empty() ? "none" : s;
  }
  static std::string places(const Report& r) {
    std::string s;
    for (const Environment& e : r.environments)
      s += (s.empty() ? "" : "; ") + e.judge + ", " + e.system + ", " + e.machine + ", " +
          e.processor;
    return s;
  }

  const Report &before_, &after_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> changes(const Report& before, const Report& after) {
  return Comparison(before, after).all();
}

std::vector<std::string> differing_outputs(const Report& a, const Report& b) {
  std::set<std::string> names;
  for (const Report* r : {&a, &b})
    for (const auto& [op, o] : r->outputs) names.insert(op);
  std::vector<std::string> differing;
  for (const std::string& op : names) {
    const auto in_a = a.outputs.find(op), in_b = b.outputs.find(op);
    if (in_a == a.outputs.end() || in_b == b.outputs.end() || !(in_a->second == in_b->second))
      differing.push_back(op);
  }
  return differing;
}

std::string digest_line(const Report& r) { return digest_line(r.outputs, r.set_hash); }

}  // namespace lockstep::judge
