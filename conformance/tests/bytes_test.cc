// Sources of choices: seeds, and bytes.
#include "conformance/cases/bytes.h"

#include <gtest/gtest.h>

#include "conformance/base/places.h"
#include "conformance/base/read_file.h"
#include "conformance/base/usage_error.h"
#include "conformance/cases/mutate.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

// A range of 2^63 numbers, more than 32 bits hold.
constexpr i64 kLow = INT64_MIN / 2, kHigh = INT64_MAX / 2;

// Computed from the definition by another program.
TEST(Words, AreThoseOfTheirDefinition) {
  EXPECT_EQ(
      word(0xfedcba9876543210u, 0x123456789abcdef0u, 0x0fedcba987654321u), 9452209631654267859u);
  constexpr u64 kWord = 0xfedcba9876543210u;
  EXPECT_EQ(within(0x8123456789abcdefu, kLow, kHigh), -4529700489210901009);
  EXPECT_EQ(within(kWord, -9, -3), -7);
  EXPECT_EQ(within(kWord, 5, i64{1} << 40), 654887068925);
  EXPECT_EQ(within(kWord, -(i64{1} << 40), 7), -444824990656);
  Seeded draw((u64{1} << 63) + 5);
  EXPECT_EQ(draw(kLow, kHigh), -1586857870237519797);
  EXPECT_EQ(draw(kLow, kHigh), -24937153963081407);
}

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

TEST(Bytes, AWideRangeTakesEightAndANarrowOneOfNegativeNumbersOne) {
  const std::vector<std::uint8_t> bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  Bytes draw(bytes);
  EXPECT_EQ(draw(kLow, kHigh), kLow + 0x0102030405060708);
  EXPECT_EQ(draw(-9, -3), -9 + 9 % 7);
  EXPECT_TRUE(draw.rest.empty());
  Seeded source(3), alone(3);
  Recorded recorded(source);
  const i64 first = recorded(kLow, kHigh);
  EXPECT_EQ(first, alone(kLow, kHigh));
  EXPECT_EQ(recorded.bytes.size(), 8u);
  EXPECT_EQ(Bytes(recorded.bytes)(kLow, kHigh), first);
}

TEST(Bytes, WhereTheyEndEveryChoiceIsTheSmallest) {
  const std::vector<std::uint8_t> bytes = {1};
  Bytes draw(bytes);
  EXPECT_EQ(draw(0, 65535), 1);
  EXPECT_EQ(draw(-9, 9), -9);
  EXPECT_EQ(draw(INT64_MIN / 2, INT64_MAX / 2), INT64_MIN / 2);
}

// The recorded bytes of a draw, legal or mutated, repeat what its seed drew.
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

// A domain draws legal calls by construction, whatever the source of choices.
TEST(Bytes, DrawLegalCallsEvenFromNothing) {
  for (const OpInfo* op : operators())
    for (const int byte : {-1, 0, 255}) {
      const std::vector<std::uint8_t> bytes(byte < 0 ? 0 : 4096, static_cast<std::uint8_t>(byte));
      Bytes draw(bytes);
      const Case c = draw_case(*op, draw);
      EXPECT_FALSE(refusal(c).refused()) << case_id(c);
    }
}

TEST(Bytes, OfAFileAreReadUpToALimit) {
  EXPECT_THROW(read_file("/dev/zero", 100'000), UsageError);
  const std::string file = frozen_file(), all = read_file(file);
  EXPECT_EQ(read_file(file, all.size()), all);
  EXPECT_THROW(read_file(file, all.size() - 1), UsageError);
}

}  // namespace
}  // namespace lockstep::judge
