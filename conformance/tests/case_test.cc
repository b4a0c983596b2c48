// A case id holds a whole case, and the parser refuses garbage with a message.
#include "conformance/cases/case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>

#include "conformance/cases/layout.h"
#include "conformance/selection/select.h"
#include "conformance/tests/expect.h"
#include "spec/attributes.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

constexpr char kFrozen[] = "conformance/vectors";

std::vector<Item> drawn(u64 seed) { return select_cases({.tier = 0, .seed = seed}); }

TEST(CaseId, RoundTripsForEveryDrawnCase) {
  int legal = 0;
  for (u64 seed : {1U, 2U, 3U})
    for (const Item& item : drawn(seed)) {
      const Case again = parse_case(item.id);
      ASSERT_EQ(case_id(again), item.id);
      ASSERT_EQ(refusal(again).label(), item.label) << item.id;
      if (item.what != Item::legal) continue;
      const std::vector<Tensor> want = inputs_of(item.call), got = inputs_of(again);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t k = 0; k < want.size(); ++k) ASSERT_EQ(got[k].data, want[k].data) << item.id;
      ++legal;
    }
  EXPECT_GE(legal, 3 * 60 * static_cast<int>(operators().size()));
}

TEST(CaseId, SaysWhatWasLeftOut) {
  EXPECT_EQ(case_id(parse_case("relu/in=1@8")), "relu/in=1@8/fill=dense:0");
}

TEST(CaseId, SpellsCallsOutThatNobodyMayMake) {
  for (const char* id : {"relu/in=/fill=zero:0", "relu/in=@8/fill=zero:0",
           "relu/in=-1@-1/fill=zero:0", "relu/in=4294967297@8/fill=zero:0",
           "relu/in=1x1x1x1x1x1x1@8/fill=zero:0", "relu/in=1@8/fill=dense:18446744073709551615",
           "relu/in=0@8/data=", "relu/in=16777217@8/data=1", "relu/in=1@0/data=5",
           "relu/in=1@33/data=4294967296", "relu/in=1@1/data=0",
           "relu/in=2@32/data=-2147483647,2147483647",
           "elemwise_add/in=2@8+2@8/data=127,-127+0,1/memory=padded",
           "concatenate/axis=-9223372036854775808/in=1@8/fill=zero:0",
           "conv2d/channels=1/kernel_size=1,1/strides=/in=1x1x1x1@8+1x1x1x1@8/fill=zero:0"})
    EXPECT_EQ(case_id(parse_case(id)), id);
  // A shape keeps only the axes for which it has room, and the default seed is 0.
  EXPECT_EQ(case_id(parse_case("relu/in=1x1x1x1x1x1x3@8/fill=max")),
      "relu/in=1x1x1x1x1x1x1@8/fill=max:0");
}

