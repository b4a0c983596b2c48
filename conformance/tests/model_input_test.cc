// What the verbs of `lockstep model` make of a file of inputs.
#include <gtest/gtest.h>

#include "conformance/tests/model_files.h"

namespace lockstep::judge {
namespace {

using namespace std::string_literals;

class ModelInput : public ScratchTest {
 protected:
  Ended traced(const graph::Draft& draft, const std::string& name, const std::string& text,
      const Words& more = {}) {
    const std::string model = write_model(scratch, draft);
    return lockstep_says(joined({"model", "trace", model, "--input", scratch.write(name, text),
                                    "--backend", "reference", "--quiet", "--json", "-"},
        more));
  }

  void expect_values(const graph::Draft& draft, const std::string& name, const std::string& text,
      const std::vector<i32>& values, const Words& more = {}) {
    const Ended e = traced(draft, name, text, more);
    ASSERT_EQ(e.exit, 0) << e.err;
    EXPECT_EQ(nlohmann::json::parse(e.out)["input"], hash_of(values));
  }

  void expect_refused(const graph::Draft& draft, const std::string& name, const std::string& text,
      const Words& parts) {
    const Ended e = traced(draft, name, text);
    EXPECT_EQ(e.exit, 1) << e.out << e.err;
    EXPECT_EQ(e.out, "");
    for (const std::string& part : parts) expect_contains(e.err, part);
  }
};

TEST_F(ModelInput, AnArrayMayHaveAnyTypeOfIntegers) {
  const graph::Draft d = relu_of({1, 3}, 8);
  const std::vector<i32> values = {-127, 0, 127};
  expect_values(d, "x.npy", npy<std::int8_t>({1, 3}, {-127, 0, 127}), values);
  expect_values(d, "x.npy", npy<std::int16_t>({1, 3}, {-127, 0, 127}), values);
  expect_values(d, "x.npy", npy<std::int64_t>({1, 3}, {-127, 0, 127}), values);
  expect_values(d, "x.npy", npy<std::uint8_t>({1, 3}, {0, 1, 127}), {0, 1, 127});
  expect_values(d, "x.npy", npy<std::uint64_t>({1, 3}, {0, 1, 127}), {0, 1, 127});
}

TEST_F(ModelInput, TheElementsOfAnArrayAreNamedWhereTheyAreOfNoKnownType) {
  std::string truths = npy<std::int8_t>({1, 3}, {0, 1, 1});
  truths.replace(truths.find("|i1"), 3, "|b1");
  expect_refused(relu_of({1, 3}, 8), "x.npy", truths,
      {"x.npy: offset 0: the elements must be int or uint of 8 to 64 bits, or float of 16 to 64; "
       "found \"|b1\" [npy_dtype]"});
}

TEST_F(ModelInput, AnArrayMayLackTheBatch) {
  expect_values(relu_of({1, 2}, 8), "x.npy", npy<i32>({2}, {1, 2}), {1, 2});
  expect_values(relu_of({1}, 8), "x.npy", npy<i32>({1}, {1}), {1});
  expect_values(relu_of({2, 2}, 8), "x.npy", npy<i32>({1, 2, 2}, {1, 2, 3, 4}), {1, 2, 3, 4});
  const std::pair<std::vector<i64>, const char*> rows[] = {
      {{3}, "(3,)"}, {{2, 1}, "(2, 1)"}, {{1, 1, 1, 2}, "(1, 1, 1, 2)"}, {{}, "()"}};
  for (const auto& [shape, text] : rows)
    expect_refused(relu_of({1, 2}, 8), "x.npy",
        npy<i32>(shape,
            std::vector<i32>(shape == std::vector<i64>{3} ? 3
                    : shape.empty()                       ? 1
                                                          : 2)),
        {"x.npy: the array has the shape "s + text + ", \"data\" is (1, 2) [model.input]"});
}

TEST_F(ModelInput, ATraceIsThatOfOneInput) {
  const std::string model = write_model(scratch, relu_of({1, 2}, 8));
  for (const std::string& file : {scratch.write("x.npy", npy<i32>({3, 2}, {1, 2, 3, 4, 5, 6})),
           scratch.write("x.bin", "abcdef")})
    expect_end({"model", "trace", model, "--input", file}, 2,
        {"' holds 3 inputs, and a trace is that of one"});
}

TEST_F(ModelInput, AValueOutsideThePrecisionHasItsPath) {
  const graph::Draft d = relu_of({1, 2, 2}, 8);
  const char* why = "data[0][1][0]: 128 is outside the precision 8 [input.value]";
  expect_refused(d, "x.npy", npy<i32>({1, 2, 2}, {0, 0, 128, 0}), {why});
  expect_refused(d, "x.npy", npy<std::uint8_t>({2, 2}, {0, 0, 128, 200}), {why});
  const std::string two =
      scratch.write("x.npy", npy<i64>({2, 1, 2, 2}, {1, 1, 1, 1, 1, 1, 1, -128}));
  const Ended e = lockstep_says({"model", "run", scratch.path("model"), "--input", two, "--quiet"});
  EXPECT_EQ(e.exit, 1);
  EXPECT_EQ(e.out, "");
  expect_contains(e.err, "data[1][0][1][1]: -128 is outside the precision 8 [input.value]");
  const graph::Draft wide = relu_of({1, 1}, 32);
  expect_values(wide, "x.npy", npy<i64>({1}, {-2147483647}), {-2147483647});
  expect_refused(wide, "x.npy", npy<i64>({1}, {-2147483648}), {"[input.value]"});
  expect_refused(wide, "x.npy", npy<std::uint64_t>({1}, {~std::uint64_t{0}}),
      {"data[0][0]: 18446744073709551615 is outside the precision 32"});
}

TEST_F(ModelInput, AnArrayOfOtherThingsIsRefused) {
  const graph::Draft d = relu_of({1, 2}, 8);
  expect_refused(d, "x.npy", npy<float>({1, 2}, {1, 2}),
      {"x.npy: an input is made of integers, not float32 [model.input]"});
  expect_refused(d, "x.npy", npy<i32>({1, 2}, {1, 2}).substr(0, 130), {"x.npy: ", "[npy_size]"});
  expect_refused(d, "x.npy", "no array", {"x.npy: ", "[npy_magic]"});
}

TEST_F(ModelInput, AnArchiveIsItsOnlyArray) {
  const graph::Draft d = relu_of({1, 2}, 8);
  const std::string one = npy<i32>({1, 2}, {-3, 5});
  const params::NamedTensor array{"x", params::npz::read_npy(std::as_bytes(std::span(one)))};
  const auto archive = [](const std::vector<params::NamedTensor>& arrays) {
    return text_of_bytes(params::npz::write(arrays));
  };
  expect_values(d, "x.npz", archive({array}), {-3, 5});
  expect_refused(
      d, "x.npz", archive({}), {"x.npz: the archive holds 0 arrays, not one [model.input]"});
  expect_refused(d, "x.npz", archive({array, {"y", array.tensor}}),
      {"x.npz: the archive holds 2 arrays, not one [model.input]"});
  expect_refused(d, "x.npz", one, {"x.npz: ", "[zip_end]"});
  expect_refused(relu_of({3}, 8), "x.npz", archive({array}),
      {"x.npz: the array has the shape (1, 2), \"data\" is (3,) [model.input]"});
}

TEST_F(ModelInput, BytesAreWhatTheInterfaceTakes) {
  expect_values(relu_of({1, 3}, 8), "x.bin", "\x80\x00\x7f"s, {-127, 0, 127});
  expect_values(relu_of({1, 1}, 9), "x", "\xff\xff\xff\xff"s, {-1});
  expect_refused(relu_of({1, 1}, 9), "x", "abc", {"3 bytes are not inputs of 4 bytes"});
  expect_refused(
      relu_of({1, 1}, 9), "x", "", {"0 bytes are not inputs of 4 bytes", "[model.input]"});
}

TEST_F(ModelInput, SamplesOfAPictureAreShiftedAndClamped) {
  const graph::Draft grey = relu_of({1, 1, 2, 2}, 8);
  const std::string file = png({2, 2, 0, "\0\x00\x01\0\x80\xff"s});
  expect_values(grey, "x.png", file, {-127, -127, 0, 127});
  expect_values(grey, "x.png", file, {0, 1, 127, 127}, {"--png-offset", "0"});
  expect_values(relu_of({1, 1, 2, 2}, 6), "x.png", file, {-31, -31, 0, 31});
  expect_values(relu_of({1, 1, 2, 2}, 9), "x.png", file, {-128, -127, 0, 127});
}

TEST_F(ModelInput, ChannelsOfAPictureComeOneAfterTheOther) {
  const graph::Draft colour = relu_of({1, 3, 1, 2}, 9);
  const std::vector<i32> values = {1, 4, 2, 5, 3, 6};
  const Words plain = {"--png-offset", "0"};
  expect_values(colour, "x.png", png({2, 1, 2, "\0\1\2\3\4\5\6"s}), values, plain);
  expect_values(colour, "x.png", png({2, 1, 6, "\0\1\2\3\xff\4\5\6\xff"s}), values, plain);
  expect_values(colour, "x.png", png({2, 1, 3, "\0\1\0"s, 8, "\4\5\6\1\2\3"s}), values, plain);
  expect_values(colour, "x.png", png({2, 1, 3, "\0\x80"s, 1, "\4\5\6\1\2\3"s}), values, plain);
  expect_values(
      relu_of({1, 4, 1, 1}, 9), "x.png", png({1, 1, 6, "\0\1\2\3\x80"s}), {1, 2, 3, 128}, plain);
  expect_values(relu_of({1, 1, 1, 1}, 9), "x.png", png({1, 1, 4, "\0\7\xff"s}), {7}, plain);
}

TEST_F(ModelInput, APictureThatDoesNotFitIsRefused) {
  const std::string rgb = png({2, 1, 2, "\0\1\2\3\4\5\6"s});
  const char* is = "the picture has 3 channels, height 1 and width 2, \"data\" is ";
  for (const char* shape : {"[1, 1, 1, 2]", "[1, 4, 1, 2]", "[1, 3, 2, 1]", "[1, 3, 1, 3]"})
    expect_refused(relu_of(graph::Json::parse(shape), 8), "x.png", rgb, {is, "[model.input]"});
  expect_refused(relu_of({2, 3, 1, 2}, 8), "x.png", rgb,
      {"a picture fits the shape (1, channels, height, width), \"data\" is (2, 3, 1, 2)"});
  expect_refused(relu_of({1, 6}, 8), "x.png", rgb, {"\"data\" is (1, 6)"});
  const graph::Draft colour = relu_of({1, 3, 1, 1}, 8);
  expect_refused(colour, "x.png", png({1, 1, 6, "\0\1\2\3\xfe"s}), {"the picture is transparent"});
  expect_refused(colour, "x.png", png({1, 1, 3, "\0\0"s, 8, "\1\2\3"s, "\0"s}),
      {"the picture is transparent"});
}

TEST_F(ModelInput, AFaultyPictureIsRefused) {
  const graph::Draft d = relu_of({1, 1, 1, 1}, 8);
  const std::string good = png({1, 1, 0, "\0\1"s});
  expect_values(d, "x.png", good, {-127});
  const std::pair<std::string, const char*> rows[] = {{"", "the file ends too early"},
      {"no picture", ""}, {png({1, 1, 0, "\0\0\1"s, 16}), "it has more than 8 bits"},
      {png({1, 1, 0, "\0\x80"s, 1}), "it has less than 8 bits"}, {png({1, 1, 0, ""}), ""}};
  for (const auto& [text, why] : rows)
    expect_refused(d, "x.png", text, {"x.png: no PNG of 8 bits: "s + why, "[model.input]"});
  for (std::size_t size = 0; size < good.size(); ++size)
    expect_refused(d, "x.png", good.substr(0, size), {"no PNG of 8 bits"});
}

}  // namespace
}  // namespace lockstep::judge
