// Mutation of sources: what the mutator changes and what it leaves alone.
#include "conformance/mutator/edits.h"

#include <gtest/gtest.h>

#include <map>

namespace lockstep::judge {
namespace {

using Strings = std::vector<std::string>;

// Every line that the edits make of a line.
Strings mutants(const std::string& text) {
  Strings all;
  for (const Edit& e : edits_of("a.cc", text)) all.push_back(edited(text, e));
  return all;
}

TEST(Edits, LeaveTypesOfBoundedNumbersAlone) {
  EXPECT_EQ(mutants("for (i64 i = f(); g(i);) i = h(i);"), Strings{});
  EXPECT_EQ(mutants("for (i64 v : list) f(v);"), Strings{"for (i32 v : list) f(v);"});
  EXPECT_EQ(mutants("constexpr i64 kMany = n; constexpr i64 kAll[] = {n};"), Strings{});
  EXPECT_EQ(mutants("constexpr i64 f();"), Strings{"constexpr i32 f();"});
  EXPECT_EQ(mutants("i64 n = 0; n++;"), (Strings{"i64 n = 1; n++;", "i64 n = 0; n--;"}));
  EXPECT_EQ(mutants("u64 n = 0; --n;"), (Strings{"u64 n = 1; --n;", "u64 n = 0; ++n;"}));
  EXPECT_EQ(mutants("i64 n = f(); ++n;"), (Strings{"i32 n = f(); ++n;", "i64 n = f(); --n;"}));
  EXPECT_EQ(mutants("i64 n; ++n;"), (Strings{"i32 n; ++n;", "i64 n; --n;"}));
  EXPECT_EQ(mutants("i64 sum = 0; sum += k;"),
      (Strings{"i32 sum = 0; sum += k;", "i64 sum = 1; sum += k;", "i64 sum = 0; sum -= k;"}));
}

TEST(Edits, LeaveEstimatesAlone) {
  for (const char* text : {"x.reserve(2 * f(n) + 1)", "sleep_for(kReach / 2)",
           "std::chrono::milliseconds(5)", "microseconds(5), seconds(5)", "char text[64 * 2];",
           "double a = 2 * n, b = 3;", "double ns(i64 n) const { return 2 * n; }",
           "f(double a = 2, int n = 3)", "double a{2};", "double a = T{2} * 3;",
           "constexpr i64 kImageBytesMax = i64{1} << 20;", "kPatienceMs = 5;", "kMaxSeconds = 5;"})
    EXPECT_EQ(mutants(text), Strings{}) << text;
}

TEST(Edits, ChangeWhatFollowsAnEstimateOrIsNamedAlike) {
  const std::pair<const char*, const char*> rows[] = {{"reserve = 0", "reserve = 1"},
      {"char c = 0;", "char c = 1;"}, {"static_cast<double>(0)", "static_cast<double>(1)"},
      {"f(kMaxBytes, 0)", "f(kMaxBytes, 1)"}, {"bytesMs = 0", "bytesMs = 1"},
      {"x.reserve(5); y[0]", "x.reserve(5); y[1]"}, {"char text[5] = {0}", "char text[5] = {1}"},
      {"double a = 5; y[0]", "double a = 5; y[1]"},
      {"double f() { return 5; } y[0]", "double f() { return 5; } y[1]"},
      {"double a = b({5}), c = {5}; y[0]", "double a = b({5}), c = {5}; y[1]"},
      {"double f() { i64 n; return 5; }", "double f() { i32 n; return 5; }"},
      {"f(double a) + 0", "f(double a) - 0"}};
  for (const auto& [text, first] : rows) {
    ASSERT_FALSE(mutants(text).empty()) << text;
    EXPECT_EQ(mutants(text)[0], first);
  }
}

// Texts that look like operators or literals that could be edited, and are not.
constexpr const char* kSample = R"_(#define A 1 < 2 \
  3 < 4
  # if 5
x = R"(a " < 1)" < 2, R"y(b)" < 1)y" + L"c\"< 3" - '\'' ; /* 4 */ y = 5u;
if constexpr (a <= b && c == 0x1F) static_assert(f((6), 7) < 8); else z <<= 9;
if (f(a, (b)) || !c) break; else if (int k = 1; k) { break_; continue; }
a ? b - c : d <=> e; p->q; r::s; t -u; v* w; v * w; v *= w ; i64 max(int32_t n); max; true;
n-- ; x # 10 1.5e3 00 2'0ul 18446744073709551614 // 11 < 12
>= != % << >> += -= | & ^ / <
)_";

