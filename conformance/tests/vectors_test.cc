// Golden vectors: the frozen set is what the specification says, and each way in which a copy of it
// can be wrong is named.
#include "conformance/golden/vectors.h"

#include <gtest/gtest.h>
#include <stdio.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "conformance/cases/mutate.h"
#include "conformance/golden/vector_cases.h"
#include "conformance/tests/expect.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kFrozen = "conformance/vectors";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A directory of its own for each test.
class Vectors : public testing::Test {
 protected:
  Vectors() {
    std::string pattern = (fs::temp_directory_path() / "vectors_test.XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  ~Vectors() override { fs::remove_all(directory_); }

  void copy_frozen() {
    for (const auto& e : fs::directory_iterator(kFrozen))
      fs::copy_file(e.path(), directory_ / e.path().filename());
  }
  fs::path file(const std::string& name) const { return directory_ / name; }
  std::string directory() const { return directory_.string(); }

  // Applies `change` to one file, which is written canonically again.
  template <class F>
  void edit(const std::string& name, F change) const {
    VectorFile f = read_vectors(read(file(name)), name);
    change(f);
    write(file(name), file_text(f));
  }

 private:
  fs::path directory_;
};

struct PythonRun {
  int status;
  std::string output;
};

PythonRun check_with_python(const std::string& directory) {
  const std::string command = "python3 conformance/vectors/check_vectors.py " + directory + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  PythonRun r{-1, {}};
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) r.output.append(buffer, n);
  r.status = pclose(pipe);
  return r;
}

std::string refused(const std::string& text) {
  try {
    read_vectors(text, "f.json");
  } catch (const UsageError& e) {
    return e.what();
  }
  return "accepted";
}

TEST_F(Vectors, TheFrozenSetIsWhatTheSpecificationSays) {
  EXPECT_EQ(check_vectors(kFrozen), std::vector<std::string>());
}

TEST_F(Vectors, PythonAgreesWithTheFrozenSetAndItsHash) {
  const PythonRun r = check_with_python(kFrozen);
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_NE(r.output.find("set " + vectors_hash(kFrozen)), std::string::npos) << r.output;
}

TEST_F(Vectors, EveryFrozenVectorLoadsAsWhatItIs) {
  std::set<std::string> ids;
  int count[3] = {};
  for (const Vector& v : load_vectors(kFrozen)) {
    EXPECT_TRUE(ids.insert(v.id).second) << v.id;
    ++count[v.expectation];
    if (v.expectation == Vector::typed_error) {
      EXPECT_EQ(refusal(v.call).label(), v.label) << v.id;
    } else if (v.expectation == Vector::outputs) {
      ASSERT_FALSE(refusal(v.call).refused()) << v.id;
      const auto out = reference::outputs(*v.call.op, v.call.attributes(), inputs_of(v.call));
      ASSERT_EQ(out.size(), v.out.size()) << v.id;
      for (std::size_t k = 0; k < out.size(); ++k) EXPECT_EQ(out[k].data, v.out[k].data) << v.id;
    } else {
      EXPECT_NE(v.call.op, nullptr) << v.id;
    }
  }
  const int operators_there = static_cast<int>(operators().size());
  EXPECT_GE(count[Vector::outputs], 40 * operators_there);
  EXPECT_GE(count[Vector::typed_error], 10 * operators_there);
  EXPECT_GE(count[Vector::text_error], 4 * operators_there);
}

TEST_F(Vectors, UpdateOfTheFrozenSetChangesNothing) {
  copy_frozen();
  for (const VectorUpdate& u : update_vectors(directory())) {
    EXPECT_EQ(u.added, 0) << u.file;
    EXPECT_TRUE(u.changed.empty()) << u.file;
  }
  EXPECT_EQ(vectors_hash(directory()), vectors_hash(kFrozen));
}

TEST_F(Vectors, UpdateMakesASetFromNothing) {
  update_vectors(directory());
  EXPECT_EQ(check_vectors(directory()), std::vector<std::string>());
}

TEST_F(Vectors, UpdateKeepsIdentifiersAndNeverGivesOneTwice) {
  copy_frozen();
  std::string gone, last;
  edit("relu.json", [&](VectorFile& f) {
    gone = f.tests[0].id;
    last = f.tests.back().id;
    f.tests.erase(f.tests.begin());
    f.tests[0].result.out[0].data[0] ^= 1;
  });
  for (const VectorUpdate& u : update_vectors(directory())) {
    EXPECT_EQ(u.added, u.file == "relu.json" ? 1 : 0) << u.file;
    EXPECT_EQ(u.changed.size(), u.file == "relu.json" ? 1u : 0u) << u.file;
  }
  edit("relu.json", [&](const VectorFile& f) {
    EXPECT_NE(f.tests[0].id, gone);
    EXPECT_GT(f.tests.back().id, last);
  });
  EXPECT_EQ(check_vectors(directory()), std::vector<std::string>());
}

TEST_F(Vectors, CheckNamesEachDifference) {
  copy_frozen();
  std::string number, label;
  edit("relu.json", [&](VectorFile& f) {
    f.tests[0].result.out[0].data[0] ^= 1;
    number = f.tests[0].id;
  });
  edit("take.json", [&](VectorFile& f) {
    for (VectorTest& t : f.tests)
      if (t.result.label == "input.rank") {
        t.result.label = "input.extent";
        label = t.id;
        break;
      }
  });
  edit("sum.json", [](VectorFile& f) {
    std::erase_if(f.tests, [](const VectorTest& t) { return t.result.label == "attr.twice"; });
  });
  write(file("max.json"), read(file("max.json")) + "\n");
  fs::remove(file("dense.json"));
  const std::vector<std::string> found = check_vectors(directory());
  ASSERT_EQ(found.size(), 5u) << testing::PrintToString(found);
  EXPECT_EQ(found[0], "max.json: is not written as `lockstep vectors update` writes it");
  EXPECT_EQ(found[1].rfind("relu.json: " + number + ": out[0].data[0]: the specification says", 0),
            0u)
      << found[1];
  EXPECT_EQ(found[2], "sum.json: no test gives attr.twice");
  EXPECT_EQ(found[3],
            "take.json: " + label + ": the specification says input.rank, the file input.extent");
  EXPECT_EQ(found[4], "dense.json is missing");
}

TEST_F(Vectors, LoadRefusesADirectoryWithoutVectors) {
  EXPECT_THROW(load_vectors(directory()), UsageError);
  EXPECT_THROW(load_vectors(directory() + "/none"), UsageError);
  EXPECT_THROW(load_vectors(kFrozen + "/FORMAT.md"), UsageError);
}

TEST_F(Vectors, LoadNamesTheFileThatBelongsToAnotherOperator) {
  fs::copy_file(kFrozen + "/relu.json", file("sum.json"));
  expect_throws<UsageError>([&] { load_vectors(directory()); },
                            "sum.json: has the vectors of relu");
}

// A file of one test of concatenate with every fill, at several precisions and positions.
VectorFile recipes_file() {
  VectorFile f{find_operator("concatenate"), {}};
  int number = 0;
  for (Fill fill : {Fill::zero, Fill::max, Fill::min, Fill::alternating, Fill::sparse, Fill::dense,
                    Fill::boundary})
    for (int precision : {1, 2, 8, 17, 32}) {
      VectorTest t;
      t.id = "concatenate-" + std::to_string(1000 + ++number);
      t.comment = std::string(name_of(fill)) + " " + std::to_string(precision);
      t.call.in_prec.assign(3, precision);
      Case c;
      c.op = f.op;
      c.attrs = {f.op->attrs[0].fallback};
      c.in.assign(3, Type{{2, 100}, precision});
      c.fill = fill;
      c.seed = static_cast<u64>(number) << 40;
      for (const Tensor& in : inputs_of(c))
        t.call.in.push_back({{2, 100}, {}, Recipe{fill, c.seed}, values_hash(in.data)});
      t.result = derive(*f.op, t.call);
      f.tests.push_back(std::move(t));
    }
  return f;
}

TEST_F(Vectors, PythonMakesTheValuesOfEveryRecipe) {
  VectorFile f = recipes_file();
  write(file("concatenate.json"), file_text(f));
  const PythonRun right = check_with_python(directory());
  EXPECT_EQ(right.status, 0) << right.output;
  f.tests[7].call.in[2].sha256 = f.tests[6].call.in[2].sha256;
  write(file("concatenate.json"), file_text(f));
  const PythonRun wrong = check_with_python(directory());
  EXPECT_NE(wrong.status, 0);
  EXPECT_NE(wrong.output.find(f.tests[7].id + ": in[2]: the recipe gives other values"),
            std::string::npos)
      << wrong.output;
}

TEST_F(Vectors, PythonNamesWhatIsWrong) {
  struct Damage {
    const char *from, *to, *says;
  };
  for (const Damage& d : {
           Damage{"\"numberOfTests\":35", "\"numberOfTests\":36", "numberOfTests is wrong"},
           Damage{"concatenate-1002", "concatenate-1001", "concatenate-1001: is given twice"},
           Damage{"\"prec\":1,", "\"prec\":33,", "illegal precision"},
           Damage{"\"comment\":\"zero 1\"", "\"comment\":1", "concatenate-1001: has no comment"},
           Damage{"\"sha256\":\"", "\"sha256\":\"0", "the recipe gives other values"},
           Damage{"\"attrs\":{}", "\"attrs\":{\"axis\":\"1\",\"axis\":\"1\"}", "given twice"},
           Damage{"\"data\":[0,", "\"data\":[1,", "outside its precision"},
           Damage{"\"result\":\"ok\"", "\"result\":\"maybe\"", "has other keys"},
           Damage{"\"tests\":[", "\"tests\":[[],", "concatenate.json"},
       }) {
    std::string text = file_text(recipes_file());
    const std::size_t at = text.find(d.from);
    ASSERT_NE(at, std::string::npos) << d.from;
    write(file("concatenate.json"), text.replace(at, std::string(d.from).size(), d.to));
    const PythonRun r = check_with_python(directory());
    EXPECT_NE(r.status, 0) << d.to;
    EXPECT_NE(r.output.find(d.says), std::string::npos) << d.to << "\n" << r.output;
  }
  fs::remove(file("concatenate.json"));
  EXPECT_NE(check_with_python(directory()).status, 0);
}

TEST_F(Vectors, TheReaderNamesWhatIsWrong) {
  struct Damage {
    const char *from, *to, *says;
  };
  for (const Damage& d : {
           Damage{"{", "[", "f.json: not JSON"},
           Damage{"\"specification\":\"lockstep\"", "\"specification\":\"other\"",
                  "f.json: no vectors of this specification"},
           Damage{"\"version\":\"0.", "\"version\":\"7.", "another format"},
           Damage{"\"operator\":\"concatenate\"", "\"operator\":\"concat\"",
                  "f.json: no operator 'concat'"},
           Damage{"\"numberOfTests\":35", "\"numberOfTests\":36", "not the number of tests"},
           Damage{"concatenate-1002", "concatenate-1001", "concatenate-1001: this tcId"},
           Damage{"\"flags\":[]", "\"flags\":[\"ODD\"]", "concatenate-1001: no flag 'ODD'"},
           Damage{"\"attrs\":{}", "\"attrs\":{\"axis\":1}", "attrs.axis must be a string"},
           Damage{"\"in_prec\":[1,", "\"in_prec\":[", "in_prec and in differ"},
           Damage{"\"in_prec\":[1,", "\"in_prec\":[1.5,", "in_prec must be an integer"},
           Damage{"\"in_prec\":[1,", "\"in_prec\":[9223372036854775808,", "64 bits"},
           Damage{"\"shape\":[2,100]", "\"shape\":[2,0]", "values for an illegal shape"},
           Damage{"\"fill\":\"zero\"", "\"fill\":\"critical\"", "no recipe 'critical'"},
           Damage{"\"fill\":\"zero\",", "", "in[0].recipe lacks 'fill'"},
           Damage{"\"sha256\":\"", "\"sha256\":\"0", "64 lower-case"},
           Damage{"\"prec\":1", "\"prec\":33", "out[0] has an illegal type"},
           Damage{"\"data\":[0,", "\"data\":[1,", "1 is outside its precision"},
           Damage{"\"data\":[0,", "\"data\":[", "599 values, its shape 600"},
           Damage{"\"result\":\"ok\"", "\"result\":\"error\"", "a result 'ok' has 'out'"},
           Damage{"\"result\":\"ok\"", "\"result\":\"maybe\"", "'ok' or 'error'"},
           Damage{"\"result\":\"ok\",", "\"note\":1,\"result\":\"ok\",", "unknown key 'note'"},
           Damage{"\"tests\":[", "\"tests\":[[],", "not the number of tests"},
       }) {
    std::string text = file_text(recipes_file());
    const std::size_t at = text.find(d.from);
    ASSERT_NE(at, std::string::npos) << d.from;
    const std::string message = refused(text.replace(at, std::string(d.from).size(), d.to));
    EXPECT_NE(message.find(d.says), std::string::npos) << d.to << "\n" << message;
    EXPECT_EQ(message.rfind("f.json", 0), 0u) << message;
  }
  // The hash of an output is its own.
  std::string text = file_text(recipes_file());
  const std::size_t at = text.rfind("\"sha256\":\"") + 10;
  text[at] = text[at] == '0' ? '1' : '0';
  EXPECT_NE(refused(text).find("concatenate-1035: out[0].sha256 is not the hash"),
            std::string::npos);
}

// Deletes every key of an object and adds an unknown one: the reader must agree with the schema.
void compare(const json& schema, const json& sample, const json::json_pointer& object) {
  ASSERT_EQ(refused(sample.dump()), "accepted");
  EXPECT_EQ(schema["additionalProperties"], false);
  const json& required = schema["required"];
  for (const auto& [key, value] : sample[object].items()) {
    EXPECT_TRUE(schema["properties"].contains(key)) << key;
    json less = sample;
    less[object].erase(key);
    const bool needed = std::find(required.begin(), required.end(), key) != required.end();
    const bool paired = key == "out" || key == "recipe" || key == "sha256";
    EXPECT_EQ(refused(less.dump()) != "accepted", needed || paired) << object << " " << key;
  }
  json more = sample;
  more[object]["unknown"] = 1;
  EXPECT_NE(refused(more.dump()), "accepted") << object;
}

TEST_F(Vectors, TheSchemaSaysWhatTheReaderSays) {
  const json schema = json::parse(read(kFrozen + "/schema.json"));
  const json sample = json::parse(file_text(recipes_file()));
  compare(schema, sample, json::json_pointer(""));
  const json& defs = schema["$defs"];
  compare(defs["test"], sample, json::json_pointer("/tests/0"));
  compare(defs["input"], sample, json::json_pointer("/tests/0/in/0"));
  compare(defs["recipe"], sample, json::json_pointer("/tests/0/in/0/recipe"));
  compare(defs["output"], sample, json::json_pointer("/tests/0/out/0"));
  std::set<std::string> fills;
  for (int f = 0; f < kFills; ++f)
    if (recipe_allowed(static_cast<Fill>(f)))
      fills.insert(std::string(name_of(static_cast<Fill>(f))));
  EXPECT_EQ(fills, defs["recipe"]["properties"]["fill"]["enum"].get<std::set<std::string>>());
}

TEST_F(Vectors, TheDocumentHasTheGeneratorThatIsTested) {
  const std::string document = read(kFrozen + "/FORMAT.md");
  const std::string fence = "```python\n";
  const std::size_t begin = document.find(fence) + fence.size();
  const std::string code = document.substr(begin, document.find("```", begin) - begin);
  EXPECT_GT(code.size(), 500u);
  EXPECT_NE(read(kFrozen + "/check_vectors.py").find(code), std::string::npos);
  EXPECT_NE(document.find("begins -7, -12, 86, -37;"), std::string::npos);
  EXPECT_NE(document.find("begins -7, 524288, 2048, 268435456."), std::string::npos);
  Case c;
  c.op = find_operator("relu");
  c.in = {Type{{4}, 8}};
  c.seed = 1;
  EXPECT_EQ(inputs_of(c)[0].data, (std::vector<i32>{-7, -12, 86, -37}));
  c.in[0].precision = 32;
  c.fill = Fill::boundary;
  EXPECT_EQ(inputs_of(c)[0].data, (std::vector<i32>{-7, 524288, 2048, 268435456}));
}

TEST_F(Vectors, ARecipeForAllInputsStaysARecipe) {
  write(file("concatenate.json"), file_text(recipes_file()));
  const std::vector<Vector> all = load_vectors(directory());
  ASSERT_EQ(all.size(), 35u);
  EXPECT_EQ(all[0].call.fill, Fill::zero);
  EXPECT_EQ(all[34].call.fill, Fill::boundary);
  EXPECT_EQ(all[34].call.seed, u64{35} << 40);
  EXPECT_TRUE(all[34].call.data.empty());
}

}  // namespace
}  // namespace lockstep::judge
