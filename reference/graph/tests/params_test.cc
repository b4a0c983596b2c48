#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "reference/graph/tests/draft.h"
#include "spec/text.h"

namespace lockstep::graph {
namespace {

std::string refusal_of(const Parameters& parameters) {
  return refusal([&] { return Model(Graph(small_draft().text()), parameters); });
}

TEST(Params, TakeTheDeclaredType) {
  const Model model(Graph(small_draft().text()), small_parameters());
  const ndarray::NDArray weight = as_int32(model.parameter(1));
  EXPECT_TRUE(is_int8(model.parameter(1)));
  EXPECT_TRUE(std::ranges::equal(values_of(weight), values_of(small_parameters().at("weight"))));
  EXPECT_FALSE(model.parameter(0));
}

TEST(Params, AreThereOnceForEachVariableAndForNothingElse) {
  EXPECT_EQ(refusal_of({}), "params.weight: no parameter is given for \"weight\" [model.params]");
  for (const char* name : {"data", "bias", "", "dense 2"}) {
    Parameters p = small_parameters();
    p[name] = array_of({2, 4}, std::vector<i32>(8));
    EXPECT_NE(refusal_of(p).find(
                  "params." + std::string(name) + ": the parameter belongs to no variable"),
        std::string::npos);
    EXPECT_NE(refusal_of(p).find("[model.params]"), std::string::npos);
  }
}

TEST(Params, HaveTheDeclaredShape) {
  for (const std::vector<i64>& shape : std::vector<std::vector<i64>>{
           {4, 3}, {12}, {3, 4, 1}, {}, {3, 4, 1, 1, 1, 1, 1, 1}, std::vector<i64>(32, 1)}) {
    Parameters p;
    p["weight"] = ndarray::NDArray::empty(shape, {kDLInt, 32, 1});
    EXPECT_EQ(refusal_of(p),
        "params.weight: the parameter has the shape " + shape_text(shape) +
            ", declared is (3, 4) [model.params]");
  }
}

TEST(Params, AreIntegersThatInt32Holds) {
  Parameters p;
  p["weight"] = ndarray::NDArray::empty(std::vector<i64>{3, 4}, {kDLFloat, 32, 1});
  EXPECT_NE(refusal_of(p).find("[model.params]"), std::string::npos) << refusal_of(p);
  p["weight"] = ndarray::NDArray::empty(std::vector<i64>{3, 4}, {kDLInt, 64, 1});
  auto* values = reinterpret_cast<i64*>(p["weight"].mutable_data());
  std::fill(values, values + 12, 100);
  EXPECT_EQ(refusal_of(p), "accepted");
  values[3] = i64{1} << 31;
  EXPECT_NE(refusal_of(p).find("[model.params]"), std::string::npos) << refusal_of(p);
  p["weight"] = ndarray::NDArray::empty(std::vector<i64>{3, 4}, {kDLInt, 8, 1});
  std::memset(p["weight"].mutable_data(), 1, 12);
  EXPECT_EQ(refusal_of(p), "accepted");
}

TEST(Params, LieInTheirPrecision) {
  for (const auto& [v, refused] : {std::pair{127, false}, {-127, false}, {128, true}, {-128, true},
           {INT32_MAX, true}, {INT32_MIN, true}}) {
    std::vector<i32> values(12);
    values[5] = v;
    EXPECT_EQ(refusal_of({{"weight", array_of({3, 4}, values)}}),
        refused ? "params.weight[1][1]: " + std::to_string(v) +
                " is outside the precision 8 [input.value]"
                : "accepted");
  }
}

TEST(Params, OfBytesLieInTheirPrecision) {
  for (const auto& [v, precision, refused] : {std::tuple{-127, 8, false}, {-128, 8, true},
           {7, 4, false}, {8, 4, true}, {-8, 4, true}, {-128, 9, false}}) {
    Draft d;
    d.variable("data", {2, 1200}, 8);
    d.variable("more", {2, 1200}, precision);
    d.call("elemwise_add", {{0, 0, 0}, {1, 0, 0}}, {{2, 1200}});
    d.head(2);
    ndarray::NDArray more = ndarray::NDArray::empty(std::vector<i64>{2, 1200}, {kDLInt, 8, 1});
    auto* const values = reinterpret_cast<int8_t*>(more.mutable_data());
    std::fill_n(values, 2400, int8_t{0});
    values[1205] = static_cast<int8_t>(v);
    EXPECT_EQ(refusal([&] {
      Model(Graph(d.text()), {{"more", more}});
    }),
        refused ? "params.more[1][5]: " + std::to_string(v) + " is outside the precision " +
                std::to_string(precision) + " [input.value]"
                : "accepted");
  }
}

TEST(Params, TheFirstOfManyValuesBeyondThePrecisionIsNamed) {
  const Type type{{2500}, 8};
  for (const i64 at : {0, 1, 1023, 1024, 2047, 2048, 2499}) {
    for (const i32 beyond : {-128, 128}) {
      std::vector<i32> values(2500, 127);
      values.back() = beyond;
      values[static_cast<std::size_t>(at)] = beyond;
      EXPECT_EQ(refusal([&] { refuse_beyond(values, type, "w"); }),
          "w[" + std::to_string(at) + "]: " + std::to_string(beyond) +
              " is outside the precision 8 [input.value]");
    }
  }
  const std::vector<i32> all(2500, -127), least(2500, INT32_MIN);
  EXPECT_EQ(refusal([&] { refuse_beyond(all, type, "w"); }), "accepted");
  EXPECT_EQ(refusal([&] {
    refuse_beyond(least, {{2500}, 32}, "w");
  }),
      "w[0]: -2147483648 is outside the precision 32 [input.value]");
}

}  // namespace
}  // namespace lockstep::graph
