/// @file
/// A trial: one case put to a subject in the ways the properties ask for.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "conformance/subjects/subject.h"

namespace lockstep::judge {

/// One selected case and what it is for.
struct Item {
  enum What {
    legal,
    illegal,
    vector,
    typed  ///< legal and too large to run: only the types of its outputs are asked for
  } what = legal;
  Case call;
  std::string label;             ///< the error an illegal call must give
  std::string id;                ///< the case's line, or the vector's id
  std::vector<Tensor> expected;  ///< frozen outputs of a vector
  bool runs() const { return what == legal || what == vector; }
};

/// Configurations in which a subject is run beside its own default.
struct IsaConfig {
  std::string isa;
  int config = 0;
};

/// Everything observed of one case.
struct Trial {
  const Item* item = nullptr;
  const Manifest* manifest = nullptr;
  bool watched = false;  ///< memory beside outputs and inputs was watched
  Inferred types;
  std::vector<Tensor> expected;
  Answer base, repeat;
  bool repeated = false;
  std::optional<Answer> unaligned, strided, constant, inferred;
  std::vector<std::pair<std::string, Answer>> forced;  ///< by the name of the ISA
  std::optional<Answer> refusal;
  int calls = 0;  ///< questions put to the backend

  /// The answers that ran, with the words that tell them apart.
  std::vector<std::pair<std::string, const Answer*>> answers() const;
};

/// What the trial of each case includes.
struct TrialPlan {
  bool repeat = true, alignment = true, layouts = true, constants = true, infer = true;
  std::vector<IsaConfig> isas;
};

inline constexpr i32 kPoison = INT32_MIN;  ///< no legal value
inline constexpr i32 kOtherPoison = 0x5eed5eed;

/// Puts a case to a subject. One that counts through all values is put once, whatever the plan: it
/// is about values, and everything else is judged by other cases of the operator.
Trial perform(Subject& subject, const Item& item, const TrialPlan& plan);

}  // namespace lockstep::judge
