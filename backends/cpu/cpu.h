/// @file
/// The CPU backend: every operator in parallel, many of them tuned for each instruction set.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/plans.h"

namespace lockstep::cpu {

/// The class of which `backend.hpp` makes a table.
class Cpu {
 public:
  static const char* manifest();
  static constexpr bool kInt8Constants = true;
  /// @throws LogicError for an unknown option or an illegal value.
  explicit Cpu(const backend::Options& options);
  std::unique_ptr<Plan> prepare(const backend::Call& call);
  std::vector<backend::TensorType> infer(const backend::Call& call);
  std::unique_ptr<Plan> compile(const backend::Graph& graph);
  int threads() const { return pool_->threads(); }

  /// The manifest of a backend that takes these options.
  static std::string manifest_text(const std::vector<std::string>& options);
  static std::vector<std::string> option_names() { return {"isa", "threads", "tuned"}; }

 private:
  std::shared_ptr<ThreadPool> pool_;
  const Isa* isa_ = nullptr;
};

}  // namespace lockstep::cpu
