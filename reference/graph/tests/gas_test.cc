#include <gtest/gtest.h>

#include <fstream>

#include "reference/graph/tests/draft.h"

namespace lockstep::graph {
namespace {

TEST(Gas, OfAGraphIsThatOfItsVariablesAndItsCalls) {
  // data 8, weight 12, dense 6 at 3 * 4, relu 6 at 1.
  EXPECT_EQ(Graph(small_draft().text()).gas(), 5 * (8 + 12 + 6 + 6) + 6 * 12 + 6);
}

TEST(Gas, CountsEveryTensorEvenOneNobodyReads) {
  Draft d;
  d.variable("data", {1, 2, 6}, 8);
  d.variable("unused", {3}, 8);
  d.call("get_valid_counts", {{0, 0}}, {{1}, {1, 2, 6}});
  d.head(2, 1);
  EXPECT_EQ(Graph(d.text()).gas(), 5 * (12 + 3 + 1 + 12) + 1);
}

TEST(Gas, OfANodeIsItsShare) {
  const Graph g(small_draft().text());
  constexpr i64 kElement = 5;  // of every tensor
  const i64 shares[] = {kElement * 8, kElement * 12, kElement * 6 + 72, kElement * 6 + 6};
  for (std::size_t i = 0; i < std::size(shares); ++i)
    EXPECT_EQ(gas_of(g, g.nodes()[i]), shares[i]) << i;
}

// The recorded gas is what verify.py, which shares no code with this, works out too.
TEST(Gas, OfTheDigitsIsAsRecorded) {
  const auto document = [](const std::string& name) {
    std::ifstream file("conformance/models/digits/" + name);
    return Json::parse(file);
  };
  EXPECT_EQ(Graph(document("symbol.json").dump()).gas(), document("expected.json")["gas"]);
}

// 2^20 elements at 3 k + 1; 2^40 is the most.
Draft wide_dense(i64 k) {
  Draft d;
  d.variable("data", {1024, k}, 4);
  d.variable("weight", {1024, k}, 4);
  d.variable("bias", {1024}, 4);
  d.call("dense", {{0, 0}, {1, 0}, {2, 0}}, {{1024, 1024}}, {{"units", "1024"}});
  d.head(3);
  return d;
}
constexpr i64 kLongest = (i64{1} << 20) / 3;

TEST(Gas, AboveALimitIsTheFaultOfTheModel) {
  EXPECT_EQ(label_of(wide_dense(kLongest).text()), "");
  EXPECT_EQ(label_of(wide_dense(kLongest + 1).text()), "model.gas");
}

TEST(Gas, IsJudgedAfterStorage) {
  Draft d = wide_dense(kLongest + 1);
  d.variable("w", {1024, 1024, 512}, 8);
  EXPECT_EQ(label_of(d.text()), "model.storage");
}

}  // namespace
}  // namespace lockstep::graph
