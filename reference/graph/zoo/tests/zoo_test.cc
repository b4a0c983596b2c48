// The networks at a small size: they run, and no layer of them dies or saturates.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "reference/graph/run.h"
#include "reference/graph/zoo/architectures.h"

namespace lockstep::graph::zoo {

// For the names of tests; without it they contain addresses.
void PrintTo(const Architecture& a, std::ostream* out) { *out << a.name; }

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

INSTANTIATE_TEST_SUITE_P(All, Zoo, testing::ValuesIn(architectures()), [](const auto& info) {
  std::string name(info.param.name);
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace lockstep::graph::zoo
