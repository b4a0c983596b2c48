// Bytes as a source of choices.
#include "conformance/cases/bytes.h"

#include <gtest/gtest.h>

#include "conformance/cases/mutate.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

TEST(Bytes, ATakenByteIsAChoiceAndNoMoreAreTakenThanTheRangeNeeds) {
  const std::vector<std::uint8_t> bytes = {7, 1, 2, 200, 9};
  Bytes draw(bytes);
  EXPECT_EQ(draw(5, 5), 5);
  EXPECT_EQ(draw.rest.size(), 5u);
  EXPECT_EQ(draw(0, 255), 7);
  EXPECT_EQ(draw(0, 256), 1 * 256 + 2 - 257);
  EXPECT_EQ(draw(-3, 6), -3 + 200 % 10);
  EXPECT_EQ(draw.rest.size(), 1u);
}

TEST(Bytes, WhereTheyEndEveryChoiceIsTheSmallest) {
  const std::vector<std::uint8_t> bytes = {1};
  Bytes draw(bytes);
  EXPECT_EQ(draw(0, 65535), 1);
  EXPECT_EQ(draw(-9, 9), -9);
  EXPECT_EQ(draw(INT64_MIN / 2, INT64_MAX / 2), INT64_MIN / 2);
}

// What a seed draws, legal or mutated, its recorded bytes draw again.
TEST(Bytes, RecordedChoicesComeBack) {
  for (const OpInfo* op : operators())
    for (u64 seed = 0; seed < 50; ++seed) {
      Seeded source(seed);
      Recorded recorded(source);
      Case first = draw_case(*op, recorded);
      mutate(first, recorded);
      Bytes again(recorded.bytes);
      Case second = draw_case(*op, again);
      mutate(second, again);
      EXPECT_EQ(case_id(second), case_id(first));
      EXPECT_TRUE(again.rest.empty());
    }
}

// A domain is legal by construction, whatever it draws from.
TEST(Bytes, DrawLegalCallsEvenFromNothing) {
  for (const OpInfo* op : operators())
    for (const int byte : {-1, 0, 255}) {
      const std::vector<std::uint8_t> bytes(byte < 0 ? 0 : 4096, static_cast<std::uint8_t>(byte));
      Bytes draw(bytes);
      const Case c = draw_case(*op, draw);
      EXPECT_FALSE(refusal(c).refused()) << case_id(c);
    }
}

}  // namespace
}  // namespace lockstep::judge
