// Boundaries: every label begins one step beside a legal call.
#include "conformance/cases/boundary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "conformance/cases/item.h"
#include "conformance/cases/mutate.h"
#include "conformance/cases/order.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

constexpr u64 kSeed = 1;

i64 distance(const Boundary& b) {
  return std::abs(value_of(b.legal, b.parameter) - value_of(b.illegal, b.parameter));
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
      set(back, b.parameter, value_of(b.legal, b.parameter));
      // For lists, the parameter chooses the entries that it adds.
      const bool list = b.parameter.what == Parameter::rank ||
          b.parameter.what == Parameter::entries || b.parameter.what == Parameter::count;
      if (!list) {
        EXPECT_EQ(case_id(back), case_id(b.legal));
      }
    }
}

TEST(Parameters, AreTheNumbersOfACall) {
  const std::vector<Parameter> of_sum = {{Parameter::count}, {Parameter::entries, 0},
      {Parameter::entry, 0, 0}, {Parameter::entry, 0, 1}, {Parameter::flag, 1},
      {Parameter::flag, 2}, {Parameter::rank, 0}, {Parameter::extent, 0, 0},
      {Parameter::extent, 0, 1}, {Parameter::precision, 0}};
  EXPECT_EQ(parameters(parse_case("sum/axis=0,1/in=2x3@8")), of_sum);
  const std::vector<Parameter> of_take = {{Parameter::count}, {Parameter::none, 0},
      {Parameter::entry, 0, 0}, {Parameter::rank, 0}, {Parameter::extent, 0, 0},
      {Parameter::precision, 0}, {Parameter::rank, 1}, {Parameter::precision, 1}};
  EXPECT_EQ(parameters(parse_case("take/axis=0/in=4@8+@8")), of_take);
  // Of many inputs the first three have parameters.
  std::vector<Parameter> of_four = {{Parameter::count}, {Parameter::entry, 0}};
  for (int i = 0; i < 3; ++i)
    for (Parameter::What what : {Parameter::rank, Parameter::extent, Parameter::precision})
      of_four.push_back({what, i});
  EXPECT_EQ(parameters(parse_case("concatenate/axis=0/in=1@8+2@8+3@8+4@8")), of_four);
}

TEST(Parameters, TurnOneStepBeyondWhatIsLegal) {
  const auto turned = [](const char* id, const Parameter& k) {
    const Range r = turns(parse_case(id), k);
    return std::pair(r.min, r.max);
  };
  using Ends = std::pair<i64, i64>;
  EXPECT_EQ(turned("relu/in=1@8", {Parameter::count}), Ends(0, 2));
  EXPECT_EQ(turned("elemwise_add/in=1@8+1@8", {Parameter::count}), Ends(0, 3));
  EXPECT_EQ(turned("concatenate/axis=0/in=1@8", {Parameter::count}), Ends(0, kMaxInputs + 1));
  EXPECT_EQ(turned("relu/in=1@8", {Parameter::rank}), Ends(0, 7));
  EXPECT_EQ(turned("relu/in=1@8", {Parameter::extent}), Ends(0, (1 << 24) + 1));
  EXPECT_EQ(turned("relu/in=1@8", {Parameter::precision}), Ends(0, 33));
  EXPECT_EQ(turned("sum/in=1@8", {Parameter::entries}), Ends(0, 17));
  EXPECT_EQ(turned("sum/axis=0/in=1@8", {Parameter::entry}), Ends(INT64_MIN, INT64_MAX));
  EXPECT_EQ(turned("upsampling/scale=2/in=1x1x1x1@8", {Parameter::entry}), Ends(0, 4097));
  EXPECT_EQ(turned("sum/in=1@8", {Parameter::flag, 1}), Ends(0, 1));
  EXPECT_EQ(turned("take/axis=0/in=1@8+1@8", {Parameter::none}), Ends(0, 1));
}

