// Golden vectors at the limits: what a reader still accepts, how it refuses the next value, and
// what happens to single tests when a set is loaded, checked, extended and updated.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "conformance/golden/vector_cases.h"
#include "conformance/tests/vector_set.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

VectorCall data_call(const std::vector<std::vector<i64>>& inputs) {
  VectorCall call;
  for (const std::vector<i64>& data : inputs) {
    call.in_prec.push_back(8);
    call.in.push_back({{std::ssize(data)}, data, {}, {}});
  }
  return call;
}

// A call whose inputs of 4 elements have a recipe each.
VectorCall recipe_call(const OpInfo& op, const std::vector<Recipe>& recipes) {
  VectorCall call;
  for (const Recipe& r : recipes) {
    Case c;
    c.op = &op;
    c.in.assign(recipes.size(), Type{{4}, 8});
    c.fill = r.fill;
    c.seed = r.seed;
    call.in_prec.push_back(8);
    call.in.push_back({{4}, {}, r, values_hash(inputs_of(c)[call.in.size()].data)});
  }
  return call;
}

VectorTest derived(const OpInfo& op, const std::string& id, const VectorCall& call) {
  return {id, "by hand", {}, call, derive(op, call)};
}

// Two tests, of which one has data and the other recipes.
VectorFile small_file() {
  const OpInfo& op = *find_operator("elemwise_add");
  const Recipe dense{Fill::dense, 1}, most{Fill::max, 2};
  return {&op,
      {derived(op, "elemwise_add-0001", data_call({{1, 2, 3, 4}, {5, 6, 7, 8}})),
          derived(op, "elemwise_add-0002", recipe_call(op, {dense, most}))}};
}

class VectorEdges : public testing::Test, protected VectorSet {};

TEST_F(VectorEdges, TheReaderNamesTheTestAndThePlaceOfWhatIsWrong) {
  // Without a value the function removes the place.
  struct Edit {
    const char *place, *value, *says;
  };
  const std::string one = "elemwise_add-0001: ", two = "elemwise_add-0002: ";
  const std::pair<std::string, std::vector<Edit>> all[] = {
      {"test 1: ",
          {{"/tests/0", "[]", "the document is no object"},
              {"/tests/0/tcId", nullptr, "/tcId is missing"},
              {"/tests/0/tcId", "5", "/tcId is no text"}}},
      {"test 2: ", {{"/tests/1", "[]", "the document is no object"}}},
      {one,
          {{"/tests/0/label", "\"a.b\"", "/label is unknown"},
              {"/tests/0/out", nullptr, "/out is missing"},
              {"/tests/0/out", "[]", "the document has no output"},
              {"/tests/0/out", "{}", "/out is no list"},
              {"/tests/0/in/1/data", "[1,2,3]",
                  "/in/1 has another number of values than its shape"},
              {"/tests/0/in/0/shape", "[4294967300]", "/in/0 has values for an illegal shape"},
              {"/tests/0/in/0/recipe", "{\"fill\":\"zero\",\"seed\":1}", "/in/0/sha256 is missing"},
              {"/tests/0/in/0/sha256", "\"\"", "/in/0/sha256 is unknown"},
              {"/tests/0/out/0/shape", "[4294967300]", "/out/0 has an illegal shape"},
              {"/tests/0/out/0/prec", "0", "/out/0/prec is 0, out of its range"},
              {"/tests/0/out/0/prec", "4294967305", "/out/0/prec is 4294967305, out of its range"},
              {"/tests/0/out/0/data/0", "4294967302",
                  "/out/0/data/0 is 4294967302, out of its range"},
              {"/tests/0/out/0/data/3", "-256", "/out/0 has a value outside its precision"}}},
      {two,
          {{"/tests/1/in/0/recipe/fill", "\"literal\"",
               "/in/0/recipe/fill is 'literal', none of the words it may be"},
              {"/tests/1/in/1/recipe/seed", "-1", "/in/1/recipe/seed is -1, out of its range"},
              {"/tests/1/in/1/recipe/seed", "9223372036854775808",
                  "/in/1/recipe/seed is no integer of 64 bits"},
              {"/tests/1/in/1/sha256", nullptr, "/in/1/sha256 is missing"}}},
  };
  const nlohmann::json sound = nlohmann::json::parse(file_text(small_file()));
  EXPECT_EQ(said_of_text(sound.dump()), "");
  for (const auto& [where, edits] : all)
    for (const Edit& e : edits) {
      nlohmann::json change = {{"op", e.value ? "add" : "remove"}, {"path", e.place}};
      // Adding to a list would move its members.
      if (e.value) change["value"] = nlohmann::json::parse(e.value);
      if (e.value && sound.contains(nlohmann::json::json_pointer(e.place)))
        change["op"] = "replace";
      const nlohmann::json damaged = sound.patch(nlohmann::json::array({change}));
      EXPECT_EQ(said_of_text(damaged.dump()), "f.json: " + where + e.says) << e.place;
    }
}