TEST(CaseId, SaysWhatIsWrongWithGarbage) {
  const std::pair<const char*, const char*> all[] = {
      {"", "no operator ''"},
      {"/", "no operator ''"},
      {"nope/in=1@8", "no operator 'nope'"},
      {"relu", "in= is missing"},
      {"relu/in", "'in' is no key=value"},
      {"relu/in=1@8/in=1@8", "'in' is given twice"},
      {"relu/in=1", "'1' is no shape@precision in in="},
      {"relu/in=1@", "'' is no integer in a precision"},
      {"relu/in=x@8", "'' is no integer in a shape"},
      {"relu/in=1@8@8", "'1@8@8' is no shape@precision in in="},
      {"relu/in=1q@8", "'1q' is no integer in a shape"},
      {"relu/in=9223372036854775808@8", "'9223372036854775808' is no integer in a shape"},
      {"relu/in=1@8 ", "'8 ' is no integer in a precision"},
      {"relu/in=1@8/data=1q", "'1q' is no integer in data="},
      {"relu/in=1@8/data=1,", "'' is no integer in data="},
      {"relu/in=1@8/fill=dense:-1", "'-1' is no integer in fill="},
      {"relu/in=1@8/fill=dense:1:2", "fill=dense:1:2"},
      {"relu/in=1@8/fill=", "no fill ''"},
      {"relu/in=1@8/fill=none:0", "no fill 'none'"},
      {"relu/in=1@8/fill=literal:0", "literal data is written data=..."},
      {"relu/in=1@8/memory=none", "no layout 'none'"},
      {"relu/in=1@8/axis=1", "relu has no attribute 'axis'"},
      {"cvm_clip/in=1@8", "cvm_clip needs precision="},
      {"upsampling/scale=2/method=NONE/in=1x1x1x1@8",
          "method=NONE of upsampling is no word it knows"},
      {"sum/axis=x/in=1@8", "axis=x of sum has an illegal value"},
      {"relu/in=1@8/data=1+1", "data= has 2 parts for 1 inputs"},
      {"relu/in=2@8/data=1", "data= of input 0 has 1 values for 2 elements"},
      {"elemwise_add/in=2@8+2@8/data=1,2+1", "data= of input 1 has 1 values for 2 elements"},
      {"relu/in=1@8/data=-128", "data= of input 0: -128 is outside precision 8"},
      {"relu/in=1@8/data=4294967296", "data= of input 0: 4294967296 is outside precision 8"},
      {"relu/in=1@1/data=1", "data= of input 0: 1 is outside precision 1"},
      {"relu/in=1@32/data=2147483648", "data= of input 0: 2147483648 is outside precision 32"},
  };
  for (const auto& [id, says] : all)
    EXPECT_EQ(
        words_of<UsageError>([&, id = id] { parse_case(id); }), "case id: " + std::string(says));
}

TEST(CaseId, ReadsEveryWordOfEveryAttribute) {
  for (const OpInfo* op : operators())
    for (int i = 0; i < op->attrs.size(); ++i) {
      const AttrInfo& f = op->attrs[i];
      if (f.kind != AttrKind::word) continue;
      Case c = example_case(*op, 0);
      Attr& chosen = c.attrs[static_cast<std::size_t>(i)];
      chosen = f.fallback;
      const std::string name(op->name), rest = case_id(c).substr(name.size());
      for (i64 word = 0; word <= f.range.max; ++word) {
        chosen = {AttrKind::word, false, {word}};
        const std::string spelled = std::string(f.name) + "=" + std::string(word_of(f, word));
        EXPECT_EQ(parse_case(name + "/" + spelled + rest).attrs, c.attrs) << name << " " << spelled;
      }
    }
}

TEST(CaseId, NeverCrashesOnAnEditedId) {
  constexpr char kBytes[] = "/=@+x:,-0189in\0\xff data";
  Seeded draw(7);
  int read = 0, refused = 0;
  for (const Item& item : drawn(4)) {
    std::string id = item.id;
    for (i64 edits = draw(1, 3); edits > 0; --edits) {
      const auto at = static_cast<std::size_t>(draw(0, static_cast<i64>(id.size()) - 1));
      const char byte = kBytes[draw(0, std::size(kBytes) - 2)];
      if (draw.coin())
        id.insert(at, 1, byte);
      else
        id[at] = byte;
    }
    try {
      ASSERT_FALSE(case_id(parse_case(id)).empty());
      ++read;
    } catch (const UsageError& e) {
      ASSERT_FALSE(std::string(e.what()).empty());
      ++refused;
    }
  }
  EXPECT_GT(read, 20);
  EXPECT_GT(refused, 200);
}

