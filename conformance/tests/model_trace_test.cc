// The verbs `model trace` and `model diff`.
#include <gtest/gtest.h>

#include "conformance/tests/model_files.h"

namespace lockstep::judge {
namespace {

class ModelTrace : public ScratchTest {
 protected:
  // Traces the first of the digits.
  std::string traced(const std::string& file, const Words& more = {}) {
    const std::string image = text_of_file(kDigits + "/images.bin").substr(0, 64);
    const std::string option = file.ends_with(".npz") ? "--values" : "--json";
    std::string path = scratch.path(file);
    expect_end(joined({"model", "trace", kDigits, "--input", scratch.write("image", image),
                          "--quiet", option, path, "--backend"},
                   more.empty() ? Words{"reference"} : more),
        0);
    return path;
  }
  // The trace of a backend that rounds otherwise.
  std::string other(const std::string& file) {
    return traced(file, {"faulty", "--set", "mutant=cvm_right_shift.ties_away"});
  }
  static nlohmann::json read(const std::string& path) {
    return nlohmann::json::parse(text_of_file(path));
  }
};

TEST_F(ModelTrace, HasTheHashOfEveryOutput) {
  const nlohmann::json t = read(traced("a.json"));
  EXPECT_EQ(t["symbol"], sha256(text_of_file(kDigits + "/symbol.json")));
  EXPECT_EQ(t["params"], sha256(text_of_file(kDigits + "/params")));
  ASSERT_EQ(t["outputs"].size(), 13U);
  const nlohmann::json& last = t["outputs"][12];
  EXPECT_EQ(last["node"], "dense2");
  EXPECT_EQ(last["operator"], "dense");
  EXPECT_EQ(last["shape"], (std::vector<int>{1, 10}));
  EXPECT_EQ(last["precision"], 24);
  std::string hashes;
  for (const auto& output : t["outputs"]) hashes += output["sha256"].get<std::string>();
  EXPECT_EQ(t["digest"], sha256(hashes));
  const params::Params all = params::npz::read_file(traced("a.npz"));
  EXPECT_EQ(last["sha256"], hash_of(params::to_int32(all.tensors.back().tensor)));
  EXPECT_EQ(all.tensors.back().name, "0012_dense2");
  ASSERT_EQ(all.tensors.size(), 14U);
}

TEST_F(ModelTrace, HasEveryOutputOfACall) {
  graph::Draft d;
  d.variable("data", {1, 2, 6}, 8);
  d.call("get_valid_counts", {{0, 0}}, {{1}, {1, 2, 6}});
  d.head(1);
  const std::string model = write_model(scratch, d);
  const Ended e = expect_end({"model", "trace", model, "--input",
                                 scratch.write("x", "\1\2\3\4\5\6\7\1\1\1\1\1"), "--quiet"},
      0, {"get_valid_counts 1    get_valid_counts  ", "  1@5\n", "get_valid_counts 1:1  "});
  expect_contains(e.out, " of 2 outputs\n");
}

TEST_F(ModelTrace, DiffNamesTheFirstOutputAndElement) {
  const std::string a = traced("a.json"), b = other("b.json");
  const char* where =
      "part at output 0 of node \"conv1_shift\", cvm_right_shift 1x24x8x8@8, after "
      "1 of 13 outputs\n";
  expect_end({"model", "diff", a, b}, 1,
      {where, "reference 0.1.0, " + a + "\n", "faulty 0.1.0, " + b + "\n", "--values tell"});
  const std::string a_values = traced("a.npz"), b_values = other("b.npz");
  expect_end({"model", "diff", a_values, b_values}, 1,
      {where, "  element [0,0,4,7]: 0 and -1; 64 of 1536 elements differ\n"});
  expect_end({"model", "diff", a_values, b}, 1, {where, "--values tell"});
  const Judged j = judged({"model", "diff", b_values, a_values});
  EXPECT_EQ(j.end.exit, 1);
  EXPECT_EQ(j.report["equal"], 1);
  EXPECT_EQ(j.report["output"]["node"], "conv1_shift");
  EXPECT_EQ(j.report["element"]["index"], (std::vector<int>{0, 0, 4, 7}));
  EXPECT_EQ(j.report["element"]["first"], -1);
  EXPECT_EQ(j.report["element"]["second"], 0);
}

TEST_F(ModelTrace, EqualTracesAreEqual) {
  const std::string a = traced("a.json"), b = traced("b.npz", {"faulty", "--set", "mutant=none"});
  expect_end({"model", "diff", a, b}, 0, {"equal in all 13 outputs, digest ", "exit 0 (pass)\n"});
}

TEST_F(ModelTrace, OtherModelsAndInputsAreNotCompared) {
  const std::string a = traced("a.json");
  const nlohmann::json t = read(a);
  const auto refused = [&](const nlohmann::json& changed, const char* why) {
    expect_end({"model", "diff", a, scratch.write("b.json", changed.dump())}, 2, {why});
  };
  const std::string hash(64, '0');
  refused(with(t, "/symbol", hash), "the traces are of different graphs (symbol.json)");
  refused(with(t, "/params", hash), "the traces are of different parameters (params)");
  refused(with(t, "/input", hash), "the traces are of different inputs");
  refused(with(t, "/outputs/0/precision", 3), "the traces are of different outputs");
  refused(with(t, "/outputs/3/sha256", hash), "/digest is not what follows from the rest");
  refused(with(t, "/kind", "report"), "is no trace of a model: ");
  expect_end({"model", "diff", a, scratch.write("c.npz", text_of_bytes(params::npz::write({})))}, 2,
      {"it has no array 'trace'"});
  expect_end({"model", "diff", a, scratch.write("d.npz", "")}, 1);
}

TEST_F(ModelTrace, ValuesAreHeldToTheirHash) {
  const std::string b = other("b.npz");
  params::Params all = params::npz::read_file(traced("a.npz"));
  params::Tensor& shift = all.tensors[2].tensor;
  std::vector<i32> values = params::to_int32(shift);
  values[0] ^= 1;
  shift = params::from_int32(shift.shape, values);
  const std::string a = scratch.path("changed.npz");
  params::npz::write_file(a, all.tensors);
  for (const std::string& other_file : {b, traced("same.npz")})
    expect_end(
        {"model", "diff", a, other_file}, 2, {"the array '0001_conv1_shift' has not the hash"});
  all.tensors.erase(all.tensors.begin() + 2);
  params::npz::write_file(a, all.tensors);
  expect_end({"model", "diff", a, b}, 2, {"the trace has no array '0001_conv1_shift'"});
}

TEST_F(ModelTrace, StopsWhereACallFails) {
  const std::string image = scratch.write("image", std::string(64, '\1'));
  const std::string file = scratch.path("a.json");
  expect_end(
      {"model", "trace", kDigits, "--input", image, "--backend", "null", "--quiet", "--json", file},
      1, {"stopped at node \"conv1\": conv2d output 0 at [0,0,0,0]: expected "});
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(ModelTrace, RefusesWrongOptions) {
  const std::string image = scratch.write("image", std::string(64, '\1'));
  expect_end({"model", "trace", kDigits}, 2, {"--input is required"});
  expect_end({"model", "trace", kDigits, "--input", image, "--values", "a.json"}, 2,
      {"'a.json' does not end in .npz"});
  expect_end({"model", "trace", kDigits, "--input", image, "--png-offset", "x"}, 2);
  expect_end({"model", "trace", kDigits, "--input", "nowhere"}, 2, {"cannot read 'nowhere'"});
  expect_end({"model", "trace", "nowhere", "--input", image}, 2, {"nowhere"});
}

}  // namespace
}  // namespace lockstep::judge
