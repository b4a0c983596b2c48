// The verb `model show`: the list, and the pictures.
#include <gtest/gtest.h>

#include "conformance/tests/model_files.h"

namespace lockstep::judge {
namespace {

class ModelShow : public ScratchTest {
 protected:
  std::string drawn(const std::string& model, const char* option) const {
    return expect_end({"model", "show", model, option, "-"}, 0).out;
  }
  std::string network(const std::string& name) const {
    std::string room = scratch.path(name);
    expect_end({"model", "make", name, room, "--size", "32"}, 0);
    return room;
  }
};

TEST_F(ModelShow, SumsWhatItLists) {
  const nlohmann::json m = judged({"model", "show", network("yolov3-tiny")}).report;
  i64 gas = 0, bytes = 0, parameters = 0;
  for (const auto& node : m["nodes"]) {
    gas += node["gas"].get<i64>();
    for (const auto& output : node["outputs"]) {
      bytes += output["bytes"].get<i64>();
      const bool is_parameter = node["call"] == "" && node["name"] != "data";
      parameters += is_parameter ? output["bytes"].get<i64>() : 0;
    }
  }
  EXPECT_EQ(gas, m["gas"]);
  EXPECT_EQ(bytes, m["tensor_bytes"]);
  EXPECT_EQ(parameters, m["parameter_bytes"]);
  EXPECT_LT(m["storage_bytes"], m["tensor_bytes"]);
}

TEST_F(ModelShow, SaysWhatTheDigitsAre) {
  expect_end({"model", "show", kDigits}, 0,
      {"total                                        742862  123344\n",
          "version     cvm_1.0.0, no postprocess\n", "heads       dense2\n",
          "input       64 bytes, int8\n", "output      40 bytes, int32\n",
          "parameters  94632 bytes, int32, in 8 tensors\n",
          "storage     102568 bytes for 123344 bytes of tensors\n", "gas         742862\n"});
  const Judged j = judged({"model", "show", kDigits});
  EXPECT_EQ(j.end.out, "");
  EXPECT_EQ(j.report["nodes"][3]["call"], "conv2d/channels=24/kernel_size=3,3/padding=1,1");
  EXPECT_EQ(j.report["nodes"][3]["inputs"][1]["node"], 1);
  EXPECT_EQ(j.report["heads"][0]["node"], 21);
}

TEST_F(ModelShow, NamesThePostprocessAndEveryHead) {
  graph::Draft d;
  d.variable("data", {1, 2, 6}, 8);
  d.call("get_valid_counts", {{0, 0}}, {{1}, {1, 2, 6}});
  d.head(1, 1);
  d.document["postprocess"] = "detection";
  expect_end({"model", "show", write_model(scratch, d)}, 0,
      {"postprocess detection\n", "heads       get_valid_counts 1:1\n", "1@5 1x2x6@8"});
}

TEST_F(ModelShow, DrawsEveryCallOfABigNetwork) {
  const std::string model = network("resnet50");
  const nlohmann::json m = judged({"model", "show", model}).report;
  int calls = 0;
  for (const auto& node : m["nodes"]) calls += node["call"] != "";
  EXPECT_GT(calls, 150);
  const std::string svg = drawn(model, "--svg"), dot = drawn(model, "--dot");
  EXPECT_EQ(count_of(svg, "class=\"name\""), calls + 1);
  EXPECT_EQ(count_of(svg, "<rect class=\"call\""), calls - 1);
  EXPECT_EQ(count_of(svg, "<rect class=\"input\""), 1);
  EXPECT_EQ(count_of(svg, "<rect class=\"head\""), 1);
  EXPECT_EQ(count_of(dot, "[label="), calls + 1);
  EXPECT_EQ(drawn(model, "--svg"), svg);
}

// The parts of a picture that begin with a text, each to the end of its line.
Words parts_of(const std::string& svg, const std::string& begin) {
  Words parts;
  for (const std::string& line : lines_of(svg))
    if (line.starts_with(begin)) parts.push_back(line);
  return parts;
}

// "elemwise_add 3", 14 letters of 7.25 pixels and 6 at both sides, is 114 wide. The lane stands 16
// from the boxes and takes 8.
// data -> relu 1 -> relu 2 -> add, and data -> add: a lane passes two layers beside the boxes.
TEST_F(ModelShow, AValueReadFurtherBelowPassesBesideTheBoxes) {
  graph::Draft d;
  d.variable("data", {1, 4}, 8);
  d.call("relu", {{0, 0}}, {{1, 4}});
  d.call("relu", {{1, 0}}, {{1, 4}});
  d.call("elemwise_add", {{2, 0}, {0, 0}}, {{1, 4}});
  d.head(3);
  const std::string svg = drawn(write_model(scratch, d), "--svg");
  const Words boxes = {R"(<rect class="input" x="16" y="16" width="114" height="57" rx="4"/>)",
      R"(<rect class="call" x="16" y="107" width="114" height="57" rx="4"/>)",
      R"(<rect class="call" x="16" y="198" width="114" height="57" rx="4"/>)",
      R"(<rect class="head" x="16" y="289" width="114" height="57" rx="4"/>)"};
  Words found;
  for (const char* kind : {"input", "call", "head"})
    found = joined(found, parts_of(svg, std::string("<rect class=\"") + kind));
  EXPECT_EQ(found, boxes);
  const Words paths = {R"(<path d="M73 73 V107"/>)",
      R"(<path d="M73 73 C73 90 150 90 150 107 V164"/>)", R"(<path d="M73 164 V198"/>)",
      R"(<path d="M150 164 V198 V255"/>)", R"(<path d="M73 255 V289"/>)",
      R"(<path d="M150 255 C150 272 73 272 73 289"/>)"};
  EXPECT_EQ(parts_of(svg, "<path"), paths);
}

TEST_F(ModelShow, AnyNameIsDrawn) {
  graph::Draft d = relu_of({1, 4}, 8);
  d.node(1)["name"] = "<a> \"b\" \\ & \n" + std::string(90, 'x');
  const std::string model = write_model(scratch, d);
  const std::string svg = drawn(model, "--svg"), dot = drawn(model, "--dot");
  expect_contains(svg, ">&lt;a&gt; &quot;b&quot; ");
  expect_contains(dot, "[label=\"<a> \\\"b\\\" ");
  EXPECT_EQ(count_of(dot, "\n"), 6);
  expect_contains(svg, "...</text>");
}

TEST_F(ModelShow, APictureThatNobodyCouldOpenIsRefused) {
  graph::Draft d;
  d.variable("data", {1}, 1);
  constexpr int kChain = 1500;
  for (int k = 0; k < kChain; ++k) d.call("relu", {{k, 0}}, {{1}});
  for (int k = 0; k < kChain; ++k) d.call("broadcast_max", {{kChain + k, 0}, {k, 0}}, {{1}});
  d.head(2 * kChain);
  const std::string model = write_model(scratch, d);
  expect_end({"model", "show", model, "--svg", "-"}, 2,
      {"a picture of this model has ", " lines through layers, the most is 1000000"});
  drawn(model, "--dot");
}

TEST_F(ModelShow, OneResultCanBePrinted) {
  expect_end({"model", "show", kDigits, "--svg", "-", "--dot", "-"}, 2,
      {"only one output can go to standard output"});
  expect_end({"model", "show", kDigits, "--svg", scratch.path("no/room.svg")}, 2,
      {"cannot write '", "no/room.svg': No such file or directory"});
  std::filesystem::create_symlink(scratch.path("loop"), scratch.path("loop"));
  expect_end({"model", "show", kDigits, "--dot", scratch.path("loop")}, 2,
      {"cannot write '", "loop': Too many levels of symbolic links"});
  expect_end({"model", "show", kDigits, "--dot", "/dev/full"}, 4, {"No space left"});
}

}  // namespace
}  // namespace lockstep::judge
