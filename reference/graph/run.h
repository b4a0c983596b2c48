/// @file
/// Runs a model call by call on any engine that computes operators.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "reference/evaluate.h"
#include "reference/graph/model.h"

namespace lockstep::graph {

/// Something that computes operators.
struct Engine {
  virtual ~Engine() = default;
  /// The outputs of a legal call, of the types that the operator infers. May throw anything if it
  /// fails.
  virtual std::vector<reference::Tensor> run(
      const OpInfo& op, Attributes attrs, const std::vector<reference::Tensor>& in) = 0;
};

/// The specification's own text.
struct ReferenceEngine : Engine {
  std::vector<reference::Tensor> run(
      const OpInfo& op, Attributes attrs, const std::vector<reference::Tensor>& in) override;
};

/// A model on an engine; both outlive it. One run at a time.
class Runner {
 public:
  /// Copies the parameters; the engine is asked call by call.
  Runner(const Model& model, Engine& engine);

  /// From input bytes to output bytes (reference/graph/bytes.h).
  std::vector<std::byte> run(std::span<const std::byte> input);

  /// The tensors of the heads, for a "data" of the declared type.
  /// @throws Error model.input, input.value where "data" is not of its type; utils::LogMessageFatal
  /// where the engine's answer is not of the inferred types.
  std::vector<reference::Tensor> run(reference::Tensor data);

 private:
  void call(int node);
  void drop_temporaries();

  const Model& model_;
  Engine& engine_;
  std::vector<reference::Tensor> values_;  // one per entry; parameters always, others while live
};

}  // namespace lockstep::graph
