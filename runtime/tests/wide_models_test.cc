// Models of many parameters, results that are alive at once, and heads.
#include <gtest/gtest.h>

#include "reference/graph/run.h"
#include "reference/graph/tests/draft.h"
#include "runtime/session.h"

namespace lockstep::runtime {
namespace {

using graph::array_of;

constexpr int kVariables = 50'000, kHeads = 1'000;
constexpr uint64_t kBytes = 2 * sizeof(i32);  // of a tensor

// A sum of 50,000 variables, of which the first sums of two are heads, too.
graph::Model wide_model() {
  graph::Draft d = graph::sum_draft(kVariables);
  for (int k = 1; k < kHeads; ++k) d.head(kVariables + k);
  graph::Parameters parameters;
  for (i32 k = 1; k < kVariables; ++k)
    parameters["w" + std::to_string(k)] = array_of({1, 2}, {k % 100, -1});
  return graph::Model(graph::Graph(d.text()), std::move(parameters));
}

// The tensors of the heads for a "data" of (1,2).
std::vector<std::vector<i32>> heads_for(const graph::Model& model, std::vector<i32> data) {
  std::vector<std::vector<i32>> all;
  graph::ReferenceEngine engine;
  for (auto& head : graph::Runner(model, engine).run({{{1, 2}, 8}, std::move(data)}))
    all.push_back(std::move(head.data));
  return all;
}

TEST(WideModels, GiveTheBytesOfTheSpecification) {
  const graph::Model model = wide_model();
  const auto right = heads_for(model, {100, -3});
  ASSERT_EQ(right.size(), kHeads);
  EXPECT_EQ(right[0], (std::vector<i32>{100 + kVariables / 100 * 4'950, -2 - kVariables}));
  for (const Form form : {Form::whole, Form::calls}) {
    Session session(model, {.backend = "cpu", .form = form});
    std::vector<std::vector<i32>> heads;
    for (const ndarray::NDArray& head : session.run(array_of({1, 2}, {100, -3}))) {
      const auto values = graph::values_of(head);
      heads.emplace_back(values.begin(), values.end());
    }
    EXPECT_EQ(heads, right);
    // Parameters, and sums of two, whose storage the later sums take.
    EXPECT_LE(session.memory_bytes(), kVariables * kBytes + kVariables / 2 * kBytes);
  }
}

}  // namespace
}  // namespace lockstep::runtime
