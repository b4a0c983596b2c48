/// @file
/// A model prepared on a backend in this process: its parameters in the backend's memory, and a
/// plan for the whole or for each call.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/client.hpp"
#include "reference/graph/model.h"

namespace lockstep::runtime {

/// How a model is prepared.
enum class Form {
  best,   ///< as a whole where the backend compiles graphs, else call by call
  whole,  ///< compiled
  /// Call by call. Tensors between calls share memory where none is read later, and have the
  /// padding that the backend wishes; input, parameters and heads are compact.
  calls
};

/// Is told after each call of a run how many of all are done.
using Progress = std::function<void(std::size_t done, std::size_t all)>;

/// One run at a time. The backend must outlive it and the model need not: the program keeps the
/// parameters.
class Program {
 public:
  /// @throws client::Error where the backend refuses something, utils::OutOfMemory and
  /// std::bad_alloc where memory runs out.
  Program(const client::Backend& backend, const graph::Model& model, Form form);

  /// Whether the backend compiled the whole graph.
  bool is_compiled() const { return compiled_; }
  /// The bytes that this holds: parameters, tensors and scratch, but neither input nor heads in
  /// host memory.
  uint64_t memory_bytes() const;
  /// The scratch memory of the largest call.
  uint64_t scratch_bytes() const { return scratch_ ? scratch_->bytes() : 0; }

  /// From the values of "data" to those of the heads, all compact and in host memory. There is one
  /// place for each head, and no two overlap. With `progress`, a call starts when the one before
  /// has ended.
  /// @throws client::Error where a call fails, utils::LogMessageFatal for another number of places,
  /// what `progress` throws.
  void run(const int32_t* data, std::span<int32_t* const> heads, const Progress& progress = {});

  /// Repeats all calls of the latest run(), without which there is nothing to repeat. Nothing is
  /// copied to or from a device; without one the calls read and write the host memory of that
  /// run(), which must still be there. @throws client::Error when one fails.
  void repeat();

  // The calls one by one; a compiled program is a single one.
  /// How many calls the program makes.
  std::size_t calls() const { return calls_.size(); }
  /// The operator of a call, or "graph" for a compiled program.
  const std::string& op(std::size_t call) const { return calls_[call].op; }
  /// Repeats one call, as repeat() does all. @throws client::Error when it fails.
  void run_call(std::size_t call) {
    start(calls_[call]);
    stream_.wait().check();
  }

 private:
  struct Entry {
    std::vector<int64_t> shape, strides;
    int32_t precision = 0;
    uint64_t bytes = 0, offset = 0;  // of its memory; of its first element in it
    const void* constant = nullptr;
    bool is_int8 = false;  // of a constant
  };
  struct Call {
    std::string op;
    client::Plan plan;
    std::vector<uint32_t> in, out;  // entries
  };

  void describe(const graph::Graph& graph);
  void place_inputs(const graph::Model& model, bool as_bytes);
  bool compile(const graph::Graph& graph);
  void prepare(const graph::Graph& graph);
  void place_results(const graph::Graph& graph);
  void pad(Entry& e);
  std::byte* storage(uint64_t bytes);
  client::TensorView view(uint32_t entry) const;
  void* own(uint64_t bytes);
  client::Memory& memory_at(const void* address);
  void add(std::string op, client::Plan plan, std::vector<uint32_t> in, std::vector<uint32_t> out);
  void bind(const int32_t* data, std::span<int32_t* const> heads);
  void start(const Call& call);

  const client::Backend& backend_;
  client::Stream stream_;
  bool has_device_, compiled_ = false;
  uint32_t data_ = 0;
  std::vector<uint32_t> heads_;
  std::vector<Entry> entries_;
  std::vector<bool> is_computed_;             // by entry
  std::vector<ndarray::NDArray> parameters_;  // that lie in host memory
  std::vector<ndarray::NDArray> storage_;     // of results in host memory, which share it
  std::vector<client::Memory> own_;
  std::optional<client::Memory> scratch_;
  std::vector<void*> addresses_;  // by entry
  std::vector<void*> outputs_;    // by head, of a compiled graph
  std::vector<Call> calls_;
};

}  // namespace lockstep::runtime