TEST(Placements, HoldEveryElementOnce) {
  for (const Item& item : drawn(5)) {
    if (item.what != Item::legal) continue;
    for (int l = 0; l < kLayouts; ++l)
      for (std::size_t k = 0; k < item.call.in.size(); ++k) {
        const Type& t = item.call.in[k];
        const auto layout = static_cast<Layout>(l);
        const Placement p = place_input(t, layout, item.call.seed, static_cast<int>(k));
        for (int d = 0; d < t.rank(); ++d) ASSERT_GT(p.stride[d], 0) << item.id;
        std::vector<bool> taken(static_cast<std::size_t>(p.allocated));
        for_each_address(t, p, [&](i64 at) {
          ASSERT_TRUE(0 <= at && at < p.allocated) << item.id;
          ASSERT_FALSE(taken[static_cast<std::size_t>(at)]) << item.id;
          taken[static_cast<std::size_t>(at)] = true;
        });
        ASSERT_EQ(std::count(taken.begin(), taken.end(), true), volume(t.shape));
      }
  }
}

// Strides, offset and size.
std::vector<i64> numbers_of(const Type& t, const Placement& p) {
  std::vector<i64> all(p.stride, p.stride + t.rank());
  all.insert(all.end(), {p.offset, p.allocated});
  return all;
}

struct PlacementRow {
  Shape shape;
  Layout layout;
  u64 seed;
  int k;
  std::vector<i64> in, out;  // empty: not asked for
};

// Computed from the definition by another program. Every version must place the tensors of a case
// that a report names in the same way.
TEST(Placements, AreTheSameInEveryVersion) {
  constexpr u64 kSeed = (u64{1} << 63) + 7;
  constexpr i64 kFar = i64{1} << 34, kLimit = i64{1} << 22;
  const std::vector<i64> compact = {5, 1, 0, 15}, scattered = {18, 2, 4, 90};
  const PlacementRow rows[] = {{{3, 5}, Layout::compact, kSeed, 0, compact, compact},
      {{3, 5}, Layout::padded, kSeed, 0, {9, 1, 0, 45}, {}},
      {{3, 5}, Layout::offset, kSeed, 0, {9, 1, 2, 45}, {}},
      {{3, 5}, Layout::permuted, kSeed, 0, compact, {}},
      {{3, 5}, Layout::scattered, kSeed, 0, scattered, {}},
      {{3, 5}, Layout::scattered_in, kSeed, 0, scattered, compact},
      {{3, 5}, Layout::scattered_out, kSeed, 0, compact, {}},
      {{3, 5}, Layout::padded, kSeed, 1, {}, {9, 1, 0, 45}},
      {{3, 5}, Layout::offset, kSeed, 1, {}, {9, 1, 2, 45}},
      {{3, 5}, Layout::scattered, kSeed, 1, {}, scattered},
      {{3, 5}, Layout::scattered_out, kSeed, 1, {}, scattered},
      {{2, 3, 4, 5, 6, 7}, Layout::scattered, 9, 2, {330, 2, 7920, 66, 1320, 6, 8592, 47520}, {}},
      {{2, 3, 4, 5, 6, 7}, Layout::permuted, 9, 3, {2520, 1, 3, 12, 60, 360, 0, 5040}, {}},
      {{2, 3, 4, 5, 6, 7}, Layout::offset, u64{1} << 40, 1, {9800, 1960, 392, 56, 8, 1, 448, 19600},
          {}},
      {{2, 3, 4, 5, 6, 7}, Layout::scattered_out, 11, 0, {},
          {28000, 70, 2, 14, 350, 2800, 58800, 140000}},
      // The largest tensor that is padded, and the first that is too large.
      {{kLimit - 1}, Layout::padded, 3, 0, {1, 0, kLimit}, {}},
      {{kLimit}, Layout::padded, 3, 0, {1, 0, kLimit}, {}},
      {{2, kFar}, Layout::permuted, 1, 0, {kFar, 1, 0, 2 * kFar}, {}}};
  for (const PlacementRow& r : rows) {
    const Type t{r.shape, 8};
    if (!r.in.empty()) {
      EXPECT_EQ(numbers_of(t, place_input(t, r.layout, r.seed, r.k)), r.in) << name_of(r.layout);
    }
    if (!r.out.empty()) {
      EXPECT_EQ(numbers_of(t, place_output(t, r.layout, r.seed, r.k)), r.out) << name_of(r.layout);
    }
  }
}

