#include <gtest/gtest.h>

#include "reference/graph/tests/draft.h"

namespace lockstep::graph {
namespace {

// A chain of calls on (2,3) after data; entry numbers are node numbers.
Draft chain(const std::vector<std::string>& functions) {
  Draft d;
  d.variable("data", {2, 3}, 8);
  for (const std::string& f : functions) {
    const int from = static_cast<int>(d.document["nodes"].size()) - 1;
    d.call(f, {{from, 0}}, {{2, 3}},
        f == "sum"            ? Json{{"axis", "(0,1)"}, {"exclude", "1"}}
            : f == "cvm_clip" ? Json{{"precision", "8"}}
                              : Json::object());
  }
  d.head(static_cast<int>(functions.size()));
  return d;
}

std::string with_ids(Draft d, const std::vector<int>& ids) {
  d.list("storage_id") = ids;
  return label_of(d.text());
}

TEST(Storage, AnInPlaceCallMayOverwriteItsLastInput) {
  const Draft d = chain({"sum", "relu", "cvm_clip"});
  EXPECT_EQ(with_ids(d, {0, 1, 2, 3}), "");
  EXPECT_EQ(with_ids(d, {0, 1, 1, 1}), "");
  EXPECT_EQ(with_ids(chain({"relu", "relu"}), {0, 0, 0}), "");  // "data" itself
}

TEST(Storage, NegativeIsInPlace) { EXPECT_EQ(with_ids(chain({"sum", "negative"}), {0, 1, 1}), ""); }

TEST(Storage, AnyOtherCallMayNot) {
  EXPECT_EQ(with_ids(chain({"sum"}), {0, 0}), "model.storage");
  EXPECT_EQ(with_ids(chain({"relu", "sum"}), {0, 1, 1}), "model.storage");
}

TEST(Storage, IsFreeAfterTheLastUse) {
  const Draft d = chain({"sum", "sum", "sum"});
  EXPECT_EQ(with_ids(d, {0, 1, 0, 1}), "");
  EXPECT_EQ(with_ids(d, {0, 1, 2, 2}), "model.storage");
}

TEST(Storage, IsNotFreeWhileALaterCallReadsIt) {
  Draft d = chain({"relu", "relu"});
  const int last = d.call("broadcast_add", {{1, 0}, {2, 0}}, {{2, 3}});
  d.document["heads"] = {{last, 0}};
  EXPECT_EQ(with_ids(d, {0, 0, 1, 2}), "");
  EXPECT_EQ(with_ids(d, {0, 0, 0, 1}), "model.storage");  // broadcast_add still reads node 1
  EXPECT_EQ(with_ids(d, {0, 1, 2, 1}), "model.storage");  // and is not in place itself
}

TEST(Storage, OfAHeadIsNeverOverwritten) {
  Draft d = chain({"relu", "relu"});
  EXPECT_EQ(with_ids(d, {0, 1, 1}), "");
  d.head(1);
  EXPECT_EQ(with_ids(d, {0, 1, 1}), "model.storage");
}

TEST(Storage, OfAParameterIsNeverOverwritten) {
  Draft d;
  d.variable("data", {2, 3}, 8);
  d.variable("w", {2, 3}, 8);
  d.call("relu", {{1, 0}}, {{2, 3}});
  d.call("broadcast_add", {{2, 0}, {0, 0}}, {{2, 3}});
  d.head(3);
  EXPECT_EQ(with_ids(d, {0, 1, 2, 3}), "");
  EXPECT_EQ(with_ids(d, {0, 1, 1, 3}), "model.storage");  // the next run reads w again
  EXPECT_EQ(with_ids(d, {0, 1, 2, 1}), "model.storage");
  EXPECT_EQ(with_ids(d, {0, 0, 2, 3}), "model.storage");
}

TEST(Storage, OfALaterVariableIsTakenFromTheStart) {
  Draft d = chain({"sum"});
  d.variable("w", {2, 3}, 8);
  d.call("broadcast_add", {{1, 0}, {2, 0}}, {{2, 3}});
  d.document["heads"] = {{3, 0}};
  EXPECT_EQ(with_ids(d, {0, 1, 2, 0}), "");
  EXPECT_EQ(with_ids(d, {0, 1, 1, 3}), "model.storage");
}

TEST(Storage, OutputsOfOneCallNeedTheirOwn) {
  Draft d;
  d.variable("data", {1, 2, 6}, 8);
  d.call("get_valid_counts", {{0, 0}}, {{1}, {1, 2, 6}});
  d.head(1, 1);
  EXPECT_EQ(with_ids(d, {0, 1, 2}), "");
  EXPECT_EQ(with_ids(d, {0, 1, 1}), "model.storage");
}

TEST(Storage, AnOutputNobodyReadsFreesItsStorageAtOnce) {
  Draft d;
  d.variable("data", {1, 2, 6}, 8);
  d.call("get_valid_counts", {{0, 0}}, {{1}, {1, 2, 6}});
  d.call("relu", {{1, 1}}, {{1, 2, 6}});
  d.head(2);
  EXPECT_EQ(with_ids(d, {0, 1, 2, 1}), "");
}

TEST(Storage, ATensorTwiceInOneCallIsOneTensor) {
  Draft d = chain({"relu"});
  d.call("broadcast_add", {{1, 0}, {1, 0}}, {{2, 3}});
  d.document["heads"] = {{2, 0}};
  EXPECT_EQ(with_ids(d, {0, 0, 1}), "");
  EXPECT_EQ(with_ids(d, {0, 1, 0}), "");
}

TEST(Storage, IdsAreNotNegativeAndMayBeLarge) {
  Draft d = chain({"sum"});
  d.list("storage_id") = {0, -1};
  EXPECT_EQ(label_of(d.text()), "model.storage");
  d.list("storage_id") = {0, INT64_MAX};
  EXPECT_EQ(label_of(d.text()), "");
}

TEST(Storage, CountsTheLargestTensorOfEachId) {
  Draft d;
  d.variable("data", {2, 3}, 8);
  d.call("sum", {{0, 0}}, {{1}});
  d.call("reshape", {{1, 0}}, {{1, 1}}, {{"shape", "(1,1)"}});
  d.head(2);
  d.list("storage_id") = {0, 1, 0};
  EXPECT_EQ(Graph(d.text()).storage_bytes(), 4 * (6 + 1));
}

TEST(Storage, IsLimited) {
  Draft d;
  d.variable("data", {64, 16777216}, 8);
  d.head(0);
  EXPECT_EQ(Graph(d.text()).storage_bytes(), kMaxStorageBytes);
  d.variable("w", {1}, 8);
  EXPECT_EQ(label_of(d.text()), "model.storage");
}

}  // namespace
}  // namespace lockstep::graph
