// Every operator has a workload that is worth timing.
#include "bench/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "spec/operators.h"

namespace lockstep::bench {
namespace {

constexpr i64 kBytesMax = i64{1} << 28;

i64 largest_volume(const Workload& w) {
  i64 most = 0;
  for (const Type& t : w.call.in) most = max(most, volume(t.shape));
  const Inferred out = w.outputs();
  for (int k = 0; k < out.count; ++k) most = max(most, volume(out[k].shape));
  return most;
}

bool is_constant(const reference::Tensor& t) {
  return std::adjacent_find(t.data.begin(), t.data.end(), std::not_equal_to<>()) == t.data.end();
}

TEST(Workloads, EveryOperatorHasOneThatIsLegalAndFitsIntoMemory) {
  ASSERT_FALSE(operators().empty());
  for (const OpInfo* op : operators()) {
    const std::vector<Workload> all = workloads(*op);
    EXPECT_FALSE(all.empty()) << op->name;
    std::set<std::string> ids;
    for (const Workload& w : all) {
      EXPECT_FALSE(judge::refusal(w.call).refused()) << w.id();
      EXPECT_LE(w.bytes(), kBytesMax) << w.id();
      EXPECT_TRUE(ids.insert(w.id()).second) << w.id() << " is named twice";
      EXPECT_EQ(case_id(judge::parse_case(case_id(w.call))), case_id(w.call));
    }
  }
}

// A name whose call begins with no operator would never be timed.
TEST(Workloads, EveryNameBelongsToAnOperator) {
  std::size_t named = 0;
  for (const OpInfo* op : operators())
    for (const Workload& w : workloads(*op)) named += w.name != "drawn";
  EXPECT_EQ(named, std::size(kNamed));
}

// The drawn workloads of all operators, also of those with named ones: they show that a future
// operator will get a workload.
TEST(Workloads, ADrawnCallIsLargeLegalAndTheSameEveryTime) {
  for (const OpInfo* op : operators()) {
    const Workload w = drawn_workload(*op);
    EXPECT_FALSE(judge::refusal(w.call).refused()) << w.id();
    EXPECT_GE(largest_volume(w), op->pointwise ? kDrawnVolume : kDrawnVolume >> 7) << w.id();
    EXPECT_LE(largest_volume(w), 4 * kDrawnVolume) << w.id();
    EXPECT_EQ(case_id(w.call), case_id(drawn_workload(*op).call));
    const auto out = reference::outputs(*op, w.call.attributes(), judge::inputs_of(w.call));
    for (const reference::Tensor& t : out)
      EXPECT_FALSE(is_constant(t)) << case_id(w.call) << " hides what a kernel does";
  }
}

TEST(Workloads, AreCountedInWhatTheyDo) {
  const auto find = [](const char* op, const std::string& name) {
    for (Workload& w : workloads(*find_operator(op)))
      if (w.name == name) return w;
    throw std::out_of_range(name);
  };
  EXPECT_EQ(find("conv2d", "c64_56x56_to_64_k3").units(), i64{56} * 56 * 64 * 64 * 9);
  EXPECT_EQ(find("conv2d", "depthwise_c128_56x56_k3").units(), i64{56} * 56 * 128 * 9);
  EXPECT_EQ(find("dense", "1024x1024_1024").units(), i64{1} << 30);
  EXPECT_EQ(find("relu", "activation").units(), 2 * (i64{1} << 22) * 4);
  EXPECT_EQ(find("relu", "six_elements").units(), 1);
}

}  // namespace
}  // namespace lockstep::bench
