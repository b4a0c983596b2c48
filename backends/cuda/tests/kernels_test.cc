// Expects that every tuned kernel runs in some test: one that no call reaches is not tested at all.
#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/cuda/device.h"

namespace lockstep::cuda {
namespace {

// After the tests of cuda.kernels, which share a process.
class AllKernels : public testing::Environment {
 public:
  void SetUp() override {
    if (!expects_all()) return;
    EXPECT_FALSE(fake::control().idle.empty()) << "no kernel is known";
  }
  void TearDown() override {
    if (!expects_all()) return;
    EXPECT_EQ(fake::control().idle, (std::set<std::string>{})) << "no test runs these kernels";
  }

 private:
  static bool expects_all() { return std::getenv("EXPECT_ALL_KERNELS") != nullptr; }
};
[[maybe_unused]] const testing::Environment* const all_kernels_run =
    testing::AddGlobalTestEnvironment(new AllKernels);

}  // namespace
}  // namespace lockstep::cuda
