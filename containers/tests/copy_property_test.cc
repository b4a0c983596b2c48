/// Copies over drawn layouts equal copies element by element, and touch nothing else.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

#include "containers/array/copy.h"
#include "containers/array/ndarray.h"
#include "containers/exceptions.h"
#include "containers/tests/drawn_tensors.h"

namespace lockstep::ndarray {
namespace {

// The same cases in every run, unless the environment asks for others.
const bool kSeeded = ::setenv("RC_PARAMS", "seed=23 max_success=600", 0) == 0;

/// A byte_offset for a tensor whose first element is that far into its memory.
std::uint64_t draw_byte_offset(const Drawn& drawn) {
  return *rc::gen::inRange<std::uint64_t>(0, drawn.offset + 1);
}

/// What the memory of `to` has to be after a copy of `elements`: the plain loop.
std::vector<std::byte> after_copy(const Drawn& to, const std::vector<std::uint64_t>& elements) {
  std::vector<std::byte> memory = to.memory;
  const i64 width = element_bytes(to.type);
  std::size_t next = 0;
  for_each_index(to.shape, [&](const std::vector<i64>& index) {
    i64 place = static_cast<i64>(to.offset);
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      place += index[axis] * to.strides[axis] * width;
    std::memcpy(memory.data() + place, &elements[next++], static_cast<std::size_t>(width));
  });
  return memory;
}

RC_GTEST_PROP(CopyProperty, EqualsCopyingElementByElement, ()) {
  const std::vector<i64> shape = draw_shape(5, 5);
  const DLDataType type = draw_type();
  Drawn from = around_layout(shape, draw_strides(shape), type, 1);
  Drawn to = around_layout(shape, draw_distinct_strides(shape), type, 100);
  const DLTensor source = from.tensor(draw_byte_offset(from));
  const DLTensor target = to.tensor(draw_byte_offset(to));
  const std::vector<std::byte> before = from.memory;
  const std::vector<std::byte> expected = after_copy(to, elements_of(source));
  copy(source, target);
  RC_ASSERT(to.memory == expected);
  RC_ASSERT(from.memory == before);
  RC_CLASSIFY(expected.size() > 200, "large");
}

// Squares of 32 elements, and what is left over at their edges.
RC_GTEST_PROP(CopyProperty, LargePlanesAreCopiedInSquares, ()) {
  const std::vector<i64> shape{
      *rc::gen::inRange<i64>(1, 3), *rc::gen::inRange<i64>(30, 70), *rc::gen::inRange<i64>(30, 70)};
  const DLDataType type = draw_type();
  Drawn from = around_layout(shape, draw_distinct_strides(shape), type, 1);
  Drawn to = around_layout(shape, draw_distinct_strides(shape), type, 100);
  const std::vector<std::byte> expected = after_copy(to, elements_of(from.tensor(0)));
  copy(from.tensor(0), to.tensor(0));
  RC_ASSERT(to.memory == expected);
}

RC_GTEST_PROP(CopyProperty, OverlappingCopiesGoThroughAThirdPlace, ()) {
  const std::vector<i64> shape = draw_shape(4, 4);
  const DLDataType type = draw_type();
  Drawn to = around_layout(shape, draw_distinct_strides(shape), type, 1);
  const std::vector<i64> strides = draw_strides(shape);
  const Reach around = reach(shape, strides, element_bytes(type));
  const i64 room = static_cast<i64>(to.memory.size()) - (around.end - around.first);
  if (room < 0) return;
  const i64 first = *rc::gen::inRange<i64>(0, room + 1);
  std::vector<i64> from_strides = strides;
  DLTensor source = to.tensor(0);
  source.data = to.memory.data() + (first - around.first);
  source.strides = from_strides.data();
  const std::vector<std::byte> expected = after_copy(to, elements_of(source));
  copy(source, to.tensor(0));
  RC_ASSERT(to.memory == expected);
}

RC_GTEST_PROP(CopyProperty, BytesAreTheElementsInRowMajorOrder, ()) {
  const std::vector<i64> shape = draw_shape(4, 4);
  const DLDataType type = draw_type();
  Drawn from = around_layout(shape, draw_strides(shape), type, 1);
  const DLTensor source = from.tensor(0);
  std::vector<std::byte> bytes(byte_count(source));
  copy_to_bytes(source, bytes.data(), bytes.size());
  std::vector<std::byte> expected;
  for (const std::uint64_t element : elements_of(source)) {
    const auto* first = reinterpret_cast<const std::byte*>(&element);
    expected.insert(expected.end(), first, first + element_bytes(type));
  }
  RC_ASSERT(bytes == expected);

  Drawn to = around_layout(shape, draw_distinct_strides(shape), type, 100);
  const std::vector<std::byte> filled = after_copy(to, elements_of(source));
  copy_from_bytes(bytes.data(), bytes.size(), to.tensor(0));
  RC_ASSERT(to.memory == filled);
}

// A view has the elements that its strides say, and a copy of it the same ones.
RC_GTEST_PROP(CopyProperty, ViewsShowTheMemoryOfTheirParent, ()) {
  const std::vector<i64> shape = draw_shape(4, 4);
  const DLDataType type = draw_type();
  Drawn drawn = around_layout(shape, draw_strides(shape), type, 1);
  const std::vector<i64> whole{static_cast<i64>(drawn.memory.size())};
  NDArray parent = NDArray::empty(whole, {kDLUInt, 8, 1});
  copy_from_bytes(drawn.memory.data(), drawn.memory.size(), parent.mutable_tensor());
  DLTensor over{};
  over.data = const_cast<std::byte*>(parent.data());
  over.device = kHost;
  over.ndim = 1;
  over.dtype = type;
  std::vector<i64> elements{whole[0] / element_bytes(type)};
  over.shape = elements.data();
  const NDArray memory = NDArray::adopt(over, nullptr, nullptr, false);
  const i64 usable = elements[0] * element_bytes(type);
  const Reach around = reach(drawn.shape, drawn.strides, element_bytes(type));
  const i64 offset = static_cast<i64>(drawn.offset);
  if (offset + around.end > usable) {
    RC_ASSERT_THROWS_AS(memory.view(drawn.shape, drawn.strides, offset), utils::ValueVerifyFatal);
    return;
  }
  const NDArray view = memory.view(drawn.shape, drawn.strides, offset);
  RC_ASSERT(elements_of(view.tensor()) == elements_of(drawn.tensor(0)));
  RC_ASSERT(elements_of(view.copy().tensor()) == elements_of(view.tensor()));
  RC_ASSERT(view.copy().is_compact());
}

}  // namespace
}  // namespace lockstep::ndarray
