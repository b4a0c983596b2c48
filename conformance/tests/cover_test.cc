// Coverage: an operator's row names every class that its calls show, reports missing cells, and
// tells impossible cells from forgotten ones.
#include "conformance/coverage/cover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "conformance/cases/boundary.h"
#include "conformance/cases/combinations.h"
#include "conformance/golden/vectors.h"
#include "conformance/selection/select.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

const std::string kFrozenSet = "conformance/vectors";

Selection of(const char* op, int tier, const std::string& vectors) {
  return {.tier = tier, .operators = {op}, .vectors = vectors};
}

const CoverCell& cell(const CoverRow& row, const std::string& text) {
  const auto at = std::find_if(
      row.cells.begin(), row.cells.end(), [&](const CoverCell& c) { return c.text() == text; });
  if (at == row.cells.end()) throw std::runtime_error("no cell " + text);
  return *at;
}

TEST(Classes, OfEveryCallAreThoseOfItsOperator) {
  for (const OpInfo* op : operators()) {
    const std::vector<CallClass> calls = call_classes(*op), values = value_classes(*op);
    const std::set<CallClass> known(calls.begin(), calls.end());
    EXPECT_EQ(known.size(), calls.size()) << op->name << " names a feature twice";
    Seeded draw(1);
    for (int n = 0; n < 200; ++n) {
      Case c = n % 2 == 0 ? draw_case(*op, draw) : varied_case(*op, draw);
      for (const CallClass& f : call_classes(c))
        ASSERT_TRUE(known.contains(f)) << op->name << " " << f.axis << " " << f.value;
      if (elements_of(c) > kMaxRun) continue;
      c.fill = static_cast<Fill>(n % kFills);
      for (const CallClass& f : value_classes(c, inputs_of(c)))
        ASSERT_TRUE(std::count(values.begin(), values.end(), f)) << f.axis << " " << f.value;
    }
  }
}

// Each class at both of its ends, and the values just beside them.
TEST(Classes, OfACallAreNamed) {
  const std::pair<const char*, const char*> rows[] = {
      {"relu/in=2x6x10x14x18@1", "rank of X: 5 & precision of X: 1 & memory: compact"},
      {"relu/in=3x7x15x31x63@2/memory=offset",
          "rank of X: 5 & precision of X: 2 & shape of X: beside 4 & shape of X: beside 8 & "
          "shape of X: beside 16 & shape of X: beside 32 & shape of X: beside 64 & memory: offset"},
      {"relu/in=5x9x17x33x65@3/memory=scattered_out",
          "rank of X: 5 & precision of X: 3..7 & shape of X: beside 4 & shape of X: beside 8 & "
          "shape of X: beside 16 & shape of X: beside 32 & shape of X: beside 64 & "
          "memory: scattered_out"},
      {"relu/in=1x1040@7",
          "rank of X: 2 & precision of X: 3..7 & shape of X: an extent of 1 & memory: compact"},
      {"relu/in=1041@8", "rank of X: 1 & precision of X: 8 & shape of X: deep & memory: compact"},
      {"concatenate/axis=0/in=2@9+2@16",
          "attribute axis: zero & number of inputs: 2 & rank of X: 1 & precision of X: 9..16 & "
          "memory: compact"},
      {"concatenate/axis=1/in=2@17+2@24+2@25+2@31+2@32",
          "attribute axis: one & number of inputs: many & rank of X: 1 & precision of X: 17..24 & "
          "precision of X: 25..31 & precision of X: 32 & memory: compact"},
      {"take/in=2@8+2x2@8",
          "attribute axis: None & rank of X: 1 & precision of X: 8 & rank of indices: 2 & "
          "precision of indices: 8 & memory: compact"},
      {"strided_slice/begin=-2147483647,0/end=2147483647,1/stride=-1/in=2x2@8",
          "attribute begin: negative & attribute begin: zero & attribute begin: lowest & "
          "attribute begin: several entries & attribute end: one & attribute end: above one & "
          "attribute end: highest & attribute end: several entries & attribute stride: negative & "
          "attribute stride: one entry & rank of X: 2 & precision of X: 8 & memory: compact"}};
  for (const auto& [id, classes] : rows)
    EXPECT_EQ(text_of(call_classes(parse_case(id))), classes) << id;
}

