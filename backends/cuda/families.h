/// @file
/// The tuned kernels, by family. A call that none of them serves runs its specification.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/cuda/plans.h"

namespace lockstep::cuda {

/// A way to compute some calls of one operator.
struct Kernel {
  std::string_view op;
  const char* name;  ///< in the manifest, and the path of its plans
  /// The plan of a call, or nullptr where the kernel does not serve it.
  std::function<std::unique_ptr<DevicePlan>(const Arguments&, const char* name)> plan;
};

/// A plan of a tuned kernel, whose name is its path.
class KernelPlan : public DevicePlan {
 public:
  KernelPlan(const char* name, std::shared_ptr<Device> device)
      : device_(std::move(device)), name_(name) {}
  const char* path() const override { return name_; }

 protected:
  std::shared_ptr<Device> device_;

 private:
  const char* name_;
};

std::vector<Kernel> detection_kernels();
std::vector<Kernel> direct_kernels();
std::vector<Kernel> elementwise_kernels();
std::vector<Kernel> gather_kernels();
std::vector<Kernel> movement_kernels();
std::vector<Kernel> pooling_kernels();
std::vector<Kernel> product_kernels();
std::vector<Kernel> reduction_kernels();

/// How a call that tuned kernels of products serve can use packed images.
struct ProductTraits {
  std::optional<std::array<i64, 2>> padding;  ///< that X needs to be read packed; none: it cannot
  bool writes;                                ///< whether it can add and write them
};
/// The traits of a call; none if it is no such product, and then no fusion is served.
std::optional<ProductTraits> product_traits(const Arguments& a);

/// Each returns the kernels of a family, in the order in which they are tried.
inline constexpr std::vector<Kernel> (*kFamilies[])() = {detection_kernels, direct_kernels,
    elementwise_kernels, gather_kernels, movement_kernels, pooling_kernels, product_kernels,
    reduction_kernels};

/// Whether four elements at an address can be moved at once.
inline bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

/// Blocks of a kernel that gives each thread one item.
template <class K> i64 blocks_for(i64 items) { return ceil_div(items, K::kThreads); }

}  // namespace lockstep::cuda
