// The verb `model check`, and what the verbs of models say of those that are faulty.
#include <gtest/gtest.h>

#include "conformance/tests/model_files.h"
#include "containers/array/dictionary.h"

namespace lockstep::judge {
namespace {

// A copy of the model with another text in one of its files.
std::string faulty_model(const Scratch& scratch, const std::string& file, const std::string& text) {
  std::string directory = scratch.path("model");
  std::filesystem::copy(kDigits, directory,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  scratch.write("model/" + file, text);
  return directory;
}

void expect_rejected(const Words& words, const std::string& label) {
  expect_contains(expect_end(words, 1).err, "[" + label + "] (exit 1, fail)\n");
}

TEST(ModelVerb, AFaultyModelFailsWithItsLabel) {
  const Scratch scratch;
  const std::string symbol = text_of_file(kDigits + "/symbol.json");
  const auto edited = [&](const std::string& was, const std::string& is) {
    std::string text = symbol;
    EXPECT_NE(text.find(was), std::string::npos) << was;
    return text.replace(text.find(was), was.size(), is);
  };
  const std::pair<std::string, const char*> rows[] = {
      {"{", "model.json"},
      {"{}", "model.key"},
      {edited("\"conv2d\"", "\"conv9d\""), "op.unknown"},
  };
  for (const auto& [text, label] : rows) {
    const std::string model = faulty_model(scratch, "symbol.json", text);
    expect_rejected({"model", "show", model}, label);
    expect_rejected({"model", "check", model, "--backend", "reference", "--quiet"}, label);
  }
}

TEST(ModelVerb, FaultyParametersFailWithTheirLabel) {
  const Scratch scratch;
  const std::string bytes = text_of_file(kDigits + "/params");
  const std::pair<std::string, const char*> rows[] = {
      {bytes + "abc", "model.params"},
      {text_of_file("containers/tests/golden/worked_example.params"), "model.params"},
      {text_of_file("containers/tests/golden/every_dtype.params"), "model.params"},
  };
  for (const auto& [text, label] : rows) {
    const std::string model = faulty_model(scratch, "params", text);
    expect_rejected({"model", "check", model, "--backend", "reference", "--quiet"}, label);
  }
}

// The words of every verb that reads a model, each with those of its own.
std::vector<Words> verbs_on(const std::string& model) {
  const Words image = {"--input", kDigits + "/images.bin", "--backend", "reference", "--quiet"};
  return {{"model", "show", model}, {"check", "reference", "--tier", "0", "--model", model},
      joined({"model", "run", model}, image), joined({"model", "trace", model}, image),
      {"model", "check", model, "--backend", "reference", "--quiet"}};
}

TEST(ModelVerb, EveryVerbNamesThePlaceOfAFault) {
  const Scratch scratch;
  const auto symbol = nlohmann::ordered_json::parse(text_of_file(kDigits + "/symbol.json"));
  const std::tuple<const char*, nlohmann::ordered_json, const char*, const char*> rows[] = {
      {"/nodes/3/inputs/1", {99, 0, 0}, "nodes[3].inputs[1]: ", "model.reference"},
      {"/nodes/3/inputs/0", {0, 1, 0}, "nodes[3].inputs[0]: ", "model.reference"},
      {"/nodes/3/inputs/1", "1", "nodes[3].inputs[1] ", "model.key"},
      {"/heads/0", {99, 0, 0}, "heads[0]: ", "model.reference"},
      {"/attrs/shape/1/21", {1, 11}, "attrs.shape[1][21]", "model.shape"}};
  for (const auto& [place, value, path, label] : rows) {
    const std::string model =
        faulty_model(scratch, "symbol.json", with(symbol, place, value).dump());
    for (const Words& words : verbs_on(model)) {
      const Ended e = expect_end(words, 1);
      EXPECT_TRUE(e.err.starts_with("lockstep: " + model + "/symbol.json: " + path)) << e.err;
      expect_contains(e.err, std::string("[") + label + "] (exit 1, fail)\n");
    }
  }
}

// The caller named a directory that is no model; a model without parameters is a faulty one.
TEST(ModelVerb, EveryVerbTellsNoModelFromOneWithoutParameters) {
  const Scratch scratch;
  const std::string model = faulty_model(scratch, "symbol.json", "");
  std::filesystem::remove(model + "/symbol.json");
  for (const Words& words : verbs_on(model))
    expect_end(words, 2,
        {"lockstep: '" + model +
            "/symbol.json' cannot be opened: No such file or directory (exit"});
  std::filesystem::copy(kDigits + "/symbol.json", model + "/symbol.json");
  std::filesystem::remove(model + "/params");
  int refusals = 0;
  for (const Words& words : verbs_on(model)) {
    const bool reads_parameters = words[0] == "model" && words[1] != "show";
    const Ended e = lockstep_says(words);
    if (!reads_parameters) {
      EXPECT_EQ(e.exit, 0) << e.err;
      continue;
    }
    ++refusals;
    EXPECT_EQ(e.exit, 1);
    EXPECT_EQ(e.err,
        "lockstep: params: there is no file '" + model +
            "/params' [model.params] (exit 1, fail)\n");
  }
  EXPECT_EQ(refusals, 3);
}

// Root may open every file, so the file is one that nobody can open.
TEST(ModelVerb, ParametersThatCannotBeOpenedAreTheCallersWord) {
  const Scratch scratch;
  const std::string model = faulty_model(scratch, "params", "");
  std::filesystem::remove(model + "/params");
  std::filesystem::create_symlink("params", model + "/params");
  for (const Words& words : verbs_on(model))
    if (words[0] == "model" && words[1] != "show")
      expect_end(words, 2,
          {"cannot open " + model + "/params: Too many levels of symbolic links (exit 2, usage)"});
}

class ModelCheck : public ScratchTest {
 protected:
  // A model of relu with two inputs, and the record of its outputs.
  std::string small_model(const std::string& record) {
    std::string model = write_model(scratch, relu_of({1, 2}, 8));
    scratch.write("model/input.bin", "\x01\xff\x03\x04");
    scratch.write("model/expected.json", record);
    return model;
  }
  static std::string record(const std::string& more = "") {
    return R"({"sha256": ")" + hash_of({1, 0, 3, 4}) + "\"" + more + "}";
  }
  void expect_checked(const std::string& model, int exit, const Words& parts) {
    expect_end({"model", "check", model, "--backend", "reference", "--quiet"}, exit, parts);
  }
};

TEST_F(ModelCheck, TakesAModelWithoutLabels) {
  const std::string model = small_model(record());
  const Ended e = expect_end({"model", "check", model, "--backend", "reference", "--quiet"}, 0,
      {"PASS  ", "  outputs equal to the specification's in 2 of 2 inputs, call by call",
          "(as recorded)\n"});
  EXPECT_EQ(e.out.find("accuracy"), std::string::npos);
  const Judged j = judged({"model", "check", model, "--backend", "reference", "--quiet"});
  EXPECT_EQ(j.report["inputs"], 2);
  EXPECT_FALSE(j.report.contains("correct"));
  scratch.write("model/input.bin", "\x01\xff\x03\x05");
  expect_checked(model, 1, {"FAIL  ", "(NOT as recorded)\n"});
}

// The calls of this backend are right.
TEST_F(ModelCheck, RunsTheCompiledGraphToo) {
  const auto words = [](const std::string& mutant) {
    return Words{
        "model", "check", kDigits, "--quiet", "--backend", "faulty", "--set", "mutant=" + mutant};
  };
  expect_end(words("none"), 0, {"in 360 of 360 inputs, call by call and compiled\n"});
  expect_end(words("contract.narrows_between_calls"), 1,
      {"FAIL  ", " inputs, call by call and compiled\n", "  input 0: compiled: output 0 at "});
}

// One question has room for eight of these heads. A graph of two has no third one to forget.
TEST_F(ModelCheck, RunsManyHeadsOfTheCompiledGraphAtOnce) {
  constexpr int kHeads = 10;
  graph::Draft d = relu_of({1, 2}, 8);
  std::vector<i32> outputs;
  for (int k = 1; k < kHeads; ++k) d.head(d.call("relu", {{k, 0, 0}}, {{1, 2}}));
  for (const auto& [first, second] : {std::pair{1, 0}, {3, 4}})
    for (int k = 0; k < kHeads; ++k) outputs.insert(outputs.end(), {first, second});
  const std::string model = write_model(scratch, d);
  scratch.write("model/input.bin", "\x01\xff\x03\x04");
  scratch.write("model/expected.json", R"({"sha256": ")" + hash_of(outputs) + "\"}");
  const auto words = [&](const std::string& mutant) {
    return Words{
        "model", "check", model, "--quiet", "--backend", "faulty", "--set", "mutant=" + mutant};
  };
  expect_end(words("none"), 0, {"in 2 of 2 inputs, call by call and compiled\n"});
  expect_end(words("contract.forgets_third_head"), 1,
      {"  stopped at input 0: compiled: a head lies outside its type\n"});
}

TEST_F(ModelCheck, RunsMoreParametersThanAQuestionHasRoomForCallByCall) {
  constexpr int kVariables = 1'100;
  const std::string model = write_model(scratch, graph::sum_draft(kVariables));
  std::vector<ndarray::NamedArray> parameters;
  for (int k = 1; k < kVariables; ++k)
    parameters.push_back({"w" + std::to_string(k), graph::array_of({1, 2}, {1, -1})});
  ndarray::save_file(model + "/params", parameters);
  scratch.write("model/input.bin", "\x01\xff\x03\x04");
  scratch.write(
      "model/expected.json", R"({"sha256": ")" + hash_of({1100, -1100, 1102, -1095}) + "\"}");
  expect_end({"model", "check", model, "--backend", "cpu", "--quiet"}, 0,
      {"in 2 of 2 inputs, call by call\n"});
}