TEST(Classes, OfValuesAreNamed) {
  const auto shown = [](const std::string& id) {
    const Case c = parse_case(id);
    return text_of(value_classes(c, inputs_of(c)));
  };
  const std::string of = "values of X: ", also = " & values of X: ";
  EXPECT_EQ(shown("relu/in=1@1/data=0"), of + "a zero");
  EXPECT_EQ(shown("relu/in=2@2/data=1,-1"),
      of + "both signs" + also + "the largest" + also + "the smallest");
  EXPECT_EQ(shown("relu/in=2@8/data=-3,-5"), of + "all negative");
  EXPECT_EQ(shown("relu/in=2@8/data=127,1"), of + "all positive" + also + "the largest");
  EXPECT_EQ(shown("relu/in=3@8/data=-127,0,-1"), of + "a zero" + also + "the smallest");
  EXPECT_EQ(shown("relu/in=1@20/data=65536"), of + "all positive");
  // Indices within every axis of the table, and indices beyond all its elements.
  const std::pair<const char*, const char*> rows[] = {{"0", "a zero"},
      {"1", "all positive & inside"}, {"2", "all positive & inside"}, {"3", "all positive"},
      {"15", "all positive"}, {"16", "all positive & beyond the end"},
      {"65537", "all positive & beyond the end"}};
  for (const auto& [index, classes] : rows) {
    std::string expected = "values of X: a zero & values of indices: " + std::string(classes);
    if (const auto at = expected.find(" & ", 24); at != std::string::npos)
      expected.insert(at + 3, "values of indices: ");
    EXPECT_EQ(shown("take/in=3x5@8+1@20/data=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0+" + std::string(index)),
        expected);
  }
}

TEST(Classes, OutputsAreConstantThatHoldOneValue) {
  const auto constant = [](std::vector<i32> v) {
    return is_constant({{Type{{std::ssize(v)}, 32}, std::move(v)}});
  };
  EXPECT_TRUE(constant({5}));
  EXPECT_TRUE(constant({70000, 70000}));
  EXPECT_FALSE(constant({7, 5, 5}));
  EXPECT_FALSE(constant({5, 5, 7}));
}

TEST(Classes, AreAimedAtInSoManyTriesAndElements) {
  const OpInfo &relu = *find_operator("relu"), &take = *find_operator("take");
  const CallClass f{"shape of X", "beside 16"};
  for (u64 seed = 0; seed < 20; ++seed) {
    Seeded first(seed), second(seed), third(seed);
    EXPECT_FALSE(aimed_case(relu, f, kMaxRun, 0, first));
    const std::optional<Case> c = aimed_case(relu, f, kMaxRun, 1000, second);
    ASSERT_TRUE(c);
    const std::optional<Case> again = aimed_case(relu, f, elements_of(*c), 1000, third);
    ASSERT_TRUE(again);
    EXPECT_EQ(case_id(*again), case_id(*c)) << "as many elements as are allowed";
    // No case shows an unknown class.
    EXPECT_FALSE(aimed_case(take, {"attribute axis", "nothing"}, kMaxRun, 20, first));
  }
}

TEST(Classes, AreAimedAtWithSuccess) {
  const OpInfo& conv2d = *find_operator("conv2d");
  Seeded draw(1);
  for (const CallClass& f : {CallClass{"attribute padding", "zero"},
           CallClass{"precision of W", "2"}, CallClass{"shape of X", "beside 32"},
           CallClass{"number of inputs", "2"}, CallClass{"memory", "scattered"}}) {
    const std::optional<Case> c = aimed_case(conv2d, f, kMaxRun, 1000, draw);
    ASSERT_TRUE(c) << f.axis;
    EXPECT_EQ(refusal(*c).label(), "");
    const std::vector<CallClass> shown = call_classes(*c);
    EXPECT_TRUE(std::count(shown.begin(), shown.end(), f)) << case_id(*c);
  }
  EXPECT_FALSE(aimed_case(conv2d, {"precision of W", "9..16"}, kMaxRun, 1000, draw));
}

TEST(Cover, MissesWhatASelectionLacks) {
  const Cover smoke = cover(of("take", 0, ""));
  EXPECT_FALSE(smoke.complete());
  const CoverRow& row = smoke.rows[0];
  EXPECT_EQ(cell(row, "memory: compact").state, CoverCell::empty);
  EXPECT_EQ(cell(row, "attr.syntax: just illegal").state, CoverCell::empty);
  EXPECT_EQ(cell(row, "rank of X: 2").state, CoverCell::covered);
  EXPECT_NE(cover_text(smoke).find("memory: compact"), std::string::npos);
  EXPECT_NE(cover_text(smoke).find("INCOMPLETE"), std::string::npos);
}

