// Illegal calls: some mutation breaks every rule of every operator, and breaks only that rule.
#include "conformance/cases/mutate.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "spec/operators.h"

namespace lockstep::judge {
namespace {

constexpr u64 kMutationSeed = 1;

TEST(Mutate, EveryTypedLabelOfEveryOperatorFires) {
  constexpr int kPerLabel = 4;
  for (const OpInfo* op : operators()) {
    std::map<std::string, int> fired;
    for (const Case& c : illegal_cases(*op, kMutationSeed, kPerLabel)) ++fired[refusal(c).label()];
    for (const std::string& label : typed_labels(*op))
      EXPECT_EQ(fired[label], kPerLabel) << op->name << " " << label;
  }
}

TEST(Mutate, CasesComeInTheOrderOfTheLabelsAndOfNoOther) {
  for (const OpInfo* op : operators()) {
    const std::vector<std::string> labels = typed_labels(*op);
    EXPECT_EQ(std::set<std::string>(labels.begin(), labels.end()).size(), labels.size());
    std::size_t at = 0;
    for (const Case& c : illegal_cases(*op, kMutationSeed, 2)) {
      const std::string label = refusal(c).label();
      while (at < labels.size() && labels[at] != label) ++at;
      ASSERT_LT(at, labels.size()) << op->name << ": " << label << " is out of order";
    }
  }
}

TEST(Mutate, ASeedGivesTheSameCasesAgainAndAnotherSeedOthers) {
  const auto ids = [](u64 seed) {
    std::vector<std::string> all;
    for (const OpInfo* op : operators())
      for (const Case& c : illegal_cases(*op, seed, 2)) all.push_back(case_id(c));
    return all;
  };
  EXPECT_EQ(ids(kMutationSeed), ids(kMutationSeed));
  EXPECT_NE(ids(kMutationSeed), ids(kMutationSeed + 1));
}

TEST(Mutate, AChangeIsMadeOftenAndNeverCostsAnInputItsType) {
  Seeded draw(kMutationSeed);
  int changed = 0;
  constexpr int kRounds = 200;
  for (const OpInfo* op : operators())
    for (int n = 0; n < kRounds; ++n) {
      Drawn d;
      op->domain(draw, d);
      Case c;
      c.op = op;
      c.attrs.assign(d.attrs, d.attrs + d.attr_count);
      c.in.assign(d.in, d.in + d.in_count);
      const std::string before = case_id(c);
      mutate(c, draw);
      ASSERT_EQ(static_cast<int>(c.attrs.size()), op->attrs.size());
      changed += case_id(c) != before;
    }
  // Some changes do nothing: an operator without attributes has none to change.
  EXPECT_GT(changed, kRounds * static_cast<int>(operators().size()) / 3);
}

}  // namespace
}  // namespace lockstep::judge
