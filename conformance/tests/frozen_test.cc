// The frozen tiers match today's operators, and notice differences of a program.
#include "conformance/verdict/frozen.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/base/places.h"
#include "conformance/base/read_file.h"
#include "conformance/tests/expect.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/rehearsal.h"
#include "conformance/verdict/replies.h"
#include "conformance/verdict/report.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

Selection smoke(std::vector<std::string> operators) {
  return {.tier = 0,
      .operators = std::move(operators),
      .vectors = vector_directory(),
      .kills = kill_matrix_file()};
}

std::string difference_of(const Selection& s, const std::vector<Item>& items) {
  return words_of<std::runtime_error>([&] { hold_cases(installed_frozen(), s, items); });
}

TEST(Frozen, AreOfEveryOperator) {
  const std::optional<Frozen> f = installed_frozen();
  ASSERT_TRUE(f) << "of another version: lockstep cover --freeze " << frozen_file();
  ASSERT_EQ(f->tiers.size(), 2u);
  for (const Frozen::Tier& t : f->tiers)
    for (const OpInfo* op : operators())
      EXPECT_TRUE(t.operators.contains(std::string(op->name)))
          << op->name << " is new: lockstep cover --freeze " << frozen_file();
}

TEST(Frozen, HoldCasesWithTheirPurposeAndLabel) {
  const Selection s = smoke({"relu"});
  const std::vector<Item> items = select_cases(s);
  EXPECT_EQ(difference_of(s, items), "");
  std::vector<Item> fewer(items.begin(), items.end() - 1);
  expect_contains(difference_of(s, fewer), "its cases of relu are not those of tier 0");
  std::vector<Item> other = items;
  const auto illegal = std::find_if(
      other.begin(), other.end(), [](const Item& i) { return i.what == Item::illegal; });
  ASSERT_NE(illegal, other.end());
  illegal->label += "s";
  expect_contains(difference_of(s, other), "its cases of relu");
  std::vector<Item> typed = items;
  typed[0].what = Item::typed;
  expect_contains(difference_of(s, typed), "its cases of relu");
}

TEST(Frozen, HoldTheGasOfCases) {
  const Selection s = smoke({"conv2d"});
  std::vector<Item> items = select_cases(s);
  EXPECT_EQ(difference_of(s, items), "");
  OpInfo dearer = *items[0].call.op;
  dearer.gas = [](Attributes, Types) { return i64{7}; };
  for (Item& i : items) i.call.op = &dearer;
  expect_contains(difference_of(s, items), "its cases of conv2d are not those of tier 0");
}

TEST(Frozen, HoldTheOrderOfAWholeTier) {
  const Selection s = smoke({});
  std::vector<Item> items = select_cases(s);
  EXPECT_EQ(difference_of(s, items), "");
  std::swap(items[0], items[1]);
  expect_contains(difference_of(s, items), "the cases of tier 0 stand in another order");
}

TEST(Frozen, HoldWhatIsAskedAboutCasesReadInManifestsAndSaid) {
  const Selection s = smoke({"relu"});
  const std::vector<Item> items = select_cases(s);
  std::optional<Frozen> asked = installed_frozen(), read = asked, said = asked;
  ASSERT_TRUE(asked);
  asked->tiers[0].operators.at("relu").questions[0] ^= 1;
  read->manifests[0] ^= 1;
  said->words[0] ^= 1;
  expect_throws<std::runtime_error>(
      [&] { hold_cases(asked, s, items); }, "what it asks about cases of relu is something else");
  expect_throws<std::runtime_error>(
      [&] { hold_cases(read, s, items); }, "what it reads in manifests is something else");
  expect_throws<std::runtime_error>(
      [&] { hold_cases(said, s, items); }, "what it says of wrong elements is something else");
}

TEST(Frozen, HoldWhatIsAskedAboutRareCases) {
  const Selection s = smoke({"relu"});
  std::optional<Frozen> other = installed_frozen();
  ASSERT_TRUE(other);
  other->rare[0] ^= 1;
  expect_throws<std::runtime_error>([&] { hold_cases(other, s, select_cases(s)); },
      "what it asks about large calls or networks is something else");
  other->tiers[0].operators.erase("tile");
  hold_cases(other, s, select_cases(s));  // a program with a new operator
  int large = 0, networks = 0;
  for (const Item& i : rare_cases()) {
    const std::vector<Tensor> in = inputs_of(i.call);
    const std::vector<Tensor> out = reference::outputs(*i.call.op, i.call.attributes(), in);
    large += is_large(i.call);
    networks += graph_around(i.call, in, out, [](const Case&) { return true; }).has_network;
  }
  EXPECT_EQ(large, 2);
  EXPECT_EQ(networks, 1);
}

TEST(Rehearsal, HearsEveryPropertyThatAsks) {
  std::vector<Item> items = select_cases(smoke({"dense"}));
  std::vector<const Item*> some;
  for (const Item& i : items)
    if (!i.runs() || !is_large(i.call)) some.push_back(&i);
  const auto heard = [&](const Property& p) { return questions_hash(some, {std::string(p.name)}); };
  for (const Property* p : kProperties)
    if (p->ask) {
      EXPECT_NE(heard(*p), heard(kMatchesReference)) << p->name;
    }
}