TEST(Cover, TellsWhatCannotBeFromWhatIsForgotten) {
  const CoverRow left = cover(of("cvm_left_shift", 1, kFrozenSet)).rows[0];
  // p + shift_bit <= 32, and a shift is at least 1.
  EXPECT_EQ(cell(left, "precision of X: 32").state, CoverCell::impossible);
  EXPECT_EQ(cell(left, "precision of X: 25..31").state, CoverCell::covered);
  for (const CoverCell& c : left.cells)
    EXPECT_EQ(c.id.empty(), c.state == CoverCell::impossible) << c.text();
  const CoverRow relu = cover(of("relu", 1, kFrozenSet)).rows[0];
  EXPECT_EQ(cell(relu, "precision of X: 32").state, CoverCell::covered);
}

TEST(Cover, CountsConstantOutputsOnlyWhereThereAreNoOthers) {
  const CoverRow relu = cover(of("relu", 1, kFrozenSet)).rows[0];
  // A tensor of precision 1 holds only zeros, so the outputs are constant.
  EXPECT_EQ(cell(relu, "precision of X: 1").state, CoverCell::constant);
  EXPECT_EQ(cell(relu, "values of X: all negative").state, CoverCell::constant);
  EXPECT_EQ(cell(relu, "values of X: both signs").state, CoverCell::covered);
  EXPECT_EQ(relu.count(CoverCell::empty), 0);
  for (const CoverCell& c : relu.cells) EXPECT_NE(c.id, "") << c.text();
}

TEST(Cover, OfOneCaseLooksForAllOthers) {
  constexpr auto constant = CoverCell::constant, empty = CoverCell::empty;
  // One call with constant outputs is enough for its cells if a search finds no better one.
  const std::tuple<const char*, CoverCell::State, CoverCell::State> rows[] = {
      {"relu/in=2@1/data=0,0", constant, empty}, {"relu/in=2@8/data=-1,-2", empty, constant},
      {"relu/in=2x2@8/data=1,2,3,4", empty, empty}};
  for (const auto& [id, one_bit, all_negative] : rows) {
    Selection s = of("relu", 0, "");
    s.cases = {id};
    const CoverRow row = cover(s).rows[0];
    for (const CallClass& f : call_classes(*find_operator("relu")))
      EXPECT_NE(cell(row, text_of({f})).id, "") << id << " " << f.axis << ": " << f.value;
    EXPECT_EQ(cell(row, "values of X: all negative").state, all_negative) << id;
    if (one_bit == constant) {
      EXPECT_EQ(cell(row, "precision of X: 1").state, constant) << id;
    }
  }
}

// Made-up rows: one without triples, one that covers everything, one that lacks some.
Cover made_up() {
  const std::vector<CallClass> a = {{"a", "b"}}, ab = {{"a", "b"}, {"c", "d"}};
  Cover c{1, 2, "0123456789abcdefg", {}};
  const OpInfo &relu = *find_operator("relu"), &take = *find_operator("take");
  c.rows.push_back({&relu, {{a, CoverCell::covered, "x"}}, {{2, 5, 5, 1, {}}}});
  c.rows.push_back({&take, {{a, CoverCell::impossible, ""}, {ab, CoverCell::covered, "x"}},
      {{2, 4, 1, 0, {ab, ab, ab}}, {3, 5, 1, 0, {ab, ab, ab, ab}}}});
  return c;
}

TEST(CoverText, TellsRowsByTheirCellsAndTuples) {
  EXPECT_EQ(cover_text(made_up()),
      "operator               required  covered constant    empty impossible        pairs"
      "        triples\n"
      "relu                          1        1        0        0          0          5/5\n"
      "take                          1        1        0        0          1          1/4"
      "            1/5\n"
      "  take impossible:\n    a: b\n"
      "  take lacks 3 combinations of 2 classes:\n"
      "    a: b & c: d\n    a: b & c: d\n    a: b & c: d\n"
      "  take lacks 4 combinations of 3 classes:\n"
      "    a: b & c: d\n    a: b & c: d\n    a: b & c: d\n"
      "    ... (all of them: --json FILE)\n"
      "INCOMPLETE  2 of 2 required cells and 7 of 14 combinations of 2 operators; tier 1, seed 2, "
      "set 0123456789abcdef\n");
}

