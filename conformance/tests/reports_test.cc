// A report as JSON and back, its groups of failures, and the forms that people read.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance/base/form.h"
#include "conformance/base/sha256.h"
#include "conformance/base/text.h"
#include "conformance/reports/html.h"
#include "conformance/reports/report.h"
#include "conformance/tests/expect.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {
namespace {

Failure failure(const std::string& op, const std::string& property, i64 want, i64 got) {
  Failure f{op, property, op + "/in=1@8/data=1", "is wrong", 1, {}, {}, {}};
  f.elements = {{0, {1, 2}, want, got}};
  f.number = 3;
  return f;
}

// A report with something in every member.
Report full() {
  Report r;
  r.backend = "./toy.so", r.name = "toy", r.version = "1.2", r.device = "CPU";
  r.manifest_hash = r.set_hash = r.order_hash = r.file_hash = r.chosen.vectors_hash =
      std::string(64, 'a');
  r.options = {{"threads", "2"}};
  r.kernels = {{"relu", "fast", "avx2", true}};
  r.claimed = {"relu"};
  r.environments = {{"lockstep 1", "Linux 6", "x86_64", "a processor"}};
  r.determinism = "D2";
  r.chosen.operators = {"relu"}, r.chosen.properties = {"layout", "isa"};
  r.chosen.profiles = {"ELEM"};
  r.chosen.cases = {"relu/in=1@8/data=1"}, r.chosen.budget = 9;
  r.chosen.nonce = "a b";
  r.partial = true;
  r.part = {2, 3};
  r.set_cases = 30, r.tier = 2, r.seed = UINT64_MAX;
  r.operators_selected = 1, r.operators_claimed = 2, r.operators_all = 37;
  r.counts = {10, 8, 4, 2, 1, 0, 1, 1, 1, 40};
  r.legal_selected = 7, r.legal_not_claimed = 1;
  r.cells["relu"]["layout"] = {8, 2};
  r.failing["relu"]["layout"]["fail"] = {2, std::string(64, 'c')};
  r.outputs["relu"].add(sha256("one"));
  r.executed_legal["relu"] = 6;
  r.largest_tensor["relu"] = 600;
  r.floor_judged = true;
  r.below_floor = {"sum"};
  r.paths["relu"]["fast"] = 5;
  r.score = {3, 4};
  r.failures = {failure("relu", "layout", -2147483647, 1)};
  r.failures[0].count = 2, r.failures[0].hint = "every element";
  r.failures[0].shrunk = "relu/in=1@8/data=0", r.failures[0].shrunk_text = "smaller";
  r.failures[0].repeat = repeat_command(r, r.failures[0]);
  r.failures[0].cells = {{"memory", {"padded"}}}, r.failures[0].pattern = "off by one";
  r.expectations = {{"known.toml:1", "relu", "layout", "relu/*", "fail", "it is slow", "a link",
      "2029-12-31", 1, 3, std::string(64, 'd'), 7, true, 1, 2, {}, {{"relu", {2, 1}}},
      {{"layout", {2, 1}}}, "relu/in=1@8/data=2", 5}};
  r.known = {1, 1, 0, 1};
  r.failures[0].known = r.expectations[0].why();
  r.counts.missing = 1, ++r.counts.selected;
  r.missing = {"relu/in=1@8/data=3"};
  r.quarantine = {"sum hung 3 times"};
  r.canaries["layout"] = {16, 16};
  conclude(r);
  return r;
}

std::string refusal_of(const form::json& j) {
  return words_of<UsageError>([&] { read_report(j.dump()); });
}

TEST(ReadReport, IsTheInverseOfWriting) {
  const std::string text = json_report(full());
  EXPECT_EQ(json_report(read_report(text)), text);
}

// Every way to a member, objects and lists included.
void ways(const form::json& j, const form::json::json_pointer& at,
    std::vector<form::json::json_pointer>& all) {
  if (!at.empty()) all.push_back(at);
  if (!j.is_structured()) return;
  for (const auto& [key, inner] : j.items())
    ways(inner, j.is_array() ? at / static_cast<std::size_t>(std::stoul(key)) : at / key, all);
}

TEST(ReadReport, RefusesEveryMemberThatIsMissingWrongOrUnknown) {
  const form::json whole = form::json::parse(json_report(full()));
  std::vector<form::json::json_pointer> all;
  ways(whole, form::json::json_pointer(), all);
  ASSERT_GT(all.size(), 80U);
  for (const form::json::json_pointer& at : all) {
    const std::string place = at.to_string();
    EXPECT_NE(refusal_of(with(whole, place, 0.5)), "") << place << " is 0.5";
    if (whole[at].is_object() && place.find("/cells") != 0) {
      // Operators, options and kernels have the names that they have.
      const bool named = whole[at].size() == 1;
      EXPECT_EQ(refusal_of(with(whole, place + "/unknown", "member")).empty(),
          named && place == "/backend/options")
          << place;
    }
  }
  for (const auto& [key, value] : whole.items()) {
    form::json less = whole;
    less.erase(key);
    EXPECT_EQ(refusal_of(less), "/" + key + " is missing");
  }
  EXPECT_EQ(refusal_of(form::json::array()), "the document is no object");
  EXPECT_THROW(read_report("{"), UsageError);
}

TEST(ReadReport, KnowsWhatMakesAPartOfATier) {
  Report r = full();
  r.chosen = {}, r.partial = false;
  conclude(r);
  EXPECT_FALSE(read_report(json_report(r)).partial);
  r.chosen.profiles = {"ELEM"}, r.partial = true;
  EXPECT_TRUE(read_report(json_report(r)).partial);
}

TEST(ReadReport, BelievesNothingThatFollowsFromTheRest) {
  const form::json whole = form::json::parse(json_report(full()));
  const std::pair<const char*, form::json> edits[] = {{"/verdict", "PASS"}, {"/exit", 0},
      {"/word", "pass"}, {"/scope/subset", false}, {"/digest", std::string(64, '0')},
      {"/stale/0", "nothing"}, {"/floor/per_operator", 1}};
  for (const auto& [at, value] : edits)
    EXPECT_EQ(
        refusal_of(with(whole, at, value)), at + std::string(" is not what follows from the rest"));
}

TEST(ReadReport, RefusesNumbersThatDoNotFitTogether) {
  const form::json whole = form::json::parse(json_report(full()));
  const std::tuple<const char*, form::json, const char*> edits[] = {
      {"/counts/passed", 5, "/counts do not add up"},
      {"/counts/missing", 2, "/counts do not add up"},
      {"/known/failed", 3, "/known counts more known failures than failures"},
      {"/expectations/0/matched", 3, "/expectations match more than was judged"},
      {"/expectations/0/kind", "flaky", "/expectations/0/kind is 'flaky', none of the words"},
      {"/backend/determinism", "D4", "/backend/determinism is 'D4', none of the words"},
      {"/part/number", 4, "/part has a number above the number of parts"},
      {"/part", {{"number", 1}, {"of", 1}}, "/set_cases is not the number of cases"},
      {"/cells/relu/layout/failed", 1, "/cells/relu/layout disagrees with the failures"},
      {"/cells/relu/layout/judged", 1, "/cells/relu/layout disagrees with the failures"},
      {"/failures/0/operator", "sum", "disagrees with the failures"},
      {"/counts/calls", form::kMaxCount + 1, "/counts/calls is 9007199254740992, out of its range"},
      {"/tier", 4, "/tier is 4, out of its range"},
      {"/schema", 2, "/schema is 2, this program reads 1"},
      {"/set_hash", "A", "/set_hash is no SHA-256"},
      {"/order_hash", "A", "/order_hash is no SHA-256"},
      {"/floor/judged", false, "/floor/below names operators where no floor was judged"}};
  for (const auto& [at, value, says] : edits)
    expect_contains(refusal_of(with(whole, at, value)), says);
}

TEST(Outputs, AddUpInAnyOrder) {
  Outputs forth, back, part;
  const std::string top(64, 'f'), one = std::string(63, '0') + "1";
  forth.add(top), forth.add(one), forth.add(one);
  part.add(one), back.add(one), back.add(top), back.add(part);
  EXPECT_EQ(forth, back);
  EXPECT_EQ(forth.sum, one) << "the sum is modulo 2^256";
  EXPECT_EQ(forth.calls, 3);
  for (const std::string& none : {std::string(), std::string(63, '0'), std::string(64, 'F')})
    EXPECT_THROW(forth.add(none), std::invalid_argument) << none;
  EXPECT_EQ(forth, back);
}

TEST(Outputs, TellAnswersApart) {
  Answer a, b, c, d;
  a.out = {{1, 2}}, b.out = {{1, 3}}, c.out = {{1}, {2}};
  d.kind = AnswerKind::logic_error;
  std::set<std::string> all = {output_hash("x", a), output_hash("y", a), output_hash("x", b),
      output_hash("x", c), output_hash("x", d)};
  d.label = "relu.rank";
  all.insert(output_hash("x", d));
  EXPECT_EQ(all.size(), 6U);
  d.message = "in other words";
  EXPECT_TRUE(all.contains(output_hash("x", d))) << "words are no output";
  EXPECT_EQ(
      output_hash("x", a), sha256("x\nok \n" + sha256(std::string("\1\0\0\0\2\0\0\0", 8)) + "\n"));
}

TEST(Clusters, JoinRefusalsThatAreMissingWhateverTheRule) {
  Report r;
  for (const char* rule : {"relu.a", "relu.b"}) {
    r.failures.push_back(failure("relu", "rejects", 1, 1));
    r.failures.back().elements.clear();
    r.failures.back().rule = rule;
    r.failures.back().text =
        "expected a logic error " + std::string(rule) + ", the call was accepted";
  }
  ASSERT_EQ(clusters(r).size(), 1U);
  EXPECT_EQ(clusters(r)[0].symptom, "expected a logic error, the call was accepted");
}

TEST(Changes, NameCausesThatWereNotSeenBefore) {
  Report before;
  before.cells["relu"]["layout"] = {9, 2};
  before.failures = {failure("relu", "layout", 70001, 12)};
  Report after = before;
  EXPECT_TRUE(changes(before, after).empty());
  after.failures.push_back(failure("relu", "layout", 5, 6));
  after.failures.back().pattern = "off by one";
  after.failures.push_back(after.failures.back());
  after.failures.push_back(failure("relu", "layout", 5, 6));
  after.failures.back().answer = "crashed";
  std::vector<std::string> said;
  for (const Change& c : changes(before, after)) said.push_back(c.text);
  EXPECT_EQ(said,
      (std::vector<std::string>{"relu layout fails in another way: other values; off by one",
          "relu layout fails in another way: crashed"}));
}

TEST(Clusters, JoinWhatMayHaveOneCause) {
  Report r;
  r.failures = {failure("relu", "layout", 70001, 12), failure("sum", "layout", 5, 6),
      failure("relu", "isa", 70001, 12), failure("max", "layout", 5, 6),
      failure("sum", "isa", 70001, 12), failure("sum", "rejects", 1, 1)};
  r.failures[4].pattern = "every element", r.failures[1].pattern = "off by one; every element";
  r.failures[3].pattern = "off by one", r.failures[3].hint = "exactly index 0 of axis 0";
  r.failures[3].count = 7;
  r.failures[5].elements.clear(), r.failures[5].text = "got 12 of 340 at 0x7fff12ab";
  const std::vector<Cluster> all = clusters(r);
  std::vector<std::string> words;
  for (const Cluster& c : all) words.push_back(c.symptom);
  EXPECT_EQ(words,
      (std::vector<std::string>{"off by one", "relu computes other values",
          "off by one; every element", "every element", "got # of # at #"}));
  EXPECT_EQ(all[0].count, 7);
  EXPECT_EQ(cause_text(r.failures[5]), "");
  r.failures[3].cells = {{"attribute axis", {"one", "negative"}}, {"memory", {"padded"}}};
  EXPECT_EQ(cause_text(r.failures[3]), "off by one; attribute axis one, negative; memory padded");
  r.failures[3].causes = 4;
  EXPECT_EQ(cause_text(r.failures[3]), "4 more causes, of which this is the first");
  EXPECT_EQ(all[1].failures, (std::vector<const Failure*>{&r.failures[0], &r.failures[2]}));
}

TEST(Text, OfStrangersIsInert) {
  const std::string bad = "\xef\xbf\xbd";
  const std::pair<std::string, std::string> rows[] = {
      {"<a href=\"x\" b='y'>&amp;", "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;"},
      {"a\nb\tc", "a&#10;b\tc"}, {std::string("\0\x1b[31m\x7f", 7), bad + bad + "[31m" + bad},
      {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82"},
      {"\xc3", bad}, {"\xc0\xaf", bad + bad}, {"\xe0\x80\xaf", bad + bad + bad},
      {"\xed\xa0\x80", bad + bad + bad}, {"\xf4\x90\x80\x80", bad + bad + bad + bad},
      {"\xe2\x80\xae"
       "abc",
          bad + "abc"},
      {"\xef\xbf\xbe", bad}, {"\xc2\x85", bad}};
  for (const auto& [text, inert] : rows) EXPECT_EQ(markup(text), inert) << text;
}

std::string utf8(std::uint32_t c) {
  const auto byte = [](std::uint32_t b) { return std::string(1, static_cast<char>(b)); };
  const auto tail = [&](int shift) { return std::uint32_t{0x80} | (c >> shift & 0x3f); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) return byte(0xc0 | c >> 6) + byte(tail(0));
  if (c < 0x10000) return byte(0xe0 | c >> 12) + byte(tail(6)) + byte(tail(0));
  return byte(0xf0 | c >> 18) + byte(tail(12)) + byte(tail(6)) + byte(tail(0));
}

TEST(Text, LosesWhatIsUnfitAndNoOtherCodePoint) {
  const std::pair<std::uint32_t, std::uint32_t> unfit[] = {{0, 8}, {11, 31}, {127, 159},
      {0x61c, 0x61c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}, {0xd800, 0xdfff},
      {0xfdd0, 0xfdef}, {0x110000, 0x1fffff}};
  const auto is_unfit = [&](std::uint32_t c) {
    return std::any_of(std::begin(unfit), std::end(unfit),
        [c](const auto& r) { return r.first <= c && c <= r.second; });
  };
  for (std::uint32_t c = 0; c < 0x120000; c += c < 0x10000 || (c & 0xfff) > 0xff0 ? 1 : 7) {
    const std::string shown = code_block("a" + utf8(c) + "b");
    const bool kept = shown == "```text\na" + utf8(c) + "b\n```\n";
    const bool end_of_plane = (c & 0xfffe) == 0xfffe;
    ASSERT_EQ(kept, !is_unfit(c) && !end_of_plane) << c << " " << shown;
  }
}

TEST(Text, OfBytesThatAreNoUtf8IsReplacedByteByByte) {
  const auto times = [](std::size_t n) {
    std::string s;
    for (; n > 0; --n) s += "\xef\xbf\xbd";
    return s;
  };
  for (const char* bytes : {"\x80", "\xbf", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",
           "\xf5\x80\x80\x80", "\xff", "\xdf", "\xef\xbf", "\xf3\xbf\xbf"})
    EXPECT_EQ(markup(bytes), times(std::string(bytes).size()));
  for (const char* begun : {"\xc3", "\xe2\x82", "\xf0\x9f\x99"})
    for (const char* next : {"A", "\xc3\xa4"})
      EXPECT_EQ(markup(std::string(begun) + next), times(std::string(begun).size()) + next);
}

TEST(Text, OfStrangersStaysInsideOfCode) {
  const std::pair<std::string, std::string> spans[] = {{"plain", "`plain`"}, {"a`b", "``a`b``"},
      {"``", "``` `` ```"}, {"a|b", "`a\\|b`"}, {"a\nb", "`a b`"}, {"", "`  `"}, {" a ", "`  a  `"},
      {" a", "` a`"}, {"a ", "`a `"}};
  for (const auto& [text, span] : spans) EXPECT_EQ(code_span(text), span);
  EXPECT_EQ(code_block("a\n"), "```text\na\n```\n");
  EXPECT_EQ(code_block("a\n````\nb"), "`````text\na\n````\nb\n`````\n");
}

// A backend that puts the same words into every part of a report that it can word.
Report hostile() {
  const std::string words = "<script>x</script>\"'`|\n# \x1b]]>";
  Report r = full();
  r.backend = r.name = r.version = r.device = words;
  r.options = {{words, words}};
  r.kernels = {{words, words, words, true}};
  r.cells = {{words, {{words, {8, 2}}}}};
  r.paths = {{words, {{words, 2}}}};
  r.executed_legal = {{words, 2}};
  r.below_floor = r.quarantine = r.stale = r.missing = {words};
  Failure f{words, words, words, words, 2, words, words, words, words, {}, 1, words};
  r.failures = {f};
  r.environments = {{words, words, words, words}};
  return r;
}

TEST(Forms, HoldTheWordsOfStrangersAsWords) {
  Power p{1, 1, std::string(64, 'b'), {{"<script>", "<script>", "<script>", "<script>"}}};
  CoverSummary c{std::string(64, 'a'), {{"<script>", {2, 1, {{2, {5, 6}}}, {"<script>"}}}}};
  const std::string html = html_report(hostile(), {c, p}), junit = junit_report(hostile());
  EXPECT_EQ(count_of(html, "<script"), 1) << "its own";
  EXPECT_GT(count_of(html, "&lt;script&gt;"), 20);
  EXPECT_EQ(count_of(junit, "<script"), 0);
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  EXPECT_EQ(junit.find('\x1b'), std::string::npos);
  EXPECT_EQ(junit.find("]]>"), std::string::npos);
  // In Markdown every word of a backend is between backticks, or in a block of code.
  std::string fence;
  std::istringstream lines(markdown_report(hostile()));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```") && (fence.empty() || line == fence)) {
      fence = fence.empty() ? line.substr(0, line.find('t')) : "";
    } else if (fence.empty() && line.find("script") != std::string::npos) {
      EXPECT_NE(line.find("``<script>x</script>"), std::string::npos) << line;
      EXPECT_EQ(line.find("'`|"), std::string::npos) << "a bar ends a cell: " << line;
    }
  }
  EXPECT_EQ(fence, "");
}

