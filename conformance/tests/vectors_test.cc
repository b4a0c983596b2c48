// Golden vectors: the frozen set equals what the specification says, and `check` names each way in
// which a copy of it can be wrong.
#include "conformance/golden/vectors.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "conformance/cases/mutate.h"
#include "conformance/golden/attribute_form.h"
#include "conformance/golden/vector_cases.h"
#include "conformance/tests/schema.h"
#include "conformance/tests/vector_set.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Vectors : public testing::Test, protected VectorSet {};

Ended check_with_python(const std::string& directory) {
  return run({"sh", "-c", "python3 conformance/vectors/check_vectors.py " + directory + " 2>&1"});
}

TEST_F(Vectors, TheFrozenSetIsWhatTheSpecificationSays) {
  EXPECT_EQ(check_vectors(kFrozenVectors).differences, std::vector<std::string>());
}

TEST_F(Vectors, PythonAgreesWithTheFrozenSetAndItsHash) {
  const Ended r = check_with_python(kFrozenVectors);
  EXPECT_EQ(r.exit, 0) << r.out;
  expect_contains(r.out, "set " + vectors_hash(kFrozenVectors));
}

TEST_F(Vectors, EveryFrozenVectorLoadsAsWhatItIs) {
  std::set<std::string> ids;
  int count[3] = {};
  for (const Vector& v : load_vectors(kFrozenVectors)) {
    EXPECT_TRUE(ids.insert(v.id).second) << v.id;
    ++count[v.expectation];
    EXPECT_NE(v.call.op, nullptr) << v.id;
    if (v.expectation != Vector::text_error) {
      EXPECT_EQ(refusal(v.call).label(), v.label) << v.id;
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
  EXPECT_EQ(vectors_hash(directory()), vectors_hash(kFrozenVectors));
}

TEST_F(Vectors, UpdateMakesASetFromNothing) {
  update_vectors(directory());
  EXPECT_EQ(check_vectors(directory()).differences, std::vector<std::string>());
}

TEST_F(Vectors, UpdateKeepsIdentifiersAndNeverGivesOneTwice) {
  copy_frozen();
  std::string gone, last;
  edit("relu", [&](VectorFile& f) {
    gone = f.tests[0].id;
    last = f.tests.back().id;
    f.tests.erase(f.tests.begin());
    f.tests[0].result.out[0].data[0] ^= 1;
  });
  for (const VectorUpdate& u : update_vectors(directory())) {
    EXPECT_EQ(u.added, u.file == "relu.json" ? 1 : 0) << u.file;
    EXPECT_EQ(u.changed.size(), u.file == "relu.json" ? 1u : 0u) << u.file;
  }
  edit("relu", [&](const VectorFile& f) {
    EXPECT_NE(f.tests[0].id, gone);
    EXPECT_GT(f.tests.back().id, last);
  });
  EXPECT_EQ(check_vectors(directory()).differences, std::vector<std::string>());
}

TEST_F(Vectors, CheckNamesEachDifference) {
  copy_frozen();
  std::string number, label;
  edit("relu", [&](VectorFile& f) {
    f.tests[0].result.out[0].data[0] ^= 1;
    number = f.tests[0].id;
  });
  edit("take", [&](VectorFile& f) {
    for (VectorTest& t : f.tests)
      if (t.result.label == "input.rank") {
        t.result.label = "input.extent";
        label = t.id;
        break;
      }
  });
  edit("sum", [](VectorFile& f) {
    std::erase_if(f.tests, [](const VectorTest& t) { return t.result.label == "attr.twice"; });
  });
  scratch.write("max.json", text_of_file(path("max")) + "\n");
  fs::remove(path("dense"));
  const std::vector<std::string> found = check_vectors(directory()).differences;
  ASSERT_EQ(found.size(), 5u) << testing::PrintToString(found);
  EXPECT_EQ(found[0], "max.json: is not written as `lockstep vectors update` writes it");
  EXPECT_EQ(
      found[1].rfind("relu.json: " + number + ": out[0].data[0]: the specification says", 0), 0u)
      << found[1];
  EXPECT_EQ(found[2], "sum.json: no test gives attr.twice");
  EXPECT_EQ(found[3],
      "take.json: " + label + ": the specification says input.rank, the file input.extent");
  EXPECT_EQ(found[4], "dense.json is missing");
}

TEST_F(Vectors, CheckNamesEveryTestThatCannotBeRead) {
  copy_frozen();
  std::string text = text_of_file(path("relu"));
  const std::vector<VectorTest> tests = get("relu").tests;
  for (const std::size_t n : {std::size_t{1}, std::size_t{3}}) {
    const std::string hash = values_hash(tests[n].result.out[0].data);
    text.replace(text.find(hash, text.find(tests[n].id)), 4, "0000");
  }
  scratch.write("relu.json", text);
  scratch.write("take.json", "{");
  const std::string wrong = "/out/0 has a sha256 that is not the hash of its data";
  EXPECT_EQ(said()[0], "relu.json: " + tests[1].id + ": " + wrong);
  EXPECT_EQ(said()[1], "relu.json: " + tests[3].id + ": " + wrong);
  EXPECT_TRUE(said().back().starts_with("take.json: ")) << said().back();
}

TEST_F(Vectors, LoadRefusesADirectoryWithoutVectors) {
  EXPECT_THROW(load_vectors(directory()), UsageError);
  EXPECT_THROW(load_vectors(directory() + "/none"), UsageError);
  EXPECT_THROW(load_vectors(kFrozenVectors + "/FORMAT.md"), UsageError);
}

TEST_F(Vectors, LoadNamesTheFileThatBelongsToAnotherOperator) {
  fs::copy_file(kFrozenVectors + "/relu.json", path("sum"));
  expect_throws<UsageError>(
      [&] { load_vectors(directory()); }, "sum.json: has the vectors of relu");
}

// A text that replaces another in the file of recipes, and the resulting error.
struct Damage {
  const char *from, *to, *says;
};

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

std::string damaged(const Damage& d) {
  std::string text = file_text(recipes_file());
  const std::size_t at = text.find(d.from);
  EXPECT_NE(at, std::string::npos) << d.from;
  return text.replace(std::min(at, text.size()), std::string(d.from).size(), d.to);
}

TEST_F(Vectors, PythonMakesTheValuesOfEveryRecipe) {
  VectorFile f = recipes_file();
  put(f);
  const Ended right = check_with_python(directory());
  EXPECT_EQ(right.exit, 0) << right.out;
  f.tests[7].call.in[2].sha256 = f.tests[6].call.in[2].sha256;
  put(f);
  const Ended wrong = check_with_python(directory());
  EXPECT_NE(wrong.exit, 0);
  expect_contains(wrong.out, f.tests[7].id + ": in[2]: the recipe gives other values");
}

TEST_F(Vectors, PythonNamesWhatIsWrong) {
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
           Damage{"total(X[d]) if", "2 * X[d] if", "out[0].shape: [{2 * X[d] if d = axis"},
           Damage{"total(X[d]) if", "total(X[d] if", "a formula has if instead of )"},
           Damage{"total(X[d]) if", "total(Z[d]) if", "a formula names Z"},
           Damage{"max(p0, ...)", "max(p0, 33)", "out[0].prec: max(p0, 33) is 33"},
       }) {
    scratch.write("concatenate.json", damaged(d));
    const Ended r = check_with_python(directory());
    EXPECT_NE(r.exit, 0) << d.to;
    expect_contains(r.out, d.says);
  }
  fs::remove(path("concatenate"));
  EXPECT_NE(check_with_python(directory()).exit, 0);
}

