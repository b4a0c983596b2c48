/// CHECK and VERIFY: what they throw, what they say, and where they may stand.
#include "containers/logging.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>

namespace lockstep::utils {
namespace {

/// What a failing assertion says. A runtime error ends with its line, which is cut off; a logic
/// error names no file of ours.
template <class Exception, class Call> std::string message_of(Call call) {
  try {
    call();
  } catch (const Exception& exception) {
    const std::string text = exception.what();
    const std::size_t place = text.find(" [internal: logging_test.cc:");
    EXPECT_EQ(place != text.npos, (std::is_same_v<Exception, LogMessageFatal>)) << text;
    EXPECT_EQ(text.find(".cc", place == text.npos ? 0 : text.find(".cc", place) + 1), text.npos);
    return text.substr(0, place);
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Logging, CheckThrowsARuntimeErrorAndVerifyALogicError) {
  EXPECT_THROW(CHECK(false), LogMessageFatal);
  EXPECT_THROW(VERIFY(false), ValueVerifyFatal);
  EXPECT_THROW(CHECK(false), std::runtime_error);
  EXPECT_THROW(VERIFY(false), std::logic_error);
  EXPECT_NO_THROW(CHECK(true) << "unused");
  EXPECT_NO_THROW(VERIFY(true) << "unused");
}

TEST(Logging, TextIsStreamed) {
  const int size = 3;
  const auto fails = [&] { VERIFY(size > 3) << "size is " << size << ", not " << 4u; };
  EXPECT_EQ(message_of<ValueVerifyFatal>(fails), "size is 3, not 4");
  EXPECT_EQ(message_of<LogMessageFatal>([] { CHECK(1 > 2); }), "CHECK(1 > 2) failed");
  EXPECT_EQ(message_of<LogMessageFatal>([] { CHECK(false) << std::uint8_t{65} << 'A' << true; }),
      "CHECK(false) failed: 65A1");
  EXPECT_EQ(message_of<ValueVerifyFatal>([] { VERIFY(1 > 2); }), "VERIFY(1 > 2) failed");
}

TEST(Logging, TextIsEvaluatedOnlyOnFailure) {
  int evaluated = 0;
  const auto text = [&] { return ++evaluated; };
  CHECK(true) << text();
  CHECK_EQ(1, 1) << text();
  EXPECT_EQ(evaluated, 0);
  EXPECT_THROW(CHECK(false) << text(), LogMessageFatal);
  EXPECT_THROW(CHECK_EQ(1, 2) << text(), LogMessageFatal);
  EXPECT_EQ(evaluated, 2);
}

template <class Check, class Verify> bool holds(Check check, Verify verify) {
  try {
    check();
    verify();
    return true;
  } catch (const LogMessageFatal&) {
    EXPECT_THROW(verify(), ValueVerifyFatal);
    return false;
  }
}

/// Whether a comparison holds: as CHECK and as VERIFY, or as neither.
#define HOLDS(name, a, b) holds([] { CHECK_##name(a, b); }, [] { VERIFY_##name(a, b); })

TEST(Logging, ComparisonsHoldAndFail) {
  EXPECT_TRUE(HOLDS(EQ, 2, 2) && !HOLDS(EQ, 2, 3));
  EXPECT_TRUE(HOLDS(NE, 2, 3) && !HOLDS(NE, 2, 2));
  EXPECT_TRUE(HOLDS(LT, 2, 3) && !HOLDS(LT, 2, 2));
  EXPECT_TRUE(HOLDS(LE, 2, 2) && !HOLDS(LE, 3, 2));
  EXPECT_TRUE(HOLDS(GT, 3, 2) && !HOLDS(GT, 2, 2));
  EXPECT_TRUE(HOLDS(GE, 2, 2) && !HOLDS(GE, 2, 3));
}

TEST(Logging, ComparisonsPrintBothOperands) {
  const std::string name = "sum";
  EXPECT_EQ(message_of<ValueVerifyFatal>([&] { VERIFY_EQ(name, "max") << "operator"; }),
      "operator (sum vs. max)");
  const std::int8_t small = -5;
  EXPECT_EQ(message_of<LogMessageFatal>([&] { CHECK_GE(small, 0u); }),
      "CHECK_GE(small, 0u) (-5 vs. 0) failed");
  EXPECT_EQ(message_of<LogMessageFatal>([&] { CHECK_GE(small, 0u) << "small"; }),
      "CHECK_GE(small, 0u) (-5 vs. 0) failed: small");
}

TEST(Logging, IntegersCompareByValue) {
  EXPECT_NO_THROW(CHECK_LT(-1, 0u));
  EXPECT_NO_THROW(CHECK_NE(-1, std::numeric_limits<unsigned>::max()));
  EXPECT_NO_THROW(CHECK_GT(std::numeric_limits<std::uint64_t>::max(), -1));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(CHECK_LE(nan, 1.0), LogMessageFatal);
  EXPECT_THROW(CHECK_GE(nan, 1.0), LogMessageFatal);
  const std::unique_ptr<int> null;
  EXPECT_THROW(CHECK_NE(null, nullptr), LogMessageFatal);
}

TEST(Logging, OperandsAreEvaluatedOnce) {
  int first = 0;
  int second = 0;
  EXPECT_THROW(CHECK_EQ(++first, --second), LogMessageFatal);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, -1);
}

TEST(Logging, AnElseBelongsToTheCallersIf) {
  const auto branch = [](bool outer, bool inner) {
    if (outer)
      CHECK(inner) << "inner";
    else
      return std::string("else");
    if (outer)
      CHECK_EQ(inner, true) << "inner";
    else
      return std::string("second else");
    return std::string("then");
  };
  EXPECT_EQ(branch(true, true), "then");
  EXPECT_EQ(branch(false, false), "else");
  EXPECT_THROW(branch(true, false), LogMessageFatal);
}

TEST(Logging, AnOperandThatThrowsIsNotTheEnd) {
  const auto text = []() -> int { throw std::out_of_range("from the text"); };
  EXPECT_THROW(CHECK(false) << text(), std::out_of_range);
  EXPECT_THROW(CHECK_EQ(1, 2) << text(), std::out_of_range);
}

}  // namespace
}  // namespace lockstep::utils