TEST_F(VectorEdges, SeedsAreAllNumbersOf63Bits) {
  for (const u64 seed : {u64{0}, u64{INT64_MAX}}) {
    VectorFile f = small_file();
    for (VectorInput& in : f.tests[1].call.in) in.recipe->seed = seed;
    const VectorFile again = read_vectors(file_text(f), "f.json");
    for (const VectorInput& in : again.tests[1].call.in) EXPECT_EQ(in.recipe->seed, seed);
  }
}

TEST_F(VectorEdges, AsManyNumbersAreWrittenOutAsTheFormatSaysAndNoMore) {
  const OpInfo& op = *find_operator("relu");
  const auto said = [&](const VectorCall& call) {
    return said_of_text(file_text({&op, {derived(op, "relu-0001", call)}}));
  };
  EXPECT_EQ(said(data_call({std::vector<i64>(1024, 1)})), "");
  EXPECT_EQ(said(data_call({std::vector<i64>(1025, 1)})),
      "f.json: relu-0001: /in/0 has more than 1024 values");
  VectorCall outputs_only = data_call({std::vector<i64>(1025, 1)});
  outputs_only.in[0].data.reset();
  EXPECT_EQ(said(outputs_only), "f.json: relu-0001: /out/0 has more than 1024 values");
}

TEST_F(VectorEdges, AFileIsAsciiWhateverItsCommentsAre) {
  VectorFile f = small_file();
  f.tests[0].comment = "gr\xc3\xbcn";
  const std::string text = file_text(f);
  expect_contains(text, R"("comment":"gr\u00fcn")");
  EXPECT_EQ(read_vectors(text, "f.json").tests[0].comment, f.tests[0].comment);
}

TEST_F(VectorEdges, WithoutDataEveryElementIsZero) {
  VectorCall call = data_call({{1, 1, 1}});
  call.in[0].data.reset();
  EXPECT_EQ(derive(*find_operator("relu"), call).out.at(0).data, (std::vector<i32>{0, 0, 0}));
}

TEST_F(VectorEdges, AnExtentBeyond32BitsIsNoSmallOne) {
  VectorCall call = data_call({{1}});
  call.in[0] = {{(i64{1} << 32) + 1}, {}, {}, {}};
  EXPECT_EQ(derive(*find_operator("relu"), call).label, "input.extent");
}

// A frozen file.
VectorFile frozen_file(const std::string& op) {
  return read_vectors(text_of_file(kFrozenVectors + "/" + op + ".json"), "f.json");
}

TEST_F(VectorEdges, AnIdentifierIsItsOperatorAndFourToEightDigits) {
  const OpInfo& op = *find_operator("relu");
  for (const auto& [id, sound] :
      std::map<std::string, bool>{{"relu-0001", true}, {"relu-12345678", true},
          {"relu-0000", false}, {"relu-001", false}, {"relu-123456789", false},
          {"relu-12a4", false}, {"abs-0001", false}, {"relu0001", false}}) {
    put({&op, {derived(op, id, data_call({{1}}))}});
    EXPECT_EQ(says("relu.json: " + id + ": no identifier of this operator"), !sound) << id;
  }
}

TEST_F(VectorEdges, AnAddedCallTakesTheNextNumberAndASecondTimeNone) {
  const OpInfo& op = *find_operator("relu");
  put({&op, {derived(op, "relu-9999", data_call({{1}}))}});
  const auto add = [&](const std::string& id) {
    return add_vector(directory(), parse_case(id), "by hand");
  };
  EXPECT_EQ(add("relu/in=1024@8/fill=max:1"), "relu-10000");
  EXPECT_EQ(add("relu/in=1024@8/fill=max:1"), "");
  EXPECT_EQ(add("relu/in=1@8/data=1"), "");
  EXPECT_EQ(add("relu/in=1@8/data=2"), "relu-10001");
  EXPECT_EQ(add("relu/in=0@8/fill=max:1"), "relu-10002");
  const VectorFile file = get(std::string(op.name));
  EXPECT_EQ(file.tests.at(1).call.in.at(0).data, std::vector<i64>(1024, 127));
  EXPECT_EQ(file.tests.at(1).flags, std::vector<std::string>());
  EXPECT_EQ(file.tests.at(3).flags, std::vector<std::string>{"REJECT"});
  EXPECT_EQ(file.tests.at(3).result.label, "input.extent");
  EXPECT_EQ(words_of<UsageError>([&] { add("relu/in=1025@8/fill=max:1"); }),
      "a vector writes out 1024 values at most, input 0 of relu/in=1025@8/fill=max:1 has 1025");
}

