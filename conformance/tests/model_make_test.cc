// The verb `model make`.
#include <gtest/gtest.h>

#include "conformance/base/sha256.h"
#include "conformance/golden/networks.h"
#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

using ModelMake = ScratchTest;

TEST_F(ModelMake, WritesTheFilesOnRecord) {
  const std::string room = scratch.path("new/room");
  expect_end({"model", "make", "squeezenet", room, "--size", "32"}, 0,
      {"squeezenet, 32x32, seed 1\n", " bytes of storage, "});
  const NetworkDigests record = recorded_networks();
  const NetworkDigest* want = record.find("squeezenet", 32);
  ASSERT_NE(want, nullptr);
  EXPECT_EQ(sha256(text_of_file(room + "/symbol.json")), want->symbol);
  EXPECT_EQ(sha256(text_of_file(room + "/params")), want->params);
  EXPECT_EQ(sha256(text_of_file(room + "/input.bin")), want->input);
  const Ended quiet =
      expect_end({"model", "make", "squeezenet", room + "2", "--size", "32", "--quiet"}, 0);
  EXPECT_EQ(quiet.out + quiet.err, "");
  EXPECT_EQ(sha256(text_of_file(room + "2/symbol.json")), want->symbol);
}

TEST_F(ModelMake, ASeedChangesTheParametersAndTheInputAlone) {
  const auto make = [&](const char* seed) {
    const std::string room = scratch.path(seed);
    expect_end({"model", "make", "mobilenetv2", room, "--size", "32", "--seed", seed}, 0);
    return std::array{text_of_file(room + "/symbol.json"), text_of_file(room + "/params"),
        text_of_file(room + "/input.bin")};
  };
  const auto one = make("1"), other = make("18446744073709551615");
  EXPECT_EQ(one[0], other[0]);
  EXPECT_NE(one[1], other[1]);
  EXPECT_NE(one[2], other[2]);
}

TEST_F(ModelMake, ListsTheNetworks) {
  expect_end({"model", "make", "--list"}, 0,
      {"resnet18     224x224  ResNet-18\n", "yolov3-tiny  416x416  YOLO v3 tiny"});
}

TEST_F(ModelMake, RefusesWhatItCannotMake) {
  const std::string room = scratch.path("room"), file = scratch.write("file", "");
  const std::pair<Words, const char*> rows[] = {
      {{"alexnet", room}, "no network 'alexnet' (lockstep model make --list)"},
      {{"vgg16"}, "model make needs NAME and DIRECTORY (or --list)"},
      {{"vgg16", room, "--size", "33"}, "--size 33 is no multiple of 32 up to 1024"},
      {{"vgg16", room, "--size", "1056"}, "--size 1056 is no multiple of 32 up to 1024"},
      {{"vgg16", room, "--size", "0"}, "--size"},
      {{"vgg16", room, "--seed", "-1"}, "--seed"},
      {{"squeezenet", file + "/room", "--size", "32"}, "cannot make '"},
  };
  for (const auto& [words, why] : rows) expect_end(joined({"model", "make"}, words), 2, {why});
  EXPECT_FALSE(std::filesystem::exists(room));
}

}  // namespace
}  // namespace lockstep::judge
