/// @file
/// The one error of a model: a label and a sentence.
#pragma once
#include <string>

#include "containers/logging.h"

namespace lockstep::graph {

/// A model, its parameters or its input break a rule: the fault of whoever supplied them.
///
/// The labels, each with what it is about:
///  * `model.json`       the text is no JSON object, nests too deeply or names a key twice
///  * `model.key`        a key is missing or unknown, or its value has the wrong form
///  * `model.version`    the version is neither cvm_1.0.0 nor cvm_1.1.0
///  * `model.node`       a node contradicts itself or its operator
///  * `model.reference`  an input or head names no output, or an input one of a later node
///  * `model.variable`   not exactly one variable is "data", or two variables share a name
///  * `model.count`      a list has not one entry per node, or per node output
///  * `model.implied`    arg_nodes or node_row_ptr is not what the nodes imply
///  * `model.dtype`      a dltype is not "int32"
///  * `model.device`     device_index is given
///  * `model.precision`  a declared precision is neither -1 nor in 1..32
///  * `model.shape`      a declared shape is illegal, or is not the inferred one
///  * `model.heads`      there is no head, or the heads do not fit each other or the postprocess
///  * `model.storage`    two live tensors share a storage id, or storage exceeds 2^32 bytes
///  * `model.gas`        one element, all tensors or all calls cost more gas than allowed
///  * `model.params`     a parameter is missing, has another shape, no integers or
///                       larger ones than int32 holds, or is of no variable
///  * `model.input`      the input has another length than "data" needs
///
/// A call inside the graph that breaks an operator's rule keeps the operator's label
/// (`op.unknown`, `attr.*`, `op.inputs`, `conv2d.window`), and a parameter's value outside its
/// declared precision is `input.value`.
class Error : public utils::ValueVerifyFatal {
 public:
  Error(std::string label, const std::string& message)
      : ValueVerifyFatal(message + " [" + label + "]"), label_(std::move(label)) {}

  const std::string& label() const { return label_; }

 private:
  std::string label_;
};

}  // namespace lockstep::graph
