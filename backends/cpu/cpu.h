/// @file
/// The CPU backend: every operator in parallel, conv2d and dense tuned once for any machine and
/// once for AVX2.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/plans.h"

namespace lockstep::cpu {

/// What `backend.hpp` makes a table of.
class Cpu {
 public:
  static const char* manifest();
  /// @throws LogicError for an option that it does not know, or a value that it does not take.
  explicit Cpu(const backend::Options& options);
  std::unique_ptr<Plan> prepare(const backend::Call& call);
  std::vector<backend::TensorType> infer(const backend::Call& call);
  int threads() const { return pool_->threads(); }

  /// The manifest's text for a backend that knows these options.
  static std::string manifest_text(const std::vector<std::string>& options);
  static std::vector<std::string> option_names() { return {"isa", "threads", "tuned"}; }

 private:
  std::shared_ptr<ThreadPool> pool_;
  const Isa* isa_ = nullptr;
};

}  // namespace lockstep::cpu
