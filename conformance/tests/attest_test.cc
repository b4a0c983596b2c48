// Evidence as files: the reader accepts files that fit together, and names what was changed.
#include "conformance/reports/attest.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance/base/sha256.h"
#include "conformance/run/jobs.h"
#include "conformance/selection/select.h"
#include "conformance/tests/expect.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;
using Files = std::map<std::string, std::string>;

Selection chosen() {
  return {.tier = 0,
      .operators = {"relu", "sum"},
      .properties = {"matches_reference"},
      .nonce = "a verifier's words"};
}

// Made-up evidence of a run that passed.
Attestation passed() {
  const std::vector<Item> items = select_cases(chosen());
  Attestation a{{{"toy.so", std::string(64, 'a')}}, {}, {}};
  Report& r = a.report;
  r.name = "toy", r.tier = 0, r.set_hash = set_hash(items), r.order_hash = order_hash(items),
  r.file_hash = a.subject[0].hash;
  r.chosen = {{"relu", "sum"}, {}, {"matches_reference"}, {}, 0, chosen().nonce, {}, {}};
  r.set_cases = r.counts.selected = r.counts.executed = r.counts.passed =
      static_cast<i64>(items.size());
  r.partial = true;
  for (std::size_t n = 0; n < items.size(); ++n) {
    const std::string op(items[n].call.op->name);
    a.results.push_back({static_cast<i64>(n), "passed", sha256(items[n].id)});
    r.outputs[op].add(a.results.back().outputs);
    ++r.cells[op]["matches_reference"].judged;
  }
  conclude(r);
  return a;
}

TEST(Bundle, IsReadAsItWasWritten) {
  const Files files = bundle_of(passed());
  EXPECT_EQ(bundle_of(read_bundle(files)), files);
  const json statement = json::parse(files.at("statement.json"));
  EXPECT_EQ(statement["_type"], "https://in-toto.io/Statement/v1");
  EXPECT_EQ(statement["subject"],
      (json{{{"name", "toy.so"}, {"digest", {{"sha256", std::string(64, 'a')}}}}}));
  EXPECT_EQ(statement["predicate"]["assurance"], "self-declared");
  EXPECT_EQ(statement["predicate"]["nonce"], "a verifier's words");
}

std::string refusal_of(const Files& files) {
  return words_of<UsageError>([&] { read_bundle(files); });
}

TEST(Bundle, NamesTheFileThatWasChanged) {
  const Files whole = bundle_of(passed());
  for (const char* name : {"report.json", "results.txt"}) {
    Files files = whole;
    files[name] += " ";
    EXPECT_EQ(refusal_of(files), name + std::string(" is not the one that statement.json names"));
    files.erase(name);
    EXPECT_EQ(refusal_of(files), std::string("there is no ") + name);
  }
  const std::pair<const char*, const char*> edits[] = {
      {"/predicate/verdict", "differ in the verdict"}, {"/predicate/nonce", "differ in the nonce"},
      {"/predicate/scope/properties", "no list"},
      {"/predicate/assurance", "statement.json: /predicate/assurance is \"x\""},
      {"/predicate/set_sha256", "statement.json: /predicate/set_sha256 is no SHA-256"},
      {"/subject/0/digest/sha256", "statement.json: /subject/0/digest/sha256 is no SHA-256"},
      {"/predicateType", "statement.json: /predicateType is \"x\""},
      {"/subject", "statement.json: /subject is no list"}};
  for (const auto& [at, says] : edits) {
    Files files = whole;
    files["statement.json"] = with<json>(json::parse(files["statement.json"]), at, "x").dump();
    expect_contains(refusal_of(files), says);
  }
  Files less = whole;
  less["statement.json"] =
      with<json>(json::parse(less["statement.json"]), "/predicate/scope/operators", {"relu"})
          .dump();
  EXPECT_EQ(refusal_of(less), "statement.json and report.json differ in what was judged");
  Attestation other = passed();
  other.subject[0].hash = std::string(64, 'b');
  EXPECT_EQ(refusal_of(bundle_of(other)), "statement.json is about another file than report.json");
}

// The bundle with other results, its hashes made anew.
std::string refusal_of_results(const std::string& text) {
  Files files = bundle_of(passed());
  json statement = json::parse(files["statement.json"]);
  files["results.txt"] = text;
  statement["predicate"]["results_sha256"] = sha256(text);
  files["statement.json"] = statement.dump();
  return refusal_of(files);
}