TEST(Edits, OfASampleAreTheseAndNoOthers) {
  const std::map<int, Strings> expected = {
      {4, {"< <=", "2 3", "2 1", "+ -", "- +", "5u 6u", "5u 4u"}},
      {5, {"<= <", "&& ||", "== !=", "0x1F 32", "0x1F 30", "9 10", "9 8"}},
      {6, {"f(a, (b)) || !c !(f(a, (b)) || !c)", "|| &&", "break ", "1 2", "1 0", "continue "}},
      {7, {"- +", "* +", "*= +=", "i64 i32", "max min", "int32_t int16_t", "true false"}},
      {8,
          {"-- ++", "10 11", "10 9", "00 1", "2'0ul 21ul", "2'0ul 19ul",
              "18446744073709551614 18446744073709551615",
              "18446744073709551614 18446744073709551613"}},
      {9,
          {">= >", "!= ==", "% /", "<< >>", ">> <<", "+= -=", "-= +=", "| &", "& |", "^ |", "/ *",
              "< <="}}};
  const std::string sample = kSample;
  std::map<int, Strings> found;
  for (const Edit& e : edits_of("a.cc", sample))
    found[e.line].push_back(sample.substr(e.begin, e.end - e.begin) + " " + e.replacement);
  EXPECT_EQ(found, expected);
}

TEST(Edits, SayWhereTheyAre) {
  const std::string text = "int a;\n  a = b <\n c;\n";
  const std::vector<Edit> edits = edits_of("dir/a.cc", text);
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_EQ(edits[0].file, "dir/a.cc");
  EXPECT_EQ(edits[0].line, 2);
  EXPECT_EQ(line_of(text, edits[0]), "a = b <");
}

TEST(Edits, OfABrokenTextEnd) {
  for (const char* text :
      {"\"", "'", "R\"(", "R\"", "/*", "#", "#\\", "#\\\n", "static_assert", "if (", "1'"})
    EXPECT_LE(tokens(text).size(), 3u) << text;
}

TEST(Edits, AtTheEndsOfATextOfALineAndOfAToken) {
  const std::pair<const char*, Strings> rows[] = {{" < b", {" <= b"}}, {"< b", {}},
      {"R < b", {"R <= b"}}, {"1'0", {"11", "9"}}, {"/* 1 */ a < b", {"/* 1 */ a <= b"}},
      {"/**/ a < b", {"/**/ a <= b"}}, {"/*/ 1 < 2 */", {}}, {"static_assert(1 < 2", {}},
      {"if (a < b", {"if (!(a < )b", "if (a <= b"}}, {"if (a;", {"if (!(a);"}}, {"++k;", {"--k;"}},
      {"f<T>(&x, -y, T* z, U&& u)", {}}, {"x[0]", {"x[1]"}}, {"0xfful", {"256ul", "254ul"}},
      {"99999999999999999999", {}}, {"x.min", {}}, {"/* 3\n< 4 */", {}}, {"// 1 < 2\n", {}},
      {"u8\"3 < 4\" '<'", {}}, {"#if 1 < 2\\\n 3 < 4\n", {}}};
  for (const auto& [text, expected] : rows) EXPECT_EQ(mutants(text), expected) << text;
  const std::string two = "a < b;\nc < d;";
  const std::vector<Edit> edits = edits_of("a.cc", two);
  ASSERT_EQ(edits.size(), 2u);
  EXPECT_EQ(line_of(two, edits[0]), "a < b;");
  EXPECT_EQ(line_of(two, edits[1]), "c < d;");
}

// The characters in memory before and behind a text are not part of it.
TEST(Edits, OfAPartAreThoseOfItsCopy) {
  const string_view sample = kSample;
  const auto told = [](string_view text) {
    Strings all;
    for (const Token& t : tokens(text))
      all.push_back(
          std::to_string(t.kind) + " " + std::string(text.substr(t.begin, t.end - t.begin)));
    for (const Edit& e : edits_of("a.cc", text)) all.push_back(edited(text, e));
    return all;
  };
  for (std::size_t end = 0; end <= sample.size(); ++end) {
    const string_view part = sample.substr(0, end);
    EXPECT_EQ(told(part), told(std::string(part))) << part;
  }
  EXPECT_EQ(told(string_view(" < b").substr(1)), told("< b"));
}

TEST(Tokens, OfTextKeepWhatStandsBeforeIt) {
  const auto kinds = [](string_view text) {
    std::vector<int> all;
    for (const Token& t : tokens(text)) all.push_back(t.kind);
    return all;
  };
  const int name = Token::name, literal = Token::literal, number = Token::number;
  EXPECT_EQ(kinds(R"_(a L"b" u8"c" abc"d" R"(e)")_"),
      (std::vector<int>{name, literal, literal, name, literal, literal}));
  EXPECT_EQ(kinds("1' "), (std::vector<int>{number, literal}));
}

}  // namespace
}  // namespace lockstep::judge
