/// Models through the C interface: results and refusals.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/tests/failure.h"

namespace {

using Size = unsigned long long;

std::string file(const std::string& name) {
  std::ifstream in("conformance/models/digits/" + name, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

int load(const std::string& json, const std::string& params, void** net, int device = CVM_CPU) {
  return CVMAPILoadModel(json.data(), static_cast<int>(json.size()), params.data(),
      static_cast<int>(params.size()), net, device, 0);
}

class Model {
 public:
  explicit Model(int device = CVM_CPU) {
    EXPECT_EQ(load(file("symbol.json"), file("params"), &net, device), CVM_OK) << last_error();
  }
  ~Model() { EXPECT_EQ(CVMAPIFreeModel(net), CVM_OK) << last_error(); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  Size length_of(int (*function)(void*, Size*)) const {
    Size length = 0;
    EXPECT_EQ(function(net, &length), CVM_OK) << last_error();
    return length;
  }
  std::string infer(std::string input) const {
    std::string output(length_of(CVMAPIGetOutputLength), '\0');
    EXPECT_EQ(
        CVMAPIInference(net, input.data(), static_cast<int>(input.size()), output.data()), CVM_OK)
        << last_error();
    return output;
  }

  void* net = nullptr;
};

TEST(CvmModel, GivesTheSameBytesOnEveryDevice) {
  const Model cpu(CVM_CPU), formal(CVM_FORMAL);
  EXPECT_EQ(cpu.length_of(CVMAPIGetInputLength), 64U);
  EXPECT_EQ(cpu.length_of(CVMAPIGetOutputLength), 40U);
  EXPECT_EQ(cpu.length_of(CVMAPIGetInputTypeSize), 1U);
  EXPECT_EQ(cpu.length_of(CVMAPIGetOutputTypeSize), 4U);
  EXPECT_EQ(cpu.length_of(CVMAPIGetGasFromModel), 742862U);
  EXPECT_GT(cpu.length_of(CVMAPIGetStorageSize), 0U);
  const std::string images = file("images.bin");
  for (std::size_t n = 0; n < 10; ++n) {
    const std::string image = images.substr(64 * n, 64);
    EXPECT_EQ(cpu.infer(image), formal.infer(image)) << n;
    EXPECT_NE(cpu.infer(image), std::string(40, '\0'));
  }
}

TEST(CvmModel, SaysWhatItsGraphSays) {
  const Model m;
  std::array<char, 34> text{};
  EXPECT_EQ(CVMAPIGetVersion(m.net, text.data()), CVM_OK);
  EXPECT_STREQ(text.data(), "cvm_1.0.0");
  EXPECT_EQ(CVMAPIGetPreprocessMethod(m.net, text.data()), CVM_OK);
  EXPECT_STREQ(text.data(), "");
  Size gas = 1;
  EXPECT_EQ(CVMAPIGetGasFromGraphFile(file("symbol.json").c_str(), &gas), CVM_OK);
  EXPECT_EQ(gas, 742862U);
  expect_failure(CVMAPIGetGasFromGraphFile("{}", &gas), "symbol.json: ");
  EXPECT_EQ(gas, 0U);
}

TEST(CvmModel, ATextThatCallersHaveNoRoomForIsRefused) {
  const std::string key = "\"postprocess\": \"", json = file("symbol.json");
  const std::size_t at = json.find(key) + key.size();
  ASSERT_EQ(json[at], '"') << "the model has a post-processing";
  const auto with = [&](std::size_t length) {
    return std::string(json).insert(at, std::string(length, 'x'));
  };
  std::array<char, 34> text;
  for (const std::size_t length : {std::size_t{32}, std::size_t{33}}) {
    text.fill('#');
    void* net = nullptr;
    ASSERT_EQ(load(with(length), file("params"), &net), CVM_OK) << last_error();
    if (length == 32) {
      EXPECT_EQ(CVMAPIGetPreprocessMethod(net, text.data()), CVM_OK);
      EXPECT_EQ(std::string(text.data()), std::string(32, 'x'));
    } else {
      expect_failure(CVMAPIGetPreprocessMethod(net, text.data()), "33 bytes");
      EXPECT_EQ(text[0], '\0');
      EXPECT_EQ(text[1], '#');
    }
    EXPECT_EQ(CVMAPIFreeModel(net), CVM_OK);
  }
}

TEST(CvmModel, WhatIsNoModelIsRefused) {
  void* net = &net;
  expect_failure(load("{", file("params"), &net), "symbol.json: the document is not JSON");
  EXPECT_EQ(net, nullptr) << "a failed call left something behind";
  expect_failure(load(file("symbol.json"), "", &net), "[model.params]");
  expect_failure(load(file("symbol.json"), file("params"), &net, 3), "device_type is 3");
  expect_failure(load(file("symbol.json"), file("params"), nullptr), "net is null");
  expect_failure(CVMAPILoadModel(nullptr, 3, "", 0, &net, 0, 0), "graph_json is null");
  expect_failure(CVMAPILoadModel("{}", -1, "", 0, &net, 0, 0), "graph_strlen is -1");
  expect_failure(CVMAPILoadModel("{}", 2, "", 0, &net, 0, 1), "device_id is 1");
  expect_failure(CVMAPILoadModel("{}", 2, "", 0, &net, 1, -1), "device_id is -1");
}

TEST(CvmModel, AFailureTellsLabelAndPlace) {
  const auto last = [] {
    return std::vector<std::string>{CVMGetLastErrorLabel(), CVMGetLastErrorPath()};
  };
  std::string json = file("symbol.json");
  json.replace(json.find("conv2d"), 6, "warp2d");
  void* net = nullptr;
  expect_failure(load(json, file("params"), &net), "[op.unknown]");
  EXPECT_EQ(last(), (std::vector<std::string>{"op.unknown", "nodes[3].attrs.func_name"}));
  expect_failure(load(file("symbol.json"), "", &net), "[too_short] [model.params]");
  EXPECT_EQ(last(), (std::vector<std::string>{"model.params", "params"}));
  expect_failure(CVMAPIGetVersion(nullptr, nullptr), "the result is null");
  EXPECT_EQ(last(), (std::vector<std::string>{"", ""}));
}

TEST(CvmModel, AHandleThatWasFreedOrNeverMadeIsRefused) {
  void* net = nullptr;
  ASSERT_EQ(load(file("symbol.json"), file("params"), &net), CVM_OK);
  EXPECT_EQ(CVMAPIFreeModel(net), CVM_OK);
  EXPECT_EQ(CVMAPIFreeModel(nullptr), CVM_OK);
  int something = 0;
  for (void* const bad : {net, static_cast<void*>(&something)}) {
    Size size = 1;
    std::array<char, 64> bytes{};
    std::size_t count = 1;
    CVMType type;
    expect_failure(CVMAPIFreeModel(bad), "no handle");
    expect_failure(CVMAPIInference(bad, bytes.data(), 64, bytes.data()), "no handle");
    for (auto* f : {CVMAPIGetInputLength, CVMAPIGetOutputLength, CVMAPIGetInputTypeSize,
             CVMAPIGetOutputTypeSize, CVMAPIGetStorageSize, CVMAPIGetGasFromModel}) {
      size = 1;
      expect_failure(f(bad, &size), "no handle");
      EXPECT_EQ(size, 0U);
    }
    expect_failure(CVMAPIGetVersion(bad, bytes.data()), "no handle");
    expect_failure(CVMAPIGetPreprocessMethod(bad, bytes.data()), "no handle");
    expect_failure(CVMSessionHeadCount(bad, &count), "no handle");
    expect_failure(CVMSessionType(bad, 0, &type), "no handle");
    expect_failure(CVMSessionRun(bad, nullptr, nullptr, 0), "no handle");
  }
  expect_failure(CVMAPIGetVersion(nullptr, nullptr), "the result is null");
}

TEST(CvmModel, AnInputOfAnotherLengthIsRefused) {
  const Model m;
  std::array<char, 64> bytes{};
  std::array<char, 40> output{};
  expect_failure(CVMAPIInference(m.net, bytes.data(), 63, output.data()), "[model.input]");
  expect_failure(CVMAPIInference(m.net, bytes.data(), -1, output.data()), "input_len is -1");
  expect_failure(CVMAPIInference(m.net, nullptr, 64, output.data()), "input_data is null");
  expect_failure(CVMAPIInference(m.net, bytes.data(), 64, nullptr), "output_data is null");
}

TEST(CvmModel, RunsFromThreadsThatFreeIt) {
  void* net = nullptr;
  ASSERT_EQ(load(file("symbol.json"), file("params"), &net), CVM_OK);
  const std::string image = file("images.bin").substr(0, 64);
  std::vector<std::thread> threads;
  std::array<int, 4> faults{};
  for (int& fault : faults)
    threads.emplace_back([&fault, net, image] {
      std::string input = image;
      std::array<char, 40> output{};
      for (int run = 0; run < 20; ++run)
        if (CVMAPIInference(net, input.data(), 64, output.data()) == CVM_RUNTIME) ++fault;
      CVMAPIFreeModel(net);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(faults, (std::array<int, 4>{}));
  expect_failure(CVMAPIFreeModel(net), "no handle");
}

int load_on(const char* backend, const std::vector<CVMOption>& options, void** net) {
  const std::string json = file("symbol.json"), params = file("params");
  return CVMSessionLoad(json.data(), json.size(), params.data(), params.size(), backend,
      options.data(), options.size(), net);
}

TEST(CvmSession, RunsOnArrays) {
  void* net = nullptr;
  ASSERT_EQ(load_on("cpu", {{"threads", "2"}}, &net), CVM_OK) << last_error();
  std::size_t heads = 0;
  CVMType in, out;
  EXPECT_EQ(CVMSessionHeadCount(net, &heads), CVM_OK);
  EXPECT_EQ(heads, 1U);
  EXPECT_EQ(CVMSessionType(net, -1, &in), CVM_OK);
  EXPECT_EQ(std::vector<int64_t>(in.shape, in.shape + in.rank), (std::vector<int64_t>{1, 1, 8, 8}));
  EXPECT_EQ(CVMSessionType(net, 0, &out), CVM_OK);
  EXPECT_EQ(std::vector<int64_t>(out.shape, out.shape + out.rank), (std::vector<int64_t>{1, 10}));
  expect_failure(CVMSessionType(net, 1, &out), "head is 1");

  const std::string image = file("images.bin").substr(0, 64);
  CVMArrayHandle data = nullptr, logits = nullptr;
  ASSERT_EQ(CVMArrayAlloc(in.shape, in.rank, 0, 8, 1, 1, 0, &data), CVM_OK);
  EXPECT_EQ(CVMArrayCopyFromBytes(data, image.data(), image.size()), CVM_OK);
  EXPECT_EQ(CVMSessionRun(net, data, &logits, 1), CVM_OK) << last_error();
  std::string got(40, '\0');
  EXPECT_EQ(CVMArrayCopyToBytes(logits, got.data(), got.size()), CVM_OK);
  EXPECT_EQ(got, Model(CVM_FORMAL).infer(image));
  EXPECT_EQ(CVMArrayFree(logits), CVM_OK);

  CVMArrayHandle two[] = {data, data};
  expect_failure(CVMSessionRun(net, data, two, 2), "the model has 1");
  EXPECT_EQ(two[1], nullptr);
  expect_failure(CVMSessionRun(net, nullptr, &logits, 1), "the input is null");
  EXPECT_EQ(CVMArrayFree(data), CVM_OK);
  expect_failure(CVMSessionRun(net, data, &logits, 1), "the input is no handle of an array");
  EXPECT_EQ(CVMAPIFreeModel(net), CVM_OK);
}

TEST(CvmSession, NamesWhatIsWrong) {
  void* net = nullptr;
  expect_failure(load_on("nope", {}, &net), "no backend 'nope'");
  expect_failure(load_on(nullptr, {}, &net), "backend is null");
  expect_failure(load_on("cpu", {{"treads", "2"}}, &net), "treads");
  expect_failure(load_on("cpu", {{"threads", nullptr}}, &net), "an option's name or value is null");
  EXPECT_EQ(net, nullptr);
}

}  // namespace
