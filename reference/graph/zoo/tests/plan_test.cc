// Storage plans, and symbols as text.
#include "reference/graph/plan.h"

#include <gtest/gtest.h>

#include <set>

#include "reference/graph/zoo/architectures.h"

namespace lockstep::graph::zoo {
namespace {

i64 distinct(const Graph& graph) {
  std::set<i64> ids;
  for (const Entry& e : graph.entries()) ids.insert(e.storage_id);
  return std::ssize(ids);
}

Network chain(int calls) {
  Builder net(1, {1, 3, 8, 8});
  Value x = net.data();
  for (int k = 0; k < calls; ++k) x = net.max_pool(x, 3, 1, 1);
  return std::move(net).finish({x}, "");
}

// Graph refuses a plan that lets two live tensors share storage.
TEST(Plan, AChainNeedsTwo) {
  const Graph graph(write_symbol(chain(5).symbol));
  EXPECT_EQ(distinct(graph), 2);
  EXPECT_EQ(graph.storage_bytes(), 2 * 4 * 3 * 8 * 8);
}

TEST(Plan, ACallInPlaceNeedsNone) {
  Builder net(1, {1, 3, 8, 8});
  const Value x = net.relu(net.relu(net.data()));
  EXPECT_EQ(distinct(Graph(write_symbol(std::move(net).finish({x}, "").symbol))), 1);
}

TEST(Plan, OutOfPlaceNoOutputTakesItsInput) {
  Builder net(1, {1, 3, 8, 8});
  const Value x = net.relu(net.relu(net.relu(net.data())));
  const Graph graph(write_symbol(std::move(net).finish({x}, "").symbol));
  EXPECT_EQ(plan_storage(graph, Reuse::dead), (std::vector<i64>{0, 1, 0, 1}));
}

TEST(Plan, WhatIsReadLaterKeepsItsStorage) {
  Builder net(1, {1, 3, 8, 8});
  const Value x = net.max_pool(net.data(), 3, 1, 1), y = net.max_pool(x, 3, 1, 1);
  const Value z = net.add(net.max_pool(y, 3, 1, 1), x);
  const Graph graph(write_symbol(std::move(net).finish({z}, "").symbol));
  EXPECT_EQ(distinct(graph), 3);
}

TEST(Plan, ASmallTensorLeavesTheLargeStorage) {
  Builder net(1, {1, 3, 8, 8});
  const Value small = net.max_pool(net.data(), 2, 2), same = net.max_pool(net.data(), 3, 1, 1);
  const Value large = net.concat({net.upsample(small, 2), same});
  const Value next = net.max_pool(net.max_pool(large, 2, 2), 3, 1, 1);
  const Value last = net.upsample(next, 2);
  const Graph graph(write_symbol(std::move(net).finish({last}, "").symbol));
  EXPECT_EQ(graph.storage_bytes(), 4 * 64 * (3 + 6 + 3));
}

TEST(Symbol, IsReadBackAsItWasWritten) {
  const Symbol written = make(*find_architecture("yolov3-tiny"), kSeed, 32).symbol;
  const Symbol read = read_symbol(write_symbol(written));
  ASSERT_EQ(read.nodes.size(), written.nodes.size());
  for (std::size_t i = 0; i < read.nodes.size(); ++i) {
    EXPECT_EQ(read.nodes[i].name, written.nodes[i].name);
    EXPECT_EQ(read.nodes[i].func_name, written.nodes[i].func_name);
    EXPECT_EQ(read.nodes[i].inputs.size(), written.nodes[i].inputs.size());
    EXPECT_EQ(read.op_attrs[i], written.op_attrs[i]);
  }
  EXPECT_EQ(read.storage_id, written.storage_id);
  EXPECT_EQ(read.shape, written.shape);
  EXPECT_EQ(read.precision, written.precision);
  EXPECT_EQ(read.postprocess, "detection");
}

TEST(Builder, NamesTheCallThatIsRefused) {
  Builder net(1, {1, 3, 4, 4});
  EXPECT_THROW(net.max_pool(net.data(), 7, 1), std::logic_error);
  EXPECT_THROW(net.call("no_such", {net.data()}, {}), std::logic_error);
  EXPECT_THROW(net.call("clip", {net.data()}, {{"a_min", "0"}}), std::logic_error);
}

TEST(Builder, AnotherSeedGivesOtherParametersOfTheSameNetwork) {
  const Architecture& a = *find_architecture("squeezenet");
  const Network one = make(a, 1, 32), same = make(a, 1, 32), other = make(a, 2, 32);
  EXPECT_EQ(one.parameters, same.parameters);
  EXPECT_NE(one.parameters, other.parameters);
  EXPECT_EQ(write_symbol(one.symbol), write_symbol(other.symbol));
}

}  // namespace
}  // namespace lockstep::graph::zoo
