// The kill matrix: how it orders a set, what it says of a prefix, and that it matches today's
// mutants and cases.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance/run/judge.h"
#include "conformance/selection/kill_matrix.h"
#include "conformance/selection/select.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

const std::string kShipped = "conformance/selection/kill_matrix.json";

Item item_of(const std::string& id) { return {Item::legal, parse_case(id), {}, id, {}}; }

// Two mutants of relu, one of sum, one of no operator; of four cases one kills nothing more.
KillMatrix small_kills() {
  return {LOCKSTEP_VERSION,
      {{"relu.a", "relu"}, {"relu.b", "relu"}, {"sum.a", "sum"}, {"contract.a", "*"}},
      {{"relu/in=1@8/data=1", {0}}, {"relu/in=1@8/data=2", {0, 1}}, {"sum/in=2@8/data=1,2", {2, 3}},
          {"relu/in=1@8/data=3", {1, 3}}}};
}

std::vector<std::string> ids_of_items(const std::vector<Item>& items) {
  std::vector<std::string> ids;
  for (const Item& i : items) ids.push_back(i.id);
  return ids;
}

TEST(KillMatrix, ComeFirstWhereEachKillsMostOfWhatIsAlive) {
  std::vector<Item> items;
  for (const char* id : {"relu/in=1@8/data=9", "relu/in=1@8/data=1", "relu/in=1@8/data=3",
           "sum/in=2@8/data=1,2", "relu/in=1@8/data=2"})
    items.push_back(item_of(id));
  put_killers_first(items, small_kills());
  EXPECT_EQ(ids_of_items(items),
      (std::vector<std::string>{"relu/in=1@8/data=2", "sum/in=2@8/data=1,2", "relu/in=1@8/data=9",
          "relu/in=1@8/data=1", "relu/in=1@8/data=3"}));
  // Without the operator that killed it, another case has to kill the mutant of none.
  std::erase_if(items, [](const Item& i) { return i.call.op->name == "sum"; });
  put_killers_first(items, small_kills());
  EXPECT_EQ(items[1].id, "relu/in=1@8/data=3");
}

TEST(KillMatrix, OfEquallyManyComeInTheirOrder) {
  std::vector<KillMatrix::Killer> killers = {
      {"a", {0}}, {"most", {1, 2}}, {"b", {3}}, {"none", {2}}};
  order_killers(killers, 4);
  std::string order;
  for (const KillMatrix::Killer& k : killers) order += k.id + " ";
  EXPECT_EQ(order, "most a b ");
}

TEST(KillMatrix, ScoreThePrefixAmongTheMutantsOfItsOperators) {
  const Item killer = item_of("relu/in=1@8/data=3"), other = item_of("relu/in=1@8/data=9");
  const auto score = [](const std::vector<const Item*>& items, const std::set<string_view>& ops) {
    const Score s = score_of(items, ops, small_kills());
    return std::pair(s.killed, s.listed);
  };
  EXPECT_EQ(score({&killer, &other}, {"relu"}), std::pair(i64{2}, i64{3}));
  EXPECT_EQ(score({&other}, {"relu"}), std::pair(i64{0}, i64{3}));
  EXPECT_EQ(score({&killer}, {"relu", "sum"}), std::pair(i64{2}, i64{4}));
}

TEST(KillMatrix, AreReadBackOrRefused) {
  const Scratch scratch;
  const std::string text = kills_json(small_kills());
  EXPECT_EQ(kills_json(read_kills(text)), text);
  EXPECT_TRUE(kills_of(scratch.write("kills", text)));
  KillMatrix old = small_kills();
  old.judge = "0.0.1";
  EXPECT_FALSE(kills_of(scratch.write("old", kills_json(old)))) << "another judge measured it";
  EXPECT_FALSE(kills_of(""));
  KillMatrix wrong = small_kills();
  wrong.cases[3].mutants = {4};
  const std::string file = scratch.write("wrong", kills_json(wrong));
  expect_throws<UsageError>([&] { kills_of(file); }, "/cases/3/kills names no mutant");
  for (i64 none : {i64{-1}, i64{4}, i64{1} << 32}) {
    wrong.cases[0].mutants = {none};
    expect_throws<UsageError>([&] { read_kills(kills_json(wrong)); }, "/cases/0/kills");
  }
  expect_throws<UsageError>([&] { kills_of(scratch.path("none")); }, "cannot read");
  expect_throws<UsageError>([&] { kills_of(scratch.write("empty", "")); }, "it is no JSON");
}

TEST(ShippedKills, AreOfTheMutantsOfToday) {
  const auto manifest = open_subject("faulty", {.set = {{"mutant", "none"}}})->manifest();
  std::vector<std::string> today, measured;
  const auto told = nlohmann::json::parse(manifest.text);
  for (const auto& m : told["mutants"])
    today.push_back(m["name"].get<std::string>() + " " + m["op"].get<std::string>());
  const std::optional<KillMatrix> k = kills_of(kShipped);
  ASSERT_TRUE(k) << "of another version: lockstep mutants --order " << kShipped;
  for (const KillMatrix::Mutant& m : k->mutants) measured.push_back(m.name + " " + m.op);
  EXPECT_EQ(measured, today) << "lockstep mutants --order " << kShipped << " measures anew";
}

TEST(ShippedKills, AreOfCasesOfToday) {
  const std::optional<KillMatrix> k = kills_of(kShipped);
  ASSERT_TRUE(k);
  const Selection s{.operators = {"relu", "dense", "cvm_*"}, .vectors = "conformance/vectors"};
  std::set<std::string> cases;
  std::set<string_view> ops;
  for (const Item& item : select_cases(s)) cases.insert(item.id), ops.insert(item.call.op->name);
  std::vector<std::string> gone;
  i64 here = 0;
  for (const KillMatrix::Killer& killer : k->cases) {
    const bool mine = std::any_of(ops.begin(), ops.end(),
        [&](string_view op) { return killer.id.starts_with(std::string(op) + "/"); });
    here += mine;
    if (mine && !cases.contains(killer.id)) gone.push_back(killer.id);
  }
  EXPECT_GT(here, 10);
  EXPECT_EQ(gone, std::vector<std::string>())
      << "no longer selected: lockstep mutants --order " << kShipped << " measures anew";
}

TEST(ShippedKills, ScoreAPrefixAsItIsReported) {
  // The matrix orders the set with its vectors.
  Selection s{
      .operators = {"relu"}, .budget = 12, .vectors = "conformance/vectors", .kills = kShipped};
  const Report r = judge("reference", s, {});
  const std::optional<KillMatrix> k = kills_of(kShipped);
  ASSERT_TRUE(k);
  i64 listed = 0;
  for (const KillMatrix::Mutant& m : k->mutants) listed += m.op == "relu" || m.op == "*";
  EXPECT_EQ(r.score.listed, listed);
  EXPECT_GT(r.score.killed, listed / 2);
  s.budget = 1;
  EXPECT_EQ(judge("reference", s, {}).score.listed, listed) << "one case is a prefix, too";
  s.kills = "";
  EXPECT_EQ(judge("reference", s, {}).score.listed, 0);
  s.budget = 0;
  s.kills = kShipped;
  s.tier = 0;
  EXPECT_EQ(judge("reference", s, {}).score.listed, 0) << "a whole run is no prefix";
}

}  // namespace
}  // namespace lockstep::judge
