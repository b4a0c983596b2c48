/// @file
/// Enumerates every call of a small scope, in which each choice takes few values.
#pragma once
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// Draws one path through all choices, then the next, as an odometer counts: the last choice
/// changes first. A choice takes its first value, the last, or the one after the first. At most
/// `deviations` choices of a path take another value than their first, so that a scope which is too
/// large is cut to the calls nearest to its simplest one.
class Exhaustive : public Draw {
 public:
  explicit Exhaustive(int deviations) : room_(deviations) {}

  i64 operator()(i64 lo, i64 hi) override {
    if (at_ == path_.size()) path_.push_back({0, static_cast<int>(min(kValues, hi - lo + 1))});
    const i64 values[kValues] = {lo, hi, lo + 1};
    return values[path_[at_++].value];
  }
  /// Moves to the next path, which is then drawn from its beginning; false after the last.
  bool next() {
    path_.resize(at_);
    at_ = 0;
    int deviations = 0;
    for (const Choice& c : path_) deviations += c.value > 0;
    for (; !path_.empty(); path_.pop_back()) {
      Choice& last = path_.back();
      deviations -= last.value > 0;
      if (deviations == room_ || last.value + 1 == last.count) continue;
      ++last.value;
      return true;
    }
    return false;
  }

 private:
  static constexpr i64 kValues = 3;
  struct Choice {
    int value, count;
  };
  int room_;
  std::size_t at_ = 0;
  std::vector<Choice> path_;
};

/// The calls of an operator in which at most `deviations` choices leave their first value.
struct SmallCalls {
  int deviations = 0;
  i64 calls = 0;
  bool whole = false;  ///< more deviations would not add a call
};

/// Counts a scope, and stops above `most`.
inline i64 count_calls(const OpInfo& op, int deviations, i64 most) {
  Exhaustive draw(deviations);
  Drawn call;
  i64 n = 0;
  do {
    op.domain(draw, call);
    ++n;
  } while (n <= most && draw.next());
  return n;
}

/// The largest scope of an operator with at most `most` calls.
inline SmallCalls largest_scope(const OpInfo& op, i64 most) {
  SmallCalls scope{0, 1, false};
  for (;;) {
    const i64 calls = count_calls(op, scope.deviations + 1, most);
    if (calls > most) return scope;
    // One more deviation adds no call: the scope is whole.
    if (calls == scope.calls) {
      scope.whole = true;
      return scope;
    }
    scope = {scope.deviations + 1, calls, false};
  }
}

}  // namespace lockstep::judge
