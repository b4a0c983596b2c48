/// @file
/// A trial: one case put to a subject in the ways the properties ask for.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "conformance/subjects/subject.h"
#include "reference/laws.h"

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

/// A configuration in which a subject is run beside its own default: an option it must obey.
struct Forced {
  std::string option, value;
  int config = 0;  ///< its number, for Run::config
};

/// A law put to a subject's own outputs, where it says something of them.
struct LawTrial {
  const LawInfo* law = nullptr;
  reference::LawResult result;
  std::optional<Answer> failure;  ///< of a call that the law made
};

/// Everything observed of one case.
struct Trial {
  const Item* item = nullptr;
  const Manifest* manifest = nullptr;
  bool watched = false;  ///< memory beside outputs and inputs was watched
  Inferred types;
  std::vector<Tensor> expected, expected_other;  ///< expected_other: of every second caller
  Answer base, repeat;
  bool repeated = false;
  std::optional<Answer> unaligned, strided, constant, inferred;
  std::vector<std::pair<Forced, Answer>> isas, threads;
  std::vector<Answer> callers;  ///< of those that ran one plan at once
  std::vector<LawTrial> batch, laws;
  std::optional<Answer> refusal;
  int calls = 0;  ///< questions put to the backend

  /// The answers that ran, with the words that tell them apart.
  std::vector<std::pair<std::string, const Answer*>> answers() const;
};

/// What the trial of each case includes. Batches, laws, callers at once and numbers of threads are
/// tried on some of the cases each, chosen by the case's own seed; a case with its values written
/// out is put in every way.
struct TrialPlan {
  bool repeat = true, alignment = true, layouts = true, constants = true, infer = true;
  bool concurrent = true, batch = true, laws = true;
  std::vector<Forced> isas, threads;
};

inline constexpr i32 kPoison = INT32_MIN;  ///< no legal value
inline constexpr i32 kOtherPoison = 0x5eed5eed;

/// Puts a case to a subject. One that counts through all values is put once, whatever the plan: it
/// is about values, and everything else is judged by other cases of the operator.
Trial perform(Subject& subject, const Item& item, const TrialPlan& plan);

}  // namespace lockstep::judge
