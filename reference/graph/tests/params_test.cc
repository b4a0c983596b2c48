#include <gtest/gtest.h>

#include "reference/graph/tests/draft.h"

namespace lockstep::graph {
namespace {

std::string refusal_of(const Parameters& parameters) {
  return refusal([&] { return Model(Graph(small_draft().text()), parameters); });
}

TEST(Params, TakeTheDeclaredType) {
  const Model model(Graph(small_draft().text()), small_parameters());
  EXPECT_EQ(model.parameter(1).type, (Type{{3, 4}, 8}));
  EXPECT_EQ(model.parameter(1).data, small_parameters().at("weight").data);
  EXPECT_TRUE(model.parameter(0).data.empty());
}

TEST(Params, AreThereOnceForEachVariableAndForNothingElse) {
  EXPECT_EQ(refusal_of({}), "no parameter is given for \"weight\" [model.params]");
  for (const char* name : {"data", "bias", "", "dense 2"}) {
    Parameters p = small_parameters();
    p[name] = {{{2, 4}, 8}, std::vector<i32>(8)};
    EXPECT_NE(refusal_of(p).find("\"" + std::string(name) + "\" belongs to no variable"),
        std::string::npos);
    EXPECT_NE(refusal_of(p).find("[model.params]"), std::string::npos);
  }
}

TEST(Params, HaveTheDeclaredShape) {
  for (const Shape& shape :
      {Shape{4, 3}, Shape{12}, Shape{3, 4, 1}, Shape{}, Shape{3, 4, 1, 1, 1, 1, 1, 1}}) {
    Parameters p = small_parameters();
    p["weight"].type.shape = shape;
    EXPECT_EQ(refusal_of(p), "the parameter \"weight\" has not the declared shape [model.params]");
  }
  Parameters p = small_parameters();
  p["weight"].data.pop_back();
  EXPECT_EQ(refusal_of(p), "the parameter \"weight\" has not the declared shape [model.params]");
}

TEST(Params, LieInTheirPrecision) {
  Parameters p = small_parameters();
  for (i32 v : {127, -127}) {
    p["weight"].data[5] = v;
    EXPECT_EQ(refusal_of(p), "accepted");
  }
  for (i32 v : {128, -128, INT32_MAX, INT32_MIN}) {
    p["weight"].data[5] = v;
    EXPECT_EQ(refusal_of(p),
        "element 5 of the parameter \"weight\" is " + std::to_string(v) +
            ", outside its precision 8 [input.value]");
  }
}

}  // namespace
}  // namespace lockstep::graph