TEST(Parameters, ShowWhatTheyAreSetTo) {
  for (const OpInfo* op : operators()) {
    Seeded draw(kSeed);
    for (int n = 0; n < 10; ++n) {
      const Case c = draw_case(*op, draw);
      for (const Parameter& k : parameters(c)) {
        const Range range = turns(c, k);
        for (const i64 v : {range.min, value_of(c, k), range.max}) {
          Case turned = c;
          set(turned, k, v);
          EXPECT_EQ(value_of(turned, k), v) << case_id(c);
        }
      }
    }
  }
}

TEST(Parameters, LengthenListsByOnesOrTheirLastEntry) {
  const auto turned = [](const char* id, const Parameter& k, i64 v) {
    Case c = parse_case(id);
    set(c, k, v);
    return case_id(c);
  };
  const std::string sum = "sum/axis=", one = "/in=1@8/fill=dense:0";
  EXPECT_EQ(turned("sum/axis=3/in=1@8", {Parameter::entries}, 3), sum + "3,3,3" + one);
  EXPECT_EQ(turned("sum/axis=2,3/in=1@8", {Parameter::entries}, 3), sum + "2,3,3" + one);
  EXPECT_EQ(turned("sum/in=1@8", {Parameter::entries}, 2), sum + "1,1" + one);
  EXPECT_EQ(turned("sum/axis=2,3/in=1@8", {Parameter::entries}, 1), sum + "2" + one);
  EXPECT_EQ(turned("relu/in=5@8", {Parameter::rank}, 3), "relu/in=5x1x1@8/fill=dense:0");
  EXPECT_EQ(turned("relu/in=5x6@8", {Parameter::rank}, 1), "relu/in=5@8/fill=dense:0");
  EXPECT_EQ(turned("concatenate/axis=0/in=1@8+2@7", {Parameter::count}, 3),
      "concatenate/axis=0/in=1@8+2@7+2@7/fill=dense:0");
  // None has no number, and the parameter sets an attribute that was None to 0.
  const Case none = parse_case("take/axis=None/in=1@8+1@8");
  Case there = none, gone = parse_case("take/axis=3/in=1@8+1@8");
  set(there, {Parameter::none}, 0);
  set(gone, {Parameter::none}, 1);
  EXPECT_EQ(there.attrs, parse_case("take/axis=0/in=1@8+1@8").attrs);
  EXPECT_EQ(gone.attrs, none.attrs);
}

TEST(Parameters, FindWhereTheirCallEndsHoweverFarThatIs) {
  const auto found = [](const char* id, const Parameter& k, i64 end) {
    const auto at = boundary_of(parse_case(id), k, end);
    return at ? std::pair(at->legal, at->illegal) : std::pair(end, end);
  };
  using Ends = std::pair<i64, i64>;
  EXPECT_EQ(found("relu/in=1@8", {Parameter::precision}, 0), Ends(1, 0));
  EXPECT_EQ(found("relu/in=1@8", {Parameter::precision}, 33), Ends(32, 33));
  EXPECT_EQ(found("relu/in=1@8", {Parameter::precision}, 32), Ends(32, 32));
  EXPECT_EQ(found("concatenate/axis=0/in=1@8", {Parameter::entry}, INT64_MIN), Ends(-1, -2));
  EXPECT_EQ(found("concatenate/axis=0/in=1@8", {Parameter::entry}, INT64_MAX), Ends(0, 1));
  EXPECT_EQ(found("sum/in=1@8", {Parameter::flag, 1}, 1), Ends(1, 1));
}

TEST(Parameters, AreTurnedByOneStepForTheLabelsBesideACall) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels_beside(parse_case("relu/in=2@31")), (Labels{"", "input.rank", "op.inputs"}));
  EXPECT_EQ(labels_beside(parse_case("concatenate/axis=0/in=1@8")),
      (Labels{"", "concatenate.axis", "input.extent", "input.rank", "op.inputs"}));
  // The neighbours of a number beyond 32 bits need more than 32 bits, too.
  EXPECT_EQ(labels_beside(parse_case("concatenate/axis=4294967296/in=1@8")),
      (Labels{"concatenate.axis", "input.extent", "input.rank", "op.inputs"}));
}

