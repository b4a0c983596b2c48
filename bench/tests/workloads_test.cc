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
TEST(Workloads, EveryLineOfTheTableBelongsToAnOperator) {
  const WorkloadTable& table = workload_table();
  std::size_t named = 0;
  for (const OpInfo* op : operators())
    for (const Workload& w : workloads(*op)) named += w.name != "drawn";
  EXPECT_EQ(named, table.calls.size());
  for (const auto& [op, family] : table.families) EXPECT_TRUE(find_operator(op)) << op;
  for (const auto& [op, whole] : table.partly) EXPECT_TRUE(find_operator(op)) << op;
  for (const Named& n : table.calls) {
    const std::string op = n.call.substr(0, n.call.find('/'));
    EXPECT_TRUE(table.families.count(op)) << op << " has no family";
  }
}

TEST(Workloads, AreOfManySizesWhereMemoryIsTheLimit) {
  for (const OpInfo* op : operators()) {
    if (std::set<std::string>{"matrix", "detection", "other"}.count(family_of(*op))) continue;
    i64 least = kBytesMax, most = 0;
    for (const Workload& w : workloads(*op)) {
      if (w.unit == Unit::calls) continue;
      least = min(least, w.bytes());
      most = max(most, w.bytes());
    }
    EXPECT_LE(least, i64{2} << 20) << op->name << " has none within a second cache";
    EXPECT_GE(most, i64{64} << 20) << op->name << " has none beyond the caches";
  }
}

TEST(Workloads, AreReadFromATable) {
  const WorkloadTable t = parse_workloads(
      "# text\n\nfamily moving tile repeat\npartly take 1\nnet.a tile/reps=2/in=1@8\n"
      "net.b relu/in=1@8/fill=hinted:1 calls\n");
  EXPECT_EQ(t.families.at("repeat"), "moving");
  EXPECT_EQ(t.partly.at("take"), std::vector<std::size_t>{1});
  ASSERT_EQ(t.calls.size(), 2U);
  EXPECT_EQ(t.calls[0].name, "net.a");
  EXPECT_FALSE(t.calls[0].tiny);
  EXPECT_TRUE(t.calls[1].tiny);
  for (const char* wrong : {"word", "family moving", "family a tile\nfamily b tile",
           "partly take x", "name call", "name relu/in=1@8 call", "name relu/in=1@8 calls more"})
    EXPECT_THROW(parse_workloads(wrong), std::logic_error) << wrong;
}

// Draws workloads of all operators, even of those with named ones, to show that a future operator
// will get a workload.
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
  EXPECT_EQ(find("conv2d", "resnet50.conv2_3x3").units(), i64{56} * 56 * 64 * 64 * 9);
  EXPECT_EQ(find("conv2d", "mobilenetv1.depthwise3").units(), i64{56} * 56 * 128 * 9);
  EXPECT_EQ(find("dense", "gpt2_medium.attention_output").units(), i64{1} << 30);
  EXPECT_EQ(find("relu", "resnet50_256.conv2_relu_n16").units(), 2 * (i64{1} << 22) * 4);
  EXPECT_EQ(find("relu", "tiny.six_elements").units(), 1);
  // Only the elements that are taken count, of a slice's source and of a table of rows.
  EXPECT_EQ(find("strided_slice", "unet.crop").units(), 2 * i64{512} * 56 * 56 * 4);
  EXPECT_EQ(find("take", "bert.word_embedding").units(), (2 * i64{128} * 768 + 128) * 4);
}

}  // namespace
}  // namespace lockstep::bench
