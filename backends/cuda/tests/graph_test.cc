// Tests compiled graphs on the emulated device: the values of their calls, and executions that
// replay.
#include <gtest/gtest.h>

#include "backends/cpu/tests/drawn_graph.h"
#include "backends/cuda/tests/subject.h"

namespace lockstep::cuda {
namespace {

// Compiles a graph and runs it three times at the same addresses: directly, recording, replaying.
// Returns how many kernels that takes.
int64_t judge_graph(
    const client::Backend& backend, const cpu::DrawnGraph& g, Draw& draw, Watch* watch = nullptr) {
  std::vector<Placed> placed, heads;
  std::vector<OnDevice> on_device, to;
  client::Graph graph = cpu::graph_of(g, placed, draw, backend);
  for (std::size_t e = 0; e < placed.size(); ++e) {
    on_device.emplace_back(backend, placed[e]);
    if (graph.entries[e].constant) graph.entries[e].constant = on_device[e].data();
  }
  const client::Plan plan = backend.compile(graph).value();
  client::Memory scratch = backend.allocate(plan.scratch_bytes()).value();
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
  const std::string poison(plan.scratch_bytes(), '\x5a');
  const int64_t launches = fake::control().launches;
  int64_t of_first = 0;
  for (int run = 0; run < 3; ++run) {
    SCOPED_TRACE("execution " + std::to_string(run));
    scratch.write(poison.data(), poison.size()).check();
    Watch::current() = run == 0 ? watch : nullptr;
    plan.execute(in, out, scratch.data(), stream.handle()).check();
    stream.wait().check();
    Watch::current() = nullptr;
    if (run == 0) of_first = fake::control().launches - launches;
    for (std::size_t k = 0; k < heads.size(); ++k) expect_values(heads[k], to[k]);
  }
  return of_first;
}

TEST(Graphs, GiveWhatTheirCallsGive) {
  for (const client::Options& options : {client::Options{}, kDirect, {{"tuned", "0"}}}) {
    const client::Backend backend = open_backend(4, options);
    for (uint64_t seed = 0; seed < 200 && !testing::Test::HasFailure(); ++seed) {
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
  EXPECT_EQ(judge_graph(backend, relu_of_relu(), draw), 2);
  EXPECT_EQ(c.launches - launches, 2) << "of all executions";
  EXPECT_EQ(c.replays - replays, 2) << "of the other two";
}

/// A graph of layers: products, whose sums a shift brings back to 8 bits.
struct Layers {
  cpu::DrawnGraph g;
  Seeded draw{7};

  explicit Layers(const Shape& x) { g.feeds = {cpu::add_entry(g, random({x, 8}))}; }

  reference::Tensor random(const Type& type) { return cpu::drawn_tensor(type, draw); }
  uint32_t call(const char* op, const std::vector<Tuple>& ints, const std::vector<uint32_t>& in) {
    EXPECT_TRUE(cpu::try_call(g, {op, 0, ints}, in)) << op;
    return cpu::last_entry(g);
  }
  uint32_t shifted(uint32_t x, i64 bits = 10) {
    return call("cvm_right_shift", {{8}, {bits}, {1}}, {x});
  }
  uint32_t product(
      uint32_t x, i64 channels, i64 kernel, i64 groups = 1, i64 stride = 1, i64 dilation = 1) {
    const i64 inputs = g.entries[x].type.dim(1) / groups;
    const uint32_t w = cpu::constant(g, {{channels, inputs, kernel, kernel}, 8}, draw),
                   b = cpu::constant(g, {{channels}, 14}, draw);
    const Tuple around{kernel / 2, kernel / 2};
    return call("conv2d",
        {{channels}, {kernel, kernel}, {1, stride}, around, {dilation, 1}, {groups}, {1}},
        {x, w, b});
  }
  uint32_t layer(uint32_t x, i64 channels, i64 kernel, i64 groups = 1) {
    return shifted(product(x, channels, kernel, groups));
  }
  /// The sums of a product of rows with constant weights, or with the given ones.
  uint32_t sums(uint32_t x, i64 units) {
    return sums_of(x, cpu::constant(g, {{units, g.entries[x].type.dim(1)}, 8}, draw));
  }
  uint32_t sums_of(uint32_t x, uint32_t w) {
    return call("dense", {{g.entries[w].type.dim(0)}, {0}}, {x, w});
  }
  uint32_t dense(uint32_t x, i64 units) { return shifted(sums(x, units)); }
};

/// Runs layers under watch, as judge_watched() does.
/// @param shares_scratch whether a step stores where an earlier one did
int64_t judge_layers_watched(const client::Backend& backend, Layers& l, bool shares_scratch) {
  l.g.heads = {cpu::last_entry(l.g)};
  Watch watch;
  const int64_t launches = judge_graph(backend, l.g, l.draw, &watch);
  EXPECT_EQ(watch.problems, (std::map<std::string, int64_t>{}));
  EXPECT_EQ(watch.conflicts, 0) << "of " << watch.waves << " waves";
  int64_t again = 0;
  for (const auto& [word, times] : watch.written) again += times != 1;
  EXPECT_EQ(again > 0, shares_scratch) << again << " words are stored more than once";
  return launches;
}

/// The image is packed once, and each product takes one launch, two where its depth is split.
TEST(Products, HandCellsToEachOther) {
  constexpr int kFew = 1, kMany = 64;  // processors, as in Blocks
  const struct {
    const char* name;
    Shape x;
    int processors;
    int64_t launches;
    void (*build)(Layers&);
    bool shares_scratch = false;  ///< whether a step stores where one before did
  } rows[] = {{"large tiles", {1, 20, 13, 12}, kFew, 3,
                  [](Layers& l) { l.layer(l.layer(0, 130, 3), 70, 3); }},
      {"small tiles", {2, 5, 9, 7}, kFew, 4,
          [](Layers& l) { l.layer(l.layer(l.layer(0, 18, 3), 11, 1), 7, 5); }},
      {"thin tiles", {1, 16, 4, 4}, kFew, 3, [](Layers& l) { l.layer(l.layer(0, 19, 3), 9, 3); }},
      {"rows", {5, 40}, kFew, 3, [](Layers& l) { l.dense(l.dense(0, 33), 7); }},
      {"weights that are no constants", {6, 24}, kFew, 6,
          [](Layers& l) {
            const uint32_t w = l.dense(0, 20);
            l.sums_of(l.dense(0, 20), w);
          },
          true},
      {"sums that lie in whole fours", {40, 24}, kFew, 4,
          [](Layers& l) {
            const uint32_t x = l.sums(0, 12);
            l.call("elemwise_add", {}, {x, l.sums(0, 12)});
          },
          true},
      {"parts of the depth", {1, 150, 7, 7}, kMany, 5,
          [](Layers& l) { l.layer(l.layer(0, 101, 3), 20, 5); }, true},
      {"a depth that is not worth parts", {1, 101, 7, 7}, kMany, 2,
          [](Layers& l) { l.layer(0, 20, 3); }},
      {"groups of a channel", {2, 16, 6, 7}, kFew, 4,
          [](Layers& l) { l.layer(l.layer(l.layer(0, 22, 1), 22, 3, 22), 6, 1); }},
      {"wide kernels of a channel", {2, 16, 6, 7}, kFew, 4,
          [](Layers& l) { l.layer(l.layer(l.layer(0, 22, 1), 22, 5, 22), 6, 1); }},
      {"steps of a channel", {2, 16, 6, 7}, kFew, 4,
          [](Layers& l) {
            l.layer(l.shifted(l.product(l.layer(0, 22, 1), 22, 3, 22, 2, 2)), 6, 1);
          }},
      {"groups of few channels", {1, 16, 6, 7}, kFew, 4,
          [](Layers& l) { l.layer(l.layer(l.layer(0, 24, 1), 30, 3, 6), 6, 3); }},
      {"groups", {1, 32, 6, 6}, kFew, 4,
          [](Layers& l) { l.layer(l.layer(l.layer(0, 32, 3, 2), 40, 3, 2), 6, 1); }},
      {"groups that cells do not fit", {1, 16, 6, 6}, kFew, 6,
          [](Layers& l) { l.layer(l.layer(l.layer(0, 20, 1), 36, 3, 2), 5, 1); }, true},
      {"padding of two readers", {1, 16, 6, 6}, kFew, 4,
          [](Layers& l) {
            const uint32_t x = l.layer(0, 12, 1), y = l.layer(x, 12, 3, 12);
            l.shifted(l.call("elemwise_add", {}, {y, l.layer(x, 12, 5)}), 1);
          }},
      {"a shortcut of large tiles", {1, 20, 13, 12}, kFew, 3,
          [](Layers& l) {
            const uint32_t x = l.layer(0, 130, 1), y = l.layer(x, 130, 1);
            l.shifted(l.call("broadcast_add", {}, {x, y}), 1);
          }},
      {"a shortcut", {1, 16, 6, 6}, kFew, 5, [](Layers& l) {
         const uint32_t x = l.layer(0, 18, 1), y = l.layer(l.layer(x, 18, 3), 18, 1);
         l.layer(l.shifted(l.call("broadcast_add", {}, {x, y}), 1), 5, 3);
       }}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    Layers l(row.x);
    row.build(l);
    const client::Backend backend = open_backend(row.processors, kPacked);
    EXPECT_EQ(judge_layers_watched(backend, l, row.shares_scratch), row.launches);
  }
}

/// Each product with constant weights takes one launch, whatever lies between it and its
/// neighbours.
TEST(Products, TakeOneLaunchEach) {
  const struct {
    const char* name;
    Shape x;
    int64_t launches;
    void (*build)(Layers&);
    bool shares_scratch = false;
  } rows[] = {{"layers", {2, 20, 9, 7}, 3,
                  [](Layers& l) { l.layer(l.layer(l.layer(0, 50, 1), 36, 3), 7, 5); }},
      {"few columns", {1, 16, 2, 3}, 2, [](Layers& l) { l.layer(l.layer(0, 40, 3), 9, 3); }},
      {"rows", {5, 40}, 2, [](Layers& l) { l.dense(l.dense(0, 33), 7); }},
      {"many rows", {70, 40}, 2, [](Layers& l) { l.dense(l.dense(0, 33), 70); }},
      {"little depth", {1, 3, 40, 40}, 2, [](Layers& l) { l.layer(l.layer(0, 12, 3), 20, 1); }},
      {"groups", {1, 32, 6, 6}, 3,
          [](Layers& l) { l.layer(l.layer(l.layer(0, 32, 3, 2), 40, 3, 2), 6, 1); }},
      {"cells of few channels, which are packed for sixteen", {1, 20, 6, 6}, 2,
          [](Layers& l) { l.layer(l.layer(0, 7, 3), 20, 3); }},
      {"a shortcut", {1, 16, 6, 6}, 4, [](Layers& l) {
         const uint32_t x = l.layer(0, 18, 1), y = l.layer(l.layer(x, 18, 3), 18, 1);
         l.layer(l.shifted(l.call("broadcast_add", {}, {x, y}), 1), 5, 3);
       }}};
  for (const int processors : {1, 64})
    for (const auto& row : rows) {
      SCOPED_TRACE(row.name);
      Layers l(row.x);
      row.build(l);
      EXPECT_EQ(judge_layers_watched(open_backend(processors, kDirect), l, row.shares_scratch),
          row.launches);
    }
}

TEST(Graphs, SayWhatFailsAndGoOn) {
  const client::Backend backend = open_backend();
  for (const char* call : {"cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiate",
           "cudaGraphLaunch", "cudaLaunchKernel"}) {
    fake::control().failing = "";
    Seeded draw(1);
    const cpu::DrawnGraph g = relu_of_relu();
    std::vector<Placed> placed;
    const client::Graph graph = cpu::graph_of(g, placed, draw, backend);
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
    const auto streams = fake::control().streams;
    fake::control().failing = call;
    fake::control().error = cudaErrorMemoryAllocation;
    const client::Status said = run();
    EXPECT_EQ(fake::control().streams, streams) << call;
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
