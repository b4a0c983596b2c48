// How the judge describes wrong outputs, which authors of kernels read first.
#include <gtest/gtest.h>

#include <functional>

#include "conformance/trial/properties.h"

namespace lockstep::judge {
namespace {

Answer answer_of(std::vector<std::vector<i32>> out) { return {.out = std::move(out)}; }

// A tensor that counts from 1, and the description if some of its elements are 0.
std::string said(const Shape& shape, const std::function<bool(i64)>& wrong) {
  Tensor want{{shape, 16}, {}};
  for (i64 k = 0; k < volume(shape); ++k) want.data.push_back(static_cast<i32>(k + 1));
  std::vector<i32> got = want.data;
  for (i64 k = 0; k < volume(shape); ++k)
    if (wrong(k)) got[static_cast<std::size_t>(k)] = 0;
  const auto f = difference({want}, answer_of({got}));
  return f ? f->text : "";
}

TEST(Difference, IsOfOutputsThatDiffer) {
  const std::vector<Tensor> want = {{{{2, 2}, 8}, {1, 2, 3, -4}}};
  EXPECT_FALSE(difference(want, answer_of({{1, 2, 3, -4}})));
  EXPECT_EQ(difference(want, answer_of({}))->text, "0 outputs, 1 expected");
  EXPECT_EQ(difference(want, answer_of({{1, 2, 3, -4}, {5}}))->text, "2 outputs, 1 expected");
  EXPECT_EQ(difference(want, answer_of({{1, 2, 3}}))->text, "output 0 has 3 elements, 4 expected");
  const auto f = difference(want, answer_of({{1, 0, 3, 4}}));
  EXPECT_EQ(f->text,
      "output 0 at [0,1]: expected 2 (0x00000002), got 0 (0x00000000); 2 of 4 elements "
      "differ: exactly the last index of axis 1");
  ASSERT_EQ(f->elements.size(), 2U);
  EXPECT_EQ(f->elements[1].expected, -4);
  EXPECT_EQ(f->elements[1].got, 4);
}

// The description names the first wrong element and counts all, however large a result is.
TEST(Difference, NamesTheFirstWrongElementOfMoreThanAMillion) {
  constexpr i64 kRows = 1031, kColumns = 1033, kFirst = 1021 * kColumns + 7;
  EXPECT_EQ(said({kRows, kColumns}, [](i64 k) { return k == kFirst || k == kFirst + 5000; }),
      "output 0 at [1021,7]: expected 1054701 (0x001017ed), got 0 (0x00000000); "
      "2 of 1065023 elements differ");
}

TEST(Difference, IsOfAnswersThatAreNone) {
  Answer a{.kind = AnswerKind::logic_error};
  EXPECT_EQ(difference({}, a)->text, "answered logic_error");
  a.label = "relu.shape";
  EXPECT_EQ(difference({}, a)->text, "answered logic_error relu.shape");
  a.message = "why";
  EXPECT_EQ(difference({}, a)->text, "answered logic_error relu.shape: why");
}

TEST(Difference, HasAPatternWhereTheElementsHaveOne) {
  const std::tuple<Shape, std::function<bool(i64)>, std::string> rows[] = {
      {{6}, [](i64) { return true; }, "; 6 of 6 elements differ: every element"},
      {{1}, [](i64) { return true; }, "; 1 of 1 elements differ"},
      {{2, 3}, [](i64 k) { return k % 3 == 2; }, ": exactly the last index of axis 1"},
      {{2, 3}, [](i64 k) { return k % 3 == 0; }, ": exactly index 0 of axis 1"},
      {{2, 3}, [](i64 k) { return k < 3; }, ": exactly index 0 of axis 0"},
      {{2, 7}, [](i64 k) { return k % 7 >= 4; },
          ": exactly the tail of axis 1 after multiples of 4"},
      {{30}, [](i64 k) { return k >= 24; }, ": exactly the tail of axis 0 after multiples of 8"},
      {{30}, [](i64 k) { return k >= 16; }, ": exactly the tail of axis 0 after multiples of 16"},
      {{60}, [](i64 k) { return k >= 32; }, ": exactly the tail of axis 0 after multiples of 32"},
      {{100}, [](i64 k) { return k >= 64; }, ": exactly the tail of axis 0 after multiples of 64"},
      {{8}, [](i64 k) { return k >= 4; }, "; 4 of 8 elements differ"},
      {{2, 7}, [](i64 k) { return k == 5; }, "; 1 of 14 elements differ"},
      {{2}, [](i64) { return true; }, "; 2 of 2 elements differ: every element"},
      {{9}, [](i64 k) { return k % 2 == 0; }, ": exactly where index 0 mod 2 = 0"},
      {{9}, [](i64 k) { return k % 2 == 1; }, ": exactly where index 0 mod 2 = 1"},
      {{7}, [](i64 k) { return k % 4 == 2; }, ": exactly where index 0 mod 4 = 2"},
      {{21}, [](i64 k) { return k % 8 == 3; }, ": exactly where index 0 mod 8 = 3"},
      {{40}, [](i64 k) { return k % 16 == 5; }, ": exactly where index 0 mod 16 = 5"},
      {{2, 8}, [](i64 k) { return k % 8 == 3; }, "; 2 of 16 elements differ"},
      {{5}, [](i64 k) { return k == 3; }, "; 1 of 5 elements differ"}};
  for (const auto& [shape, wrong, end] : rows) {
    const std::string text = said(shape, wrong);
    EXPECT_TRUE(text.ends_with(end)) << text << " instead of " << end;
  }
}

}  // namespace
}  // namespace lockstep::judge
