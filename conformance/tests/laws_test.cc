// Every operator states laws, every law is true, and each was tried on data that could refute it.
#include "reference/laws.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <utility>

#include "conformance/cases/case.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

using reference::LawResult;
using reference::try_law;

constexpr int kDraws = 600;
constexpr int kFloor = 60;  // calls for which a law has outputs that are not constant

class Laws : public testing::TestWithParam<const OpInfo*> {};

INSTANTIATE_TEST_SUITE_P(Operators, Laws, testing::ValuesIn(operators()),
    [](const auto& p) { return std::string(p.param->name); });

// Draw `n` of an operator. If ports have hints for their values, most draws follow them.
Case drawn(const OpInfo& op, int n) {
  constexpr Fill kOrder[] = {Fill::hinted, Fill::dense, Fill::hinted, Fill::boundary, Fill::hinted,
      Fill::critical, Fill::hinted, Fill::sparse, Fill::hinted, Fill::alternating};
  Seeded draw(word(1, 2, static_cast<u64>(n)));
  Case c = draw_case(op, draw);
  c.fill = kOrder[static_cast<std::size_t>(n) % std::size(kOrder)];
  c.seed = static_cast<u64>(n);
  return c;
}

// The result of law `i` of a call, and how many calls that took.
struct Tried {
  LawResult result;
  int asked = 0;
};

Tried tried(int i, const Case& c) {
  Case other = c;
  other.fill = Fill::dense;
  other.seed = ~c.seed;
  Seeded draw(word(3, 4, c.seed));
  Tried t;
  const auto answer = [&](Attributes attrs, const std::vector<Tensor>& in) {
    ++t.asked;
    return std::optional(reference::outputs(*c.op, attrs, in));
  };
  t.result = try_law(*c.op, i, c.attributes(), inputs_of(c), inputs_of(other), draw, answer);
  return t;
}

TEST_P(Laws, Hold) {
  const OpInfo& op = *GetParam();
  ASSERT_GT(op.laws.size(), 0) << "it states no law";
  for (int i = 0; i < op.laws.size(); ++i) {
    int informative = 0;
    for (int n = 0; n < kDraws; ++n) {
      const Case c = drawn(op, n);
      const auto [r, asked] = tried(i, c);
      ASSERT_NE(r.kind, LawResult::broken) << op.laws[i].label << ": " << r.message << "\n"
                                           << case_id(c);
      ASSERT_TRUE(r.kind == LawResult::silent || asked > 0)
          << op.laws[i].label << " holds of what nobody was asked\n"
          << case_id(c);
      informative += r.informative;
    }
    EXPECT_GE(informative, kFloor)
        << op.laws[i].label << " said too little in " << kDraws << " calls";
  }
}

TEST_P(Laws, HaveLabelsOfTheirOwn) {
  std::set<string_view> labels;
  for (const LawInfo& l : GetParam()->laws) {
    EXPECT_TRUE(labels.insert(l.label).second) << l.label;
    EXPECT_FALSE(l.text.empty()) << l.label;
    EXPECT_TRUE(labels.insert(l.text).second) << l.text << " is stated twice";
  }
}

