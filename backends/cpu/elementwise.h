/// @file
/// Elementwise operators in chains: each stage computes from inputs and the result of the stage
/// before it, which stays in the first cache.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/cpu/formulas.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/nests.h"

namespace lockstep::cpu {

/// A formula and its operands: the result of the stage before (0), or an input, counted from 1.
struct Stage {
  Formula formula;
  Numbers numbers{};
  std::array<int, kOperandsMax> operand{1, 2, 3};
};

/// The call as a stage; none if its operator is not an elementwise one.
std::optional<Stage> stage_of(const backend::LegalCall& call);

/// The plan of a chain of at most kLoopTensorsMax - 1 inputs, all of whose stages have the shape of
/// the output.
std::unique_ptr<Plan> chain_plan(std::span<const Stage> stages, std::span<const ChainInput> in,
    const Out& y, const std::shared_ptr<ThreadPool>& pool, const Isa& isa, std::string name);

}  // namespace lockstep::cpu
