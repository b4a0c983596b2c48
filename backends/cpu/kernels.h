/// @file
/// The instruction sets of this backend, and the kernels tuned for them. A call that none of them
/// serves runs its specification in parallel.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/bridge.h"
#include "backends/cpu/pool.h"

namespace lockstep::cpu {

using backend::Plan;

/// An instruction set with kernels in this build.
struct Isa {
  std::string_view name;
  bool runnable;  ///< on this machine, under this operating system
};

/// The instruction sets of this build, the most basic first; that one runs everywhere.
std::span<const Isa> isas();

/// The entry of this name, or nullptr.
const Isa* find_isa(std::string_view name);

/// The last runnable entry.
const Isa& best_isa();

/// A legal call, the data of its constant inputs, and what may be used for it.
struct Arguments {
  backend::LegalCall call;
  std::vector<const i32*> constants;  ///< by input; nullptr if each execution brings the data
  std::shared_ptr<ThreadPool> pool;
  const Isa* isa = nullptr;  ///< the best that tuned kernels may use; nullptr: use none of them
};

/// A way to compute some calls of one operator on one instruction set.
struct Kernel {
  std::string_view op, isa;
  std::string name;  ///< in the manifest, and the path of its plans
  /// The plan of a call, or nullptr where the kernel does not serve its shapes.
  std::function<std::unique_ptr<Plan>(const Arguments&, const Kernel&)> plan;
};

/// Kernels of each file. One of a single instruction set is a row whose functions carry
/// `[[gnu::target]]`, or call a source that is named after the set, as dot_avx2.cc is.
std::vector<Kernel> conv2d_kernels();
std::vector<Kernel> dense_kernels();
inline constexpr std::vector<Kernel> (*kKernelFiles[])() = {conv2d_kernels, dense_kernels};

}  // namespace lockstep::cpu
