#include <gtest/gtest.h>

#include "reference/graph/tests/draft.h"
#include "spec/text.h"

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
  EXPECT_EQ(refusal_of({}), "params.weight: no parameter is given for \"weight\" [model.params]");
  for (const char* name : {"data", "bias", "", "dense 2"}) {
    Parameters p = small_parameters();
    p[name] = {{{2, 4}, 8}, std::vector<i32>(8)};
    EXPECT_NE(refusal_of(p).find(
                  "params." + std::string(name) + ": the parameter belongs to no variable"),
        std::string::npos);
    EXPECT_NE(refusal_of(p).find("[model.params]"), std::string::npos);
  }
}

TEST(Params, HaveTheDeclaredShape) {
  for (const Shape& shape :
      {Shape{4, 3}, Shape{12}, Shape{3, 4, 1}, Shape{}, Shape{3, 4, 1, 1, 1, 1, 1, 1}}) {
    Parameters p = small_parameters();
    p["weight"].type.shape = shape;
    EXPECT_EQ(refusal_of(p),
        "params.weight: the parameter has the shape " + shape_text(shape) +
            " and 12 values, declared is (3, 4) [model.params]");
  }
  Parameters p = small_parameters();
  p["weight"].data.pop_back();
  EXPECT_NE(refusal_of(p).find("(3, 4) and 11 values"), std::string::npos);
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
        "params.weight[1][1]: " + std::to_string(v) + " is outside the precision 8 [input.value]");
  }
}

}  // namespace
}  // namespace lockstep::graph
