/// @file
/// A model on a backend in this process, as an application runs it: call by call, and compiled as a
/// whole. A backend that the judge has not passed may crash the caller.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "backends/client.hpp"
#include "reference/graph/model.h"

namespace lockstep::judge {

class LoadedModel {
 public:
  /// Uploads the parameters and prepares every call. Tensors share memory where none is read later.
  /// @throws client::Error where the backend refuses something.
  LoadedModel(const client::Backend& backend, const graph::Model& model);

  /// Compiles the whole graph, where the backend offers that. @return whether it does.
  bool compile();
  /// The memory that one run of the compiled graph needs beside inputs, outputs and parameters.
  uint64_t scratch_bytes() const { return whole_ ? whole_->scratch_bytes() : 0; }

  /// Writes "data", which every way to run reads.
  void write(const reference::Tensor& data);
  void run_compiled();
  void run_calls();
  /// The tensors of the heads after a run.
  std::vector<reference::Tensor> heads() const;

  // The calls of run_calls, one by one.
  std::size_t calls() const { return calls_.size(); }
  const std::string& op(std::size_t call) const { return calls_[call].op; }
  void run_call(std::size_t call);

 private:
  struct Call {
    std::string op;
    client::Plan plan;
    std::vector<const void*> in;
    std::vector<void*> out;
  };
  struct Extents {
    std::vector<int64_t> shape, strides;
  };
  void place(const graph::Model& model);
  client::TensorView view(int entry) const;
  void* memory(int entry) { return slots_[slot_[static_cast<std::size_t>(entry)]].data(); }
  void run(
      const client::Plan& plan, const std::vector<const void*>& in, const std::vector<void*>& out);
  void need_scratch(const client::Plan& plan);

  const client::Backend& backend_;
  const graph::Graph& graph_;
  std::vector<Extents> extents_;   // by entry
  std::vector<std::size_t> slot_;  // by entry
  std::vector<client::Memory> slots_;
  std::vector<bool> is_parameter_;  // by entry
  std::vector<Call> calls_;
  std::optional<client::Plan> whole_;
  std::optional<client::Memory> scratch_;
  client::Stream stream_;
};

}  // namespace lockstep::judge