TEST(Bundle, NamesTheLineThatIsNoResult) {
  EXPECT_EQ(refusal_of_results("0 passed\n1 failed " + std::string(64, 'c') + "\n"), "");
  for (const char* line : {"x passed", "0", "0 won", "0 passed abc", "00 passed", "0  passed",
           "0 passed ", "-1 passed", "99999999999999999999 passed"})
    EXPECT_EQ(refusal_of_results("0 passed\n1 passed\n" + std::string(line) + "\n"),
        "results.txt: line 3 is no result of a case")
        << line;
  EXPECT_EQ(refusal_of_results("1 passed\n1 passed\n"), "results.txt: line 2 is out of order");
}

TEST(Contradictions, AreFoundWithoutRunningAnything) {
  const std::vector<Item> items = select_cases(chosen());
  EXPECT_TRUE(contradictions(passed(), items).empty());
  const std::pair<void (*)(Attestation&), const char*> rows[] = {
      {[](Attestation& a) { a.report.set_hash = std::string(64, 'c'); }, "another case set"},
      {[](Attestation& a) { a.report.order_hash = std::string(64, 'c'); },
          "orders the cases differently"},
      {[](Attestation& a) { a.results.back().number = std::ssize(a.results); },
          "there is a result of case "},
      {[](Attestation& a) { a.results[0].outcome = "failed"; }, "the report counts"},
      {[](Attestation& a) { a.results[0].outputs = std::string(64, 'd'); }, "the outputs of "},
      {[](Attestation& a) { a.report.outputs.erase("sum"); }, "name different operators"}};
  for (const auto& [edit, says] : rows) {
    Attestation a = passed();
    edit(a);
    ASSERT_FALSE(contradictions(a, items).empty()) << says;
    expect_contains(contradictions(a, items)[0], says);
  }
}

TEST(Sample, IsChosenByItsSeedAndHoldsNoCrash) {
  Attestation a = passed();
  a.results[3].outcome = "crashed", a.results[4].outcome = "quarantined";
  const auto numbers = [&](i64 count, u64 seed) {
    std::vector<i64> all;
    for (const Declared& d : sample(a, count, seed)) all.push_back(d.number);
    return all;
  };
  EXPECT_EQ(numbers(9, 1).size(), 9U);
  EXPECT_EQ(numbers(9, 1), numbers(9, 1));
  EXPECT_NE(numbers(9, 1), numbers(9, 2));
  const std::vector<i64> all = numbers(i64{1} << 40, 1);
  EXPECT_EQ(all.size(), a.results.size() - 2);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_FALSE(std::binary_search(all.begin(), all.end(), 3));
}

// The verifier names a seed, and another program of this version must run the same cases again.
TEST(Sample, IsTheSameEverywhere) {
  Attestation a;
  for (i64 n = 0; n < 40; ++n) a.results.push_back({n, "passed", ""});
  std::vector<i64> numbers;
  for (const Declared& d : sample(a, 6, 1)) numbers.push_back(d.number);
  EXPECT_EQ(numbers, (std::vector<i64>{1, 10, 15, 30, 33, 37}));
}

TEST(Refutations, NameTheCase) {
  const std::vector<Item> items = select_cases(chosen());
  const std::vector<Declared> declared = sample(passed(), 3, 1);
  EXPECT_TRUE(refutations(declared, declared, items).empty());
  std::vector<Declared> again = declared;
  again[0].outcome = "failed", again[1].outputs = std::string(64, 'e'), again.pop_back();
  const auto id = [&](int k) { return items[static_cast<std::size_t>(declared[k].number)].id; };
  EXPECT_EQ(refutations(declared, again, items),
      (std::vector<std::string>{id(0) + ": declared passed, this time failed",
          id(1) + ": other outputs than declared",
          id(2) + ": declared passed, was not run again"}));
}

TEST(Nonce, AddsCasesThatNobodyCouldKnow) {
  Selection without = chosen(), other = chosen();
  without.nonce = "", other.nonce = "other words";
  const auto ids = [](const Selection& s) {
    std::set<std::string> all;
    for (const Item& i : select_cases(s)) all.insert(i.id);
    return all;
  };
  const std::set<std::string> usual = ids(without), ours = ids(chosen()), theirs = ids(other);
  EXPECT_TRUE(std::includes(ours.begin(), ours.end(), usual.begin(), usual.end()));
  EXPECT_EQ(ours.size(), usual.size() + 12) << "a tenth of both operators' calls";
  std::vector<std::string> common;
  std::set_intersection(
      ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(common));
  EXPECT_EQ(common.size(), usual.size());
  Selection single = chosen();
  single.cases = {"relu/in=1@8/data=1"};
  EXPECT_THROW(select_cases(single), UsageError);
}

}  // namespace
}  // namespace lockstep::judge