TEST(Replies, AreReadBackAsTheNumberDrawsThem) {
  const Case c = parse_case("elemwise_add/in=2x3@8+2x3@8/fill=dense:1");
  const std::vector<Tensor> in = inputs_of(c);
  const auto read = [&](u64 number) {
    return read_back(
        {{.call = &c, .callers = {&in, &in}, .out = c.op->infer(c.attributes(), c.types())}},
        number);
  };
  std::string all;
  for (u64 number = 0; number < 100; ++number) {
    EXPECT_EQ(read(number), read(number));
    all += read(number);
  }
  for (const char* told : {"why?not", "a kernel", "memory beside scratch memory was written",
           "input 1 was written, an element of it", "input 0 was written, a",
           "bytes before its memory", "memory of output 0 was written",
           "touching memory of input 1", "of its heap"})
    expect_contains(all, told);
}

TEST(Frozen, MustBeInstalled) {
  const Selection s = smoke({"relu"});
  const std::vector<Item> items = select_cases(s);
  expect_throws<std::runtime_error>(
      [&] { hold_cases(std::nullopt, s, items); }, "the frozen tiers of this version are not");
}

TEST(Frozen, HoldNothingElse) {
  const Selection s = smoke({"relu"});
  Selection seed = s, budget = s, property = s, nonce = s, vectors = s, tier = s;
  seed.seed = 2, budget.budget = 7, property.properties = {"laws"}, nonce.nonce = "n",
  vectors.vectors = "", tier.tier = 2;
  std::vector<Item> items = select_cases(s);
  items.pop_back();
  EXPECT_NE(difference_of(s, items), "");
  for (const Selection& other : {seed, budget, property, nonce, vectors, tier})
    EXPECT_EQ(difference_of(other, items), "");
}

TEST(Frozen, HoldIdsToTheirCases) {
  const Selection s = smoke({"relu"});
  std::vector<Item> items = select_cases(s);
  const auto line = [](const Item& i) { return i.id.find('/') != std::string::npos; };
  items = {*std::find_if(items.begin(), items.end(), line)};
  items[0].id.insert(items[0].id.find("in=") + 3, "0");
  expect_contains(difference_of(s, items), "reads its own case as another");
}

TEST(Frozen, HoldOutputsWhereAllCasesPassed) {
  const std::optional<Frozen> f = installed_frozen();
  ASSERT_TRUE(f);
  Report r;
  r.exit = Exit::pass;
  r.outputs["relu"] = f->tiers[0].operators.at("relu").outputs;
  const auto difference = [&] {
    return words_of<std::runtime_error>([&] { hold_outputs(f, smoke({"relu"}), r); });
  };
  EXPECT_EQ(difference(), "");
  r.outputs["relu"].add(std::string(63, '0') + "1");
  expect_contains(difference(), "the outputs of relu that it calls right are others");
  r.exit = Exit::fail;
  EXPECT_EQ(difference(), "");
}

TEST(Frozen, ReadBackAsTheyWereWritten) {
  const std::string text = read_file(frozen_file());
  EXPECT_EQ(frozen_json(read_frozen(text)), text);
  expect_throws<UsageError>([] { read_frozen("{}"); }, "format");
}

// A judge that plants no fault in what it observes must not say that a backend passes.
TEST(Canaries, AreMissedWhereNoneIsPlanted) {
  Report r;
  r.counts.executed = r.counts.passed = 1;
  r.cells["relu"]["matches_reference"].judged = r.cells["*"]["closes"].judged = 1;
  r.cells["relu"]["laws"].judged = r.cells["*"]["isa"].judged = 1;
  r.canaries["laws"] = {1, 1};
  Report failed = r, filtered = r, crashing = r;
  miss_unplanted(r);
  EXPECT_EQ(r.canaries.at("matches_reference").planted, 1);
  EXPECT_EQ(r.canaries.at("matches_reference").noticed, 0);
  EXPECT_EQ(r.canaries.at("laws").noticed, 1);
  EXPECT_EQ(r.canaries.at("closes").planted, 1);
  EXPECT_EQ(r.canaries.at("closes").noticed, 0);
  EXPECT_FALSE(r.canaries.contains("isa")) << "no case was judged by it";
  conclude(r);
  EXPECT_EQ(r.exit, Exit::judge_broke);
  crashing.cells["*"]["closes"].failed = 1;
  miss_unplanted(crashing);
  EXPECT_FALSE(crashing.canaries.contains("closes")) << "there was nothing right to plant it in";
  failed.counts.passed = 0;
  filtered.chosen.properties = {"laws"};
  for (Report* other : {&failed, &filtered}) {
    miss_unplanted(*other);
    EXPECT_EQ(all_canaries(*other).planted, 1);
  }
}

}  // namespace
}  // namespace lockstep::judge