TEST(Forms, SkipWhatIsKnownToFailInJUnit) {
  Report r = full();
  r.exit = Exit::known_failures;
  const std::string known = junit_report(r);
  expect_contains(known, R"(tests="2" failures="0")");
  EXPECT_EQ(count_of(known, "<skipped message="), 2) << known;
  r.failures.push_back(failure("relu", "layout", 1, 1));
  r.exit = Exit::fail;
  const std::string other = junit_report(r);
  expect_contains(other, R"(tests="2" failures="2")");
  EXPECT_EQ(count_of(other, "<skipped"), 0) << other;
}

TEST(Forms, SayWhatElseAPersonShouldKnow) {
  const Report r = full();
  for (const std::string& text :
      {summary(r, false), html_report(r, {}), markdown_report(r), junit_report(r)})
    for (const char* part : {"quarantined: ", "stale: ", "missing: ", "below the floor of ",
             "it is slow (a link)", "determinism D2"})
      expect_contains(text, part);
}

TEST(Forms, WriteLargeCountsBriefly) {
  const std::pair<i64, const char*> rows[] = {{999, ">999<"}, {1000, ">1k<"}, {999'999, ">999k<"},
      {1'000'000, ">1M<"}, {1'999'999'999, ">1G<"}, {999'999'999'999, ">999G<"},
      {1'000'000'000'000, ">>999G<"}};
  for (const auto& [n, text] : rows) {
    Report r = full();
    r.failures.clear();
    r.cells = {{"relu", {{"layout", {n, 0}}}}};
    expect_contains(html_report(r, {}), text);
  }
}

TEST(Forms, TellTenKindsOfFailureAndCountTheRest) {
  Report r = full();
  r.failures.clear();
  for (int k = 0; k < 12; ++k) {
    r.failures.push_back(failure("relu", "layout", 70001, 12));
    r.failures.back().elements.clear();
    r.failures.back().text = std::string("kind ") + static_cast<char>('a' + k);
  }
  const std::string text = markdown_report(r);
  expect_contains(text, "kind j");
  EXPECT_EQ(text.find("kind k"), std::string::npos);
  expect_contains(text, "2 more kinds of failure are in the JSON report.");
}

TEST(Forms, SayWhatWasNotMeasured) {
  for (const char* part : {"lockstep cover --json FILE", "lockstep mutants --json FILE"})
    expect_contains(html_report(full(), {}), part);
  CoverSummary c{std::string(64, 'b'), {}};
  expect_contains(html_report(full(), {c, {}}), "Measured on another case set");
  c.set_hash = full().set_hash;
  c.operators["relu"] = {
      9, 8, {{2, {70, 71}}, {3, {400, 401}}}, std::vector<std::string>(11, "a: b, c: d")};
  const std::string covered = html_report(full(), {c, {}});
  for (const char* part :
      {"8 of 9", "70 of 71", "400 of 401", "a: b, c: d; 3 more<", "Measured on exactly this"})
    expect_contains(covered, part);
}

TEST(Progress, SaysHowLongTheRestWillTake) {
  EXPECT_EQ(progress_text("check toy", 30, 120, 2, {30, 0.5}),
      "check toy: 30 of 120 cases, 2 failed, 60/s, 2 s left");
  EXPECT_EQ(
      progress_text("x", 90, 100, 1, {2, 10}), "x: 90 of 100 cases, 1 failed, 0/s, 50 s left");
  EXPECT_EQ(progress_text("x", 9, 9, 0, {1, 2}, "calls"), "x: 9 of 9 calls, 0 failed");
}

TEST(Progress, SaysNothingOfTheRestUnlessSomeWereDoneLately) {
  EXPECT_EQ(progress_text("x", 4, 9, 0, {0, 10}), "x: 4 of 9 cases, 0 failed");
  EXPECT_EQ(progress_text("x", 1, 9, 0, {1, 0}), "x: 1 of 9 cases, 0 failed");
}

TEST(Commands, RepeatARun) {
  EXPECT_EQ(check_command(full()),
      "lockstep check ./toy.so --set threads=2 --tier 2 --seed 18446744073709551615 --op "
      "relu --profile ELEM --property layout,isa --case relu/in=1@8/data=1 --budget 9 --nonce "
      "'a b'");
}

}  // namespace
}  // namespace lockstep::judge
