// Boundaries: every label begins one step beside a legal call.
#include "conformance/cases/boundary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "conformance/cases/mutate.h"
#include "conformance/cases/order.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

constexpr u64 kSeed = 1;

i64 distance(const Boundary& b) {
  return std::abs(value_of(b.legal, b.knob) - value_of(b.illegal, b.knob));
}

TEST(Boundaries, StandOnBothSidesOfEveryLabelOfEveryOperator) {
  for (const OpInfo* op : operators()) {
    std::set<std::string> labels;
    for (const Boundary& b : boundaries(*op, kSeed)) {
      EXPECT_EQ(refusal(b.legal).label(), "") << case_id(b.legal);
      EXPECT_EQ(refusal(b.illegal).label(), b.label) << case_id(b.illegal);
      labels.insert(b.label);
    }
    for (const std::string& label : typed_labels(*op)) EXPECT_TRUE(labels.contains(label)) << label;
  }
}

TEST(Boundaries, AreOneStepOfOneKnobWide) {
  for (const OpInfo* op : operators())
    for (const Boundary& b : boundaries(*op, kSeed)) {
      ASSERT_EQ(distance(b), 1) << case_id(b.illegal);
      Case back = b.illegal;
      set(back, b.knob, value_of(b.legal, b.knob));
      // Lists grow by entries of the knob's own choice.
      const bool list =
          b.knob.what == Knob::rank || b.knob.what == Knob::entries || b.knob.what == Knob::count;
      if (!list) {
        EXPECT_EQ(case_id(back), case_id(b.legal));
      }
    }
}

// The boundary that a label has in a kind of knob, from a legal value to an illegal one.
bool has(const std::vector<Boundary>& all, const std::string& label, Knob::What what, i64 legal,
         i64 illegal) {
  return std::any_of(all.begin(), all.end(), [&](const Boundary& b) {
    return b.label == label && b.knob.what == what && value_of(b.legal, b.knob) == legal &&
           value_of(b.illegal, b.knob) == illegal;
  });
}

TEST(Boundaries, StandAtTheLimitsOfEveryInput) {
  for (const OpInfo* op : operators()) {
    const std::vector<Boundary> all = boundaries(*op, kSeed);
    EXPECT_TRUE(has(all, "input.extent", Knob::extent, 1, 0)) << op->name;
    EXPECT_TRUE(has(all, "input.precision", Knob::precision, 1, 0)) << op->name;
    const Port& port = op->inputs[0];
    EXPECT_TRUE(has(all, "input.rank", Knob::rank, port.rank.min, port.rank.min - 1)) << op->name;
    // Some outputs have more axes than their inputs: the longest of these are never legal.
    const bool longest = std::any_of(all.begin(), all.end(), [&](const Boundary& b) {
      return b.legal.in[0].rank() == port.rank.max;
    });
    EXPECT_EQ(has(all, "input.rank", Knob::rank, port.rank.max, port.rank.max + 1), longest)
        << op->name;
  }
  const std::vector<Boundary> relu = boundaries(*find_operator("relu"), kSeed);
  EXPECT_TRUE(has(relu, "input.extent", Knob::extent, kMaxExtent, kMaxExtent + 1));
  EXPECT_TRUE(has(relu, "input.precision", Knob::precision, kMaxPrecision, kMaxPrecision + 1));
}

TEST(Order, IsPinnedByACallForEachTwoNeighbours) {
  for (const OpInfo* op : operators()) {
    const Order order = order_of(*op, kSeed);
    std::set<std::string> first;
    for (const Twofold& t : order.calls) {
      EXPECT_EQ(refusal(t.call).label(), t.first.label) << case_id(t.call);
      EXPECT_EQ(refusal(t.only_first).label(), t.first.label) << case_id(t.call);
      EXPECT_EQ(refusal(t.only_second).label(), t.second.label) << case_id(t.call);
      EXPECT_NE(t.first.label, t.second.label);
      first.insert(t.first.label);
    }
    // Every label but the last comes before another one.
    std::vector<std::string> labels = typed_labels(*op);
    labels.pop_back();
    for (const std::string& label : labels) EXPECT_TRUE(first.contains(label)) << label;
    // An input of one axis ends at the limit of extents; no other step is out of reach.
    for (const Step& s : order.unseen) {
      ASSERT_EQ(s.label, "input.volume") << op->name;
      EXPECT_EQ(op->inputs[s.input].rank.max, 1) << op->name << s.input;
    }
  }
}

TEST(Order, LeavesOutOnlyWhatExcludesEachOther) {
  std::vector<std::string> apart;
  for (const OpInfo* op : operators())
    for (const auto& [first, second] : order_of(*op, kSeed).apart)
      apart.push_back(first.text() + " and " + second.text());
  // Rank is asked for only where no axis is listed.
  EXPECT_EQ(apart, std::vector<std::string>{"slice_like.ranks and slice_like.axis"});
}

}  // namespace
}  // namespace lockstep::judge
