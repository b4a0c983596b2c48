/// @file
/// The kernels tuned for instruction sets. A call that none of them serves runs its specification
/// in parallel.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/bridge.h"
#include "backends/cpu/fusion.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/pool.h"

namespace lockstep::cpu {

/// A plan of this backend.
struct Plan : backend::Plan {
  /// Whether the output may lie where an input lies. A kernel may say so if it writes each element
  /// after it has read all that it reads of the input's element there, and no other element needs
  /// that one.
  virtual bool works_in_place(std::size_t input) const {
    static_cast<void>(input);
    return false;
  }
};

/// A plan of one kernel, whose name is its path.
class KernelPlan : public Plan {
 public:
  KernelPlan(std::string name, std::shared_ptr<ThreadPool> pool)
      : pool_(std::move(pool)), name_(std::move(name)) {}
  const char* path() const override { return name_.c_str(); }

 protected:
  std::shared_ptr<ThreadPool> pool_;

 private:
  std::string name_;
};

/// What conv2d or dense does in a compiled graph besides its product.
struct Fusion {
  std::optional<Finish> finish{};
  View added{};  ///< the tensor that `finish` adds, without data: an input after the call's
  /// The forms of images, whose views have the strides of their form.
  Form reads = Form::rows, adds = Form::rows, writes = Form::rows;

  bool uses(Form f) const { return reads == f || adds == f || writes == f; }
};

/// The data of a constant: int32, or compact int8.
struct Constant {
  const i32* wide = nullptr;
  const int8_t* narrow = nullptr;

  explicit operator bool() const { return wide || narrow; }
  /// The values from element `first` on, at least n, in `room` if they have to be widened.
  const i32* values(i64 first, i64 n, std::vector<i32>& room) const {
    if (!narrow) return wide + first;
    room.assign(narrow + first, narrow + first + n);
    return room.data();
  }
};

/// A legal call, the data of its constant inputs, and what may be used for it.
struct Arguments {
  backend::LegalCall call;
  /// By input; none if each execution brings the data. Only weights of conv2d and dense are int8.
  std::vector<Constant> constants;
  std::shared_ptr<ThreadPool> pool;
  const Isa* isa = nullptr;  ///< the best that tuned kernels may use; nullptr: use none of them
  Fusion fusion{};
};

/// The bytes of scratch memory that a plan of a call may ask for: twice those of its inputs and
/// outputs, and a little besides, for calls that are small.
i64 scratch_most(const backend::LegalCall& call);

/// A way to compute some calls of one operator on one instruction set.
struct Kernel {
  std::string_view op, isa;
  std::string name;  ///< in the manifest, and the path of its plans
  /// The plan of a call, or nullptr where the kernel does not serve its shapes.
  std::function<std::unique_ptr<Plan>(const Arguments&, const Kernel&)> plan;
};

/// The instruction sets for which Highway compiles (targets.h).
#ifdef __x86_64__
inline constexpr std::string_view kTargetIsas[] = {"portable", "sse4", "avx2", "avx512"};
#elif defined(__aarch64__)
inline constexpr std::string_view kTargetIsas[] = {"portable", "neon"};
#else
inline constexpr std::string_view kTargetIsas[] = {"portable"};
#endif

/// Adds a kernel of `Op` for each of them.
template <class Op> void add_target_kernels(
    std::vector<Kernel>& all, std::unique_ptr<Plan> (*plan)(const Arguments&, const Kernel&)) {
  for (const std::string_view isa : kTargetIsas)
    all.push_back({Op::name, isa, std::string(Op::name) + "_" + std::string(isa), plan});
}

/// Kernels of each file. One of a single instruction set is a row whose functions carry
/// `[[gnu::target]]`, or call a source that is named after the set, as dot_avx2.cc is.
std::vector<Kernel> conv2d_kernels();
std::vector<Kernel> dense_kernels();
std::vector<Kernel> elementwise_kernels();
std::vector<Kernel> gather_kernels();
std::vector<Kernel> max_pool2d_kernels();
std::vector<Kernel> movement_kernels();
std::vector<Kernel> reduce_kernels();
std::vector<Kernel> suppression_kernels();
std::vector<Kernel> valid_counts_kernels();
inline constexpr std::vector<Kernel> (*kKernelFiles[])() = {conv2d_kernels, dense_kernels,
    elementwise_kernels, gather_kernels, max_pool2d_kernels, movement_kernels, reduce_kernels,
    suppression_kernels, valid_counts_kernels};

}  // namespace lockstep::cpu
