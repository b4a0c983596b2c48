// Which failures of a run have one cause.
#include "conformance/verdict/causes.h"

#include <gtest/gtest.h>

#include "conformance/verdict/pattern.h"

namespace lockstep::judge {
namespace {

std::string relation_words(const std::vector<Element>& elements) {
  for (const Relation& r : relations())
    if (holds(r, elements)) return r.words;
  return "";
}

TEST(Relations, NameHowValuesAreWrong) {
  const std::tuple<i64, i64, const char*> rows[] = {{5, 6, "off by one"}, {5, 4, "off by one"},
      {70, 0, "0 instead of a value"}, {70, -70, "the sign is wrong"}, {300, 44, "kept in 8 bits"},
      {-300, -44, "kept in 8 bits"}, {300, 127, "clamped to 8 bits"},
      {-300, -128, "clamped to 8 bits"}, {384, -128, "kept in 8 bits"},
      {-385, 127, "kept in 8 bits"}, {70000, 4464, "kept in 16 bits"},
      {98304, -32768, "kept in 16 bits"}, {70000, 32767, "clamped to 16 bits"},
      {-70000, -32768, "clamped to 16 bits"}, {70001, 70144, "rounded as bfloat16"},
      {4112, 4096, "rounded as bfloat16"}, {4113, 4128, "rounded as bfloat16"},
      {4144, 4160, "rounded as bfloat16"}, {-4144, -4160, "rounded as bfloat16"},
      {70001, 70016, "rounded as float16"}, {-16777219, -16777220, "off by one"},
      {33554435, 33554436, "off by one"}, {67108870, 67108872, "rounded as float32"},
      {65620, 65600, "rounded as float16"}, {67108875, 67108872, "rounded as float32"},
      {70001, 12, ""}, {INT32_MAX, INT32_MIN, ""}};
  for (const auto& [want, got, words] : rows) {
    EXPECT_EQ(relation_words({{0, {0}, want, got}}), words) << want << " " << got;
    EXPECT_EQ(relation_of(words) ? relation_of(words)->words : std::string(), words);
  }
  // The first value loses one bit, so by itself it is off by one.
  EXPECT_EQ(relation_words({{0, {0}, 2051, 2052}, {0, {1}, 70001, 70016}}), "rounded as float16");
  EXPECT_EQ(relation_words({}), "") << "no element";
  EXPECT_EQ(relation_of(""), nullptr);
}

TEST(WithoutDetails, KeepsWordsOnly) {
  const std::pair<const char*, const char*> rows[] = {{"got -12 of 340", "got # of #"},
      {"at 0x7fff12ab and 0X1", "at # and #X1"}, {"(1,2,3) and 4x5x6", "(#) and #"},
      {"(7,) of 8, (", "(#) of #, ("}, {"int8 in SIGUSR1, 8_bit", "int8 in SIGUSR1, #_bit"},
      {"-", "-"}, {"", ""}, {"output 0 at [0,0,-1]: 5", "output # at [#]: #"},
      {"'op' is no key: 'it's {1}', ''", "'' is no key: '', ''"}, {"it's 'open", "it's 'open"},
      {"'a'b", "'a'b"}, {"a'b' 'c' d'", "a'b' '' d'"}};
  for (const auto& [text, words] : rows) EXPECT_EQ(without_details(text), words);
}

// The cases of a run of sum, of which some fail.
class FailingRun {
 public:
  FailingRun() { items_.reserve(2000); }

