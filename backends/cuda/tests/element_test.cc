// Tests the threads of every operator's kernel on the operator's examples.
#include "backends/cuda/element.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/cuda/launch.h"
#include "spec/ops.h"

namespace lockstep::cuda {
namespace {

constexpr i32 kPoison = 0x5a5a5a5a;

// An example's tensors in memory, outputs poisoned.
struct Tensors {
  explicit Tensors(const AnyExample& e) {
    for (int k = 0; k < e.call.in_count; ++k)
      in_data.emplace_back(e.in[k].data.begin(), e.in[k].data.end());
    for (const Literal& l : e.out)
      if (l.shape.size > 0)
        out_data.emplace_back(static_cast<std::size_t>(volume(l.shape)), kPoison);
    for (std::size_t k = 0; k < in_data.size(); ++k)
      in.emplace_back(e.call.in[k], in_data[k].data());
    for (std::size_t k = 0; k < out_data.size(); ++k)
      out.emplace_back(Type{e.out[k].shape, e.out[k].precision}, out_data[k].data());
  }
  std::vector<std::vector<i32>> in_data, out_data;
  std::vector<View> in;
  std::vector<Out> out;
};

bool is_poisoned(const Tensors& t) {
  for (const auto& data : t.out_data)
    for (i32 v : data)
      if (v != kPoison) return false;
  return true;
}

template <Operator Op> void judge_threads() {
  const OpInfo& op = info<Op>();
  for (int i = 0; i < op.example_count; ++i) {
    SCOPED_TRACE(std::string(op.name) + ", example " + std::to_string(i));
    const AnyExample e = op.example(i);
    Tensors t(e);
    const Launch l{e.call.attributes(), {t.in.data(), static_cast<int>(t.in.size())},
        {t.out.data(), static_cast<int>(t.out.size())}, t.in.data(), kBlockMax, nullptr};
    const Parameters<Op> p = parameters_of<Op>(l);
    const i64 n = threads_of<Op>(l.out);
    EXPECT_EQ(n, op.pointwise ? volume(e.out[0].shape) : 1);
    for (i64 k = n; k < n + kBlockMax; ++k) run_thread<Op>(p, k);
    EXPECT_TRUE(is_poisoned(t)) << "a thread that is one too many wrote";
    for (i64 k = 0; k < n; ++k) run_thread<Op>(p, k);
    for (std::size_t k = 0; k < t.out_data.size(); ++k)
      EXPECT_EQ(t.out_data[k], std::vector<i32>(e.out[k].data.begin(), e.out[k].data.end()));
  }
}

template <class... Op> void judge_all(OperatorList<Op...>) { (judge_threads<Op>(), ...); }

TEST(Threads, ComputeEveryExampleAndNothingBeside) { judge_all(Operators{}); }

// One thread of a pointwise operator writes its own element, and no other cell of a strided output.
TEST(Threads, WriteOneElementEach) {
  const std::vector<i32> x = {-1, 2, 3, -4, 5, 6};
  std::vector<i32> y(40, kPoison);
  const View in(Type{{2, 3}, 8}, x.data());
  Out out(Type{{2, 3}, 8}, y.data() + 2);
  out.stride[0] = 2;
  out.stride[1] = 7;
  out.compact = false;
  const Launch l{{}, {&in, 1}, {&out, 1}, nullptr, kBlockMax, nullptr};
  const Parameters<Relu> p = parameters_of<Relu>(l);
  std::vector<i32> expected = y;
  for (i64 k = 0; k < 6; ++k) {
    run_thread<Relu>(p, k);
    expected[static_cast<std::size_t>(2 + k / 3 * 2 + k % 3 * 7)] =
        static_cast<i32>(max(0, x[static_cast<std::size_t>(k)]));
    EXPECT_EQ(y, expected) << "thread " << k;
  }
}

}  // namespace
}  // namespace lockstep::cuda
