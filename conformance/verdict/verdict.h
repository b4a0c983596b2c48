/// @file
/// The result of one case: its outcome and the properties' findings on its trial.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conformance/trial/finding.h"
#include "conformance/trial/trial.h"

namespace lockstep::judge {

/// How a case ended.
enum class Outcome { passed, failed, crashed, timed_out, quarantined };

/// The result of one case.
struct ItemResult {
  Outcome outcome = Outcome::passed;
  int calls = 0;
  std::map<std::string, bool> canaries;  ///< by property: whether the planted fault was noticed
  std::string quarantine;                ///< why the case was not put to the backend; else empty
  std::vector<std::string> judged, paths;
  std::vector<std::pair<std::string, Finding>> findings;  ///< by property
  std::string hung;                    ///< an operator of another call that hung; else empty
  std::vector<WrongCall> wrong_calls;  ///< of graphs; their ids as shown_id()
  std::string outputs;                 ///< hash of the answer to a call that runs
  bool flaky = false;  ///< a question that was asked more than once got different answers
};

/// Whether the backend's process ended, or was ended, in a case.
inline bool ended_process(const ItemResult& r) {
  return r.outcome == Outcome::crashed || r.outcome == Outcome::timed_out ||
      (!r.findings.empty() && stray(r.findings[0].second.kind));
}

/// Judges one trial by some properties; an empty list means all.
ItemResult judge_trial(const Trial& t, const std::vector<std::string>& properties);

/// Appended to the text of a failure that did not repeat.
inline constexpr const char* kNotAgain =
    "; put again, it ended differently, so no expectation excuses it";

/// Notes in the result of a trial whether another trial of the same case ended differently.
void compare_again(ItemResult& result, const Trial& first, const Trial& again,
    const std::vector<std::string>& properties);

/// Plants a fault in what each of these properties observed in a trial in which they hold, one at a
/// time, and judges the trial again.
/// @param n the number of the case, which determines the faults
/// @return by property, whether the judge noticed and, where it shows wrong elements, shows the one
/// that was changed; without those that had no place for a fault
std::map<std::string, bool> canaries(
    const Trial& t, const std::vector<const Property*>& properties, u64 n);

}  // namespace lockstep::judge
