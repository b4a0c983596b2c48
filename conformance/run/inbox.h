/// @file
/// Results of cases as judging processes send them and a journal holds them.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/verdict/finding_form.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {

/// The result of case number n of a run.
struct CaseResult {
  std::size_t n = 0;
  ItemResult result;
};

void fields(auto& f, form::Like<WrongCall> auto& c) {
  f("op", c.op);
  f("id", c.id);
  f("text", c.text);
}

void fields(auto& f, form::Like<CaseResult> auto& j) {
  auto& r = j.result;
  f("n", j.n);
  f("outcome", r.outcome, {.max = static_cast<i64>(Outcome::timed_out)});
  f("calls", r.calls);
  f("judged", r.judged);
  f("paths", r.paths);
  f.optional("findings", r.findings);
  f.optional("hung", r.hung);
  f.optional("wrong_calls", r.wrong_calls);
  f("outputs", r.outputs, {.hash = true});
  f.optional("canaries", r.canaries);
  f.optional("flaky", r.flaky);
}

/// Takes one result of each case.
class Inbox {
 public:
  explicit Inbox(std::size_t cases) : heard_(cases) {}
  /// @throws std::runtime_error if the line is no result, or one that nobody awaits.
  CaseResult take(const nlohmann::ordered_json& line) {
    CaseResult j;
    try {
      j = form::loaded<CaseResult>(line);
    } catch (const UsageError& e) {
      throw std::runtime_error(std::string("a judging process sent no result: ") + e.what());
    }
    if (j.n >= heard_.size() || heard_[j.n])
      throw std::runtime_error("a judging process sent a result that nobody awaits");
    heard_[j.n] = true;
    return j;
  }

 private:
  std::vector<bool> heard_;
};

}  // namespace lockstep::judge
