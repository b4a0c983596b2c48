#include "containers/tensor/dim.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "containers/tests/refusal.h"

namespace lockstep::ndarray {
namespace {

constexpr auto kSize = make_dim(2, 3, 4);
static_assert(std::is_same_v<decltype(kSize), const Dim<3>>);
static_assert(product(kSize) == 24 && kSize[0] == 2 && get<2>(kSize) == 4);
static_assert(kSize == Dim<3>(2, 3, 4) && kSize != make_dim(2, 3, 5));
static_assert(contiguous_strides(kSize) == make_dim(12, 4, 1));
static_assert(linearize(make_dim(1, 2, 3), contiguous_strides(kSize)) == 23);
static_assert(linearize(make_dim(1, 2), make_dim(-5, 3)) == 1);

static_assert(contained(make_dim(0, 0, 0), kSize) && contained(make_dim(1, 2, 3), kSize));
static_assert(!contained(make_dim(2, 0, 0), kSize) && !contained(make_dim(0, 0, 4), kSize));
static_assert(!contained(make_dim(0, -1, 0), kSize) && !contained(make_dim(0), make_dim(0)));

static_assert(contiguous(kSize, make_dim(12, 4, 1)) && !contiguous(kSize, make_dim(12, 4, 2)));
static_assert(!contiguous(kSize, make_dim(24, 4, 1)) && !contiguous(kSize, make_dim(1, 2, 6)));
static_assert(contiguous(make_dim(2, 1, 4), make_dim(4, 99, 1)), "nobody steps along extent 1");
static_assert(contiguous(make_dim(2, 0), make_dim(7, 7)), "there is nothing to lie apart");

// The least and the highest rank, and the default.
static_assert(product(Dim<0>()) == 1 && contained(Dim<0>(), Dim<0>()) && make_dim() == Dim<0>());
static_assert(product(make_dim(1, 2, 1, 2, 1, 2, 1, 2, 1)) == 16);
static_assert(Dim<2>() == make_dim(0, 0) && product(Dim<2>()) == 0);

// Every integer type is one: what fits is taken by value.
static_assert(make_dim(std::uint64_t{3}, std::int8_t{4}) == make_dim(3, 4));

TEST(Dim, NumbersCanBeSet) {
  Dim<2> dim;
  dim[0] = 5;
  get<1>(dim) = 6;
  EXPECT_EQ(dim, make_dim(5, 6));
}

TEST(Dim, RefusesAxesThatThereAreNot) {
  const Dim<2> dim;
  EXPECT_EQ(refusal([&] { return dim[2]; }), "axis 2 of 2");
  EXPECT_EQ(refusal([&] { return dim[-1]; }), "axis -1 of 2");
  EXPECT_EQ(refusal([] { return Dim<0>()[0]; }), "axis 0 of 0");
  EXPECT_EQ(refusal([] { return to_dim<2>(std::vector<i64>{1}); }), "rank 1 where 2 is asked for");
}

TEST(Dim, RefusesWhatDoesNotFitInt64) {
  constexpr i64 kMax = std::numeric_limits<i64>::max();
  const std::string count = "the number of elements does not fit int64";
  EXPECT_EQ(refusal([] { return make_dim(std::numeric_limits<std::uint64_t>::max()); }),
      "18446744073709551615 does not fit int64");
  EXPECT_EQ(product(make_dim(kMax, 1)), kMax);
  EXPECT_EQ(refusal([] { return product(make_dim(i64{1} << 32, i64{1} << 31)); }), count);
  EXPECT_EQ(refusal([] { return product(make_dim(i64{1} << 32, 0, i64{1} << 31)); }), count);
  EXPECT_EQ(refusal([] { return product(make_dim(-1, 0)); }), "a negative extent: -1");
  const std::string place = "the place of an element does not fit int64";
  EXPECT_EQ(linearize(make_dim(kMax), make_dim(1)), kMax);
  EXPECT_EQ(refusal([] { return linearize(make_dim(kMax), make_dim(2)); }), place);
  EXPECT_EQ(refusal([] { return linearize(make_dim(kMax, 1), make_dim(1, 1)); }), place);
}

}  // namespace
}  // namespace lockstep::ndarray
