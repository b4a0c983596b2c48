// Executions take no memory but the scratch memory that the plan asked for, and a plan asks for
// little.
#include <gtest/gtest.h>

#include "backends/cpu/pool.h"
#include "backends/cpu/tests/drawn_graph.h"
#include "backends/cpu/tests/modes.h"
#include "containers/tests/counted_memory.h"

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
