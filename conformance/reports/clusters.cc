// Groups failures that seem to have one cause.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/reports/report.h"
#include "conformance/verdict/pattern.h"

namespace lockstep::judge {
namespace {

// deed() of the answer that violates the property.
std::string deed_of(const Failure& f) {
  for (int k = 0; k <= static_cast<int>(AnswerKind::broken_channel); ++k)
    if (const auto kind = static_cast<AnswerKind>(k); f.answer == name_of(kind)) return deed(kind);
  return "answered " + f.answer;
}

}  // namespace

std::string cause_text(const Failure& f) {
  if (f.causes > 1) return fmt::format("{} more causes, of which this is the first", f.causes);
  std::string s = f.elements.empty() ? "" : f.pattern;
  for (const SharedClass& c : f.cells)
    s += fmt::format("{}{} {}", s.empty() ? "" : "; ", c.axis, fmt::join(c.values, ", "));
  return s;
}

std::string way_of(const Failure& f) {
  const std::string cause = cause_text(f);
  std::string s = f.answer == "ok" ? f.elements.empty() ? without_details(f.text) : "other values"
                                   : deed_of(f) + (f.label.empty() ? "" : " " + f.label);
  return cause.empty() ? s : s + "; " + cause;
}

namespace {

// The text of a failure. If the backend gave no answer, only how it ended, without the words for
// how the question was put.
std::string end_of(const Failure& f) {
  const std::string words = deed_of(f) + ": ";
  const std::size_t at = words.starts_with("answered") ? f.text.npos : f.text.find(words);
  return at == f.text.npos ? f.text : f.text.substr(at + words.size());
}

std::string symptom(const Failure& f) {
  if (f.causes > 1) return f.op + " fails in other ways";
  if (!f.elements.empty()) {
    if (!f.cells.empty()) return f.op + ": " + cause_text(f);
    return f.pattern.empty() ? f.op + " computes other values" : f.pattern;
  }
  std::string text = without_details(end_of(f));
  // Refusals that are missing or wrong seem to have one cause, whatever the rule.
  if (const std::size_t at = text.find(" " + f.rule + ","); !f.rule.empty() && at != text.npos)
    text.erase(at, f.rule.size() + 1);
  return text;
}

}  // namespace

std::vector<Cluster> clusters(const Report& r) {
  std::vector<Cluster> all;
  for (const Failure& f : r.failures) {
    const std::string s = symptom(f);
    auto at =
        std::find_if(all.begin(), all.end(), [&](const Cluster& c) { return c.symptom == s; });
    if (at == all.end()) at = all.insert(all.end(), {s, {}, 0});
    at->failures.push_back(&f);
    at->count = capped_sum(at->count, f.count);
  }
  std::stable_sort(
      all.begin(), all.end(), [](const Cluster& a, const Cluster& b) { return a.count > b.count; });
  return all;
}

}  // namespace lockstep::judge
