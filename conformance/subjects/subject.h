/// @file
/// The system under test, and the adapters that connect it.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/base/interrupted.h"
#include "conformance/host/channel.h"
#include "conformance/jsonl/answer.h"
#include "conformance/subjects/manifest.h"
#include "containers/instrumented.h"

namespace lockstep::judge {

/// The place of a tensor in its memory.
enum class Base {
  end,    ///< ends where the memory ends, before the guard page
  begin,  ///< begins where the memory begins, at a page
  /// Begins later in the memory, aligned to 4 bytes and not to 8, up to 16 tensors all differently.
  /// Strides along extents of 1, which mean nothing, lead out of the memory.
  unaligned
};

/// How a call is run.
struct Run {
  Layout layout = Layout::compact;
  i32 poison = 0;  ///< what outputs hold before the call
  i32 filler = 0;  ///< what padding cells, the bytes beside tensors and scratch memory hold
  Base base = Base::end;
  int config = 0;          ///< number of a configuration of the subject
  bool constants = false;  ///< prepare() gets inputs after the first, as weights
  /// Runs of the plan on the memory of the first caller, with the callers' values in turn; each
  /// caller's last run gives its answer. In the runs of every other caller, inputs of equal types
  /// share memory.
  int runs = 1;
};

/// Limits and options of a subject.
struct Limits {
  double timeout_s = 2;  ///< for one answer; patience_for() times that for large calls
  double start_s = 5;    ///< for the first answer of a process
  /// GiB that a process may allocate; 0: no limit, as for sanitizers, which reserve huge ranges.
  double memory_gib = ndarray::kInstrumented ? 0 : 8;
  Options set = {};  ///< options of open()
  /// Polled while a subject waits, which then throws Interrupted.
  Interruption interrupted = {};
};

/// How many times the limit for an answer applies to a call of so many elements.
constexpr i64 patience_for(i64 elements) {
  constexpr i64 kElementsInTime = i64{1} << 18;
  return 1 + elements / kElementsInTime;
}

struct CallGraph;

/// A question to a system under test. What it points to must live until it is answered.
struct Question {
  enum What { execute, refuse, infer, close, tally } what = execute;
  const Case* call = nullptr;        ///< any call for close; for tally one of Fill::range
  const AttrTexts* texts = nullptr;  ///< the attributes in place of the call's, where takes_text()
  std::vector<const std::vector<Tensor>*> callers = {};  ///< the inputs of each; of execute only
  const Case* between = nullptr;  ///< a legal call whose plan lives and runs beside this one's
  const CallGraph* graph =
      nullptr;        ///< to run in place of the call, compiled only where can_compile()
  Inferred out = {};  ///< of the call's outputs; of execute and tally only, and not of a graph
  Run run = {};
  Plant plant = Plant::none;  ///< of execute and close only, where can_plant()
  std::size_t trial = 0;      ///< its number among those asked together
  std::string_view id = {};   ///< of the case, for recorded answers
  std::string witness = {};   ///< file of the witness that compares; of tally only