  /// @param finding empty if the case passes
  void put(const std::string& id, const std::vector<std::pair<std::string, Finding>>& findings,
      Outcome outcome = Outcome::failed, const Expectation* known = nullptr) {
    Item item;
    item.call = parse_case(id);
    item.label = refusal(item.call).label();
    if (!item.label.empty()) item.what = Item::illegal;
    item.id = id;
    items_.push_back(item);
    ItemResult r;
    r.outcome = findings.empty() ? Outcome::passed : outcome;
    r.findings = findings;
    causes_.add(items_.back(), std::ssize(items_) - 1, r,
        std::vector<const Expectation*>(findings.size(), known));
  }
  /// The description of each failure, in order.
  std::vector<std::string> said() const {
    std::vector<std::string> all;
    for (const Failure& f : causes_.failures()) {
      std::string s = f.property + " " + f.outcome + " " + f.answer + " " +
          std::to_string(f.number) + " x" + std::to_string(f.count) + " [" + f.pattern + "]";
      for (const SharedClass& c : f.cells) {
        s += " " + c.axis + ":";
        for (const std::string& v : c.values) s += " " + v;
      }
      all.push_back(s + (f.causes > 1 ? " causes " + std::to_string(f.causes) : ""));
    }
    return all;
  }
  std::vector<Failure> failures() const { return causes_.failures(); }

