/// @file
/// Combinations of classes: what one call shows of several things at once. A kernel often fails
/// only where two settings meet, a grouped convolution with a stride, say; single classes miss it.
#pragma once
#include <functional>
#include <vector>

#include "conformance/cases/features.h"

namespace lockstep::judge {

/// The tuples of an operator: every two classes of different axes, and for operators whose
/// attributes decide together which elements meet, every three of attributes, shapes and values.
class Tuples {
 public:
  explicit Tuples(const OpInfo& op);

  /// How many classes a tuple may have: 2, or also 3.
  int strength() const { return deep_ > 0 ? 3 : 2; }
  /// One more than the largest number of a tuple; not every number below is one.
  std::size_t size() const { return size_; }
  /// How many classes a tuple has.
  int classes_of(std::size_t tuple) const { return tuple < pairs() ? 2 : 3; }
  std::vector<Feature> features_of(std::size_t tuple) const;

  /// The numbers of the classes that a call shows, in order.
  std::vector<int> shown_by(const Case& c, const std::vector<Tensor>& in) const {
    return classes_.of(c, in);
  }
  /// Calls f with the number of each tuple that these classes make.
  template <class F>
  void each(const std::vector<int>& classes, F f) const;
  /// How many of these tuples a set does not hold yet.
  i64 news(const std::vector<int>& classes, const std::vector<bool>& set) const;
  void add_to(std::vector<bool>& set, const std::vector<int>& classes) const;
  /// Classes of different axes, drawn at random until their tuple is not in a set; after so many
  /// draws whatever they are.
  std::vector<Feature> draw_beyond(const std::vector<bool>& set, int tries, Draw& draw) const;

 private:
  std::size_t pairs() const { return features_.size() * features_.size(); }
  std::size_t pair(int a, int b) const {
    return static_cast<std::size_t>(a) * features_.size() + static_cast<std::size_t>(b);
  }
  std::size_t triple(int a, int b, int c) const {
    const auto n = static_cast<std::size_t>(deep_);
    return pairs() + (static_cast<std::size_t>(a) * n + static_cast<std::size_t>(b)) * n +
           static_cast<std::size_t>(c);
  }
  int axis(int k) const { return axes_[static_cast<std::size_t>(k)]; }

  std::vector<Feature> features_;  // those that triples are made of come first
  std::vector<int> axes_;          // by class, a number for its axis
  Classes classes_;
  int deep_ = 0;  // how many classes triples are made of
  std::size_t size_ = 0;
};

template <class F>
void Tuples::each(const std::vector<int>& classes, F f) const {
  for (auto a = classes.begin(); a != classes.end(); ++a)
    for (auto b = a + 1; b != classes.end(); ++b) {
      if (axis(*a) == axis(*b)) continue;
      f(pair(*a, *b));
      for (auto c = b + 1; c != classes.end() && *c < deep_; ++c)
        if (axis(*c) != axis(*a) && axis(*c) != axis(*b)) f(triple(*a, *b, *c));
    }
}

/// What a search of an operator's legal calls found. That a tuple is in no call it found does not
/// prove that there is none; that one is, does.
struct Reached {
  /// Each shows a tuple that none before it shows; their outputs are not constant.
  std::vector<Case> calls;
  std::vector<std::vector<int>> classes;  ///< of each call
  std::vector<bool> tuples;               ///< that the calls show
  std::vector<bool> constant;             ///< that calls with constant outputs show
};

/// The search: a fixed number of draws of a fixed seed, of legal calls of at most kMaxRun elements,
/// each aimed at a tuple that was not reached before. Searched once in a process.
const Reached& reached(const OpInfo& op);

/// An order of calls in which each shows the most tuples that neither a set nor those before it
/// show; of equals the first. Calls that would add nothing are left out.
/// @param counts whether a call counts at all, asked when its turn has come.
/// @param set in the end holds what the calls show, too.
std::vector<std::size_t> telling_order(const Tuples& tuples,
                                       const std::vector<std::vector<int>>& classes,
                                       const std::function<bool(std::size_t)>& counts,
                                       std::vector<bool>& set);

}  // namespace lockstep::judge
