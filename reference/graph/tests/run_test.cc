#include "reference/graph/run.h"

#include <gtest/gtest.h>

#include "reference/graph/bytes.h"
#include "reference/graph/tests/draft.h"

namespace lockstep::graph {
namespace {

using reference::Tensor;

std::vector<std::byte> bytes(const std::vector<int>& values) {
  std::vector<std::byte> b;
  for (int v : values) b.push_back(static_cast<std::byte>(v & 0xFF));
  return b;
}

// Little-endian int32.
std::vector<std::byte> words(const std::vector<i64>& values) {
  std::vector<std::byte> b;
  for (i64 v : values)
    for (int k = 0; k < 4; ++k) b.push_back(static_cast<std::byte>((v >> (8 * k)) & 0xFF));
  return b;
}

std::vector<std::byte> run(
    const Draft& draft, const std::vector<std::byte>& input, const Parameters& parameters = {}) {
  const Model model(Graph(draft.text()), parameters);
  ReferenceEngine engine;
  EXPECT_EQ(input_length(model.graph()), std::ssize(input));
  std::vector<std::byte> out = Runner(model, engine).run(input);
  EXPECT_EQ(output_length(model.graph()), std::ssize(out));
  return out;
}

// data of some type that is itself the head.
Draft identity(const Json& shape, int precision, const std::string& postprocess = "") {
  Draft d;
  d.variable("data", shape, precision);
  d.head(0);
  d.document["postprocess"] = postprocess;
  return d;
}

TEST(Run, CallsTheOperatorsInOrder) {
  EXPECT_EQ(run(small_draft(), bytes({1, 2, 3, 4, -1, -2, -3, -4}), small_parameters()),
      words({1, 10, 6, 0, 0, 0}));
}

TEST(Run, MayBeRepeatedWithOneRunner) {
  const Model model(Graph(small_draft().text()), small_parameters());
  ReferenceEngine engine;
  Runner runner(model, engine);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(runner.run(bytes({1, 2, 3, 4, -1, -2, -3, -4})), words({1, 10, 6, 0, 0, 0}));
    EXPECT_EQ(runner.run(bytes({0, 0, 0, 0, 0, 0, 0, 1})), words({0, 0, 0, 0, 1, 2}));
  }
}

TEST(Run, ReadsATensorAsOftenAsItIsNamed) {
  Draft d;
  d.variable("data", {2}, 8);
  d.variable("w", {2}, 8);
  d.call("broadcast_add", {{1, 0}, {1, 0}}, {{2}});
  d.call("concatenate", {{2, 0}, {0, 0}, {2, 0}, {1, 0}, {0, 0}}, {{10}}, {{"axis", "0"}});
  d.call("concatenate", {{3, 0}, {1, 0}}, {{12}}, {{"axis", "0"}});
  d.head(4);
  EXPECT_EQ(run(d, bytes({1, 2}), {{"w", array_of({2}, {5, -7})}}),
      words({10, -14, 1, 2, 10, -14, 5, -7, 1, 2, 5, -7}));
}

TEST(Run, InputOfUpTo8BitsIsBytesClamped) {
  EXPECT_EQ(run(identity({4}, 8), bytes({-128, -127, 127, 5})), bytes({-127, -127, 127, 5}));
  EXPECT_EQ(run(identity({4}, 3), bytes({-128, -3, 4, 2})), bytes({-3, -3, 3, 2}));
  EXPECT_EQ(run(identity({2}, 1), bytes({9, -9})), bytes({0, 0}));
}

TEST(Run, WiderInputIsWordsClamped) {
  EXPECT_EQ(run(identity({4}, 9), words({256, -256, 255, -2})), words({255, -255, 255, -2}));
  EXPECT_EQ(
      run(identity({2}, 32), words({INT32_MIN, 0x01020304})), words({-INT32_MAX, 0x01020304}));
}

TEST(Run, InputOfAnotherLengthIsRefused) {
  const Model model(Graph(identity({4}, 8).text()), {});
  ReferenceEngine engine;
  for (int n : {0, 3, 5, 16}) {
    const std::vector<std::byte> input(static_cast<std::size_t>(n));
    EXPECT_EQ(label_from([&] { Runner(model, engine).run(input); }), "model.input") << n;
  }
}

TEST(Run, ATensorOfAnotherTypeOrDomainIsRefused) {
  const Model model(Graph(identity({2}, 8).text()), {});
  ReferenceEngine engine;
  Runner runner(model, engine);
  const auto label = [&](const Tensor& t) { return label_from([&] { runner.run(t); }); };
  EXPECT_EQ(label({{{2}, 8}, {1, -127}}), "");
  EXPECT_EQ(label({{{2}, 7}, {1, 2}}), "model.input");
  EXPECT_EQ(label({{{1, 2}, 8}, {1, 2}}), "model.input");
  EXPECT_EQ(label({{{2}, 8}, {1, -128}}), "input.value");
  EXPECT_EQ(label({{{2}, 8}, {1}}), "input.value");
}

TEST(Run, ArgmaxGivesTheFirstMaximumOfEachRow) {
  EXPECT_EQ(
      run(identity({2, 2, 3}, 8, "argmax"), bytes({1, 3, 3, -5, -5, -5, -9, -8, -7, 2, 1, 2})),
      words({1, 0, 2, 0}));
  EXPECT_EQ(run(identity({3}, 8, "argmax"), bytes({0, 1, 1})), words({1}));
  // As int8 300 would be 44, and 100 the larger.
  EXPECT_EQ(run(identity({2}, 10, "argmax"), words({100, 300})), words({1}));
}

TEST(Run, DetectionGivesWordsAndAnUnknownPostprocessChangesNothing) {
  EXPECT_EQ(run(identity({1, 2, 2}, 8, "detection"), bytes({1, 2, -3, 4})), words({1, 2, -3, 4}));
  EXPECT_EQ(run(identity({1, 2, 2}, 8, "segment"), bytes({1, 2, -3, 4})), bytes({1, 2, -3, 4}));
}

// Heads (2,1,2) = data, (2,1,1) and, with one row less, nothing else.
Draft two_heads(int precision, const std::string& postprocess) {
  Draft d = identity({2, 1, 2}, precision, postprocess);
  d.call("max", {{0, 0}}, {{2, 1, 1}}, {{"axis", "2"}, {"keepdims", "1"}});
  d.head(1);
  return d;
}

TEST(Run, RowsOfSeveralHeadsAreInterleaved) {
  EXPECT_EQ(run(two_heads(8, ""), bytes({1, 2, -3, -4})), bytes({1, 2, 2, -3, -4, -3}));
  EXPECT_EQ(run(two_heads(9, ""), words({1, 2, -3, -4})), words({1, 2, 2, -3, -4, -3}));
  EXPECT_EQ(run(two_heads(8, "detection"), bytes({1, 2, -3, -4})), words({1, 2, 2, -3, -4, -3}));
}

TEST(Run, OneWideHeadMakesAllWordsOfTheOutput) {
  Draft d = identity({2}, 8);
  d.call("broadcast_add", {{0, 0}, {0, 0}}, {{2}});
  d.head(1);
  EXPECT_EQ(run(d, bytes({100, -1})), words({100, -1, 200, -2}));
}

TEST(Run, SeveralOutputsOfACallArriveWhereTheyAreNamed) {
  Draft d;
  d.variable("data", {1, 3, 2}, 8);
  d.call("get_valid_counts", {{0, 0}}, {{1}, {1, 3, 2}}, {{"score_threshold", "4"}});
  d.call("reshape", {{1, 0}}, {{1, 1}}, {{"shape", "(1,1)"}});
  d.call("reshape", {{1, 1}}, {{1, 6}}, {{"shape", "(1,6)"}});
  d.head(2);
  d.head(3);
  EXPECT_EQ(run(d, bytes({1, 4, 2, 5, 3, 6})), bytes({2, 2, 5, 3, 6, -1, -1}));
}

TEST(Run, AParameterMayBeAHead) {
  Draft d = identity({2}, 8);
  d.variable("w", {3}, 8);
  d.head(1);
  EXPECT_EQ(run(d, bytes({1, 2}), {{"w", array_of({3}, {7, 8, 9})}}), bytes({1, 2, 7, 8, 9}));
}

// Wrong in one way, then right.
struct FaultyEngine : ReferenceEngine {
  explicit FaultyEngine(std::function<void(std::vector<Tensor>&)> f) : fault(std::move(f)) {}
  std::vector<Tensor> run(
      const OpInfo& op, Attributes attrs, const std::vector<Tensor>& in) override {
    std::vector<Tensor> out = ReferenceEngine::run(op, attrs, in);
    if (std::exchange(is_faulty, false)) fault(out);
    return out;
  }
  std::function<void(std::vector<Tensor>&)> fault;
  bool is_faulty = true;
};

TEST(Run, AnEngineThatAnswersWronglyIsCaughtAtTheCallAndHarmsNoLaterRun) {
  const std::vector<std::function<void(std::vector<Tensor>&)>> faults = {
      [](auto& out) { out.clear(); }, [](auto& out) { out.push_back(out[0]); },
      [](auto& out) {
        out[0].type.shape = {3, 2};
      },
      [](auto& out) { out[0].type.precision = 18; }, [](auto& out) { out[0].data.pop_back(); },
      [](auto& out) { out[0].data[5] = 1 << 18; }, [](auto& out) { out[0].data[5] = INT32_MIN; },
      [](auto&) { throw utils::LogMessageFatal("node 2"); }};
  const Model model(Graph(small_draft().text()), small_parameters());
  for (const auto& fault : faults) {
    FaultyEngine engine(fault);
    Runner runner(model, engine);
    const auto input = bytes({1, 2, 3, 4, -1, -2, -3, -4});
    const std::string said = ndarray::failure([&] { runner.run(input); });
    EXPECT_NE(said.find("node 2"), std::string::npos) << said;
    EXPECT_EQ(runner.run(input), words({1, 10, 6, 0, 0, 0}));
  }
}

}  // namespace
}  // namespace lockstep::graph
