// The networks at a small size: they run, and no layer of them dies or saturates.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "reference/graph/bytes.h"
#include "reference/graph/run.h"
#include "reference/graph/zoo/architectures.h"

namespace lockstep::graph::zoo {

// For the names of tests; without it they contain addresses.
inline void PrintTo(const Architecture& a, std::ostream* out) { *out << a.name; }

namespace {

/// Looks at what each layer gives after its shift.
struct Observer : ReferenceEngine {
  std::vector<reference::Tensor> run(
      const OpInfo& op, Attributes attrs, const std::vector<reference::Tensor>& in) override {
    auto out = ReferenceEngine::run(op, attrs, in);
    const bool sums = in[0].type.precision > 8 && in[0].type.rank() == 4;
    if (op.name == "cvm_right_shift" && sums) look(out[0]);
    return out;
  }
  void look(const reference::Tensor& y) {
    const std::set<i32> values(y.data.begin(), y.data.end());
    const auto zeros = std::count(y.data.begin(), y.data.end(), 0);
    const auto ends = std::count_if(
        y.data.begin(), y.data.end(), [](i32 v) { return magnitude(v) == max_of(8); });
    const auto percent = [&](auto n) { return 100 * n / std::ssize(y.data); };
    ++layers;
    EXPECT_GE(values.size(), std::min<std::size_t>(40, y.data.size() / 4)) << "layer " << layers;
    EXPECT_LE(percent(zeros), 50) << "layer " << layers;
    EXPECT_LE(percent(ends), 25) << "layer " << layers;
  }
  int layers = 0;
};

class Zoo : public testing::TestWithParam<Architecture> {};

TEST_P(Zoo, LayersTakeManyValues) {
  const Model model = make(GetParam(), kSeed, kStride).model();
  Observer engine;
  Runner runner(model, engine);
  const std::vector<std::byte> out = runner.run(seeded_input(model.graph(), kSeed));
  EXPECT_GE(engine.layers, 10);
  EXPECT_GT(std::set<std::byte>(out.begin(), out.end()).size(), 10u);
}

// The counts that the literature gives, which tell whether a layer is missing or has another shape.
TEST(Architectures, HaveTheMultiplyAddsOfTheirPapers) {
  const std::pair<const char*, i64> millions[] = {{"resnet18", 1814}, {"resnet50", 4089},
      {"mobilenetv1", 569}, {"mobilenetv2", 301}, {"vgg16", 15470}, {"squeezenet", 349},
      {"yolov3-tiny", 2782}};
  for (const auto& [name, expected] : millions) {
    const Architecture& a = *find_architecture(name);
    const Graph graph(write_symbol(make(a, kSeed, a.size).symbol));
    EXPECT_EQ((multiply_adds(graph) + 500'000) / 1'000'000, expected) << name;
  }
}

TEST(Detector, KeepsSomeOfItsBoxesInsideTheImage) {
  const i64 size = 4 * kStride;
  const Model model = make(*find_architecture("yolov3-tiny"), kSeed, size).model();
  ReferenceEngine engine;
  const reference::Tensor input = decode_input(model.graph(), seeded_input(model.graph(), kSeed));
  const reference::Tensor boxes = Runner(model, engine).run(input).at(0);
  const i64 rows = boxes.type.dim(1);
  EXPECT_EQ(rows, 3 * (4 * 4 + 8 * 8));
  i64 kept = 0;
  std::set<i32> ids;
  for (i64 r = 0; r < rows; ++r) {
    const i32* box = &boxes.data[static_cast<std::size_t>(6 * r)];
    if (box[0] < 0) continue;
    ++kept;
    ids.insert(box[0]);
    EXPECT_LT(box[0], 80);
    EXPECT_GT(box[1], 96);
    EXPECT_LE(box[1], 128);
    for (int corner : {2, 3}) {
      EXPECT_LE(0, box[corner]);
      EXPECT_LT(box[corner], box[corner + 2]);
      EXPECT_LE(box[corner + 2], 4 * size);
    }
  }
  EXPECT_GE(kept, 10);
  EXPECT_LE(kept, rows / 2);
  EXPECT_GE(ids.size(), 8U);
}

INSTANTIATE_TEST_SUITE_P(All, Zoo, testing::ValuesIn(architectures()), [](const auto& info) {
  std::string name(info.param.name);
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace lockstep::graph::zoo
