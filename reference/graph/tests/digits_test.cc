#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "containers/params/params.h"
#include "reference/graph/bytes.h"
#include "reference/graph/model.h"
#include "reference/graph/run.h"

namespace lockstep::graph {
namespace {

const std::string kFolder = "conformance/models/digits/";

std::string contents(const std::string& name) {
  std::ifstream file(kFolder + name, std::ios::binary);
  EXPECT_TRUE(file) << kFolder + name;
  return {std::istreambuf_iterator<char>(file), {}};
}

Parameters parameters() {
  Parameters all;
  for (const params::NamedTensor& p : params::read_file(kFolder + "params").tensors) {
    reference::Tensor& t = all[p.name];
    for (i64 e : p.tensor.shape) t.type.shape.push(e);
    t.data = params::to_int32(p.tensor);
  }
  return all;
}

// Logits, as every later stage sees them: little-endian int32.
std::vector<i32> logits(const std::vector<std::byte>& output) {
  std::vector<i32> values(output.size() / 4);
  for (std::size_t k = 0; k < output.size(); ++k)
    values[k / 4] |= static_cast<i32>(std::to_integer<std::uint32_t>(output[k]) << (8 * (k % 4)));
  return values;
}

// The recorded gas is what verify.py, which shares no code with this, works out too.
TEST(Digits, CostTheRecordedGas) {
  const auto expected = nlohmann::json::parse(contents("expected.json"));
  EXPECT_EQ(Graph(contents("symbol.json")).gas(), expected["gas"].get<i64>());
}

TEST(Digits, AreRecognizedAsOftenAsRecorded) {
  const Model model(Graph(contents("symbol.json")), parameters());
  const auto expected = nlohmann::json::parse(contents("expected.json"));
  const auto labels = nlohmann::json::parse(contents("dataset.json"))["labels"];
  const std::string images = contents("images.bin");
  const auto bytes = std::as_bytes(std::span(images));
  const auto length = static_cast<std::size_t>(input_length(model.graph()));
  ASSERT_EQ(bytes.size(), length * labels.size());
  ReferenceEngine engine;
  Runner runner(model, engine);
  int correct = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::vector<i32> scores = logits(runner.run(bytes.subspan(i * length, length)));
    ASSERT_EQ(scores.size(), 10u);
    correct += std::max_element(scores.begin(), scores.end()) - scores.begin() == labels[i];
  }
  EXPECT_EQ(correct, expected["correct"]);
  EXPECT_GE(100 * correct, 96 * static_cast<int>(labels.size()));
}

}  // namespace
}  // namespace lockstep::graph
