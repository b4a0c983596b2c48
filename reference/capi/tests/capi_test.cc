#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "reference/capi/reference.h"
#include "spec/attributes.h"
#include "spec/explain.h"
#include "spec/operators.h"

namespace lockstep {
namespace {

// A call in the terms of the C interface, which points into it.
struct CCall {
  std::vector<std::string> names, texts;
  std::vector<lockstep_attribute> attributes;
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<lockstep_type> types;
  std::string op;
  lockstep_call call{};

  void give(const std::string& name, const std::string& text) {
    names.push_back(name);
    texts.push_back(text);
  }
  void add(std::vector<std::int64_t> shape, int precision) {
    shapes.push_back(std::move(shape));
    types.push_back({nullptr, 0, precision});
  }
  const lockstep_call* get() {
    attributes.clear();
    for (std::size_t i = 0; i < names.size(); ++i)
      attributes.push_back({names[i].c_str(), texts[i].c_str()});
    for (std::size_t k = 0; k < types.size(); ++k)
      types[k].shape = shapes[k].data(), types[k].rank = shapes[k].size();
    call = {op.c_str(), attributes.data(), attributes.size(), types.data(), types.size()};
    return &call;
  }
};

CCall relu_of(std::vector<std::int64_t> shape, int precision = 8) {
  CCall c;
  c.op = "relu";
  c.add(std::move(shape), precision);
  return c;
}

CCall example_of(const OpInfo& op, const AnyExample& e) {
  CCall c;
  c.op = op.name;
  for (int i = 0; i < e.call.attr_count; ++i)
    if (!op.attrs[i].ignored)
      c.give(std::string(op.attrs[i].name), attribute_text(op.attrs[i], e.call.attrs[i]));
  for (int k = 0; k < e.call.in_count; ++k)
    c.add({e.call.in[k].shape.begin(), e.call.in[k].shape.end()}, e.call.in[k].precision);
  return c;
}

TEST(Capi, GivesTheOutputsOfEveryExample) {
  int seen = 0;
  for (const OpInfo* op : operators())
    for (int i = 0; i < op->example_count; ++i) {
      const AnyExample e = op->example(i);
      CCall c = example_of(*op, e);
      std::vector<std::vector<std::int32_t>> in;
      for (int k = 0; k < e.call.in_count; ++k)
        in.emplace_back(e.in[k].data.begin(), e.in[k].data.end());
      std::vector<const std::int32_t*> values;
      for (const auto& v : in) values.push_back(v.data());
      lockstep_outputs* y = nullptr;
      EXPECT_STREQ(lockstep_check(c.get()), "") << op->name;
      ASSERT_EQ(lockstep_evaluate(c.get(), values.data(), &y), LOCKSTEP_OK)
          << op->name << ": " << lockstep_message();
      lockstep_outputs* types = nullptr;
      ASSERT_EQ(lockstep_infer(c.get(), &types), LOCKSTEP_OK);
      const Inferred inferred =
          op->infer({e.call.attrs, e.call.attr_count}, {e.call.in, e.call.in_count});
      ASSERT_EQ(lockstep_count(y), static_cast<std::size_t>(inferred.count));
      ASSERT_EQ(lockstep_count(types), lockstep_count(y));
      for (std::size_t k = 0; k < lockstep_count(y); ++k, ++seen) {
        const Type want = inferred[static_cast<int>(k)];
        const lockstep_type t = lockstep_type_of(y, k), u = lockstep_type_of(types, k);
        EXPECT_EQ(std::vector(t.shape, t.shape + t.rank),
            std::vector(want.shape.begin(), want.shape.end()));
        EXPECT_EQ(std::vector(t.shape, t.shape + t.rank), std::vector(u.shape, u.shape + u.rank));
        EXPECT_EQ(t.precision, want.precision);
        EXPECT_EQ(u.precision, want.precision);
        EXPECT_EQ(lockstep_values(types, k), nullptr);
        const std::int32_t* got = lockstep_values(y, k);
        const auto& data = e.out[k].data;
        EXPECT_TRUE(std::equal(data.begin(), data.end(), got)) << op->name << " example " << i;
      }
      lockstep_release(y);
      lockstep_release(types);
    }
  EXPECT_GT(seen, 100);
}

TEST(Capi, NamesTheFirstRuleThatIsBroken) {
  const auto label = [](CCall c) { return std::string(lockstep_check(c.get())); };
  EXPECT_EQ(label(relu_of({2, 3})), "");
  EXPECT_EQ(label(relu_of({2, 0})), "input.extent");
  EXPECT_EQ(label(relu_of({})), "input.rank");
  EXPECT_EQ(label(relu_of(std::vector<std::int64_t>(100000, 1))), "input.rank");
  EXPECT_EQ(label(relu_of({1 << 24, 1 << 24})), "input.volume");
  EXPECT_EQ(label(relu_of({1}, 33)), "input.precision");
  CCall more = relu_of({1});
  more.add({1}, 8);
  EXPECT_EQ(label(more), "op.inputs");
  CCall attribute = relu_of({1});
  attribute.give("axis", "1");
  EXPECT_EQ(label(attribute), "attr.unknown");
  CCall sum = relu_of({2, 2});
  sum.op = "sum";
  sum.give("axis", "(0, 0)");
  EXPECT_EQ(label(sum), "sum.axis_twice");
  sum.texts[0] = "(0, x)";
  EXPECT_EQ(label(sum), "attr.syntax");
  sum.op = "sums";
  EXPECT_EQ(label(sum), "op.unknown");
  EXPECT_STREQ(lockstep_message(), "no operator 'sums'");
}

TEST(Capi, RefusesValuesOutsideTheirPrecisionAndWhatIsNotThere) {
  lockstep_outputs* y = nullptr;
  CCall c = relu_of({2}, 4);
  const std::int32_t fits[] = {7, -7}, beyond[] = {7, -8};
  const std::int32_t* in = fits;
  EXPECT_EQ(lockstep_evaluate(c.get(), &in, &y), LOCKSTEP_OK);
  EXPECT_STREQ(lockstep_label(), "");
  lockstep_release(y);
  in = beyond;
  EXPECT_EQ(lockstep_evaluate(c.get(), &in, &y), LOCKSTEP_LOGIC);
  EXPECT_EQ(y, nullptr);
  EXPECT_STREQ(lockstep_label(), "input.value");
  EXPECT_STRNE(lockstep_message(), "");

  EXPECT_STREQ(lockstep_check(nullptr), "op.unknown");
  EXPECT_EQ(lockstep_infer(nullptr, &y), LOCKSTEP_LOGIC);
  lockstep_call nothing{};
  EXPECT_STREQ(lockstep_check(&nothing), "op.unknown");
  const lockstep_type shapeless{nullptr, 2, 8};
  const lockstep_call relu{"relu", nullptr, 0, &shapeless, 1};
  EXPECT_STREQ(lockstep_check(&relu), "input.extent");
  EXPECT_EQ(lockstep_count(nullptr), 0u);
  EXPECT_EQ(lockstep_values(nullptr, 0), nullptr);
  EXPECT_EQ(lockstep_type_of(nullptr, 0).shape, nullptr);
  lockstep_release(nullptr);
}

TEST(Capi, TakesZerosForValuesThatAreLeftOut) {
  CCall c = relu_of({2, 2});
  c.op = "negative";
  lockstep_outputs* y = nullptr;
  ASSERT_EQ(lockstep_evaluate(c.get(), nullptr, &y), LOCKSTEP_OK);
  EXPECT_EQ(std::vector(lockstep_values(y, 0), lockstep_values(y, 0) + 4),
      std::vector<std::int32_t>(4, 0));
  lockstep_release(y);
}

TEST(Capi, TellsEachThreadItsOwnLabel) {
  CCall wrong = relu_of({0});
  EXPECT_STREQ(lockstep_check(wrong.get()), "input.extent");
  std::thread([] {
    EXPECT_STREQ(lockstep_label(), "");
    EXPECT_STREQ(lockstep_check(relu_of({1}, 0).get()), "input.precision");
  }).join();
  EXPECT_STREQ(lockstep_label(), "input.extent");
}

TEST(Capi, SaysWhichSpecificationItIs) {
  EXPECT_EQ(std::string(lockstep_specification()), std::string(kSpecificationVersion));
}

}  // namespace
}  // namespace lockstep
