// Judges which tensors of a compiled graph share memory: by what it says of its steps and of its
// scratch memory, and by the values of drawn graphs whose calls could share too much.
#include <gtest/gtest.h>

#include <map>

#include "backends/cpu/arena.h"
#include "backends/cpu/tests/drawn_graph.h"
#include "backends/cpu/tests/modes.h"

namespace lockstep::cpu {
namespace {

/// Compiles a graph of compact tensors, runs it twice and compares its heads with the reference.
Ready judged(const client::Backend& backend, const DrawnGraph& g) {
  Least draw;
  Ready ready = compiled(backend, g, draw);
  EXPECT_TRUE(ready.plan.ok()) << ready.plan.status().text;
  for (int run = 0; run < 2 && ready.plan.ok(); ++run) execute(*ready.plan, ready.in, ready.out);
  return ready;
}

DrawnGraph graph_of_feed(const Shape& shape) {
  Seeded draw(1);
  DrawnGraph g;
  g.feeds.push_back(add_entry(g, drawn_tensor({shape, 8}, draw)));
  return g;
}

uint32_t append(DrawnGraph& g, const Choice& c, const std::vector<uint32_t>& in) {
  EXPECT_TRUE(try_call(g, c, in)) << c.op;
  return last_entry(g);
}

class Sharing : public InEachMode {
 protected:
  /// What a graph says of itself whose steps are calls of these operators, in alphabetical order.
  std::string steps(std::initializer_list<std::pair<const char*, int>> calls) const {
    std::map<std::string, int> counts;
    for (const auto& [op, count] : calls) counts[GetParam().path(op)] += count;
    std::string text = "graph";
    for (const auto& [path, count] : counts) text += " " + path + "*" + std::to_string(count);
    return text;
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, Sharing, testing::ValuesIn(modes()),
    [](const auto& info) { return name_of(info.param); });

constexpr uint64_t kLittle = 256;  // bytes that a step with few tensors may need besides them

TEST_P(Sharing, LeavesWhatStaysWhereItIs) {
  DrawnGraph g = graph_of_feed({1, 6, 5, 7});
  uint32_t x = append(g, {"negative", 1, {}}, {0});
  x = append(g, {"reshape", 1, {{6, 35}}}, {x});
  x = append(g, {"expand_dims", 1, {{1}, {2}}}, {x});
  x = append(g, {"transpose", 1, {{1, 0, 2, 3}}}, {x});
  x = append(g, {"concatenate", 1, {{0}}}, {x});
  x = append(g, {"squeeze", 1, {}}, {x});
  x = append(g, {"slice_like", 2, {}}, {x, x});
  x = append(g, {"tile", 1, {{1}}}, {x});
  x = append(g, {"strided_slice", 1, {{2}, {5}, {1}}}, {x});
  x = append(g, {"flatten", 1, {}}, {x});
  g.heads = {append(g, {"negative", 1, {}}, {x})};
  Ready ready = judged(backend, g);
  EXPECT_EQ(ready.plan->path(), steps({{"negative", 2}}));
}

// The feed and the head are the caller's: between them at least one copy is needed.
TEST_P(Sharing, CopiesOnceFromFeedToHead) {
  DrawnGraph g = graph_of_feed({4, 3, 50});
  const uint32_t flat = append(g, {"flatten", 1, {}}, {0});
  g.heads = {append(g, {"expand_dims", 1, {{0}, {1}}}, {flat})};
  EXPECT_EQ(judged(backend, g).plan->path(), steps({{"expand_dims", 1}}));
}

// A result that is another one in a different shape lies in the memory of one of both heads.
TEST_P(Sharing, CopiesOnceToASecondHead) {
  DrawnGraph g = graph_of_feed({4, 3, 50});
  const uint32_t x = append(g, {"negative", 1, {}}, {0});
  g.heads = {append(g, {"flatten", 1, {}}, {x}), append(g, {"reshape", 1, {{-1}}}, {x})};
  Ready ready = judged(backend, g);
  EXPECT_EQ(ready.plan->path(), steps({{"negative", 1}, {"reshape", 1}}));
  EXPECT_LE(ready.plan->scratch_bytes(), kLittle);
}

TEST_P(Sharing, ComputesTheInputsOfAConcatenationInIt) {
  DrawnGraph g = graph_of_feed({1, 6, 5, 7});
  const uint32_t a = append(g, {"negative", 1, {}}, {0}), b = append(g, {"abs", 1, {}}, {0});
  const uint32_t both = append(g, {"concatenate", 2, {{1}}}, {a, b});
  g.heads = {append(g, {"concatenate", 2, {{0}}}, {both, append(g, {"relu", 1, {}}, {both})})};
  Ready ready = judged(backend, g);
  EXPECT_EQ(ready.plan->path(), steps({{"abs", 1}, {"negative", 1}, {"relu", 1}}));
  EXPECT_LE(ready.plan->scratch_bytes(), kLittle);
}

// One input twice, and one that is a head, cannot lie in the result.
TEST_P(Sharing, CopiesToAConcatenationWhatLiesElsewhere) {
  DrawnGraph g = graph_of_feed({2, 5});
  const uint32_t x = append(g, {"negative", 1, {}}, {0}), y = append(g, {"abs", 1, {}}, {x});
  g.heads = {y, append(g, {"concatenate", 2, {{0}}}, {x, x}),
      append(g, {"concatenate", 2, {{0}}}, {x, y})};
  EXPECT_EQ(
      judged(backend, g).plan->path(), steps({{"abs", 1}, {"concatenate", 2}, {"negative", 1}}));
}

// More calls than one chain has.
TEST_P(Sharing, PlansOneBufferForALongChain) {
  constexpr i64 kElements = 6000;
  DrawnGraph g = graph_of_feed({6, 1000});
  uint32_t x = 0;
  for (int k = 0; k < 50; ++k) {
    x = append(g, {"relu", 1, {}}, {x});
    x = append(g, {"elemwise_add", 2, {}}, {x, 0});
    x = append(g, {"cvm_clip", 1, {{8}, {1}}}, {x});
    x = append(g, {"negative", 1, {}}, {x});
  }
  g.heads = {append(g, {"transpose", 1, {{1, 0}}}, {x})};
  EXPECT_LE(judged(backend, g).plan->scratch_bytes(), kElements * sizeof(i32) + kLittle);
}

// Between a feed and a head, which are the caller's, the head is the one buffer.
TEST_P(Sharing, WorksInTheMemoryOfAHead) {
  DrawnGraph g = graph_of_feed({6, 1000});
  uint32_t x = 0;
  for (int k = 0; k < 200; ++k) x = append(g, {"negative", 1, {}}, {x});
  g.heads = {x};
  EXPECT_LE(judged(backend, g).plan->scratch_bytes(), kLittle);
}

// Indices whose elements are replaced by those of a table.
TEST_P(Sharing, LooksUpInPlace) {
  if (GetParam().isa.empty()) return;
  DrawnGraph g = graph_of_feed({6, 1000});
  Seeded draw(1);
  const uint32_t table = constant(g, {{200}, 8}, draw);
  uint32_t x = append(g, {"abs", 1, {}}, {0});
  for (int k = 0; k < 3; ++k) x = append(g, {"cvm_lut", 2, {{200}}}, {x, table});
  g.heads = {x};
  EXPECT_LE(judged(backend, g).plan->scratch_bytes(), kLittle);
}

/// Blocks of two products of 8 bits, with shortcuts around them or without.
DrawnGraph blocks(bool has_shortcuts) {
  Seeded draw(1);
  DrawnGraph g = graph_of_feed({1, 32, 20, 20});
  const auto product = [&](uint32_t x) {
    const uint32_t w = constant(g, {{32, 32, 1, 1}, 8}, draw);
    const Tuple one{1, 1}, none{0, 0};
    x = append(g, {"conv2d", 0, {{32}, one, one, none, one, {1}, {0}}}, {x, w});
    return append(g, {"cvm_right_shift", 1, {{8}, {9}, {1}}}, {x});
  };
  uint32_t x = product(0);
  for (int k = 0; k < 4; ++k) {
    uint32_t y = product(product(x));
    if (has_shortcuts) y = append(g, {"elemwise_add", 2, {}}, {y, x});
    x = append(g, {"cvm_clip", 1, {{8}, {1}}}, {y});
  }
  g.heads = {product(x)};
  return g;
}

// The last product of a block writes over the shortcut that it adds.
TEST_P(Sharing, AddsShortcutsInPlace) {
  if (GetParam().isa.empty()) return;
  EXPECT_EQ(judged(backend, blocks(true)).plan->scratch_bytes(),
      judged(backend, blocks(false)).plan->scratch_bytes());
}

/// Appends a call that could share memory with another entry, preferably a recent one, if it is
/// legal.
void try_sharing(DrawnGraph& g, uint32_t table, Draw& draw) {
  const auto recent = [&] {
    const i64 last = last_entry(g), first = draw(0, 3) == 0 ? 0 : max(0, last - 3);
    return static_cast<uint32_t>(draw(first, last));
  };
  const uint32_t x = recent(), y = recent();
  const Shape& shape = g.entries[x].type.shape;
  const i64 begin = draw(0, 1), end = begin + draw(1, shape[0]), axis = draw(0, shape.size);
  const Choice unary[] = {{"reshape", 1, {{-1}}}, {"reshape", 1, {{1, -1}}},
      {"reshape", 1, {{-1, shape[shape.size - 1]}}}, {"flatten", 1, {}}, {"squeeze", 1, {}},
      {"expand_dims", 1, {{axis}, {draw(1, 2)}}}, {"concatenate", 1, {{axis}}},
      {"strided_slice", 1, {{begin}, {end}, {1}}}, {"tile", 1, {{draw(1, 2)}}},
      {"transpose", 1, {}}, {"negative", 1, {}}, {"abs", 1, {}}, {"relu", 1, {}},
      {"cvm_clip", 1, {{8}, {1}}}, {"cvm_clip", 1, {{8}, {1}}}};
  const Choice binary[] = {{"slice_like", 2, {}}, {"concatenate", 2, {{0}}},
      {"concatenate", 2, {{1}}}, {"elemwise_sub", 2, {}}, {"broadcast_sub", 2, {}},
      {"elemwise_add", 2, {}}};
  const i64 kind = draw(0, 22);
  if (kind < std::ssize(unary))
    try_call(g, unary[static_cast<std::size_t>(kind)], {x});
  else if (const uint32_t t = draw.coin() ? table : y; kind == 22)
    try_call(g, {"cvm_lut", 2, {{volume(g.entries[t].type.shape)}}}, {x, t});
  else
    try_call(g, binary[static_cast<std::size_t>(draw(0, std::ssize(binary) - 1))], {x, y});
}

DrawnGraph drawn_sharing(Draw& draw) {
  DrawnGraph g;
  const Shape shape{draw(1, 2), draw(1, 3), draw(1, 40)};
  g.feeds.push_back(add_entry(g, drawn_tensor({shape, 8}, draw)));
  const uint32_t table = constant(g, {{draw(1, 9)}, 8}, draw);
  for (i64 k = draw(2, 14); k > 0; --k) try_sharing(g, table, draw);
  g.heads.push_back(last_entry(g));
  for (i64 k = draw(0, 2); k > 0; --k)
    g.heads.push_back(static_cast<uint32_t>(draw(0, last_entry(g))));
  return g;
}

TEST_P(Sharing, ChangesNoValue) {
  for (uint64_t seed = 0; seed < 1500 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Seeded draw(seed << 32);
    const DrawnGraph g = drawn_sharing(draw);
    if (draw.coin()) {
      judged(backend, g);
      continue;
    }
    Ready ready = compiled(backend, g, draw);
    ASSERT_TRUE(ready.plan.ok()) << ready.plan.status().text;
    for (int run = 0; run < 2; ++run) execute(*ready.plan, ready.in, ready.out);
  }
}

// A quarter of the calls give results that live until another quarter has read them; the last
// quarter is a chain that works in place.
TEST(Graphs, OfManyNodesAreCompiled) {
  constexpr int kQuarter = 40'000;
  DrawnGraph g = graph_of_feed({1, 2});
  std::vector<uint32_t> alive = {0};
  for (int k = 0; k < kQuarter; ++k) {
    const uint32_t flat = append(g, {"flatten", 1, {}}, {alive.back()});
    alive.push_back(append(g, {"negative", 1, {}}, {flat}));
  }
  uint32_t x = 0;
  for (const uint32_t other : alive) x = append(g, {"broadcast_max", 2, {}}, {x, other});
  for (int k = 0; k < kQuarter; ++k) x = append(g, {"negative", 1, {}}, {x});
  g.heads = {x};
  for (const char* tuned : {"0", "1"}) judged(open_backend({{"tuned", tuned}}).value(), g);
}

TEST(Arena, GivesNoByteToTwoTensorsThatLive) {
  struct Tensor {
    uint64_t at, bytes;
    std::size_t last;
  };
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Seeded draw(seed << 32);
    Arena arena;
    std::vector<Tensor> all;
    uint64_t most = 0, sum = 0;
    for (std::size_t k = 0; k < 60; ++k) {
      std::erase_if(all, [&](const Tensor& t) { return t.last < k; });
      const auto bytes = static_cast<uint64_t>(draw(1, draw.coin() ? 300 : 5000));
      const auto last = k + static_cast<std::size_t>(draw(0, draw.coin() ? 2 : 20));
      const Tensor t{arena.place(bytes, k, last), bytes, last};
      EXPECT_EQ(t.at % 64, 0U);
      EXPECT_LE(t.at + bytes, arena.bytes());
      for (const Tensor& other : all)
        EXPECT_TRUE(t.at + t.bytes <= other.at || other.at + other.bytes <= t.at) << seed;
      all.push_back(t);
      uint64_t live = 0;
      for (const Tensor& other : all) live += rounded(other.bytes);
      most = std::max(most, live);
      sum += rounded(bytes);
    }
    EXPECT_GE(arena.bytes(), most);
    EXPECT_LT(arena.bytes(), sum / 2) << "memory is used again";
  }
}

TEST(Arena, FillsTheSmallestGapAndJoinsGaps) {
  Arena arena;
  EXPECT_EQ(arena.place(64, 0, 1), 0U);
  EXPECT_EQ(arena.place(64, 0, 3), 64U);
  EXPECT_EQ(arena.place(128, 0, 1), 128U);
  EXPECT_EQ(arena.place(64, 0, 9), 256U);
  EXPECT_EQ(arena.place(192, 0, 1), 320U);
  EXPECT_EQ(arena.place(100, 2, 2), 128U) << "the smallest gap that holds it";
  EXPECT_EQ(arena.place(256, 2, 2), 320U) << "the last gap grows";
  EXPECT_EQ(arena.place(256, 4, 4), 0U) << "gaps beside each other are one";
  EXPECT_EQ(arena.bytes(), 320U + 256);
}

// An arena that looks at all that lives takes minutes for this.
TEST(Arena, PlacesManyThatLive) {
  constexpr std::size_t kTensors = 500'000;
  Arena arena;
  for (std::size_t k = 0; k < kTensors; ++k) {
    const std::size_t last = kTensors + k % 1000;
    EXPECT_EQ(arena.place(64 * (1 + k % 2), k, last), 64 * (k + k / 2));
  }
  EXPECT_EQ(arena.place(arena.bytes(), 2 * kTensors, 2 * kTensors), 0U) << "all gaps are one";
}

}  // namespace
}  // namespace lockstep::cpu
