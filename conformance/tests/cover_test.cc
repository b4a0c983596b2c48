// Coverage: every class that a call shows is one that its operator's row names; what is missing is
// missed, and what cannot be is told from what was forgotten.
#include "conformance/coverage/cover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "conformance/cases/boundary.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

const std::string kFrozenSet = "conformance/vectors";

Selection of(const char* op, int tier, const std::string& vectors) {
  Selection s;
  s.operators = {op};
  s.tier = tier;
  s.vectors = vectors;
  return s;
}

const CoverCell& cell(const CoverRow& row, const std::string& text) {
  const auto at = std::find_if(row.cells.begin(), row.cells.end(),
                               [&](const CoverCell& c) { return c.text() == text; });
  if (at == row.cells.end()) throw std::runtime_error("no cell " + text);
  return *at;
}

TEST(Features, OfEveryCallAreThoseOfItsOperator) {
  for (const OpInfo* op : operators()) {
    const std::vector<Feature> calls = call_features(*op), values = value_features(*op);
    const std::set<Feature> known(calls.begin(), calls.end());
    EXPECT_EQ(known.size(), calls.size()) << op->name << " names a feature twice";
    Seeded draw(1);
    for (int n = 0; n < 200; ++n) {
      Case c = n % 2 == 0 ? draw_case(*op, draw) : varied_case(*op, draw);
      for (const Feature& f : call_features(c))
        ASSERT_TRUE(known.contains(f)) << op->name << " " << f.axis << " " << f.value;
      if (elements_of(c) > kMaxRun) continue;
      c.fill = static_cast<Fill>(n % kFills);
      for (const Feature& f : value_features(c, inputs_of(c)))
        ASSERT_TRUE(std::count(values.begin(), values.end(), f)) << f.axis << " " << f.value;
    }
  }
}

TEST(Features, AreAimedAtWithSuccess) {
  const OpInfo& conv2d = *find_operator("conv2d");
  Seeded draw(1);
  for (const Feature& f : {Feature{"attribute padding", "zero"}, Feature{"precision of W", "2"},
                           Feature{"shape of X", "beside 32"}, Feature{"number of inputs", "2"},
                           Feature{"memory", "scattered"}}) {
    const std::optional<Case> c = aimed_case(conv2d, f, kMaxRun, 1000, draw);
    ASSERT_TRUE(c) << f.axis;
    EXPECT_EQ(refusal(*c).label(), "");
    const std::vector<Feature> shown = call_features(*c);
    EXPECT_TRUE(std::count(shown.begin(), shown.end(), f)) << case_id(*c);
  }
  EXPECT_FALSE(aimed_case(conv2d, {"precision of W", "9..16"}, kMaxRun, 1000, draw));
}

TEST(Cover, OfTheDefaultTierAndTheVectorsIsComplete) {
  const Cover c = cover(of("take", 1, kFrozenSet));
  EXPECT_TRUE(c.complete()) << cover_text(c);
  ASSERT_EQ(c.rows.size(), 1u);
  for (const CoverCell& cell : c.rows[0].cells)
    EXPECT_EQ(cell.id.empty(), cell.state == CoverCell::impossible) << cell.text();
}

TEST(Cover, MissesWhatASelectionLacks) {
  const Cover smoke = cover(of("take", 0, ""));
  EXPECT_FALSE(smoke.complete());
  const CoverRow& row = smoke.rows[0];
  EXPECT_EQ(cell(row, "memory: compact").state, CoverCell::empty);
  EXPECT_EQ(cell(row, "attr.syntax: just illegal").state, CoverCell::empty);
  EXPECT_EQ(cell(row, "rank of X: 2").state, CoverCell::covered);
  EXPECT_NE(cover_text(smoke).find("memory: compact"), std::string::npos);
  EXPECT_NE(cover_text(smoke).find("INCOMPLETE"), std::string::npos);
}

TEST(Cover, TellsWhatCannotBeFromWhatIsForgotten) {
  const CoverRow left = cover(of("cvm_left_shift", 1, kFrozenSet)).rows[0];
  // p + shift_bit <= 32, and a shift is at least 1.
  EXPECT_EQ(cell(left, "precision of X: 32").state, CoverCell::impossible);
  EXPECT_EQ(cell(left, "precision of X: 25..31").state, CoverCell::covered);
  const CoverRow relu = cover(of("relu", 1, kFrozenSet)).rows[0];
  EXPECT_EQ(cell(relu, "precision of X: 32").state, CoverCell::covered);
}

TEST(Cover, CountsConstantOutputsOnlyWhereThereAreNoOthers) {
  const CoverRow relu = cover(of("relu", 1, kFrozenSet)).rows[0];
  // A precision of 1 is all zeros; nothing but that can come of it.
  EXPECT_EQ(cell(relu, "precision of X: 1").state, CoverCell::constant);
  EXPECT_EQ(cell(relu, "values of X: all negative").state, CoverCell::constant);
  EXPECT_EQ(cell(relu, "values of X: both signs").state, CoverCell::covered);
  EXPECT_EQ(relu.count(CoverCell::empty), 0);
}

TEST(Cover, HasBothSidesOfEveryTypedLabel) {
  const CoverRow row = cover(of("conv2d", 1, kFrozenSet)).rows[0];
  for (const CoverCell& c : row.cells) {
    const std::string& axis = c.features[0].axis;
    const bool typed = axis.starts_with("conv2d.") || axis.starts_with("input.");
    EXPECT_TRUE(!typed || c.state == CoverCell::covered) << c.text();
  }
  EXPECT_EQ(cell(row, "conv2d.window: just legal").state, CoverCell::covered);
  const CoverRow smoke = cover(of("conv2d", 0, "")).rows[0];
  EXPECT_EQ(cell(smoke, "input.volume: just legal").state, CoverCell::empty);
}

}  // namespace
}  // namespace lockstep::judge