TEST_F(VectorEdges, EveryInputOfAnAddedCallIsWrittenOut) {
  const OpInfo& op = *find_operator("elemwise_add");
  add_vector(directory(), parse_case("elemwise_add/in=4@8+4@8/fill=max:1"), "by hand");
  const VectorFile file = get(std::string(op.name));
  for (const VectorInput& in : file.tests.at(0).call.in)
    EXPECT_EQ(in.data, std::vector<i64>(4, 127));
}

TEST_F(VectorEdges, OnlyInputsOfOneRecipeAreLoadedAsARecipe) {
  const OpInfo &add = *find_operator("elemwise_add"), &relu = *find_operator("relu");
  const Recipe dense{Fill::dense, u64{5} << 40}, later{Fill::dense, 6}, most{Fill::max, dense.seed};
  VectorCall half = recipe_call(add, {dense, dense});
  half.in[1] = data_call({{1, 2, 3, 4}}).in[0];
  half.in[1].sha256 = values_hash({1, 2, 3, 4});
  struct Row {
    const OpInfo& op;
    VectorCall call;
    bool short_one;
  };
  for (const Row& row : {Row{relu, recipe_call(relu, {dense}), true},
           Row{add, recipe_call(add, {dense, dense}), true},
           Row{add, recipe_call(add, {dense, later}), false},
           Row{add, recipe_call(add, {dense, most}), false}, Row{add, half, false}}) {
    const VectorSet set;
    set.put({&row.op, {derived(row.op, "any-0001", row.call)}});
    const std::vector<Vector> all = load_vectors(set.directory());
    ASSERT_EQ(all.size(), 1u);
    const Case& c = all[0].call;
    EXPECT_EQ(c.fill, row.short_one ? Fill::dense : Fill::literal);
    EXPECT_EQ(c.data.empty(), row.short_one);
    EXPECT_EQ(c.seed, row.short_one ? dense.seed : 0);
    const std::vector<Tensor> in = inputs_of(c);
    ASSERT_EQ(in.size(), row.call.in.size());
    for (std::size_t k = 0; k < in.size(); ++k)
      EXPECT_EQ(values_hash(in[k].data), row.call.in[k].sha256) << k;
  }
}

TEST_F(VectorEdges, LoadRefusesOutputsOfCallsThatHaveNone) {
  const auto refused = [](const VectorFile& f) {
    const VectorSet set;
    set.put(f);
    const std::string said = words_of<UsageError>([&] { load_vectors(set.directory()); });
    return said.substr(std::min(said.size(), set.directory().size()));
  };
  for (const std::size_t k : {0u, 1u}) {
    VectorFile f = small_file();
    f.tests[0].call.in[k] = {{0}, {}, {}, {}};
    EXPECT_EQ(
        refused(f), "elemwise_add.json: elemwise_add-0001: a result 'ok' for an illegal shape");
  }
  const OpInfo& op = *find_operator("clip");
  VectorFile f{&op, {{"clip-0001", "by hand", {}, data_call({{1}}), {}}}};
  f.tests[0].result = derive(*find_operator("relu"), f.tests[0].call);
  EXPECT_EQ(refused(f), "clip.json: clip-0001: its attributes are attr.missing");
}

TEST_F(VectorEdges, AFileMayClaimOutputsOfACallWithoutInputsAndIsWrong) {
  VectorFile f = small_file();
  f.tests[0].call.in.clear();
  f.tests[0].call.in_prec.clear();
  put(f);
  EXPECT_EQ(load_vectors(directory()).at(0).call.in.size(), 0u);
  EXPECT_TRUE(
      says("elemwise_add.json: elemwise_add-0001: the specification says op.inputs, the file ok"));
}

TEST_F(VectorEdges, CheckNamesWhatIsWrongWithAnyOutput) {
  VectorFile sound = frozen_file("get_valid_counts");
  std::erase_if(sound.tests, [](const VectorTest& t) {
    return t.result.out.size() < 2 || t.result.out[1].type.precision == 1;
  });
  const std::string id = sound.tests.at(0).id, where = "get_valid_counts.json: " + id + ": ";
  const auto says = [&](const std::string& what, auto damage) {
    VectorFile f = sound;
    damage(f.tests[0].result.out);
    const VectorSet set;
    set.put(f);
    EXPECT_TRUE(set.says(where + what)) << testing::PrintToString(set.said());
  };
  const i32 right = sound.tests[0].result.out[1].data.at(0), wrong = right == 0 ? 1 : 0;
  says("out[1].data[0]: the specification says " + std::to_string(right) + ", the file " +
          std::to_string(wrong),
      [&](std::vector<Tensor>& out) { out[1].data[0] = wrong; });
  const int count = static_cast<int>(sound.tests[0].result.out.size());
  says("the specification gives " + std::to_string(count) + " outputs, the file " +
          std::to_string(count - 1),
      [](std::vector<Tensor>& out) { out.pop_back(); });
  says("out[1] has another shape or precision", [](std::vector<Tensor>& out) {
    out[1].type.precision += out[1].type.precision < kMaxPrecision ? 1 : -1;
  });
}