TEST(Placements, BeginWhereverTheirOffsetIs) {
  Placement far;
  far.stride[0] = i64{1} << 33;
  far.offset = i64{1} << 40;
  std::vector<i64> seen;
  for_each_address(Type{{2}, 8}, far, [&](i64 at) { seen.push_back(at); });
  EXPECT_EQ(seen, (std::vector<i64>{i64{1} << 40, (i64{1} << 40) + (i64{1} << 33)}));
}

// Users choose runs by size and floors by tier, so neither may change unnoticed.
TEST(SelectCases, OfATierAreSoMany) {
  const auto numbers = [](int tier) {
    const TierSize s = tier_size(tier);
    return std::vector<int>{s.legal, s.illegal, s.edges, s.ranges, s.large, tier_floor(tier)};
  };
  EXPECT_EQ(numbers(0), (std::vector<int>{60, 2, 0, 0, 0, 3}));
  EXPECT_EQ(numbers(1), (std::vector<int>{1900, 20, 24, 0, 1, 95}));
  EXPECT_EQ(numbers(2), (std::vector<int>{12000, 60, INT_MAX, 0, 4, 600}));
  EXPECT_EQ(numbers(3), (std::vector<int>{40000, 200, INT_MAX, 4, 16, 2000}));
  const auto what = [](const char* id) { return what_of(parse_case(id)); };
  EXPECT_EQ(what("relu/in=8388608@8"), Item::legal);  // 2^24 elements, the output counted in
  EXPECT_EQ(what("relu/in=8388609@8"), Item::typed);
  EXPECT_EQ(what("relu/in=0@8"), Item::illegal);
}

TEST(SelectCases, EveryFilterMakesThemPartial) {
  EXPECT_FALSE(Selection{}.partial());
  EXPECT_TRUE((Selection{.operators = {"relu"}}.partial()));
  EXPECT_TRUE((Selection{.profiles = {"NN"}}.partial()));
  EXPECT_TRUE((Selection{.properties = {"laws"}}.partial()));
  EXPECT_TRUE((Selection{.cases = {"relu/in=1@8"}}.partial()));
  EXPECT_TRUE((Selection{.budget = 1}.partial()));
}

// Of the golden vectors that a property selects, how many give outputs and how many errors.
TEST(SelectCases, VectorsAreForThePropertiesThatTheyTell) {
  const auto taken = [](const char* property) {
    const Selection s{
        .tier = 0, .operators = {"relu"}, .properties = {property}, .vectors = kFrozen};
    std::pair<int, int> n;
    for (const Item& i : select_cases(s)) {
      if (i.id.find('/') != std::string::npos) continue;
      (i.what == Item::vector ? n.first : n.second)++;
      EXPECT_TRUE(i.what == Item::vector || i.what == Item::illegal) << i.id;
      EXPECT_EQ(i.label.empty(), i.what == Item::vector) << i.id;
    }
    EXPECT_EQ(takes_vectors(s), n.first + n.second > 0) << property;
    return n;
  };
  EXPECT_EQ(taken("layout"), (std::pair{0, 0}));
  const auto [outputs, no_errors] = taken("matches_vectors");
  EXPECT_GT(outputs, 50);
  EXPECT_EQ(no_errors, 0);
  const auto [no_outputs, errors] = taken("rejects");
  EXPECT_EQ(no_outputs, 0);
  EXPECT_GT(errors, 15);
}

TEST(SelectCases, ANameWithoutASlashIsAVectorWhereThereAreSome) {
  const auto select = [](const char* id, const char* vectors) {
    const Selection s{.cases = {id}, .vectors = vectors};
    EXPECT_EQ(
        takes_vectors(s), s.vectors == kFrozen && std::string(id).find('/') == std::string::npos);
    return select_cases(s);
  };
  EXPECT_EQ(select("relu-0001", kFrozen)[0].what, Item::vector);
  EXPECT_EQ(select("relu-0063", kFrozen)[0].label, "input.precision");
  EXPECT_EQ(select("relu/in=1@8/fill=one:0", kFrozen)[0].what, Item::legal);
  expect_throws<UsageError>([&] { select("relu-0001", ""); }, "case id: no operator 'relu-0001'");
  // This vector has a value that no tensor of its precision can hold.
  expect_throws<UsageError>([&] { select("relu-0068", kFrozen); },
      "no case and no vector 'relu-0068' (vectors of conformance/vectors)");
}

