/// @file
/// The one error of a model: a label, a sentence and the path of the fault.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "containers/logging.h"

namespace lockstep::graph {

/// A label of models, and what it is about.
struct ModelLabel {
  std::string_view label;  ///< such as "model.json"
  std::string_view text;   ///< what it says, in a few words
};

/// Every label of models. A call inside the graph that breaks an operator's rule keeps the
/// operator's label (`op.unknown`, `attr.*`, `op.inputs`, `conv2d.window`), and a value of a
/// parameter or of the input outside its declared precision is `input.value`.
inline constexpr ModelLabel kModelLabels[] = {
    {"model.json", "the text is no JSON object, nests too deeply or names a key twice"},
    {"model.key", "a key is missing or unknown, or its value has the wrong form"},
    {"model.version", "the version is neither cvm_1.0.0 nor cvm_1.1.0"},
    {"model.node", "a node contradicts itself or its operator"},
    {"model.reference", "an input or head names no output, or an input one of a later node"},
    {"model.variable", "not exactly one variable is \"data\", or two variables share a name"},
    {"model.count", "a list has not one entry per node, or per node output"},
    {"model.implied", "arg_nodes or node_row_ptr is not what the nodes imply"},
    {"model.dtype", "a dltype is not \"int32\""},
    {"model.device", "device_index is given"},
    {"model.precision", "a declared precision is neither -1 nor in 1..32"},
    {"model.shape", "a declared shape is illegal, or is not the inferred one"},
    {"model.heads", "there is no head, or the heads do not fit each other or the postprocess"},
    {"model.storage", "two live tensors share a storage id, or storage exceeds 2^32 bytes"},
    {"model.gas", "one element, all tensors or all calls cost more gas than allowed"},
    {"model.params",
        "a parameter, or the file of them, is missing or faulty, or a parameter has another shape, "
        "no integers or larger ones than int32 holds, or is of no variable"},
    {"model.input", "the input has another length, shape or type than \"data\" needs"},
};

/// A model, its parameters or its input break a rule: the fault of whoever supplied them.
class Error : public utils::ValueVerifyFatal {
 public:
  /// The message begins with the path, where there is one.
  Error(std::string label, const std::string& message, std::string path = {})
      : ValueVerifyFatal(message + " [" + label + "]"),
        label_(std::move(label)),
        path_(std::move(path)) {}
  /// The same error of a document in a file, which the message names before anything else.
  Error(const Error& of, const std::string& file)
      : ValueVerifyFatal(file + ": " + of.what()), label_(of.label_), path_(of.path_) {}

  /// One of kModelLabels, or a label of the call inside the graph.
  const std::string& label() const { return label_; }
  /// Where in the document, the parameters or the input the fault stands: "nodes[12].inputs[1]",
  /// "attrs.shape[1][3]", "params.weight[0][2]". Empty where it stands nowhere in particular.
  const std::string& path() const { return path_; }

 private:
  std::string label_, path_;
};

}  // namespace lockstep::graph