// The words of a law: names, each with the primes and numbers that are appended to it.
std::set<std::string> words_of(string_view text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : std::string(text) + ' ') {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

// A single capital is a port of the operator, or one that the text explains.
TEST_P(Laws, NameNoPortThatTheOperatorLacks) {
  std::set<std::string> known{"I", "J", "M"};
  for (const Port& p : GetParam()->inputs) known.emplace(p.name);
  for (const Port& p : GetParam()->outputs) known.emplace(p.name);
  for (const LawInfo& l : GetParam()->laws)
    for (const std::string& word : words_of(l.text))
      EXPECT_TRUE(word.size() > 1 || !(word[0] >= 'A' && word[0] <= 'Z') || known.contains(word))
          << l.label << ": " << l.text;
}

// The result of a claim about relu at (-1, 2).
LawResult claimed(lockstep::Claim (*claim)(int, Attributes, Machine&), int precision = 8) {
  OpInfo op = *find_operator("relu");
  op.claim = claim;
  const std::vector<Tensor> in{{{{2}, precision}, {-1, 2}}}, other{{{{2}, precision}, {1, 0}}};
  Seeded draw(1);
  return try_law(op, 0, {}, in, other, draw);
}

TEST(LawResults, AFalseEquationIsBrokenAndSaysWhere) {
  const LawResult r = claimed([](int, Attributes, Machine& m) {
    const AnyLawCall t(m);
    return t.y() == t[0];
  });
  EXPECT_EQ(r.kind, LawResult::broken);
  EXPECT_EQ(r.message, "element 0 is 0 on the left side, -1 on the right side");
}

// Equations name as many inputs as a drawn call has; a legal call may have a thousand more.
TEST(LawResults, AreSilentAboutMoreInputsThanEquationsCanName) {
  const OpInfo& op = *find_operator("concatenate");
  const auto tried = [&](int inputs) {
    const std::vector<Tensor> in(static_cast<std::size_t>(inputs), Tensor{{{2}, 8}, {-1, 2}});
    const std::vector<Attr> attrs = {{AttrKind::integer, false, {0}}};
    Seeded draw(1);
    return try_law(op, 0, {attrs.data(), 1}, in, in, draw).kind;
  };
  EXPECT_EQ(tried(kMaxDrawn), LawResult::holds);
  for (int more : {1, 1000}) EXPECT_EQ(tried(kMaxDrawn + more), LawResult::silent);
}

TEST(LawResults, ShapesMustAgree) {
  const LawResult r = claimed([](int, Attributes, Machine& m) {
    const AnyLawCall t(m);
    return t.filled({1, 2}, 0) == t.filled({2}, 0);
  });
  EXPECT_EQ(r.kind, LawResult::broken);
  EXPECT_EQ(r.message, "the left side has the shape (1, 2), the right side (2,)");
}

TEST(LawResults, EveryPairOfAClaimCounts) {
  const LawResult r = claimed([](int, Attributes, Machine& m) {
    const AnyLawCall t(m);
    return lockstep::Claim().also(t[0], t[0]).also(t[0], t.other(0));
  });
  EXPECT_EQ(r.kind, LawResult::broken);
}

TEST(LawResults, ConstantsTellNothing) {
  const LawResult r = claimed([](int, Attributes, Machine& m) {
    const AnyLawCall t(m);
    return t.self({t.filled({2}, 3)}) == t.filled({2}, 3);
  });
  EXPECT_EQ(r.kind, LawResult::holds);
  EXPECT_FALSE(r.informative);
}

// relu is not among the operators of these equations, and answers for none of them.
TEST(LawResults, WithoutACallOfItsOperatorALawIsSilent) {
  const auto mirrors = [](int, Attributes, Machine& m) {
    const AnyLawCall t(m);
    return t.mirror(t.mirror(t[0])) == t[0];
  };
  const auto asks = [](int, Attributes, Machine& m) {
    const AnyLawCall t(m);
    return t.mirror(t.mirror(t.y())) == t.y();
  };
  EXPECT_EQ(claimed(mirrors).kind, LawResult::silent);
  EXPECT_FALSE(claimed(mirrors).informative);
  EXPECT_EQ(claimed(asks).kind, LawResult::holds);
  EXPECT_TRUE(claimed(asks).informative);
}

TEST(LawResults, BeyondTheLimitsALawIsSilent) {
  const auto sum = [](int, Attributes, Machine& m) {
    const AnyLawCall t(m);
    return t.sum(t.y(), t[0]) == t.sum(t.y(), t[0]);
  };
  EXPECT_EQ(claimed(sum, 31).kind, LawResult::holds);
  EXPECT_EQ(claimed(sum, 32).kind, LawResult::silent);
  EXPECT_EQ(
      claimed([](int, Attributes, Machine&) { return lockstep::Claim(); }).kind, LawResult::silent);
}

TEST(LawResults, AWrongCallIsTheLawsFault) {
  const auto broken = [](lockstep::Claim (*claim)(int, Attributes, Machine&)) {
    const LawResult r = claimed(claim);
    return r.kind == LawResult::broken ? r.message : "not broken";
  };
  EXPECT_EQ(broken([](int, Attributes, Machine& m) { return m.call("nope", {}, {}, 0) == Term(); }),
      "no operator nope");
  EXPECT_EQ(broken([](int, Attributes, Machine& m) {
    return m.call("sum", {m.input(0)}, {{"axes", {0}}}, 0) == Term();
  }),
      "sum has no attribute axes");
  EXPECT_TRUE(broken([](int, Attributes, Machine& m) {
    return m.call("sum", {m.input(0)}, {{"axis", {7}}}, 0) == Term();
  }).starts_with("sum.axis: "));
}

}  // namespace
}  // namespace lockstep::judge