  /// The outputs of a call that runs, or the heads of a graph.
  int outputs() const;
  /// The type of such an output; of execute only, since a malformed graph may name any head.
  const Type& output(int k) const;
};
/// One answer for each caller; none where callers cannot share a plan, or where an earlier question
/// of the same trial ended the process.
using Answers = std::vector<Answer>;

/// A system under test. If its process dies or hangs, that is the answer to one question, and a
/// fresh process gets the next.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual const Manifest& manifest() const = 0;
  /// All that the system states of itself: its manifest and, of a library, the functions it offers.
  virtual std::string offered() const { return manifest().text; }
  /// Whether the judge checks memory beside tensors and can use layouts other than compact.
  virtual bool shares_memory() const { return false; }
  virtual bool can_infer() const { return false; }
  virtual bool can_compile() const { return false; }
  /// Whether the graphs that it compiles may have constants of int8.
  virtual bool reads_int8() const { return false; }
  /// Runs a legal call whose outputs have the types `out`.
  virtual Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run& run) = 0;
  /// Runs one plan of a legal call for several callers at the same time, caller k with the inputs
  /// in[k]. @return an answer for each; none where callers cannot share a plan
  virtual std::vector<Answer> execute_at_once(
      const Case&, const std::vector<std::vector<Tensor>>&, const Inferred&, const Run&) {
    return {};
  }
  /// Puts an illegal call to the backend; the right answer is a logic error with a label.
  virtual Answer refuse(const Case& c) = 0;
  /// Whether attributes can reach the backend as text, illegal or spelled in some legal way.
  virtual bool takes_text() const { return false; }
  /// Runs a legal call whose attributes have these texts, where takes_text().
  virtual Answer execute_text(
      const Case&, const AttrTexts&, const std::vector<Tensor>&, const Inferred&) {
    return {.kind = AnswerKind::unsupported};
  }
  /// The same for an illegal call.
  virtual Answer refuse_text(const Case&, const AttrTexts&) {
    return {.kind = AnswerKind::unsupported};
  }
  /// Has a witness compare a range of values on the device of a backend that takes_turns().
  /// @return an answer with Answer::tally if it reaches the memory there
  /// @throws std::runtime_error if it does not see mistakes that are made for it.
  virtual Answer tally(const Case&, const std::string& /*witness*/) {
    return {.kind = AnswerKind::unsupported};
  }
  /// The types of a call's outputs, where can_infer().
  virtual Answer infer(const Case&) { return {.kind = AnswerKind::unsupported}; }
  /// Whether the subject answers many questions sooner together than one by one.
  virtual bool takes_many() const { return false; }
  /// Puts questions and returns the answers to each.
  virtual std::vector<Answers> ask(const std::vector<Question>& questions);
  /// Whether processes that hold the backend take turns on one device, which serves one process
  /// sooner than several.
  virtual bool takes_turns() const { return false; }
  virtual bool can_close() const { return false; }
  /// Whether the process that holds the backend commits faults in its place.
  virtual bool can_plant() const { return false; }
  /// Closes the backend in all its configurations, where can_close(); the next question opens it
  /// again.
  virtual Answer close() { return {.kind = AnswerKind::unsupported}; }
  /// Ends a process that has started others, where can_plant().
  /// @param killed whether the program that keeps it is killed first
  /// @return how it ended, and whether it left any behind
  virtual std::string end_leaving(bool /*killed*/) { return ""; }
  /// Adds a configuration, such as {"isa", "avx2"}; its number is for Run::config.
  virtual int configure(const Options& more) = 0;

  // Whether questions can be put, and repeated; false for recorded answers.
  virtual bool live() const { return true; }
  /// The cases among these for which the subject has no answer.
  /// @throws UsageError if it has answers to other cases.
  virtual std::set<std::string> unanswered(const std::vector<std::string>& /*ids*/) { return {}; }
  /// Names the case that the next questions are about.
  virtual void about(const std::string& /*id*/) {}
};

/// Opens a backend: a built-in name, the path of a shared library, `exec:COMMAND`, or
/// `results:FILE`.
/// @throws UsageError if there is no such backend or it is no backend.
/// @throws Interrupted
std::unique_ptr<Subject> open_subject(const std::string& what, const Limits& limits);

/// A backend that speaks the JSON Lines protocol, run by `/bin/sh -c COMMAND` with the directory of
/// this program at the end of its PATH. It is started at the first question, and again after it
/// ended, hung or broke the protocol. It ends, with all its children, when the subject or this
/// process does.
/// @param asks whether to ask first for a manifest; a command without one claims everything.
/// @throws UsageError if options are given, which belong in the command, or if the manifest is
/// wrong.
std::unique_ptr<Subject> open_exec(
    const std::string& command, const Limits& limits, bool asks = false);

/// A backend of which only answers exist, recorded in the JSON Lines protocol. Properties that need
/// a second question are not judged, and failing cases are not shrunk.
/// @throws UsageError if the file cannot be read, if a line is no answer or a second answer to a
/// call, or if options are given.
std::unique_ptr<Subject> open_recorded(const std::string& file, const Limits& limits);

}  // namespace lockstep::judge
