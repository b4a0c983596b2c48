// Computes every number of the layouts' design while compiling.
#include <gtest/gtest.h>

#include "containers/layout/image.h"
#include "containers/tests/refusal.h"

namespace lockstep::ndarray {
namespace {

using Descriptor = ShapeDescriptor;

constexpr params::DType kFloat32{2, 32};

constexpr Extents reversed(const Extents& list) {
  Extents result;
  for (int k = list.size - 1; k >= 0; --k) result.push(list[k]);
  return result;
}

constexpr unsigned judge(Order order, const Extents& shape, const Extents& strides, i64 ews) {
  return Descriptor{.order = order, .shape = shape, .strides = strides, .ews = ews}.validate();
}

// Both orders at once: f is c with everything the other way round.
constexpr bool judged(const Extents& strides, i64 ews, unsigned status) {
  const Extents shape{2, 3, 4, 5};
  return judge(Order::kC, shape, strides, ews) == status &&
      judge(Order::kF, reversed(shape), reversed(strides), ews) == status;
}

static_assert(judged({60, 20, 5, 1}, 1, Descriptor::kOk));
static_assert(judged({20, 20, 5, 1}, 1, Descriptor::kBadStrides));
static_assert(judged({60, 20, 5, 5}, 1, Descriptor::kBadStrides | Descriptor::kBadEws));
static_assert(judged({300, 100, 25, 5}, 1, Descriptor::kBadEws));
static_assert(judged({300, 100, 25, 5}, 5, Descriptor::kOk));
static_assert(judged({800, 200, 40, 5}, 1, Descriptor::kBadEws));
static_assert(judged({800, 200, 40, 5}, 0, Descriptor::kOk));

// The function judges by the stated order.
static_assert(judge(Order::kF, {2, 3, 4, 5}, {60, 20, 5, 1}, 1) & Descriptor::kBadStrides);

static_assert(judge(Order::kC, {2, 3}, {3}, 1) == Descriptor::kBadRank);
static_assert(
    judge(Order::kC, Extents::filled(33, 1), Extents::filled(33, 1), 1) == Descriptor::kBadRank);
static_assert(
    judge(Order::kC, Extents::filled(32, 1), Extents::filled(32, 1), 1) == Descriptor::kOk);
static_assert(judge(Order::kC, {2, 0}, {-7, 0}, 9) == Descriptor::kEmpty);
static_assert(judge(Order::kC, {2, -1}, {1, 1}, 1) == Descriptor::kBadExtent);
static_assert(judge(Order::kC, {}, {}, 1) == Descriptor::kOk);
static_assert(judge(Order::kC, {}, {}, 0) == Descriptor::kBadEws);

// The stride of an axis of extent 1 does not count.
static_assert(judge(Order::kC, {2, 1, 5}, {5, -99, 1}, 1) == Descriptor::kOk);
static_assert(judge(Order::kC, {1, 1}, {0, 0}, 1) == Descriptor::kOk);
// Steps go forward, and what overflows cannot be spanned.
static_assert(judge(Order::kC, {3}, {0}, 0) == Descriptor::kBadStrides);
static_assert(judge(Order::kC, {2, 3}, {3, -1}, 0) == Descriptor::kBadStrides);
static_assert(judge(Order::kC, {2, 4}, {i64{1} << 62, i64{1} << 61}, i64{1} << 61) ==
    Descriptor::kBadStrides);

constexpr Descriptor padded(
    const Extents& paddings, const Extents& offsets = {}, Order order = Order::kC) {
  return paddedBufferDescriptor(kFloat32, order, {2, 3, 4, 5}, paddings, offsets);
}

constexpr bool is_laid_out(
    const Descriptor& d, const Extents& full, const Extents& strides, i64 allocated) {
  const Descriptor whole = compact_descriptor(d.dtype, d.order, full);
  return d.strides == strides && whole.strides == strides && d.allocated == allocated &&
      whole.allocated == allocated && d.allocLength() == allocated &&
      (d.flags & ARRAY_HAS_PADDED_BUFFER) != 0 && (whole.flags & ARRAY_HAS_PADDED_BUFFER) == 0 &&
      d.validate() == Descriptor::kOk && d.layout_class() == LayoutClass::kPadded &&
      whole.layout_class() == LayoutClass::kCompact;
}

static_assert(is_laid_out(padded({2, 3, 4, 5}), {4, 6, 8, 10}, {480, 80, 10, 1}, 1920));
static_assert(is_laid_out(padded({2, 3}), {4, 6, 4, 5}, {120, 20, 5, 1}, 480));
static_assert(is_laid_out(padded({0, 0, 4, 5}), {2, 3, 8, 10}, {240, 80, 10, 1}, 480));
static_assert(is_laid_out(padded({1}), {3, 3, 4, 5}, {60, 20, 5, 1}, 180));
static_assert(padded({2, 3, 4, 5}).ews == 0);
static_assert(padded({1}).ews == 1, "without room inside, every step is 1");
static_assert(
    is_laid_out(padded({2, 3, 4, 5}, {}, Order::kF), {4, 6, 8, 10}, {1, 4, 24, 192}, 1920));

constexpr Extents kImage{2, 2, 5, 5};

constexpr Descriptor image(const ImagePadding& padding) {
  return image_descriptor(kFloat32, Order::kC, kImage, padding);
}

// A row of the table: the full extents, strides, lengths and the offset of a padded image, all of
// which is recovered from the layout.
constexpr bool is_row(const Descriptor& d, const Extents& full, const Extents& strides,
    i64 allocated, i64 bytes, i64 minimal, i64 offset) {
  const RecoveredPadding padding = d.recover_padding();
  if (!padding.recovered()) return false;
  for (int axis = 0; axis < full.size; ++axis)
    if (d.shape[axis] + padding.paddings[axis] != full[axis]) return false;
  return d.strides == strides && d.allocated == allocated && d.allocLength() == allocated &&
      reversed_view(d).total == bytes && minimal_length(d.shape, d.strides) == minimal &&
      d.offset == offset;
}

static_assert(is_row(compact_descriptor(kFloat32, Order::kC, kImage), {2, 2, 5, 5}, {50, 25, 5, 1},
    100, 400, 100, 0));
static_assert(is_row(image({}), {2, 2, 5, 5}, {50, 25, 5, 1}, 100, 400, 100, 0));
static_assert(
    is_row(image({.right = 1, .bottom = 1}), {2, 2, 6, 6}, {72, 36, 6, 1}, 144, 576, 137, 0));
static_assert(is_row(image({1, 1, 1, 1}), {2, 2, 7, 7}, {98, 49, 7, 1}, 196, 784, 180, 8));
static_assert(
    is_row(image(automatic_padding(4)), {2, 2, 13, 45}, {1170, 585, 45, 1}, 2340, 9360, 1940, 184));
static_assert(is_row(paddedBufferDescriptor(kFloat32, Order::kC, kImage, {1}, {1}), {3, 2, 5, 5},
    {50, 25, 5, 1}, 150, 600, 100, 50));

static_assert(automatic_padding(0) == ImagePadding{});
static_assert(automatic_padding(1) == ImagePadding{.right = 36, .left = 4});
static_assert(automatic_padding(2) == ImagePadding{.top = 4, .right = 36, .bottom = 4, .left = 4});
static_assert(automatic_padding(4) == automatic_padding(2));
static_assert(extended({.top = 5, .right = 1}, automatic_padding(2)) ==
    ImagePadding{.top = 5, .right = 36, .bottom = 4, .left = 4});
static_assert(extended(automatic_padding(2), {}) == automatic_padding(2));

// Images as image libraries see them.
static_assert(reversed_view(compact_descriptor(kFloat32, Order::kC, kImage)) ==
    ReversedView{{5, 5, 2, 2}, {4, 20, 100, 200}, 0, 400});
static_assert(reversed_view(image({.right = 1, .bottom = 1})) ==
    ReversedView{{5, 5, 2, 2}, {4, 24, 144, 288}, 0, 576});
static_assert(reversed_view(image({1, 1, 1, 1})).offset == 32);

// The numbers of the published format: {.., flags, ews, order} of a compact float32 tensor.
static_assert(compact_descriptor(kFloat32, Order::kC, kImage).flags == 8192);
static_assert(compact_descriptor(kFloat32, Order::kC, kImage).ews == 1);
static_assert(static_cast<int>(Order::kC) == 99);
static_assert(flags_of({1, 32}, {}) == (131072 | 8388608), "uint32 is an INT that is UNSIGNED");

constexpr Descriptor strided(
    const Extents& shape, const Extents& strides, i64 offset, i64 allocated) {
  return {.shape = shape, .strides = strides, .offset = offset, .allocated = allocated};
}

static_assert(strided({4, 5}, {10, 1}, 0, 40).layout_class() == LayoutClass::kPadded);
static_assert(strided({4, 5}, {10, 1}, 0, 35).layout_class() == LayoutClass::kGeneralStrided);
static_assert(strided({4, 5}, {1, 4}, 0, 20).layout_class() == LayoutClass::kGeneralStrided);
static_assert(strided({4, 5}, {5, 1}, 3, 99).layout_class() == LayoutClass::kCompact);
static_assert(strided({4, 5}, {4, 1}, 0, 40).layout_class() == LayoutClass::kNone);
static_assert(strided({4, 5}, {0, 1}, 0, 40).layout_class() == LayoutClass::kNone);
static_assert(strided({4, 5}, {-5, 1}, 15, 20).layout_class() == LayoutClass::kNone);
static_assert(strided({4, 5}, {5}, 0, 20).layout_class() == LayoutClass::kNone);

// A slice may leave the last element of each row alone and nest no more; it shares nothing.
static_assert(strided({2, 2}, {3, 2}, 0, 6).layout_class() == LayoutClass::kNone);
static_assert(is_disjoint(Extents{2, 2}, Extents{3, 2}));
static_assert(!is_disjoint(Extents{2, 3}, Extents{4, 2}) && !is_disjoint(Extents{2}, Extents{0}));
static_assert(!is_disjoint(Extents{2, 2}, Extents{3, -1}));

// "Not recoverable" is an answer, and says why.
constexpr std::string_view why(const Descriptor& d) { return d.recover_padding().failure; }
static_assert(why(strided({4, 5}, {10, 1}, 0, 35)) == "a stride does not divide the one around it");
static_assert(
    why(strided({4, 5}, {4, 1}, 0, 40)) == "a stride is too small for the extent inside it");
static_assert(why(strided({4, 5}, {10, 2}, 0, 40)) == "the innermost stride is not 1");
static_assert(why(strided({4, 5}, {10, 1}, 6, 40)) == "the offset lies outside the padding");
static_assert(why(strided({4, 5}, {10, 1}, -1, 40)) == "the offset lies outside the padding");
static_assert(why(strided({1, 1}, {0, 0}, 0, 2)) == "no axis has more than one element");
static_assert(why(strided({1, 1}, {0, 0}, 0, 1)).empty());
static_assert(why(strided({4, 5}, {10}, 0, 40)) == "the shape is illegal");

// The stride of an axis of extent 1 counts where it fits a padded tensor, and only there.
constexpr bool is_recovered(const Descriptor& d, const Extents& paddings, const Extents& offsets) {
  const RecoveredPadding found = d.recover_padding();
  return found.recovered() && found.paddings == paddings && found.offsets == offsets;
}
static_assert(paddedBufferDescriptor(kFloat32, Order::kC, {1, 5}, {2, 3}) ==
    Descriptor{.shape = {1, 5},
        .strides = {8, 1},
        .ews = 1,
        .allocated = 24,
        .flags = flags_of(kFloat32, Extents{1, 5}) | ARRAY_HAS_PADDED_BUFFER});
static_assert(is_recovered(strided({1, 5}, {8, 1}, 0, 24), {2, 3}, {0, 0}));
static_assert(is_recovered(strided({1, 5}, {8, 1}, 11, 24), {2, 3}, {1, 3}));
static_assert(is_recovered(strided({5, 1}, {4, 1}, 5, 28), {2, 3}, {1, 1}));
static_assert(is_recovered(strided({2, 1, 5}, {24, 8, 1}, 0, 48), {0, 2, 3}, {0, 0, 0}));
static_assert(is_recovered(strided({1, 1}, {3, 1}, 4, 6), {1, 2}, {1, 1}));
static_assert(is_recovered(strided({1, 5}, {0, 1}, 1, 24), {0, 19}, {0, 1}));
static_assert(is_recovered(strided({1, 5}, {7, 1}, 0, 24), {0, 19}, {0, 0}));
static_assert(is_recovered(strided({2, 1, 5}, {24, -3, 1}, 0, 48), {0, 0, 19}, {0, 0, 0}));

constexpr i64 kHuge = i64{1} << 40;

TEST(Layout, RefusesPaddingsThatCannotBe) {
  const auto refused = [](const Extents& paddings, const Extents& offsets = {}) {
    return refusal([&] { return padded(paddings, offsets); });
  };
  const std::string axis = "; none may be negative, nor the offset beyond the padding";
  EXPECT_EQ(refused({0, -1}), "axis 1: extent 3, padding -1, offset 0" + axis);
  EXPECT_EQ(refused({2}, {-1}), "axis 0: extent 2, padding 2, offset -1" + axis);
  EXPECT_EQ(refused({2}, {3}), "axis 0: extent 2, padding 2, offset 3" + axis);
  EXPECT_EQ(refused({2}, {0, 1}), "axis 1: extent 3, padding 0, offset 1" + axis);
  EXPECT_EQ(refused({1, 1, 1, 1, 1}), "paddings or offsets for more than the 4 axes");
  EXPECT_EQ(refused({}, {0, 0, 0, 0, 0}), "paddings or offsets for more than the 4 axes");
  EXPECT_EQ(refused({std::numeric_limits<i64>::max()}), "a padded extent does not fit int64");
  EXPECT_EQ(refused({kHuge, kHuge}), "the number of elements does not fit int64");
  const auto of_shape = [](const Extents& shape, const Extents& paddings) {
    return refusal([&] { return paddedBufferDescriptor(kFloat32, Order::kC, shape, paddings); });
  };
  EXPECT_EQ(of_shape({-1}, {2}), "axis 0: extent -1, padding 2, offset 0" + axis);
  EXPECT_EQ(of_shape(Extents::filled(33, 1), {}), "rank 33; at most 32");
}

TEST(Layout, RefusesLengthsThatAreNone) {
  const auto length = [](const Extents& shape, const Extents& strides) {
    return refusal([&] { return strided(shape, strides, 0, 0).allocLength(); });
  };
  const std::string too_long = "the length of a layout does not fit int64";
  EXPECT_EQ(length({2, 2}, {i64{1} << 62, i64{1} << 62}), too_long);
  EXPECT_EQ(length({kHuge}, {kHuge}), too_long);
  EXPECT_EQ(length({2, 3}, {1}), "the shape and its strides do not fit");
  EXPECT_EQ(length({2}, {-1}), "a negative stride: -1");
  EXPECT_EQ(refusal([] { return compact_strides(std::vector<i64>{-2}); }), "a negative extent: -2");
  const Extents huge{kHuge, 0, kHuge};
  EXPECT_EQ(refusal([&] { return compact_descriptor(kFloat32, Order::kC, huge); }),
      "the number of elements does not fit int64");
  const auto reversed = [](i64 stride, i64 offset, i64 allocated) {
    return refusal([&] { return reversed_view(strided({2}, {stride}, offset, allocated)); });
  };
  EXPECT_EQ(reversed(i64{1} << 61, 0, 0), "a stride in bytes does not fit int64");
  EXPECT_EQ(reversed(1, i64{1} << 61, 0), "the offset in bytes does not fit int64");
  EXPECT_EQ(reversed(1, 0, i64{1} << 61), "the length in bytes does not fit int64");
}

TEST(Layout, RefusesSidesThatTheRankLacks) {
  EXPECT_EQ(refusal([] { return image_descriptor(kFloat32, Order::kC, {5}, {.top = 1}); }),
      "a side of an image is padded that a tensor of rank 1 lacks");
  EXPECT_EQ(refusal([] { return image_descriptor(kFloat32, Order::kC, {}, {.left = 1}); }),
      "a side of an image is padded that a tensor of rank 0 lacks");
  EXPECT_EQ(
      refusal([] { return image({.right = -1}); }), "a side of an image is padded by less than 0");
}

}  // namespace
}  // namespace lockstep::ndarray