TEST(Endless, NumbersBeyond32BitsAreOtherCallsAndIllegalOnesAreRefused) {
  constexpr i64 kFar = i64{1} << 32;
  const auto call_of = [](const Item& item) { return item.id.substr(0, item.id.find("/fill=")); };
  int unlike = 0;
  for (const OpInfo* op : operators()) {
    const Item near = endless_item(*op, 1, 3), far = endless_item(*op, 1, kFar + 3);
    EXPECT_NE(near.call.seed, far.call.seed) << op->name;
    unlike += call_of(near) != call_of(far);
    for (i64 n = 7; n < 160; n += 8) {
      const Item item = endless_item(*op, 1, n);
      const Refusal r = refusal(item.call);
      EXPECT_EQ(item.what == Item::illegal, r.refused()) << item.id;
      EXPECT_EQ(item.label, r.label()) << item.id;
      EXPECT_NE(r.scope, "attr") << item.id;
    }
  }
  EXPECT_GT(unlike, 0);
}

TEST(Fills, StayInsideTheirPrecision) {
  for (const Item& item : drawn(6)) {
    if (item.what != Item::legal) continue;
    Case c = item.call;
    for (int f = 0; f < kFills; ++f) {
      c.fill = static_cast<Fill>(f);
      for (const Tensor& t : inputs_of(c))
        for (i32 v : t.data) ASSERT_LE(std::abs(i64{v}), max_of(t.type.precision)) << case_id(c);
    }
  }
}

TEST(CaseId, HasOneValueForAllInputsOrOneForEach) {
  const std::pair<const char*, const char*> rows[] = {
      {"broadcast_add/in=2@8+2@8/fill=constant:127", "broadcast_add/in=2@8+2@8/fill=constant:127"},
      {"broadcast_add/fill=constant:5/in=2@8+2@8", "broadcast_add/in=2@8+2@8/fill=constant:5"},
      {"broadcast_add/in=2@8+2@8/fill=constant:5+5", "broadcast_add/in=2@8+2@8/fill=constant:5"},
      {"broadcast_add/in=2@8+2@8/fill=constant:-5+0",
          "broadcast_add/in=2@8+2@8/fill=constant:-5+0"},
      {"relu/in=2@8/fill=constant", "relu/in=2@8/fill=constant:0"}};
  for (const auto& [from, to] : rows) EXPECT_EQ(case_id(parse_case(from)), to);
  const std::vector<Tensor> in =
      inputs_of(parse_case("broadcast_add/in=2x2@8+1@3/fill=constant:-127"));
  EXPECT_EQ(in[0].data, std::vector<i32>(4, -127));
  EXPECT_EQ(in[1].data, std::vector<i32>(1, -3)) << "clamped to the precision";
  expect_throws<UsageError>([] { parse_case("relu/in=2@8/fill=constant:1+2"); },
      "fill=constant has 2 values for 1 inputs");
  expect_throws<UsageError>(
      [] { parse_case("relu/in=2@8/fill=constant:x"); }, "'x' is no integer in fill=constant");
  expect_throws<UsageError>([] { parse_case("relu/in=2@8/fill=constant:1:2"); }, "fill=constant");
}

TEST(CaseId, OfWrittenValuesHasNoSeed) {
  const Case c = parse_case("relu/in=2x3@8/fill=dense:77/memory=scattered");
  EXPECT_EQ(with_literal_data(c).seed, parse_case(case_id(with_literal_data(c))).seed);
}

}  // namespace
}  // namespace lockstep::judge