TEST_F(ModelCheck, NamesEachFileThatIsNotOnRecord) {
  const std::string model = scratch.path("model");
  std::filesystem::copy(kDigits, model, std::filesystem::copy_options::recursive);
  scratch.write("model/params", text_of_file(kDigits + "/params"));
  expect_checked(model, 0, {"PASS"});
  scratch.write("model/dataset.json", text_of_file(kDigits + "/dataset.json") + "\n");
  scratch.write("model/symbol.json", text_of_file(kDigits + "/symbol.json") + "\n");
  expect_checked(model, 1,
      {"FAIL  ", "  dataset.json is not the file on record\n",
          "  symbol.json is not the file on record\n", "(as recorded)\n"});
  std::filesystem::remove(model + "/dataset.json");
  expect_checked(model, 2, {"cannot read '", "input.bin'"});
  scratch.write("model/dataset.json", text_of_file(kDigits + "/dataset.json"));
  std::string images = text_of_file(kDigits + "/images.bin");
  images[0] = static_cast<char>(images[0] ^ 1);
  scratch.write("model/images.bin", images);
  expect_checked(model, 1, {"FAIL  ", "  images.bin is not the file on record\n"});
  std::filesystem::remove(model + "/expected.json");
  const Ended e = lockstep_says({"model", "check", model, "--record", "--quiet"});
  EXPECT_EQ(e.exit, 1);
  expect_contains(
      e.err, "images.bin is not the file that dataset.json names (SHA-256 differs) [model.input]");
  EXPECT_FALSE(std::filesystem::exists(model + "/expected.json"));
}