TEST(CoverRow, IsCompleteWhereNoCellAndNoTupleIsEmpty) {
  CoverRow row = made_up().rows[0];
  EXPECT_TRUE(row.complete());
  row.cells[0].state = CoverCell::empty;
  EXPECT_FALSE(row.complete());
  EXPECT_FALSE(made_up().rows[1].complete());
  EXPECT_EQ(made_up().rows[1].required(), 1);
  EXPECT_EQ(Cover().tier, 1);
  EXPECT_EQ(Cover().seed, 1U);
  EXPECT_EQ(CombinationCoverage().classes, 2);
  EXPECT_EQ(CombinationCoverage().required + CombinationCoverage().covered +
          CombinationCoverage().constant,
      0);
}

// How many numbers of a call are the largest of their precision, and how many exceed that by one.
std::pair<i64, i64> largest(const VectorCall& call) {
  i64 last = 0, beyond = 0;
  for (std::size_t k = 0; k < call.in.size(); ++k) {
    if (!call.in[k].data || call.in_prec[k] < 2) continue;
    const i64 most = (i64{1} << (call.in_prec[k] - 1)) - 1;
    for (const i64 v : *call.in[k].data)
      last += std::abs(v) == most, beyond += std::abs(v) == most + 1;
  }
  return {last, beyond};
}

TEST(TextCases, StandAtTheLastLegalValueOrOneBeyond) {
  std::map<std::string, const VectorTest*> tests;
  const std::vector<VectorFile> files = read_vector_files(kFrozenSet);
  for (const VectorFile& file : files)
    for (const VectorTest& t : file.tests) tests[t.id] = &t;
  std::set<std::pair<const OpInfo*, std::pair<std::string, bool>>> seen;
  i64 values = 0;
  for (const TextCase& w : text_cases(kFrozenSet)) {
    ASSERT_TRUE(tests.contains(w.id)) << w.id;
    const VectorTest& t = *tests.at(w.id);
    EXPECT_EQ(t.result.label, w.legal ? "" : w.label) << w.id;
    EXPECT_TRUE(seen.insert({w.op, {w.label, w.legal}}).second) << w.id << " is the second";
    if (w.label != "input.value") continue;
    ++values;
    const auto [last, beyond] = largest(t.call);
    EXPECT_TRUE(w.legal ? last > 0 : beyond == 1) << w.id;
  }
  EXPECT_GT(values, std::ssize(operators()));
}

TEST(Cover, HasBothSidesOfEveryTypedLabel) {
  const CoverRow row = cover(of("conv2d", 1, kFrozenSet)).rows[0];
  for (const CoverCell& c : row.cells) {
    const std::string& axis = c.classes[0].axis;
    const bool typed = axis.starts_with("conv2d.") || axis.starts_with("input.");
    EXPECT_TRUE(!typed || c.state == CoverCell::covered) << c.text();
  }
  EXPECT_EQ(cell(row, "conv2d.window: just legal").state, CoverCell::covered);
  const CoverRow smoke = cover(of("conv2d", 0, "")).rows[0];
  EXPECT_EQ(cell(smoke, "input.volume: just legal").state, CoverCell::empty);
}

// Combinations that no call of a set shows.
i64 empty_combinations(const CoverRow& row) {
  i64 n = 0;
  for (const CombinationCoverage& t : row.combinations) n += std::ssize(t.empty);
  return n;
}

TEST(Combinations, AreOfClassesOfDifferentAxes) {
  for (const char* op : {"relu", "take"}) {
    const Combinations combinations(*find_operator(op));
    EXPECT_EQ(combinations.strength(), op == std::string("take") ? 3 : 2);
    Seeded draw(1);
    Case c = draw_case(*find_operator(op), draw);
    const std::vector<Tensor> in = inputs_of(c);
    const std::vector<CallClass> calls = call_classes(c), values = value_classes(c, in);
    std::set<CallClass> shown(calls.begin(), calls.end());
    shown.insert(values.begin(), values.end());
    std::set<std::vector<CallClass>> pairs, triples;
    combinations.each(combinations.shown_by(c, in), [&](std::size_t t) {
      ASSERT_LT(t, combinations.size());
      const std::vector<CallClass> all = combinations.members_of(t);
      EXPECT_EQ(std::ssize(all), combinations.classes_of(t));
      std::set<std::string> axes;
      for (const CallClass& f : all) {
        EXPECT_TRUE(shown.contains(f)) << f.axis << " " << f.value;
        axes.insert(f.axis);
      }
      EXPECT_EQ(axes.size(), all.size()) << text_of(all);
      EXPECT_TRUE((all.size() == 2 ? pairs : triples).insert(all).second) << text_of(all);
    });
    std::size_t unlike = 0;
    for (const CallClass& a : shown)
      for (const CallClass& b : shown) unlike += a.axis < b.axis;
    EXPECT_EQ(pairs.size(), unlike);
    EXPECT_EQ(triples.empty(), op == std::string("relu"));
  }
}

