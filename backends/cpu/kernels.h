/// @file
/// The tuned kernels, one overload each. An operator without a line here runs its specification in
/// parallel; a line without its kernel is a link error.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backends/bridge.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/pool.h"

namespace lockstep {
struct Conv2d;
struct Dense;
}  // namespace lockstep

namespace lockstep::cpu {

using backend::Plan;

/// A legal call, the data of its constant inputs, and the pool and instruction set to use.
struct Arguments {
  backend::LegalCall call;
  std::vector<const i32*> constants;  ///< by input; nullptr if each execution brings the data
  std::shared_ptr<Pool> pool;
  const Isa* isa = nullptr;  ///< of the tuned kernels; nullptr: use none
};

/// The arguments of one operator's call.
template <class Op>
struct Request {
  const Arguments& arguments;
};

/// A plan with a tuned kernel, or nullptr if the kernel does not support the call's shapes.
std::unique_ptr<Plan> tuned(const Request<Conv2d>& request);  // conv2d.cc
std::unique_ptr<Plan> tuned(const Request<Dense>& request);   // dense.cc

/// An operator with a tuned kernel.
template <class Op>
concept Tuned = requires(const Request<Op>& request) {
  tuned(request);
};

/// The name of an operator's tuned kernel for an instruction set.
template <class Op>
std::string kernel_name(const Isa& isa) {
  return std::string(Op::name) + "_" + std::string(isa.name);
}

}  // namespace lockstep::cpu
