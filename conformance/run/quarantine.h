/// @file
/// Quarantine: operators whose cases crashed or hung a backend, or broke its channel, too often are
/// no longer put to it, because each restart costs time and the verdict is already clear.
#pragma once
#include <map>
#include <string>

#include "conformance/verdict/verdict.h"

namespace lockstep::judge {

/// Decides which operators are quarantined. It receives the results in the order of the cases, so
/// its decisions do not depend on the number of judging processes.
class Quarantine {
 public:
  /// Why cases of this operator are no longer put to the backend; empty if they are.
  std::string reason(const std::string& op) const;
  /// Notes the outcome of a case.
  void note(const std::string& op, Outcome outcome, const std::string& text,
      AnswerKind answer = AnswerKind::ok);

 private:
  struct Deaths {
    i64 hangs = 0, crashes = 0, breaks = 0;
  };
  std::map<std::string, Deaths> ops_;
  i64 hangs_ = 0, crashes_ = 0, breaks_ = 0, prints_ = 0;
  bool answered_ = false;
  std::string last_;
};

}  // namespace lockstep::judge
