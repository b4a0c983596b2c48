// Other spellings of a call's attributes: they are all legal, and all kinds of spelling occur.
#include "conformance/cases/spelling.h"

#include <gtest/gtest.h>

#include <set>

#include "conformance/cases/mutate.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

// The calls of an operator: its examples, and some that its domain draws.
std::vector<Case> some_calls(const OpInfo& op) {
  std::vector<Case> all;
  for (int i = 0; i < op.example_count; ++i) all.push_back(example_case(op, i));
  for (u64 n = 0; n < 40; ++n) {
    Seeded draw(n);
    all.push_back(draw_case(op, draw));
  }
  return all;
}

TEST(Spelling, SaysTheSameInEveryWay) {
  for (const OpInfo* op : operators())
    for (const Case& c : some_calls(*op))
      for (std::size_t way = 0; way < kSpellingWays; ++way) {
        const AttrTexts texts = spelled(c, way);
        const ReadAttributes read = read_attributes(*op, {texts.begin(), texts.end()});
        ASSERT_EQ(read.label, "") << case_id(c) << " " << read.message;
        EXPECT_EQ(read.values, c.attrs) << case_id(c) << " " << way;
      }
}

// The parts of the grammar that a text uses.
std::set<std::string> words_of_grammar(const AttrInfo& f, const std::string& text) {
  std::set<std::string> seen;
  const auto note = [&](bool is, const char* word) {
    if (is) seen.insert(word);
  };
  const bool tuple = f.kind == AttrKind::tuple;
  const bool bracket = text.find_first_of("([") != text.npos;
  note(text.starts_with(" ") || text.ends_with(" "), "blank");
  note(text.find('\t') != text.npos, "tab");
  note(text.find('+') != text.npos, tuple ? "+ in tuple" : "+");
  note(text.find("00") != text.npos || text.find("-0") != text.npos, "zeros");
  note(text.find('L') != text.npos && tuple, "L");
  note(text.find('[') != text.npos, "square");
  note(tuple && !bracket, "bare");
  note(text.find(",)") != text.npos || text.find(", )") != text.npos, "last comma");
  note(f.kind == AttrKind::boolean && text.find_first_of("01") != text.npos, "digit");
  note(text.find("RUE") != text.npos || text.find("tRuE") != text.npos, "case of letters");
  return seen;
}

TEST(Spelling, UsesTheWholeGrammar) {
  std::set<std::string> seen;
  for (const OpInfo* op : operators())
    for (const Case& c : some_calls(*op))
      for (std::size_t way = 0; way < kSpellingWays; ++way) {
        const AttrTexts texts = spelled(c, way);
        if (texts.contains("__note__")) seen.insert("annotation");
        for (const AttrInfo& f : op->attrs) {
          const auto name = texts.find(std::string(f.name)),
                     alias = texts.find(std::string(f.alias));
          if (name == texts.end() && alias == texts.end()) seen.insert("default");
          if (!f.alias.empty() && alias != texts.end()) seen.insert("alias");
          if (name != texts.end()) seen.merge(words_of_grammar(f, name->second));
        }
      }
  const std::set<std::string> all = {"+", "+ in tuple", "L", "alias", "annotation", "bare", "blank",
      "case of letters", "default", "digit", "last comma", "square", "tab", "zeros"};
  EXPECT_EQ(seen, all);
}

TEST(Spelling, LeavesDefaultsOutInTheFirstWay) {
  const Case c = parse_case("sum/axis=0/in=2x3@8/fill=one:1");
  EXPECT_EQ(spelled(c, 0), (AttrTexts{{"axis", "(0)"}}));
}

}  // namespace
}  // namespace lockstep::judge
