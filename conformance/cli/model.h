/// @file
/// Shared by the verbs of `lockstep model`: reading models and their inputs, and engines.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "conformance/cases/call_graph.h"
#include "conformance/cli/model_documents.h"
#include "conformance/cli/verbs.h"
#include "reference/graph/run.h"

namespace lockstep::judge {

/// The files of a model's directory.
inline std::string symbol_file(const std::string& directory) { return directory + "/symbol.json"; }
inline std::string params_file(const std::string& directory) { return directory + "/params"; }

/// The calls of a graph, in the order in which they run: its nodes without the variables.
std::vector<const graph::Node*> calls_of(const graph::Graph& graph);

/// A call of a model failed, so later calls lack their inputs.
struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs the calls of a graph on the system under test.
class SubjectEngine : public graph::Engine {
 public:
  explicit SubjectEngine(Subject& subject) : subject_(subject) {}
  /// @throws Stopped if the answer is not ok, or lies outside the inferred types.
  std::vector<Tensor> run(
      const OpInfo& op, Attributes attrs, const std::vector<Tensor>& in) override;

 private:
  Subject& subject_;
};

/// A model that the system under test, which outlives this object, compiles as one graph.
class CompiledModel {
 public:
  CompiledModel(const graph::Model& model, Subject& subject);
  /// Whether the subject compiles graphs, a question has room for the input and the parameters of
  /// this one, and a call computes each of its heads.
  bool can_run() const { return can_run_; }
  /// The heads. @throws Stopped if the answer is not ok, or lies outside their types.
  std::vector<Tensor> run(const Tensor& data);

 private:
  Subject& subject_;
  CallGraph graph_;
  Case call_;  // one of the graph
  std::vector<Tensor> given_;
  std::vector<int> heads_;
  bool can_run_ = false;
};

/// Runs each call on another engine, and passes its outputs to `tell`.
class ToldEngine : public graph::Engine {
 public:
  using Tell = std::function<void(const std::vector<Tensor>& out)>;
  ToldEngine(graph::Engine& engine, Tell tell) : engine_(engine), tell_(std::move(tell)) {}
  std::vector<Tensor> run(
      const OpInfo& op, Attributes attrs, const std::vector<Tensor>& in) override {
    std::vector<Tensor> out = engine_.run(op, attrs, in);
    tell_(out);
    return out;
  }

 private:
  graph::Engine& engine_;
  Tell tell_;
};

/// The offset that centres the samples of a picture around 0.
inline constexpr i64 kPngOffset = -128;

/// A file of inputs, and how it is read.
struct InputFile {
  std::string path;
  i64 png_offset = kPngOffset;
};
/// Adds the option --png-offset.
void add_png_offset(CLI::App& verb, i64& offset);

/// Inputs of a model, each of the type of "data". They are decoded one by one, because they take up
/// to four times as much memory then.
struct Inputs {
  i64 count = 0;
  std::function<Tensor(i64 n)> at;  // throws graph::Error input.value
};

/// Whether a file's name has this ending, in small or capital letters.
bool is_named(const std::string& file, std::string_view ending);

/// The inputs that a file holds:
/// * NAME.npy: one array of integers, of the declared shape or of that without a leading extent
///   of 1; or several of them along one more axis in front.
/// * NAME.png: a picture of 8 bits for a declared shape (1, channels, height, width). A value is a
///   sample plus `png_offset`, clamped to the precision. An alpha channel that is opaque everywhere
///   is left out where the shape has no place for it.
/// * Any other name: the bytes of one input or of several, as CVMAPIInference takes them.
/// @throws graph::Error model.input, input.value; params::Error for a faulty array; UsageError for
/// a file that cannot be read or has more than 4 GiB.
Inputs read_inputs(const graph::Graph& graph, const InputFile& file);

/// A document as text.
std::string document_text(const documents::ModelDocument& document);

/// The graph in the language of Graphviz, and as a picture by itself: the input, the calls and the
/// heads, with operators and types.
/// @throws UsageError where a picture would have too many lines.
std::string dot_of(const graph::Graph& graph);
std::string svg_of(const graph::Graph& graph);

void add_model_check(CLI::App& group, Session& session);
void add_model_run(CLI::App& group, Session& session);
void add_model_show(CLI::App& group, Session& session);
void add_model_trace(CLI::App& group, Session& session);
void add_model_diff(CLI::App& group, Session& session);

}  // namespace lockstep::judge
