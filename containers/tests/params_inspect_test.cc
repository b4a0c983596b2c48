/// Single elements, and how dictionaries differ.
#include <gtest/gtest.h>

#include <cmath>

#include "containers/params/inspect.h"
#include "containers/tests/worked_example.h"

namespace lockstep::params {
namespace {

/// The only element of a scalar whose bytes are these.
std::string text_of(DType dtype, std::initializer_list<int> bytes) {
  return element_text(element({dtype, {}, bytes_of(bytes)}, 0));
}

TEST(Element, IntegersHaveTheirValue) {
  EXPECT_EQ(text_of({0, 8}, {0x80}), "-128");
  EXPECT_EQ(text_of({1, 8}, {0x80}), "128");
  EXPECT_EQ(text_of({0, 16}, {0xFF, 0xFF}), "-1");
  EXPECT_EQ(text_of({1, 16}, {0xFF, 0xFF}), "65535");
  EXPECT_EQ(text_of({0, 32}, {0, 0, 0, 0x80}), "-2147483648");
  EXPECT_EQ(text_of({1, 32}, {0, 0, 0, 0x80}), "2147483648");
  EXPECT_EQ(text_of({0, 64}, {0, 0, 0, 0, 0, 0, 0, 0x80}), "-9223372036854775808");
  EXPECT_EQ(text_of({1, 64}, {255, 255, 255, 255, 255, 255, 255, 255}), "18446744073709551615");
}

TEST(Element, FloatsAreTheShortestTextThatReadsBack) {
  EXPECT_EQ(text_of({2, 32}, {0xCD, 0xCC, 0xCC, 0x3D}), "0.1");
  EXPECT_EQ(text_of({2, 32}, {0, 0, 0, 0x80}), "-0");
  EXPECT_EQ(text_of({2, 32}, {0, 0, 0x80, 0x7F}), "inf");
  EXPECT_EQ(text_of({2, 32}, {1, 0, 0x80, 0x7F}), "nan");
  EXPECT_EQ(text_of({2, 64}, {0x9A, 0x99, 0x99, 0x99, 0x99, 0x99, 0xB9, 0x3F}), "0.1");
}

TEST(Element, EveryFloat16IsItsExactValue) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
    const ElementValue found = element({{2, 16}, {}, bytes_of({bits & 255, bits >> 8})}, 0);
    const float value = std::get<float>(found);
    EXPECT_EQ(std::signbit(value), bits >= 0x8000) << bits;
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(value), fraction != 0) << bits;
      EXPECT_EQ(std::isinf(value), fraction == 0) << bits;
    } else {
      const float size = exponent == 0
          ? std::ldexp(static_cast<float>(fraction), -24)
          : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
      EXPECT_EQ(std::fabs(value), size) << bits;
    }
  }
}

TEST(Element, IsFoundByItsPlace) {
  const Tensor tensor = {{0, 16}, {2, 3}, bytes_of({1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0})};
  EXPECT_EQ(element_count(tensor), 6u);
  EXPECT_EQ(element_text(element(tensor, 5)), "6");
  EXPECT_EQ(index_text(tensor.shape, 5), "[1, 2]");
  EXPECT_EQ(index_text({}, 0), "[]");
}

/// The differences between the worked example and what `change` makes of it, as words.
template <class Change> std::vector<std::string> found_after(Change change) {
  const std::vector<NamedTensor> first = worked_tensors();
  std::vector<NamedTensor> second = first;
  change(second);
  std::vector<std::string> words;
  for (const Difference& d : differences(first, second))
    words.push_back(std::string(name_of(d.aspect)) + " " + d.name);
  return words;
}

using Tensors = std::vector<NamedTensor>;
using Words = std::vector<std::string>;

TEST(Differences, AreNamed) {
  EXPECT_EQ(found_after([](Tensors&) {}), Words{});
  EXPECT_EQ(found_after([](Tensors& t) { t.pop_back(); }), Words{"only_in_first b0"});
  EXPECT_EQ(found_after([](Tensors& t) {
    t.push_back({"x", t[0].tensor});
  }),
      Words{"only_in_second x"});
  EXPECT_EQ(found_after([](Tensors& t) { t[0].name = "v"; }),
      (Words{"only_in_first w", "only_in_second v"}));
  EXPECT_EQ(found_after([](Tensors& t) { t[0].tensor.dtype.code = 1; }), Words{"dtype w"});
  EXPECT_EQ(found_after([](Tensors& t) { t[0].tensor.shape = {4}; }), Words{"shape w"});
  EXPECT_EQ(
      found_after([](Tensors& t) { t[0].tensor = t[1].tensor; }), (Words{"dtype w", "shape w"}));
  EXPECT_EQ(found_after([](Tensors& t) { t[1].tensor.bytes = bytes_of({8}); }), Words{"values b0"});
  EXPECT_EQ(found_after([](Tensors& t) { std::swap(t[0], t[1]); }), Words{"order w"});
}

TEST(Differences, OfValuesAreCountedByElement) {
  const std::vector<std::int32_t> a = {1, 2, -3, 4}, b = {1, 5, -3, 6};
  const std::vector<NamedTensor> first = {{"w", from_int32({2, 2}, a)}};
  const std::vector<NamedTensor> second = {{"w", from_int32({2, 2}, b)}};
  const std::vector<Difference> found = differences(first, second);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].differing, 2u);
  EXPECT_EQ(found[0].index, 1u);
  EXPECT_EQ(found[0].first, &first[0].tensor);
  EXPECT_EQ(found[0].second, &second[0].tensor);
}

}  // namespace
}  // namespace lockstep::params
