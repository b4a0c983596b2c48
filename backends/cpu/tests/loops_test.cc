// How loop nests are cut into boxes.
#include "backends/cpu/loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "spec/random.h"

namespace lockstep::cpu {
namespace {

using Orders = std::vector<std::vector<int>>;  // for each tensor its axes, the outermost first

// A nest over tensors of one shape, each of which has its axes in another order of memory.
Loops nest_of(const std::vector<i64>& shape, const Orders& orders) {
  std::vector<PerTensor> stride(shape.size());
  for (std::size_t t = 0; t < orders.size(); ++t) {
    i64 step = 1;
    for (auto d = orders[t].rbegin(); d != orders[t].rend(); ++d) {
      stride[static_cast<std::size_t>(*d)][t] = step;
      step *= shape[static_cast<std::size_t>(*d)];
    }
  }
  Loops loops(static_cast<int>(orders.size()));
  for (std::size_t d = 0; d < shape.size(); ++d) loops.add(shape[d], stride[d]);
  loops.join();
  return loops;
}

// The offset in a tensor of each element of a box.
std::vector<i64> offsets(const Loops& loops, const LoopBox& box, std::size_t tensor) {
  std::vector<i64> all = {box.offset[tensor]};
  for (int d = 0; d < loops.rank(); ++d) {
    std::vector<i64> more;
    for (const i64 from : all)
      for (i64 k = 0; k < box.extent[static_cast<std::size_t>(d)]; ++k)
        more.push_back(from + k * loops[d].stride[tensor]);
    all = std::move(more);
  }
  return all;
}

Orders drawn_orders(std::size_t rank, Draw& draw) {
  Orders orders(static_cast<std::size_t>(draw(1, kLoopTensorsMax)));
  for (std::vector<int>& order : orders)
    for (int d = 0; d < static_cast<int>(rank); ++d)
      order.insert(order.begin() + draw(0, static_cast<i64>(order.size())), d);
  return orders;
}

TEST(Loops, BoxesHoldEveryElementOnceAndAreNeverTooLarge) {
  Seeded draw(1);
  for (int n = 0; n < 500; ++n) {
    std::vector<i64> shape(static_cast<std::size_t>(draw(1, 4)));
    for (i64& extent : shape) extent = draw(1, draw.coin() ? 8 : 40);
    Loops loops = nest_of(shape, drawn_orders(shape.size(), draw));
    if (loops.volume() > 50'000) continue;
    const i64 most = draw(1, draw.coin() ? 100 : 20'000);
    draw.coin() ? loops.cut(most) : loops.cut_rows(most);
    std::vector<std::vector<i64>> all(static_cast<std::size_t>(loops.tensors()));
    loops.visit(0, loops.boxes(), [&](const LoopBox& box) {
      for (std::size_t t = 0; t < all.size(); ++t) {
        const std::vector<i64> part = offsets(loops, box, t);
        EXPECT_LE(static_cast<i64>(part.size()), most);
        all[t].insert(all[t].end(), part.begin(), part.end());
      }
    });
    for (std::vector<i64>& tensor : all) {
      std::sort(tensor.begin(), tensor.end());
      ASSERT_EQ(static_cast<i64>(tensor.size()), loops.volume()) << n;
      for (i64 k = 0; k < loops.volume(); ++k) ASSERT_EQ(tensor[static_cast<std::size_t>(k)], k);
    }
  }
}

// The elements of a tensor that the first box holds one after the other.
i64 run_of(const Loops& loops, std::size_t tensor) {
  i64 run = 0;
  loops.visit(0, 1, [&](const LoopBox& box) {
    std::vector<i64> all = offsets(loops, box, tensor);
    std::sort(all.begin(), all.end());
    while (run < static_cast<i64>(all.size()) && all[static_cast<std::size_t>(run)] == run) ++run;
  });
  return run;
}

TEST(Loops, BoxesReachAlongAllAxesThatContinueEachOther) {
  // Neither the 56 columns of the output nor the 16 rows of the input are a run of 64 elements.
  Loops loops = nest_of({16, 64, 56, 56}, {{0, 1, 2, 3}, {3, 1, 0, 2}});
  loops.cut(12'000);
  EXPECT_GE(run_of(loops, 0), 64);
  EXPECT_GE(run_of(loops, 1), 64);
}

TEST(Loops, TensorsThatACacheKeepsDoNotCutBoxes) {
  // The third tensor has one element for each channel.
  constexpr i64 kChannels = 256, kSide = 56;
  Loops loops(3);
  loops.add(kChannels, {kSide * kSide, kSide, 1});
  loops.add(kSide, {kSide, 1, 0});
  loops.add(kSide, {1, kSide * kChannels, 0});
  loops.join();
  loops.cut(8'000);
  EXPECT_GE(run_of(loops, 0), 64);
  EXPECT_GE(run_of(loops, 1), 64);
}

}  // namespace
}  // namespace lockstep::cpu
