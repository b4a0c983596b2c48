// Groups failures that seem to have one cause.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/reports/report.h"
#include "conformance/verdict/pattern.h"

namespace lockstep::judge {
std::string cause_text(const Failure& f) {
  if (f.causes > 1) return fmt::format("{} more causes, of which this is the first", f.causes);
  std::string s = f.elements.empty() ? "" : f.pattern;
  for (const SharedClass& c : f.cells)
    s += fmt::format("{}{} {}", s.empty() ? "" : "; ", c.axis, fmt::join(c.values, ", "));
  return s;
}

std::string way_of(const Failure& f) {
  const std::string cause = cause_text(f);
  std::string s = f.answer == "ok"
      ? f.elements.empty() ? without_details(f.text) : "other values"
      : "answered " + f.answer + (f.label.empty() ? "" : " " + f.label);
  return cause.empty() ? s : s + "; " + cause;
}

namespace {

// The answer in a finding's text, without the words for how the question was put.
std::string answer_of(std::string text) {
  for (const AnswerKind kind : {AnswerKind::crashed, AnswerKind::timed_out, AnswerKind::printed,
           AnswerKind::broken_channel}) {
    const std::string words = "answered " + std::string(name_of(kind)) + ": ";
    if (const std::size_t at = text.rfind(words); at != text.npos) text.erase(0, at + words.size());
  }
  return text;
}

std::string symptom(const Failure& f) {
  if (f.causes > 1) return f.op + " fails in other ways";
  if (!f.elements.empty()) {
    if (!f.cells.empty()) return f.op + ": " + cause_text(f);
    return f.pattern.empty() ? f.op + " computes other values" : f.pattern;
  }
  std::string text = without_details(answer_of(f.text));
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