TEST(Combinations, ThatASearchReachesAreShownByLegalCallsWithOutputsThatSaySomething) {
  const OpInfo& op = *find_operator("take");
  const Combinations combinations(op);
  const Reached& r = reached(op);
  std::vector<bool> shown(combinations.size());
  for (std::size_t k = 0; k < r.calls.size(); ++k) {
    const Case& c = r.calls[k];
    ASSERT_FALSE(refusal(c).refused()) << case_id(c);
    EXPECT_EQ(combinations.shown_by(c, inputs_of(c)), r.classes[k]) << case_id(c);
    EXPECT_GT(combinations.count_new(r.classes[k], shown), 0) << case_id(c);
    EXPECT_FALSE(is_constant(reference::outputs(op, c.attributes(), inputs_of(c)))) << case_id(c);
    combinations.add_to(shown, r.classes[k]);
  }
  EXPECT_EQ(shown, r.combinations);
}

TEST(DiscriminatingOrder, TakesWhatAddsMostAndLeavesOutWhatAddsNothing) {
  const Combinations combinations(*find_operator("relu"));
  // The first classes of relu are about its shape, the last ones about its memory.
  const int memory = static_cast<int>(call_classes(*find_operator("relu")).size()) + 5;
  const std::vector<std::vector<int>> calls = {
      {0, memory}, {0, 1, memory}, {0, 1, 2, memory}, {3, memory}, {4, memory}};
  std::vector<bool> set(combinations.size());
  const auto counts = [](std::size_t k) { return k != 3; };
  EXPECT_EQ(
      discriminating_order(combinations, calls, counts, set), (std::vector<std::size_t>{2, 4}));
  EXPECT_EQ(combinations.count_new(calls[0], set), 0);
  EXPECT_EQ(combinations.count_new(calls[3], set), 1);
  std::vector<bool> fresh(combinations.size());
  EXPECT_EQ(discriminating_order(combinations, {calls[0], calls[1]}, counts, fresh),
      std::vector<std::size_t>{1})
      << "nothing is added by what comes last";
}

TEST(DiscriminatingOrder, LooksAtCallsOfAsManyElementsAsAreRun) {
  std::vector<Item> items;
  for (const char* id : {"relu/in=8193@8/fill=dense:1", "relu/in=8192@8/fill=dense:1"})
    items.push_back({Item::legal, parse_case(id), {}, id, {}});
  put_discriminating_first(items, *find_operator("relu"), false);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].id, "relu/in=8192@8/fill=dense:1");
}

TEST(Cover, OfTuplesIsCompleteOnlyWithTheCasesAimedAtThem) {
  const CoverRow whole = cover(of("take", 1, "")).rows[0], smoke = cover(of("take", 0, "")).rows[0];
  ASSERT_EQ(whole.combinations.size(), 2U);
  EXPECT_EQ(empty_combinations(whole), 0);
  for (const CombinationCoverage& t : whole.combinations) EXPECT_GT(t.required, 1000);
  EXPECT_GT(empty_combinations(smoke), 0);
  EXPECT_FALSE(smoke.complete());
  for (std::size_t k = 0; k < 2; ++k) {
    const CombinationCoverage& t = smoke.combinations[k];
    EXPECT_EQ(t.required, t.covered + std::ssize(t.empty));
    EXPECT_LT(t.covered, whole.combinations[k].covered);
  }
}

TEST(Cover, OfTuplesDoesWithoutConstantOutputs) {
  const CoverRow relu = cover(of("relu", 1, "")).rows[0];
  EXPECT_EQ(empty_combinations(relu), 0) << "all negative values in any memory would be empty";
  EXPECT_GT(relu.combinations[0].constant, 0);
}

}  // namespace
}  // namespace lockstep::judge