TEST(Elements, OfACallAreThoseOfItsInputsAndOfWhatItMayHaveAsOutputs) {
  const auto count = [](const char* id) { return elements_of(parse_case(id)); };
  EXPECT_EQ(count("relu/in=3@8"), 6);
  EXPECT_EQ(count("relu/in=3@33"), 3);
  EXPECT_EQ(count("elemwise_add/in=16777216x50@8+16777216x50@8"), i64{3} * 50 << 24);
}

// The boundary that a label has in a kind of parameter, from a legal value to an illegal one.
bool has(const std::vector<Boundary>& all, const std::string& label, Parameter::What what,
    i64 legal, i64 illegal) {
  return std::any_of(all.begin(), all.end(), [&](const Boundary& b) {
    return b.label == label && b.parameter.what == what &&
        value_of(b.legal, b.parameter) == legal && value_of(b.illegal, b.parameter) == illegal;
  });
}

TEST(Boundaries, StandAtTheLimitsOfEveryInput) {
  for (const OpInfo* op : operators()) {
    const std::vector<Boundary> all = boundaries(*op, kSeed);
    EXPECT_TRUE(has(all, "input.extent", Parameter::extent, 1, 0)) << op->name;
    EXPECT_TRUE(has(all, "input.precision", Parameter::precision, 1, 0)) << op->name;
    const Port& port = op->inputs[0];
    EXPECT_TRUE(has(all, "input.rank", Parameter::rank, port.rank.min, port.rank.min - 1))
        << op->name;
    // Some outputs have more axes than their inputs, so inputs with the most axes are never legal.
    const bool longest = std::any_of(all.begin(), all.end(),
        [&](const Boundary& b) { return b.legal.in[0].rank() == port.rank.max; });
    EXPECT_EQ(has(all, "input.rank", Parameter::rank, port.rank.max, port.rank.max + 1), longest)
        << op->name;
  }
  const std::vector<Boundary> relu = boundaries(*find_operator("relu"), kSeed);
  EXPECT_TRUE(has(relu, "input.extent", Parameter::extent, kMaxExtent, kMaxExtent + 1));
  EXPECT_TRUE(has(relu, "input.precision", Parameter::precision, kMaxPrecision, kMaxPrecision + 1));
}

TEST(Order, IsPinnedByACallForEachTwoNeighbours) {
  for (const OpInfo* op : operators()) {
    const Order order = order_of(*op, kSeed);
    std::set<std::string> first;
    for (const DoubleViolation& t : order.calls) {
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
    // The limit of extents bounds an input of one axis first; every other step can be reached.
    for (const Step& s : order.unseen) {
      ASSERT_EQ(s.label, "input.volume") << op->name;
      EXPECT_EQ(op->inputs[s.input].rank.max, 1) << op->name << s.input;
    }
  }
}

TEST(Order, StepsOfInputsSayOfWhichOne) {
  EXPECT_EQ((Step{"input.rank", 0}.text()), "input.rank of input 0");
  EXPECT_EQ((Step{"input.rank", 2}.text()), "input.rank of input 2");
  EXPECT_EQ((Step{"take.axis", -1}.text()), "take.axis");
}

TEST(Order, LeavesOutOnlyWhatExcludesEachOther) {
  std::vector<std::string> apart;
  for (const OpInfo* op : operators())
    for (const auto& [first, second] : order_of(*op, kSeed).apart)
      apart.push_back(first.text() + " and " + second.text());
  // The operator compares ranks only if no axis is listed.
  EXPECT_EQ(apart, std::vector<std::string>{"slice_like.ranks and slice_like.axis"});
}

}  // namespace
}  // namespace lockstep::judge
