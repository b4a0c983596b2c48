// Expects that every tuned kernel runs in some test: one that no call reaches is not tested at all.
#include <cstdlib>
#include <typeinfo>

#include "backends/cuda/kernels/detection.h"
#include "backends/cuda/kernels/direct.h"
#include "backends/cuda/kernels/elementwise.h"
#include "backends/cuda/kernels/gathers.h"
#include "backends/cuda/kernels/movement.h"
#include "backends/cuda/kernels/pooling.h"
#include "backends/cuda/kernels/products.h"
#include "backends/cuda/kernels/reductions.h"
#include "backends/cuda/tests/subject.h"

namespace lockstep::cuda {
namespace {

template <class... K> void note(KernelList<K...>, std::set<std::string>& names) {
  (names.insert(typeid(K).name()), ...);
}

// After the tests of cuda.kernels, which share a process.
class AllKernels : public testing::Environment {
  void TearDown() override {
    if (!std::getenv("EXPECT_ALL_KERNELS")) return;
    std::set<std::string> idle;
    note(DetectionKernels{}, idle);
    note(DirectKernels{}, idle);
    note(ElementwiseKernels{}, idle);
    note(GathersKernels{}, idle);
    note(MovementKernels{}, idle);
    note(PoolingKernels{}, idle);
    note(ProductsKernels{}, idle);
    note(ReductionsKernels{}, idle);
    EXPECT_GT(idle.size(), 60U);
    for (const std::string& kernel : fake::control().kernels) idle.erase(kernel);
    EXPECT_EQ(idle, (std::set<std::string>{})) << "no test runs these kernels";
  }
};
[[maybe_unused]] const testing::Environment* const all_kernels_run =
    testing::AddGlobalTestEnvironment(new AllKernels);

}  // namespace
}  // namespace lockstep::cuda
