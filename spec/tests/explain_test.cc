// Refusals in words, each sentence as the user reads it, and the labels of an operator in order.
#include "spec/explain.h"

#include <gtest/gtest.h>

#include "spec/operators.h"
#include "spec/tests/judged.h"

namespace lockstep {
namespace {

/// The sentence for a call that is refused.
template <class Op> std::string sentence(const typename Op::Attrs& a, const std::vector<Type>& in) {
  const auto values = to_attributes<Op>(a);
  const Attributes attrs{values.data(), static_cast<int>(values.size())};
  const Types types{in.data(), static_cast<int>(in.size())};
  const OpInfo& op = info<Op>();
  return explain(op, check(op, attrs, types), attrs, types);
}

TEST(Explain, NamesTheAttribute) {
  EXPECT_EQ(
      sentence<Dense>({.units = 0}, {}), "dense: attribute 'units' has an illegal value (range)");
}

TEST(Explain, CountsTheInputs) {
  EXPECT_EQ(sentence<Dense>({.units = 1}, {{{1, 1}, 8}}), "dense: 1 inputs given, 3 needed");
  EXPECT_EQ(sentence<Concatenate>({}, {}), "concatenate: 0 inputs given, 1 to 1024 needed");
}

TEST(Explain, SaysWhatIsWrongWithAnInput) {
  EXPECT_EQ(sentence<BroadcastAdd>({}, {{{1}, 8}, {{}, 8}}), "broadcast_add: input 1 has rank 0");
  EXPECT_EQ(sentence<BroadcastAdd>({}, {{{1}, 33}, {{1}, 8}}),
      "broadcast_add: input 0 has precision 33, outside 1..32");
  EXPECT_EQ(sentence<Relu>({}, {{{kMaxExtent, 65}, 8}}),
      "relu: input 0 has shape (16777216, 65), more than 2^30 elements");
  EXPECT_EQ(sentence<Relu>({}, {{{2, 0, 3}, 8}}),
      "relu: input 0 has shape (2, 0, 3), an extent outside 1..2^24");
  const Type x{{1}, 8};
  EXPECT_EQ(explain(info<Relu>(), {"input", "value", 0}, {}, {&x, 1}),
      "relu: input 0 has a value outside its declared precision");
}

TEST(Explain, ShowsTheInputsOfWhatCannotBe) {
  EXPECT_EQ(sentence<BroadcastAdd>({}, {{{1 << 15, 1}, 8}, {{1 + (1 << 15)}, 9}}),
      "broadcast_add: output 0 would have an illegal shape for inputs (32768, 1) of precision "
      "8, (32769,) of precision 9");
  EXPECT_EQ(sentence<BroadcastAdd>({}, {{{2}, 32}, {{1}, 1}}),
      "broadcast_add: output 0 would have an illegal precision for inputs (2,) of precision "
      "32, (1,) of precision 1");
  EXPECT_EQ(sentence<ElemwiseAdd>({}, {{{2, 3}, 8}, {{3}, 8}}),
      "elemwise_add: required is that A and B have the same shape; inputs (2, 3) of precision "
      "8, (3,) of precision 8");
  const Type x{{1, 2, 3, 4, 5, 6, 7}, 8};
  EXPECT_EQ(explain(info<Relu>(), {"relu", "shape", 0}, {}, {&x, 1}),
      "relu: output 0 would have an illegal shape for inputs (1, 2, 3, 4, 5, 6, ...) of precision "
      "8");
}

std::vector<std::string> labels(const OpInfo& op) {
  std::vector<std::string> all;
  for (const OwnLabel& l : own_labels(op)) all.push_back(l.label);
  return all;
}

TEST(OwnLabels, AreRulesThenLimits) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels(info<Relu>()), Labels());
  EXPECT_EQ(labels(info<Flatten>()), Labels{"flatten.shape"});
  EXPECT_EQ(
      labels(info<ElemwiseAdd>()), (Labels{"elemwise_add.extents", "elemwise_add.precision"}));
  EXPECT_EQ(labels(info<BroadcastAdd>()),
      (Labels{"broadcast_add.extents", "broadcast_add.shape", "broadcast_add.precision"}));
}

TEST(Operators, AreFoundByNameAndByAlias) {
  for (const OpInfo* op : operators()) {
    EXPECT_EQ(find_operator(op->name), op) << op->name;
    if (!op->alias.empty()) {
      EXPECT_EQ(find_operator(op->alias), op) << op->alias;
    }
  }
  EXPECT_EQ(find_operator("no_such_operator"), nullptr);
  EXPECT_EQ(find_operator(""), nullptr);
}

}  // namespace
}  // namespace lockstep
