// Executions take no memory but the scratch memory that the plan asked for, and a plan asks for
// little.
#include <gtest/gtest.h>

#include "backends/cpu/pool.h"
#include "backends/cpu/tests/drawn_graph.h"
#include "backends/cpu/tests/modes.h"
#include "containers/tests/counted_memory.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/dense.h"
#include "spec/ops/max_pool2d.h"
#include "spec/ops/non_max_suppression.h"

namespace lockstep::cpu {
namespace {

// The first execution may start threads.
void expect_no_allocation(Ready& ready) {
  ASSERT_TRUE(ready.plan.ok()) << ready.plan.status().text;
  const Guarded scratch(ready.plan->scratch_bytes());
  const std::vector<const void*> in = addresses<const void*>(ready.in);
  const std::vector<void*> out = addresses<void*>(ready.out);
  const auto execute = [&] {
    EXPECT_TRUE(ready.plan->execute(in, out, scratch.data()).ok()) << ready.plan->path();
  };
  execute();
  EXPECT_EQ(allocated_by(execute), 0U) << ready.plan->path();
}

class Memory : public testing::TestWithParam<Mode> {
 protected:
  const client::Backend backend = open_backend(GetParam().options()).value();

  // Starts the threads, which a later call would otherwise do.
  void SetUp() override {
    Seeded draw(1);
    Ready large = prepared(backend,
        call_of<Dense>(
            {.units = 1024, .use_bias = false}, {{{64, 1024}, 4}, {{1024, 1024}, 4}}, draw),
        draw);
    expect_no_allocation(large);
  }

  template <class Prepare> void expect_none(uint64_t calls, Prepare prepare) {
    for (uint64_t seed = 0; seed < calls && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Seeded draw(seed << 32);
      Ready ready = prepare(draw);
      expect_no_allocation(ready);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, Memory, testing::ValuesIn(tuned_modes({"1", "2"})),
    [](const auto& p) { return name_of(p.param); });

TEST_P(Memory, IsNotAllocatedByCalls) {
  for (const OpInfo* op : operators()) {
    SCOPED_TRACE(op->name);
    expect_none(150, [&](Draw& draw) {
      Drawn drawn;
      op->domain(draw, drawn);
      return prepared(backend, filled(*op, drawn, draw), draw);
    });
  }
}

TEST_P(Memory, IsNotAllocatedByGraphs) {
  for (DrawnGraph (*const drawn)(Draw&) :
      {drawn_graph, drawn_network, drawn_wide_network, drawn_matrices})
    expect_none(40, [&](Draw& draw) { return compiled(backend, drawn(draw), draw); });
}

// Calls that are small where paddings, panels or lanes are large. judge() knows the bound.
TEST_P(Memory, IsLittleForSmallCalls) {
  Seeded draw(1);
  const auto pool = [&](const Shape& x, const Tuple& window, const Tuple& stride) {
    const MaxPool2dAttrs a{window, stride, {window[0] - 1, window[1] - 1}};
    judge(backend, call_of<MaxPool2d>(a, {{x, 8}}, draw), draw, 2);
  };
  const auto conv2d = [&](const Conv2dAttrs& a, const Shape& x) {
    const Shape w{a.channels, x[1] / a.groups, a.kernel_size[0], a.kernel_size[1]};
    judge(backend, call_of<Conv2d>(a, {{x, 8}, {w, 8}}, draw), draw, 2);
  };
  for (int k = 0; k < 6; ++k) {
    pool({1, 1, 2, 2}, {600, 600}, {400, 400});
    pool({1, 300, 3, 5}, {3, 3}, {1, 1});
    pool({2, 3, 30, 31}, {29, 28}, {1, 2});
    for (const i64 channels : {1, 3, 70})
      conv2d({.channels = channels,
                 .kernel_size = {2, 2},
                 .strides = {300, 300},
                 .padding = {256, 256},
                 .dilation = {512, 512},
                 .use_bias = false},
          {1, channels, 4, 5});
    conv2d({.channels = 1600, .kernel_size = {1, 1}, .groups = 1600, .use_bias = false},
        {1, 1600, 1, 1});
    conv2d({.channels = 64, .kernel_size = {3, 3}, .padding = {1, 1}, .use_bias = false},
        {1, 64, 2, 1});
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 1}, Shape{2, 20}, Shape{20, 2}})
      for (const i64 depth : {1, 5000, 40'000})
        judge(backend,
            call_of<Dense>({.units = shape[1], .use_bias = false},
                {{{shape[0], depth}, 4}, {{shape[1], depth}, 4}}, draw),
            draw, 2);
    judge(backend, call_of<NonMaxSuppression>({}, {{{200, 1, 6}, 20}, {{200}, 4}}, draw), draw, 2);
  }
}

TEST(ThreadPool, AllocatesNothingForLoopsInLoops) {
  constexpr double kHeavy = 1e6;
  ThreadPool pool(2);
  std::atomic<int> done{0};
  const auto nested = [&](int depth, const auto& self) -> void {
    pool.run(2, kHeavy, [&](int64_t begin, int64_t end) {
      for (; begin < end; ++begin) depth > 0 ? self(depth - 1, self) : void(++done);
    });
  };
  nested(0, nested);
  EXPECT_EQ(allocated_by([&] { nested(4, nested); }), 0U);
  EXPECT_EQ(done, 2 + 32);
}

}  // namespace
}  // namespace lockstep::cpu