 private:
  std::vector<Item> items_;
  Causes causes_;
};

const std::string kProperty = "matches_reference";
using Said = std::vector<std::string>;

Finding wrong(i64 want, i64 got, const std::string& hint = "") {
  Finding f{"output 0 at [0]: expected " + std::to_string(want), AnswerKind::ok, hint, {}, {}};
  f.elements = {{0, {0}, want, got}};
  return f;
}

// Case number n: every second one excludes axes, every third one keeps dimensions.
std::string id_of(int n) {
  return std::string("sum/axis=0") + (n % 3 == 0 ? "/keepdims=true" : "") +
      (n % 2 == 0 ? "/exclude=true" : "") + "/in=2x3@8/fill=dense:" + std::to_string(n);
}

TEST(Causes, AreToldApartByTheAttributesOfFailingCases) {
  FailingRun run;
  for (int n = 0; n < 120; ++n) {
    const bool fails = n % 2 == 0 || (n % 3 == 0 && n % 5 != 0);
    run.put(id_of(n),
        fails ? std::vector{std::pair(kProperty, wrong(100 + n, n))}
              : std::vector<std::pair<std::string, Finding>>{});
  }
  EXPECT_EQ(run.said(),
      (Said{kProperty + " fail ok 0 x60 [] attribute exclude: true",
          kProperty + " fail ok 3 x16 [] attribute keepdims: true"}));
}

TEST(Causes, AreToldApartByHowValuesAreWrong) {
  FailingRun run;
  for (int n = 0; n < 40; ++n)
    run.put("sum/in=8@8/fill=dense:" + std::to_string(n),
        {{kProperty, n % 4 == 3 ? wrong(50 + n, 51 + n) : wrong(200 + n, n + 200 - 256)}});
  EXPECT_EQ(run.said(),
      (Said{kProperty + " fail ok 0 x30 [kept in 8 bits]",
          kProperty + " fail ok 3 x10 [off by one]"}));
}

TEST(Causes, BlameNoTypeForOneValue) {
  FailingRun run;
  run.put("sum/in=8@8/fill=dense:1", {{kProperty, wrong(300, 44)}});
  EXPECT_EQ(run.said(), Said{kProperty + " fail ok 0 x1 []"});
}

TEST(Causes, NeverMergeACrashIntoSomethingMilder) {
  FailingRun run;
  const Finding died{"crashed: SIGSEGV", AnswerKind::crashed};
  run.put("sum/in=8@8/fill=dense:1", {{kProperty, wrong(5, 6)}});
  run.put("sum/in=8@8/fill=dense:2", {{kProperty, died}}, Outcome::crashed);
  run.put("sum/in=8@8/fill=dense:3", {{kProperty, wrong(5, 6)}}, Outcome::crashed);
  run.put("sum/in=8@8/fill=dense:4", {{kProperty, {"hung", AnswerKind::timed_out}}},
      Outcome::timed_out);
  run.put("sum/in=8@8/fill=dense:5", {{kProperty, wrong(7, 8)}});
  EXPECT_EQ(run.said(),
      (Said{kProperty + " fail ok 0 x2 [off by one]", kProperty + " crash crashed 1 x1 []",
          kProperty + " crash ok 2 x1 [off by one]", kProperty + " timeout timed_out 3 x1 []"}));
}

TEST(Causes, AreToldApartByLabelRuleTextAndExpectation) {
  FailingRun run;
  Expectation known;
  known.reason = "slow";
  const auto labelled = [](const char* label) {
    return Finding{"answered an error", AnswerKind::logic_error, {}, {}, label};
  };
  run.put("sum/in=8@8/fill=dense:1", {{kProperty, labelled("a.b")}});
  run.put("sum/in=8@8/fill=dense:2", {{kProperty, labelled("a.c")}});
  run.put("sum/in=8@8/fill=dense:3", {{kProperty, labelled("a.b")}}, Outcome::failed, &known);
  run.put("sum/in=8@8/fill=dense:4", {{"laws", {"the law one is broken: 4"}}});
  run.put("sum/in=8@8/fill=dense:5", {{"laws", {"the law two is broken: 5"}}});
  run.put("sum/in=8@8/fill=dense:6", {{"laws", {"the law two is broken: 66"}}});
  EXPECT_EQ(run.said(),
      (Said{kProperty + " fail logic_error 0 x1 []", kProperty + " fail logic_error 1 x1 []",
          kProperty + " fail logic_error 2 x1 []", "laws fail ok 3 x1 []",
          "laws fail ok 4 x2 []"}));
  EXPECT_EQ(run.failures()[2].known, "slow");
}

TEST(Causes, AreOneWhateverTextTheyQuote) {
  FailingRun run;
  for (const char* printed : {"'loading a'", "'it's {b} 7'", "''"})
    run.put("sum/in=8@8/fill=dense:1",
        {{kProperty, {"answered protocol: no answer: " + std::string(printed)}}});
  EXPECT_EQ(run.said(), Said{kProperty + " fail ok 0 x3 []"});
}

TEST(Causes, OfRefusalsAreTheRulesIfSomeAreJudgedRight) {
  for (const bool some : {true, false}) {
    FailingRun run;
    for (const char* id : {"sum/axis=1,1/in=1x1@7/data=0", "sum/in=1@0/fill=zero:5"})
      run.put(id, {{"rejects", {"accepted " + std::string(id)}}});
    if (some) run.put("sum/in=@4/data=0", {});
    EXPECT_EQ(run.said(),
        some ? (Said{"rejects fail ok 0 x1 []", "rejects fail ok 1 x1 []"})
             : Said{"rejects fail ok 0 x2 []"});
  }
}

TEST(Causes, OfALawIsTheLaw) {
  FailingRun run;
  run.put("sum/in=8@8/fill=dense:1", {{"laws", {"the law one (a) is broken: a result is 5"}}});
  run.put("sum/in=8@8/fill=dense:2", {{"laws", {"the law one (a) is broken: element 3"}}});
  EXPECT_EQ(run.said(), Said{"laws fail ok 0 x2 []"});
}

TEST(Causes, BeyondAFewAreCountedTogether) {
  for (const int causes : {5, 9}) {
    FailingRun run;
    for (int n = 0; n < causes; ++n)
      for (int k = 0; k < (n == 7 ? 2 : 1); ++k)
        run.put("sum/in=8@8/fill=dense:" + std::to_string(10 * n + k),
            {{"laws", {"the law " + std::string(1, static_cast<char>('a' + n)) + " is broken"}}});
    const Said said = run.said();
    ASSERT_EQ(said.size(), 5U);
    if (causes == 5) {
      EXPECT_EQ(said[4], "laws fail ok 4 x1 []");
    } else {
      // The report shows the largest cause.
      EXPECT_EQ(said[3], "laws fail ok 3 x5 [] causes 5");
      EXPECT_EQ(said[4], "laws fail ok 7 x2 []");
    }
  }
}

TEST(Causes, CountEveryCaseHoweverMany) {
  FailingRun run;
  for (int n = 0; n < 1000; ++n)
    run.put("sum/in=8@8/fill=dense:" + std::to_string(n),
        {{kProperty, n % 5 == 0 ? wrong(n, n + 1) : wrong(70001 + n, 3)}});
  EXPECT_EQ(run.said(),
      (Said{kProperty + " fail ok 0 x80 [off by one]", kProperty + " fail ok 1 x920 []"}));
}

}  // namespace
}  // namespace lockstep::judge
