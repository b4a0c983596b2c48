/// @file
/// t-way combinations of classes. A kernel often fails only where two settings meet, such as a
/// grouped convolution with a stride; single classes miss that.
#pragma once
#include <functional>
#include <vector>

#include "conformance/cases/classes.h"

namespace lockstep::judge {

/// The t-way combinations of an operator: all pairs of classes of different axes, and for some
/// operators all triples of attributes, shapes and values.
class Combinations {
 public:
  explicit Combinations(const OpInfo& op);

  /// The most classes of a combination: 2 or 3.
  int strength() const { return deep_ > 0 ? 3 : 2; }
  /// One more than the largest number of a combination; some numbers below are unused.
  std::size_t size() const { return size_; }
  /// How many classes a combination has.
  int classes_of(std::size_t tuple) const { return tuple < pairs() ? 2 : 3; }
  std::vector<CallClass> members_of(std::size_t tuple) const;

  /// The numbers of the classes that a call shows, in order.
  std::vector<int> shown_by(const Case& c, const std::vector<Tensor>& in) const {
    return classes_.of(c, in);
  }
  /// Calls f with the number of each combination of these classes.
  template <class F> void each(const std::vector<int>& classes, F f) const;
  /// How many combinations of these classes a set does not hold yet.
  i64 count_new(const std::vector<int>& classes, const std::vector<bool>& set) const;
  void add_to(std::vector<bool>& set, const std::vector<int>& classes) const;
  /// Draws classes of different axes whose combination is not in a set; after `tries` draws returns
  /// the last ones, covered or not.
  std::vector<CallClass> draw_uncovered(const std::vector<bool>& set, int tries, Draw& draw) const;

 private:
  std::size_t pairs() const { return members_.size() * members_.size(); }
  std::size_t pair(int a, int b) const {
    return static_cast<std::size_t>(a) * members_.size() + static_cast<std::size_t>(b);
  }
  std::size_t triple(int a, int b, int c) const {
    const auto n = static_cast<std::size_t>(deep_);
    return pairs() + (static_cast<std::size_t>(a) * n + static_cast<std::size_t>(b)) * n +
        static_cast<std::size_t>(c);
  }
  int axis(int k) const { return axes_[static_cast<std::size_t>(k)]; }

  std::vector<CallClass> members_;  // those that triples are made of come first
  std::vector<int> axes_;           // by class, a number for its axis
  ClassNumbers classes_;
  int deep_ = 0;  // how many classes triples are made of
  std::size_t size_ = 0;
};

template <class F> void Combinations::each(const std::vector<int>& classes, F f) const {
  for (auto a = classes.begin(); a != classes.end(); ++a)
    for (auto b = a + 1; b != classes.end(); ++b) {
      if (axis(*a) == axis(*b)) continue;
      f(pair(*a, *b));
      for (auto c = b + 1; c != classes.end() && *c < deep_; ++c)
        if (axis(*c) != axis(*a) && axis(*c) != axis(*b)) f(triple(*a, *b, *c));
    }
}

/// The result of a search of an operator's legal calls. A combination that was not found may still
/// exist.
struct Reached {
  /// Each shows a combination that none before it shows, and has outputs that are not constant.
  std::vector<Case> calls;
  std::vector<std::vector<int>> classes;  ///< of each call
  std::vector<bool> combinations;         ///< that the calls show
  std::vector<bool> constant;             ///< that calls with constant outputs show
};

/// Searches with a fixed number of draws and a fixed seed, once in a process, whatever its threads.
/// Each draw aims at a combination not reached before; calls are legal and have at most kMaxRun
/// elements.
const Reached& reached(const OpInfo& op);

/// The discriminating order of calls (greedy cover): each call shows the most combinations that
/// neither `set` nor the calls before it show; the first of equal calls wins. Calls that add
/// nothing are left out.
/// @param counts whether a call may be chosen; asked when its turn comes.
/// @param set receives the combinations of the chosen calls, too.
std::vector<std::size_t> discriminating_order(const Combinations& combinations,
    const std::vector<std::vector<int>>& classes, const std::function<bool(std::size_t)>& counts,
    std::vector<bool>& set);

}  // namespace lockstep::judge