TEST_F(Vectors, TheReaderNamesWhatIsWrong) {
  for (const Damage& d : {
           Damage{"{", "[", "f.json: it is no JSON"},
           Damage{"\"specification\":\"lockstep\"", "\"specification\":\"other\"",
               "f.json: /specification is \"other\""},
           Damage{"\"version\":\"0.", "\"version\":\"7.", "another format"},
           Damage{"\"operator\":\"concatenate\"", "\"operator\":\"concat\"",
               "f.json: no operator 'concat'"},
           Damage{"\"numberOfTests\":35", "\"numberOfTests\":36", "not the number of tests"},
           Damage{"concatenate-1002", "concatenate-1001", "concatenate-1001: this tcId"},
           Damage{"\"flags\":[]", "\"flags\":[\"ODD\"]",
               "concatenate-1001: /flags/0 is 'ODD', none of the words"},
           Damage{"\"attrs\":{}", "\"attrs\":{\"axis\":1}", "/attrs/axis is no text"},
           Damage{"\"in_prec\":[1,", "\"in_prec\":[", "in_prec and in of unequal length"},
           Damage{"\"in_prec\":[1,", "\"in_prec\":[1.5,", "/in_prec/0 is no integer"},
           Damage{"\"in_prec\":[1,", "\"in_prec\":[9223372036854775808,", "64 bits"},
           Damage{"\"shape\":[2,100]", "\"shape\":[2,0]", "values for an illegal shape"},
           Damage{"\"fill\":\"zero\"", "\"fill\":\"critical\"", "'critical', none of the words"},
           Damage{"\"fill\":\"zero\",", "", "/in/0/recipe/fill is missing"},
           Damage{"\"sha256\":\"", "\"sha256\":\"0", "is no SHA-256"},
           Damage{"\"prec\":1", "\"prec\":33", "/out/0/prec is 33, out of its range"},
           Damage{"\"data\":[0,", "\"data\":[1,", "outside its precision"},
           Damage{"\"data\":[0,", "\"data\":[", "another number of values"},
           Damage{"\"result\":\"ok\"", "\"result\":\"error\"", "/label is missing"},
           Damage{"\"result\":\"ok\"", "\"result\":\"maybe\"", "/result is 'maybe'"},
           Damage{"\"result\":\"ok\",", "\"note\":1,\"result\":\"ok\",", "/note is unknown"},
           Damage{"\"tests\":[", "\"tests\":[[],", "not the number of tests"},
       }) {
    const std::string message = said_of_text(damaged(d));
    expect_contains(message, d.says);
    EXPECT_EQ(message.rfind("f.json", 0), 0u) << message;
  }
  // The hash of an output is its own.
  std::string text = file_text(recipes_file());
  const std::size_t at = text.rfind("\"sha256\":\"") + 10;
  text[at] = text[at] == '0' ? '1' : '0';
  expect_contains(said_of_text(text), "concatenate-1035: /out/0 has a sha256 that is not the hash");
}

