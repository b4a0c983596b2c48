/// @file
/// Elementwise operators in chains: each stage computes from inputs and the result of the stage
/// before it, which stays in the first cache.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "backends/cpu/kernels.h"
#include "backends/cpu/nests.h"
#include "backends/cpu/stages.h"

namespace lockstep::cpu {

/// The plan of a chain of at most kLoopTensorsMax - 1 inputs, all of whose stages have the shape of
/// the output.
std::unique_ptr<Plan> chain_plan(std::span<const Stage> stages, std::span<const ChainInput> in,
    const Out& y, const std::shared_ptr<ThreadPool>& pool, const Isa& isa, std::string name);

}  // namespace lockstep::cpu
