/// @file
/// The probe through which properties put one case to a subject.
#pragma once
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/spelling.h"
#include "conformance/trial/trial.h"

namespace lockstep::judge {

/// Collects the questions that properties have about one case, and notes what is observed for the
/// property that asked. Answers come after all have asked, so no question depends on the answer to
/// another.
class Probe {
 public:
  /// Computes what is expected of the case.
  Probe(const Subject& subject, const Item& item, const TrialPlan& plan, Trial& trial);
  Probe(const Probe&) = delete;

  /// Asks for the call as it is, then for the ways of the plan.
  void ask_all();
  /// The questions without an answer.
  std::vector<Question> questions(std::size_t trial) const;
  /// Takes the answers to these questions, which may lead to other questions.
  void take(std::vector<Answers> answers);
  /// Removes the observations of questions that were not put.
  void finish();

  const Case& call() const { return case_; }
  const Manifest& manifest() const { return *t_.manifest; }
  bool watched() const { return t_.watched; }
  /// Whether inputs can be given as constants.
  bool weighted() const { return t_.watched && case_.in.size() > 1; }
  /// The layout of the case; if that is compact, another one chosen by the case's seed.
  Layout other_layout() const;
  const std::vector<Forced>& forced() const { return way_->forced; }

  // Checks that take several calls are made for some cases, chosen by the case's seed. A case with
  // its values written out, or a constant, gets all checks: its author wants to see every
  // violation, and shrinking must not lose any.
  bool spelled_out() const { return case_.fill >= Fill::literal; }
  /// Number 0 <= k < n of the case, for choices that it does not spell out.
  std::size_t choice(u64 which, std::size_t n) const;
  bool chosen(u64 which) const;

  void ask(const Run& run, std::string when);
  void ask(const Run& run, const Forced& forced);
  /// Puts the call to several callers of one plan at once, every second one with other values.
  void ask_at_once(std::size_t callers);
  /// Runs one plan many times with the case's values and others in turn, after the plan of another
  /// call has come and gone.
  void ask_in_turns(int runs);
  /// Runs a graph around the case (call_graph.h). Where the subject compiles graphs, a network is
  /// compiled as it comes and in several forced ways, others in one; few run call by call as well.
  /// Where it does not, all run call by call.
  void ask_graph();
  /// Has the subject compile malformed graphs: for a legal case its graph with one mistake (each in
  /// turn if the case spells its values out), for an illegal case the graph of its call.
  void ask_malformed();
  /// Puts the call with its attributes as text, spelled in one of the ways of spelled(), if the
  /// subject claims to read text.
  void ask_spelled(std::size_t way);
  void infer();
  /// Puts law number i of the operator. A law that made no call or does not apply is not noted.
  void ask_law(int i);
  /// Whether the case has so many elements that laws would take too long.
  bool too_large_for_laws() const;
  /// Whether the case is so small that a plan may run many times.
  bool small() const;
  /// Whether two inputs have one type, so that they may share memory.
  bool has_equal_inputs() const;
  /// Whether a plan of the case runs many times although the case is large.
  bool repeated() const;
  /// Whether the case is so large that only the ways which change what a kernel does are worth
  /// their time.
  bool large() const { return large_; }

 private:
  struct Pending {
    Question question;
    std::function<void(Answers)> take;
  };
  // A law, and the answers to its calls so far.
  struct LawAsked {
    int number = 0;
    std::size_t observation = 0;
    std::vector<std::vector<Tensor>> answers = {};
  };
  struct WayToRun {
    Forced forced;
    bool int8_constants = false;  // where the subject reads them
    bool one_by_one = false;      // its calls, not compiled, with compact tensors
  };
  // A graph and its inputs.
  struct GraphAsked {
    CallGraph graph;
    std::vector<Tensor> in;
  };
  // A call that a law makes.
  struct LawCall {
    Case call;
    std::vector<Tensor> in;
    Inferred types;
  };

  Run filled(Run run) const;
  Question question(Question::What what) const { return {.what = what, .call = &case_}; }
  void run(const std::vector<const std::vector<Tensor>*>& callers, const Run& run,
      std::function<void(Answers)> take, const Case* between = nullptr,
      const AttrTexts* texts = nullptr);
  std::size_t note(std::string when);
  const std::vector<Tensor>& others();
  const Case* another_call();
  std::vector<Tensor> expected_of(const std::vector<Tensor>& in) const;
  const CallGraph& graph();
  bool may_surround(const Case& c) const;
  std::vector<Forced> options_to_force(bool shrinks);
  std::vector<WayToRun> ways_to_run();
  void ask_graph(std::size_t at, const CallGraph& g);
  void ask_malformed(CallGraph g, std::string when, string_view label);
  void try_smaller(const CallGraph& g, bool hangs);
  void note_wrong_call(const CallGraph& g, const Answer& a);
  void settle_graph(std::size_t at, const CallGraph& g, Answer a);
  void pursue(LawAsked law);
  void ask_for(const LawAsked& law, Attributes attrs, const std::vector<Tensor>& in);
  void take_for(LawAsked law, const LawCall& call, Answer a);

  Trial& t_;
  const TrialPlan& plan_;
  const Case& case_;
  const bool infers_, compiles_, reads_int8_, takes_text_, large_;
  const TrialPlan::Way* way_ = nullptr;
  std::vector<Tensor> in_, other_, shared_;
  std::optional<Case> between_;
  std::deque<AttrTexts> spelled_;
  std::deque<GraphAsked> graphs_;
  std::optional<CallGraph> graph_;
  std::vector<WayToRun> ways_;      // in which to run the graph, the next one last
  std::vector<CallGraph> smaller_;  // graphs to ask for, the next one last
  int hangs_ = 0;                   // of graphs
  std::vector<Pending> pending_;
  std::deque<LawCall> law_calls_;
};

}  // namespace lockstep::judge
