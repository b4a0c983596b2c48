/// @file
/// A trial: one case put to a subject in all the ways that properties ask for.
#pragma once
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "conformance/cases/call_graph.h"
#include "conformance/cases/item.h"
#include "conformance/subjects/subject.h"
#include "conformance/trial/poison.h"
#include "reference/laws.h"

namespace lockstep::judge {

struct Property;

/// An option that a subject must obey, and the configuration that forces it.
struct Forced {
  std::string option, value;
  int config = 0;  ///< its number, for Run::config
};

/// A law and its result on a subject's own outputs.
struct LawTrial {
  const LawInfo* law = nullptr;
  reference::LawResult result;
};

/// A call of a graph that is wrong by itself.
struct WrongCall {
  std::string op, id, text;  ///< its operator, itself as a case, and what is wrong
};

struct Trial;

/// What a property observed when it put the case again.
struct Observation {
  const Property* by = nullptr;                 ///< the property that asked
  std::string when;                             ///< how it asked, in words: "in another layout"
  std::optional<Answer> answer;                 ///< of a law, only an answer that ended it
  std::optional<Forced> forced;                 ///< the option that the subject had to obey
  std::vector<Tensor> Trial::*right = nullptr;  ///< the right outputs; none: those of the case
  std::optional<LawTrial> law;
  bool again = false;             ///< of the second of two runs of one plan with the same values
  std::string refused_with = {};  ///< the label of a malformed graph, which must not be compiled
};
using Observations = std::span<const Observation>;

/// Everything observed of one case.
struct Trial {
  const Item* item = nullptr;
  const Manifest* manifest = nullptr;
  bool watched = false;  ///< the judge checked memory beside the tensors
  Inferred types;
  std::vector<Tensor> expected;  ///< the right outputs
  std::vector<Tensor> expected_other, expected_shared,
      expected_heads;              ///< of other values and of a graph, for Observation::right
  std::optional<CallGraph> graph;  ///< the one whose heads are expected
  Answer base;                     ///< the answer to the call as it is
  std::optional<Answer> refusal, inferred;  ///< answers to an illegal call and to infer()
  std::vector<Observation> seen;            ///< those of one property are adjacent
  int calls = 0;                            ///< questions put to the backend
  string_view hung = {};  ///< the operator whose call hung by itself where a graph around it did
  std::vector<WrongCall> wrong_calls = {};  ///< other calls that ended a graph's search for blame

  /// The observations of a property.
  Observations of(const Property& p) const;
  std::span<Observation> of(const Property& p);
  struct Told {
    std::string when;  ///< how it was asked, in words
    const Answer* answer;
    const std::vector<Tensor>* right;  ///< the right outputs
    bool is_graph;                     ///< a graph around the call, and not the call
  };
  /// The answers of calls and graphs that ran.
  std::vector<Told> answers() const;
  /// The answer that ended the process of the backend; nullptr if none did.
  const Answer* end() const;
};

/// Claimed operators without which graphs run call by call, because each hang takes long.
struct Silent {
  std::set<string_view> unanswered;  ///< a small call got no answer in time
  std::set<string_view> unasked;     ///< after few of these, all that follow
};

/// The properties that put cases again, in the order of reports, each with its forced options.
struct TrialPlan {
  struct Way {
    const Property* property = nullptr;
    std::vector<Forced> forced;
  };
  std::vector<Way> ways;
  std::string offered = {};  ///< by the subject, as by every process of the backend
  std::set<string_view> graph_operators = {};  ///< of the calls in graphs; none: all
  Silent silent = {};
};

/// The plan for some properties; an empty list means all. Adds a configuration to the subject for
/// each forced option. The plan is empty for recorded answers, which cannot be asked again.
/// @param graph_operators those of the calls that surround a case in graphs; none: all
TrialPlan plan_for(Subject& subject, const std::vector<std::string>& properties,
    std::set<string_view> graph_operators = {});

/// The silent operators of a subject, of each of which it asks one call at most.
Silent silent_operators(Subject& subject);

/// Adds the configurations of a plan to another subject of the same backend.
/// @throws LoadCrash if it states another manifest or offers other functions, by which it would be
/// judged otherwise.
void configure(Subject& subject, const TrialPlan& plan);

/// Puts cases to a subject, all at once where it can. A case that enumerates all values is put only
/// once, whatever the plan: other cases of the operator judge everything but values.
std::vector<Trial> perform(
    Subject& subject, const std::vector<const Item*>& items, const TrialPlan& plan);
Trial perform(Subject& subject, const Item& item, const TrialPlan& plan);

}  // namespace lockstep::judge
