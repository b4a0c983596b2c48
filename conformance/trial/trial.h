/// @file
/// A trial: one case put to a subject in the ways the properties ask for.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/cases/item.h"
#include "conformance/subjects/subject.h"
#include "reference/laws.h"

namespace lockstep::judge {

struct Property;

/// A configuration in which a subject is run beside its own default: an option it must obey.
struct Forced {
  std::string option, value;
  int config = 0;  ///< its number, for Run::config
};

/// A law put to a subject's own outputs, where it says something of them.
struct LawTrial {
  const LawInfo* law = nullptr;
  reference::LawResult result;
};

/// What a property saw when it asked the subject again in its own way.
struct Observation {
  const Property* by = nullptr;  ///< the property that asked
  std::string when;              ///< how it asked, in words: "in another layout"
  std::optional<Answer> answer;  ///< of a law only the one that ended it
  std::optional<Forced> forced;  ///< the option that the subject had to obey
  bool other_values = false;     ///< the inputs had Trial::expected_other as outputs
  std::optional<LawTrial> law;
};
using Observations = std::span<const Observation>;

/// Everything observed of one case.
struct Trial {
  const Item* item = nullptr;
  const Manifest* manifest = nullptr;
  bool watched = false;  ///< memory beside outputs and inputs was watched
  Inferred types;
  std::vector<Tensor> expected, expected_other;  ///< expected_other: for Observation::other_values
  Answer base;                                   ///< to the call as it is
  std::optional<Answer> refusal, inferred;       ///< to an illegal call; by infer()
  std::vector<Observation> seen;                 ///< those of one property beside one another
  int calls = 0;                                 ///< questions put to the backend

  /// What a property saw.
  Observations of(const Property& p) const;
  /// The answers that ran, with the words that tell them apart.
  std::vector<std::pair<std::string, const Answer*>> answers() const;
};

/// Which properties ask again, in the order of reports, each with the options it forces.
struct TrialPlan {
  struct Way {
    const Property* property = nullptr;
    std::vector<Forced> forced;
  };
  std::vector<Way> ways;
};

/// The plan that answers some properties, all where none is named. Adds a configuration to the
/// subject for each option that is forced. Nobody can ask recorded answers again.
TrialPlan plan_for(Subject& subject, const std::vector<std::string>& properties);

/// Adds the configurations of a plan to another subject of the same backend.
void configure(Subject& subject, const TrialPlan& plan);

inline constexpr i32 kPoison = INT32_MIN;  ///< no legal value
inline constexpr i32 kOtherPoison = 0x5eed5eed;

/// Puts a case to a subject. One that counts through all values is put once, whatever the plan: it
/// is about values, and everything else is judged by other cases of the operator.
Trial perform(Subject& subject, const Item& item, const TrialPlan& plan);

}  // namespace lockstep::judge