// An object has one or two of these keys.
void compare(const json& schema, const json& sample, const char* object) {
  expect_agreement(schema, sample, json::json_pointer(object),
      [](const json& file) { return said_of_text(file.dump()).empty(); },
      {"out", "recipe", "sha256"});
}

TEST_F(Vectors, TheSchemaSaysWhatTheReaderSays) {
  const json schema = json::parse(text_of_file(kFrozenVectors + "/schema.json"));
  const json sample = json::parse(file_text(recipes_file()));
  const json& defs = schema["$defs"];
  compare(schema, sample, "");
  for (const OpInfo* op : operators())
    for (const AttrInfo& a : op->attrs) {
      const form::json row = form::written(a);
      for (const auto& [key, value] : row.items())
        EXPECT_TRUE(defs["attribute"]["properties"].contains(key)) << op->name << key;
    }
  compare(defs["test"], sample, "/tests/0");
  compare(defs["input"], sample, "/tests/0/in/0");
  compare(defs["recipe"], sample, "/tests/0/in/0/recipe");
  compare(defs["output"], sample, "/tests/0/out/0");
  std::set<std::string> fills;
  for (int f = 0; f < kFills; ++f)
    if (recipe_allowed(static_cast<Fill>(f)))
      fills.insert(std::string(name_of(static_cast<Fill>(f))));
  EXPECT_EQ(fills, defs["recipe"]["properties"]["fill"]["enum"].get<std::set<std::string>>());
}

// The rows of the table below a line that begins so, without the lines between head and rows.
std::vector<std::vector<std::string>> rows_below(const std::string& text, const std::string& head) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text.substr(text.find(head)));
  for (std::string line; std::getline(lines, line) && line[0] == '|';) {
    std::vector<std::string>& row = rows.emplace_back();
    for (std::size_t at = 1, end; (end = line.find(" |", at)) != line.npos; at = end + 2)
      row.push_back(line.substr(at + 1, end - at - 1));
  }
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

// The value that the reader of attributes gives a text, in the notation of the document.
std::string read_as(AttrKind kind, const std::string& text) {
  AttrInfo f;
  f.kind = kind;
  f.words = "a|b";
  f.range = kind == AttrKind::boolean ? Range{0, 1} : kAnyInt64;
  f.entries = {0, kMaxTuple};
  const ParsedAttr p = parse_attribute(f, text);
  return p.broken.empty() ? attribute_text(f, p.value) : "attr." + std::string(p.broken);
}

TEST_F(Vectors, TheDocumentReadsAttributesLikeTheProgram) {
  const std::string document = text_of_file(kFrozenVectors + "/FORMAT.md");
  constexpr AttrKind kKinds[] = {AttrKind::integer, AttrKind::optional_integer, AttrKind::boolean,
      AttrKind::tuple, AttrKind::word};
  const auto rows = rows_below(document, "| text | int |");
  EXPECT_GE(rows.size(), 15u);
  for (const std::vector<std::string>& row : rows) {
    ASSERT_EQ(row.size(), 1 + std::size(kKinds)) << row[0];
    const std::string text = row[0].substr(1, row[0].size() - 2);
    for (std::size_t k = 0; k < std::size(kKinds); ++k)
      EXPECT_EQ(read_as(kKinds[k], text), row[k + 1]) << row[0] << " as " << name_of(kKinds[k]);
  }
  for (const OpInfo* op : operators())
    for (const AttrInfo& a : op->attrs)
      expect_contains(document, "`" + std::string(name_of(a.kind)) + "`");
}

TEST_F(Vectors, TheDocumentHasTheGeneratorThatIsTested) {
  const std::string document = text_of_file(kFrozenVectors + "/FORMAT.md");
  const std::string fence = "```python\n";
  const std::size_t begin = document.find(fence) + fence.size();
  const std::string code = document.substr(begin, document.find("```", begin) - begin);
  EXPECT_GT(code.size(), 500u);
  expect_contains(text_of_file(kFrozenVectors + "/check_vectors.py"), code);
  expect_contains(document, "begins -7, -12, 86, -37;");
  expect_contains(document, "begins -7, 524288, 2048, 268435456.");
  Case c;
  c.op = find_operator("relu");
  c.in = {Type{{4}, 8}};
  c.seed = 1;
  EXPECT_EQ(inputs_of(c)[0].data, (std::vector<i32>{-7, -12, 86, -37}));
  c.in[0].precision = 32;
  c.fill = Fill::boundary;
  EXPECT_EQ(inputs_of(c)[0].data, (std::vector<i32>{-7, 524288, 2048, 268435456}));
}

}  // namespace
}  // namespace lockstep::judge
