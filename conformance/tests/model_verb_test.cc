// What the verb `model` says of models that are faulty.
#include <gtest/gtest.h>

#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

const std::string kDigits = "conformance/models/digits";

// A copy of the model, with one of its files in another text.
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
      {bytes + "abc", "trailing"},
      {text_of_file("containers/tests/golden/worked_example.params"), "model.params"},
      {text_of_file("containers/tests/golden/every_dtype.params"), "model.params"},
  };
  for (const auto& [text, label] : rows) {
    const std::string model = faulty_model(scratch, "params", text);
    expect_rejected({"model", "check", model, "--backend", "reference", "--quiet"}, label);
  }
}

}  // namespace
}  // namespace lockstep::judge