TEST_F(VectorEdges, CheckNamesCallsThatAreThereTwiceAndFilesOfTooFewTests) {
  VectorFile f = frozen_file("relu");
  f.tests.erase(f.tests.begin() + 60, f.tests.end());
  put(f);
  EXPECT_FALSE(says("relu.json: fewer than 60 tests"));
  f.tests.pop_back();
  f.tests.pop_back();
  f.tests.push_back(f.tests[0]);
  f.tests.back().id = "relu-77777";
  put(f);
  EXPECT_TRUE(says("relu.json: fewer than 60 tests"));
  EXPECT_TRUE(says("relu.json: relu-77777: repeats an earlier call"));
}

TEST_F(VectorEdges, CheckNamesFilesOfOtherOperatorsAndThoseNobodyCanRead) {
  scratch.write("sum.json", file_text(small_file()));
  EXPECT_TRUE(says("sum.json: has the vectors of elemwise_add"));
  std::filesystem::create_directory(scratch.path("abs.json"));
  EXPECT_TRUE(says("cannot read '" + scratch.path("") + "abs.json': Is a directory"));
  EXPECT_TRUE(says("sum.json: has the vectors of elemwise_add")) << "the check goes on";
}

TEST_F(VectorEdges, HashesOfRecipesAreCheckedAndMadeAnewOfEveryInput) {
  const OpInfo& op = *find_operator("elemwise_add");
  VectorFile sound = small_file();
  sound.tests.push_back(
      derived(op, "elemwise_add-0003", recipe_call(op, {{Fill::dense, 3}, {Fill::dense, 4}})));
  VectorFile wrong = sound;
  wrong.tests[1].call.in[0].sha256 = values_hash({1});
  wrong.tests[2].call.in[1].sha256 = values_hash({1});
  put(wrong);
  const std::string another = ": a recipe's values have another sha256";
  EXPECT_FALSE(says("elemwise_add.json: elemwise_add-0001" + another));
  EXPECT_TRUE(says("elemwise_add.json: elemwise_add-0002" + another));
  EXPECT_TRUE(says("elemwise_add.json: elemwise_add-0003" + another));
  update_vectors(directory());
  const VectorFile updated = get(std::string(op.name));
  for (const std::size_t i : {1u, 2u})
    for (const std::size_t k : {0u, 1u})
      EXPECT_EQ(updated.tests.at(i).call.in[k].sha256, sound.tests[i].call.in[k].sha256);
}

// Whether any call of its kind can replace a test: true of drawn calls and of those found by
// search.
bool stands_for_its_kind(const std::string& comment) {
  for (const char* kind : {"drawn ", "widest ", "deep ", "refused "})
    if (comment.starts_with(kind)) return true;
  const bool found = comment.find(" before ") != std::string::npos;
  return comment.find(" begins where ") != std::string::npos ||
      (found && comment.find(": ") == std::string::npos);
}

TEST_F(VectorEdges, UpdateAddsACallAgainUnlessAnyOtherOfItsKindWillDo) {
  const OpInfo& op = *find_operator("dense");
  VectorFile f{&op, {}};
  std::set<std::string> calls;
  for (VectorCandidate& v : vector_candidates(op)) {
    if (!calls.insert(call_text(v.call)).second) continue;
    // The same comments, and other calls.
    v.call.attrs["__other__"] = "";
    f.tests.push_back(derived(op, "dense-" + std::to_string(1000 + f.tests.size()), v.call));
    f.tests.back().comment = v.comment;
  }
  put(f);
  update_vectors(directory());
  std::map<std::string, int> before, after;
  for (const VectorTest& t : f.tests) ++before[t.comment];
  for (const VectorTest& t : get(std::string(op.name)).tests) ++after[t.comment];
  int kinds = 0;
  for (const auto& [comment, times] : before) {
    kinds += stands_for_its_kind(comment);
    EXPECT_EQ(after[comment], stands_for_its_kind(comment) ? times : 2 * times) << comment;
  }
  EXPECT_GT(kinds, 100);
  EXPECT_GT(std::ssize(before) - kinds, 30);
}

}  // namespace
}  // namespace lockstep::judge
