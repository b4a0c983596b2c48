/// @file
/// The probe through which a property puts one case to a subject.
#pragma once
#include <string>
#include <vector>

#include "conformance/trial/trial.h"

namespace lockstep::judge {

/// Puts one case again and notes the observation for the property that asks.
class Probe {
 public:
  Probe(Subject& subject, Trial& trial);
  Probe(const Probe&) = delete;

  /// Puts the call as it is, unless it is too large to run.
  /// @return whether the backend is still alive, as the members below do
  bool begin();
  /// Lets a property ask.
  bool put(const TrialPlan::Way& way);

  const Case& call() const { return case_; }
  const Trial& trial() const { return t_; }
  const Manifest& manifest() const { return *t_.manifest; }
  bool watched() const { return t_.watched; }
  /// Whether inputs can be given as constants.
  bool weighted() const { return t_.watched && case_.in.size() > 1; }
  /// The layout of the case; if that is compact, another one chosen by the case's seed.
  Layout other_layout() const;
  const std::vector<Forced>& forced() const { return way_->forced; }

  // Checks that take several calls are made for some cases, chosen by the case's seed. A case with
  // its values written out gets all checks: its author wants to see every violation, and shrinking
  // must not lose any.
  bool spelled_out() const { return case_.fill == Fill::literal; }
  /// Number 0 <= k < n of the case, for choices that it does not spell out.
  std::size_t choice(u64 which, std::size_t n) const;
  bool chosen(u64 which) const;

  bool ask(const Run& run, std::string when);
  bool ask(const Run& run, const Forced& forced);
  /// Puts the call to several callers of one plan at once, every second one with other values.
  bool ask_at_once(std::size_t callers);
  bool infer();
  /// Puts law number i of the operator. A law that made no call or does not apply is not noted.
  bool ask_law(int i);
  /// Whether the case has so many elements that laws would take too long.
  bool too_large_for_laws() const;

 private:
  Answer execute(const Run& run);
  Observation& note(std::string when);
  const std::vector<Tensor>& others();
  std::vector<Tensor> expected_of(const std::vector<Tensor>& in) const;
  std::optional<std::vector<Tensor>> respond(
      Attributes attrs, const std::vector<Tensor>& in, std::optional<Answer>& failure);

  Subject& subject_;
  Trial& t_;
  const Case& case_;
  const TrialPlan::Way* way_ = nullptr;
  std::vector<Tensor> in_, other_;
};

}  // namespace lockstep::judge
