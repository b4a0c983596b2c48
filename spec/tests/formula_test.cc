// The language of formulas. That each operator's formulas say what `infer` says is proved with the
// operator's examples (spec/check.h), drawn calls (domain_test.cc) and golden vectors.
#include "spec/formula.h"

#include <gtest/gtest.h>

#include "spec/operators.h"

namespace lockstep {
namespace {

// A conv2d of 2 inputs, X of 24 and W of 10 elements, Y of 12.
constexpr Type kIn[] = {{{1, 2, 3, 4}, 8}, {{5, 2, 1, 1}, 7}};
constexpr Attr kAttrs[] = {{AttrKind::integer, false, {5}}, {AttrKind::tuple, false, {1, 1}},
    {AttrKind::tuple, false, {1, 2}}, {AttrKind::tuple, false, {0, 0}},
    {AttrKind::tuple, false, {1, 1}}, {AttrKind::integer, false, {-3}},
    {AttrKind::boolean, false, {1}}, {AttrKind::word, false, {0}}};

i64 value_of(Formula f) {
  OpInfo op = *find_operator("conv2d");
  op.precision = {&f, 1};
  return stated_precision(op, 0, {kAttrs, 8}, {kIn, 2}, Type{{1, 1, 3, 4}, 8});
}

Shape shape_of(Formula f, string_view of = "conv2d") {
  OpInfo op = *find_operator(of);
  op.shape = {&f, 1};
  return stated_shape(op, 0, {kAttrs, 8}, {kIn, 2});
}

TEST(Formula, ReadsEveryWord) {
  EXPECT_EQ(value_of("12"), 12);
  EXPECT_EQ(value_of("p0 + p1"), 15);
  EXPECT_EQ(value_of("p2"), 0) << "an input that is not given";
  EXPECT_EQ(value_of("channels + use_bias"), 6);
  EXPECT_EQ(value_of("|X| + |W| + |B| + |Y|"), 24 + 10 + 0 + 12);
  EXPECT_EQ(value_of("|groups|"), 3) << "a magnitude";
  EXPECT_EQ(value_of("bl(0) + bl(1) + bl(4)"), 0 + 1 + 3);
  EXPECT_EQ(value_of("max(p1, p0, 3) - min(4, p0)"), 8 - 4);
  EXPECT_EQ(value_of("max(p1, ...)"), 8);
  EXPECT_EQ(value_of("a(1) + a(8)"), 127);
  EXPECT_EQ(value_of("prod(X) + prod([]) + #X + #strides"), 24 + 1 + 4 + 2);
}

TEST(Formula, DividesBeforeItAddsAndRoundsDown) {
  EXPECT_EQ(value_of("1 + |X| / |W|"), 3);
  EXPECT_EQ(value_of("|X| / 5 / 2"), 2);
  EXPECT_EQ(value_of("(1 + |X|) / 5"), 5);
  EXPECT_EQ(value_of(" bl( |X|/|W| )+1"), 3);
  EXPECT_EQ(value_of("-7 / 2 + 2 * 3"), -4 + 6);
  EXPECT_EQ(value_of("ceil(7 / 2) + ceil((2 - 9) / 2) + ceil(-7 / -2)"), 4 - 3 + 4);
  EXPECT_EQ(value_of("-1 mod 4 + 4 mod 4 + 5 mod 4"), 3 + 0 + 1);
}

TEST(Formula, ComparesAndChooses) {
  EXPECT_EQ(value_of("1 = 1 and 1 != 2 and 1 < 2 and 2 <= 2 and 3 > 2 and 2 >= 2"), 1);
  EXPECT_EQ(value_of("1 = 2 or 1 != 1 or 2 < 2 or 3 <= 2 or 2 > 2 or 1 >= 2"), 0);
  EXPECT_EQ(value_of("1 or 0 and 0"), 1) << "and binds more strongly";
  EXPECT_EQ(value_of("not 0 and not (3 in [1, 2]) and 2 in [1, 2]"), 1);
  EXPECT_EQ(value_of("groups = None or None = None"), 1);
  EXPECT_EQ(value_of("{1 if 0, 2 if 1, 3 if 1, 4}"), 2);
  EXPECT_EQ(value_of("{1 if 0, 4}"), 4);
  EXPECT_EQ(value_of("{1 / 0 if 0, 1 if 1, unknown}"), 1) << "only the chosen case is evaluated";
}

TEST(Formula, MakesLists) {
  EXPECT_EQ(shape_of("X"), (Shape{1, 2, 3, 4}));
  EXPECT_EQ(shape_of("[X[0], X[-1], X[4], X[-5]]"), (Shape{1, 4, 1, 1})) << "1 outside";
  EXPECT_EQ(shape_of("[] ++ strides ++ [7]"), (Shape{1, 2, 7}));
  EXPECT_EQ(shape_of("[d * d for d < 4 if d != 2]"), (Shape{0, 1, 9}));
  EXPECT_EQ(shape_of("[prod([X[d + e] for e < 2]) for d < 3]"), (Shape{2, 6, 12}));
  EXPECT_EQ(shape_of("[9 for d < 0]"), Shape());
  EXPECT_EQ(shape_of("[n, f(n)]; f(k) = {1 if k = 0, k * f(k - 1)}; n = #X"), (Shape{4, 24}));
}

TEST(Formula, AddsUpOverTheInputsOfAVariadicPort) {
  EXPECT_EQ(shape_of("[total(X[2]), X[2], total(1)]", "concatenate"), (Shape{3 + 1, 3, 2}));
}

TEST(Formula, RefusesWhatIsNoFormula) {
  for (const Formula f : {"", "p0 +", "p0 p1", "+ 1", "max()", "max(...)", "max(..., 1)", "bl(1",
           "|X", "|Z|", "Z", "kernel_size", "1 / 0", "1 mod 0", "p", "2p", "P0", "layout", "[1]",
           "f(1)", "n; n = 1;", "n; n(1) = 1", "d; d = [d for d < 2]", "f(1); f(k, l) = k",
           "1 in 2", "[1] = [1]", "None + 1", "a(0)", "a(33)", "{1 if 1}", "ceil(3)", "#groups",
           "f(2); f(d) = e; e = d", "f(1); f(k) = f(k)"})
    EXPECT_THROW(value_of(f), BrokenSpecification) << f;
  for (const Formula f : {"1", "[1", "[1,]", "[X]", "[d for d]", "[d for d < 2", "Y", "1 ++ [1]"})
    EXPECT_THROW(shape_of(f), BrokenSpecification) << f;
}

}  // namespace
}  // namespace lockstep