TEST_F(ModelCheck, RecordsWhatItThenHolds) {
  const std::string model = scratch.path("model"), file = model + "/expected.json";
  std::filesystem::copy(kDigits, model, std::filesystem::copy_options::recursive);
  const Words words = {"model", "check", model, "--record", "--quiet"};
  expect_end(words, 2, {"expected.json' is there already"});
  std::filesystem::remove(file);
  expect_end(words, 0, {"360 inputs, gas 742862, digest 67ef4ab2898ffc46"});
  auto expected = nlohmann::json::parse(text_of_file(kDigits + "/expected.json"));
  expected.erase("sha256_first_20");
  EXPECT_EQ(nlohmann::json::parse(text_of_file(file)), expected);
  expect_checked(model, 0, {"PASS"});
  std::filesystem::remove_all(model);
  std::filesystem::remove(small_model(record()) + "/expected.json");
  expect_end(words, 0, {"2 inputs, gas 22"});
  const auto small = nlohmann::json::parse(text_of_file(file));
  EXPECT_EQ(small["sha256"], hash_of({1, 0, 3, 4}));
  EXPECT_FALSE(small.contains("correct"));
  EXPECT_EQ(small["files"].size(), 3U);
  expect_end(joined(words, {"--backend", "cpu"}), 2, {"--backend"});
}

TEST_F(ModelCheck, HoldsTheGasToTheRecord) {
  expect_checked(small_model(record(R"(, "gas": 22)")), 0, {"  gas 22 (as recorded)\n"});
  expect_checked(
      small_model(record(R"(, "gas": 23)")), 1, {"FAIL", "  gas 22 (NOT as recorded)\n"});
}

TEST_F(ModelCheck, RefusesARecordThatIsNone) {
  const std::pair<std::string, const char*> rows[] = {
      {"", "expected.json' is no record of a model: it is no JSON"},
      {"{}", "/sha256 is missing"},
      {R"({"sha256": "00"})", "/sha256 is no SHA-256"},
      {record(R"(, "files": {"params": 1})"), "/files/params is no text"},
      {record(R"(, "correct": 1)"), "where the data set has labels, and only there"},
      {record(R"(, "files": {"nowhere": ""})"), "cannot read '"},
      {record(R"(, "unknown": 1)"), "/unknown is unknown"},
  };
  for (const auto& [text, why] : rows) expect_checked(small_model(text), 2, {why});
  const std::string model = small_model(record());
  scratch.write("model/input.bin", "abc");
  for (const char* bytes : {"abc", ""}) {
    scratch.write("model/input.bin", bytes);
    const Ended e = lockstep_says({"model", "check", model, "--quiet"});
    EXPECT_EQ(e.exit, 1);
    expect_contains(e.err, "bytes, which are not 1 inputs of 2 bytes [model.input] (exit 1, fail)");
  }
}

}  // namespace
}  // namespace lockstep::judge
