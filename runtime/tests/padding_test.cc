// A backend that wishes padding between calls gets it, and the bytes stay the specification's.
#include <gtest/gtest.h>

#include "backends/reference/plan.h"
#include "reference/graph/run.h"
#include "reference/graph/tests/draft.h"
#include "runtime/program.h"

namespace lockstep::runtime {
namespace {

using graph::Draft;

// What the backend wishes along each axis, and the strides with which it was then prepared.
struct Wish {
  int64_t before = 0, after = 0;
  std::vector<std::vector<int64_t>> strides = {};
} wish;

class Wishing {
 public:
  static const char* manifest() { return "{}"; }
  explicit Wishing(const backend::Options& /*options*/) {}
  std::unique_ptr<backend::Plan> prepare(const backend::Call& call) {
    const DLTensor& y = call.out[0].dl;
    wish.strides.emplace_back(y.strides, y.strides + y.ndim);
    return std::make_unique<backend::SpecificationPlan>(call);
  }
  void padding(
      const ls_tensor& /*tensor*/, std::span<int64_t> before, std::span<int64_t> after) const {
    std::fill(before.begin(), before.end(), wish.before);
    std::fill(after.begin(), after.end(), wish.after);
  }
};

client::Backend wishing(int64_t before, int64_t after) {
  wish = {before, after};
  return client::Backend::open(client::Library(backend::table<Wishing>()), {}).value();
}

// The head of three calls, one after another, on {2, 3}.
graph::Model three_calls() {
  Draft d;
  int x = d.variable("data", {2, 3}, 8);
  for (const char* op : {"negative", "abs", "negative"}) x = d.call(op, {{x, 0, 0}}, {{2, 3}});
  d.head(x);
  return graph::Model(graph::Graph(d.text()), {});
}

TEST(Padding, IsAsTheBackendWishes) {
  const graph::Model model = three_calls();
  const client::Backend backend = wishing(1, 2);
  Program program(backend, model, Form::best);
  // Between calls a row has 3 + 1 + 2 elements; the head is compact, since its reader wants it so.
  EXPECT_EQ(wish.strides, (std::vector<std::vector<int64_t>>{{6, 1}, {6, 1}, {3, 1}}));
  const std::vector<int32_t> x = {1, -2, 3, -4, 5, -127};
  std::vector<int32_t> y(6);
  program.run(x.data(), std::vector<int32_t*>{y.data()});
  EXPECT_EQ(y, (std::vector<int32_t>{-1, -2, -3, -4, -5, -127}));
  EXPECT_GE(program.memory_bytes(), sizeof(int32_t) * 5 * 6);
}

TEST(Padding, ThatIsImpossibleIsTheBackendsFault) {
  const graph::Model model = three_calls();
  for (const auto& [before, after, says] :
      {std::tuple{
           int64_t{-1}, int64_t{2}, "padding() failed: axis 0: extent 2, padding 1, offset -1"},
          std::tuple{int64_t{0}, INT64_MAX, "padding() failed: "}}) {
    const client::Backend backend = wishing(before, after);
    try {
      const Program program(backend, model, Form::best);
      FAIL() << says;
    } catch (const client::Error& e) {
      EXPECT_EQ(e.code, client::kBroken);
      EXPECT_TRUE(std::string(e.what()).starts_with(says)) << e.what();
    }
  }
}

}  // namespace
}  // namespace lockstep::runtime
