// Compiled graphs on the emulated device: the values of their calls, and executions that replay.
#include <gtest/gtest.h>

#include "backends/cpu/tests/drawn_graph.h"
#include "backends/cuda/tests/subject.h"

namespace lockstep::cuda {
namespace {

// Compiles a graph and runs it three times at the same addresses: directly, recording, replaying.
void judge_graph(const client::Backend& backend, const cpu::DrawnGraph& g, Draw& draw) {
  std::vector<Placed> placed, heads;
  std::vector<OnDevice> on_device, to;
  client::Graph graph = cpu::graph_of(g, placed, draw);
  for (std::size_t e = 0; e < placed.size(); ++e) {
    on_device.emplace_back(backend, placed[e]);
    if (graph.entries[e].constant) graph.entries[e].constant = on_device[e].data();
  }
  const client::Plan plan = backend.compile(graph).value();
  const client::Memory scratch = backend.allocate(plan.scratch_bytes()).value();
  const client::Stream stream = backend.stream().value();
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const uint32_t e : g.feeds) in.push_back(on_device[e].data());
  for (const uint32_t e : g.heads) {
    std::fill(placed[e].memory.begin(), placed[e].memory.end(), cpu::kPoison);
    heads.push_back(placed[e]);
    to.emplace_back(backend, heads.back());
  }
  for (const OnDevice& t : to) out.push_back(t.data());
  for (int run = 0; run < 3; ++run) {
    SCOPED_TRACE("execution " + std::to_string(run));
    plan.execute(in, out, scratch.data(), stream.handle()).check();
    stream.wait().check();
    for (std::size_t k = 0; k < heads.size(); ++k) expect_values(heads[k], to[k]);
  }
}

TEST(Graphs, GiveWhatTheirCallsGive) {
  for (const char* tuned : {"1", "0"}) {
    const client::Backend backend = cpu::open_backend({{"tuned", tuned}}).value();
    for (uint64_t seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Seeded draw(seed << 32);
      judge_graph(backend, cpu::drawn_graph(draw), draw);
      judge_graph(backend, cpu::drawn_network(draw), draw);
    }
  }
  EXPECT_EQ(fake::control().graphs, 0) << "recordings are left behind";
}

cpu::DrawnGraph relu_of_relu() {
  cpu::DrawnGraph g;
  g.feeds.push_back(cpu::add_entry(g, {{{5}, 8}, {-2, -1, 0, 1, 2}}));
  for (uint32_t e = 0; e < 2; ++e) cpu::try_call(g, {"relu", 1, {}}, {e});
  g.heads = {2};
  return g;
}

TEST(Graphs, AreRecordedOnceAndReplayed) {
  const client::Backend backend = open_backend();
  fake::Control& c = fake::control();
  const int64_t launches = c.launches, replays = c.replays;
  Seeded draw(1);
  judge_graph(backend, relu_of_relu(), draw);
  EXPECT_EQ(c.launches - launches, 2) << "of the first execution";
  EXPECT_EQ(c.replays - replays, 2) << "of the other two";
}

TEST(Graphs, SayWhatFailsAndGoOn) {
  const client::Backend backend = open_backend();
  for (const char* call : {"cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiate",
           "cudaGraphLaunch", "cudaLaunchKernel"}) {
    fake::control().failing = "";
    Seeded draw(1);
    const cpu::DrawnGraph g = relu_of_relu();
    std::vector<Placed> placed;
    const client::Graph graph = cpu::graph_of(g, placed, draw);
    const OnDevice x(backend, placed[0]), y(backend, placed[2]);
    const client::Plan plan = backend.compile(graph).value();
    const client::Memory scratch = backend.allocate(plan.scratch_bytes()).value();
    const client::Stream stream = backend.stream().value();
    const auto run = [&] {
      const void* in[] = {x.data()};
      void* out[] = {y.data()};
      return plan.execute(in, out, scratch.data(), stream.handle());
    };
    run().check();
    fake::control().failing = call;
    fake::control().error = cudaErrorMemoryAllocation;
    const client::Status said = run();
    fake::control().failing = "";
    EXPECT_EQ(said.text.find(std::string(call) + ": "), 0U) << said.text;
    EXPECT_EQ(said.text.find("lost"), std::string::npos) << said.text;
    run().check();
    stream.wait().check();
  }
  EXPECT_EQ(fake::control().graphs, 0) << "recordings are left behind";
}

}  // namespace
}  // namespace lockstep::cuda
