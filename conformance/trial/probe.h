/// @file
/// What a property asks with: one case, in the hands of a subject.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "conformance/trial/trial.h"

namespace lockstep::judge {

/// Puts one case again and notes what was observed under the property that asks.
class Probe {
 public:
  Probe(Subject& subject, Trial& trial);
  Probe(const Probe&) = delete;

  /// Puts the call as it is; of one too large to run nothing is asked yet.
  /// @return whether the backend is still there, as all that follow do.
  bool begin();
  /// Lets a property ask.
  bool put(const TrialPlan::Way& way);

  const Case& call() const { return case_; }
  const Trial& trial() const { return t_; }
  const Manifest& manifest() const { return *t_.manifest; }
  bool watched() const { return t_.watched; }
  /// Whether inputs can be given beforehand, as weights are.
  bool weighted() const { return t_.watched && case_.in.size() > 1; }
  /// The layout of the case, or one chosen by its seed where that is compact.
  Layout other_layout() const;
  const std::vector<Forced>& forced() const { return way_->forced; }

  // What takes several calls is done to some of the cases, chosen by the case's own seed. Where all
  // values are written out nothing is left to chance: whoever spells a case out wants to see all
  // that is wrong with it, and shrinking must not lose it.
  bool spelled_out() const { return case_.fill == Fill::literal; }
  /// Number 0 <= k < n of the case, for choices that it does not spell out.
  std::size_t choice(u64 which, std::size_t n) const;
  bool chosen(u64 which) const;

  bool ask(const Run& run, std::string when);
  bool ask(const Run& run, const Forced& forced);
  /// Puts the call to several callers of one plan at once, every second one with other values.
  bool ask_at_once(std::size_t callers);
  bool infer();
  /// Puts law number i of the operator. A law that asks nothing or says nothing leaves no trace.
  bool ask_law(int i);
  /// Whether the case has so many elements that laws would take too long.
  bool too_large_for_laws() const;

 private:
  Answer execute(const Run& run);
  Observation& note(std::string when);
  const std::vector<Tensor>& others();
  std::vector<Tensor> expected_of(const std::vector<Tensor>& in) const;
  std::optional<std::vector<Tensor>> respond(Attributes attrs, const std::vector<Tensor>& in,
                                             std::optional<Answer>& failure);

  Subject& subject_;
  Trial& t_;
  const Case& case_;
  const TrialPlan::Way* way_ = nullptr;
  std::vector<Tensor> in_, other_;
};

}  // namespace lockstep::judge
