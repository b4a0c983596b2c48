// Expects that every tuned kernel runs in some test: one that no call reaches is not tested at all.
#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/cuda/tests/emulated_block.h"

namespace lockstep::cuda {
namespace {

// After the tests of cuda.kernels, which share a process.
class AllKernels : public testing::Environment {
  void TearDown() override {
    if (!std::getenv("EXPECT_ALL_KERNELS")) return;
    std::set<std::string> idle;
    for (const Family* f = Family::first; f != nullptr; f = f->next) idle.merge(f->names());
    EXPECT_GT(idle.size(), 60U) << "a family is not noted";
    for (const std::string& kernel : fake::control().kernels) idle.erase(kernel);
    EXPECT_EQ(idle, (std::set<std::string>{})) << "no test runs these kernels";
  }
};
[[maybe_unused]] const testing::Environment* const all_kernels_run =
    testing::AddGlobalTestEnvironment(new AllKernels);

}  // namespace
}  // namespace lockstep::cuda
