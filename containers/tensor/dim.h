/// @file
/// The size of a tensor, or an index into it, with as many numbers as the type says.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <string>
#include <utility>

#include "containers/layout/strides.h"

namespace lockstep::ndarray {

/// The most axes of a typed tensor.
inline constexpr int kMaxDimRank = 9;

/// `Rank` numbers, one per axis. The default is zeros.
template <int Rank> struct Dim {
  static_assert(0 <= Rank && Rank <= kMaxDimRank, "a Dim has 0 to 9 numbers");

  constexpr Dim() = default;

  /// @throws utils::ValueVerifyFatal for a number that does not fit int64.
  template <std::integral... Numbers>
  requires(Rank > 0 && sizeof...(Numbers) == Rank) constexpr explicit(Rank == 1)
      Dim(Numbers... numbers)
      : item_{number(numbers)...} {}

  /// @throws utils::ValueVerifyFatal for an axis that there is not.
  constexpr i64& operator[](int axis) { return item_[require_axis(axis)]; }
  /// The number of an axis, to be read.
  constexpr const i64& operator[](int axis) const { return item_[require_axis(axis)]; }

  /// All numbers, the outermost axis first.
  constexpr std::span<const i64> span() const { return {item_, static_cast<std::size_t>(Rank)}; }

  /// Whether all numbers are equal.
  constexpr bool operator==(const Dim&) const = default;

 private:
  template <std::integral Number> static constexpr i64 number(Number value) {
    if (!std::in_range<i64>(value)) refuse_overflow(std::to_string(value));
    return static_cast<i64>(value);
  }

  static constexpr int require_axis(int axis, int rank = Rank) {
    if (axis < 0 || axis >= rank)
      refuse("axis " + std::to_string(axis) + " of " + std::to_string(rank));
    return axis;
  }

  i64 item_[std::max(Rank, 1)]{};  // C++ has no array of nothing
};

/// The numbers as a Dim of as many axes.
template <std::integral... Numbers> constexpr auto make_dim(Numbers... numbers) {
  return Dim<static_cast<int>(sizeof...(Numbers))>(numbers...);
}

/// The number of this axis, which is known while compiling.
template <int Axis, int Rank> constexpr i64& get(Dim<Rank>& dim) {
  static_assert(0 <= Axis && Axis < Rank, "there is no such axis");
  return dim[Axis];
}
/// The number of this axis, to be read.
template <int Axis, int Rank> constexpr const i64& get(const Dim<Rank>& dim) {
  static_assert(0 <= Axis && Axis < Rank, "there is no such axis");
  return dim[Axis];
}

/// The number of elements of this size. @throws what element_count throws.
template <int Rank> constexpr i64 product(const Dim<Rank>& size) {
  return element_count(size.span());
}

/// How far an index is from the first element.
/// @throws utils::ValueVerifyFatal when that does not fit int64.
template <int Rank> constexpr i64 linearize(const Dim<Rank>& index, const Dim<Rank>& stride) {
  i64 distance = 0;
  for (int axis = 0; axis < Rank; ++axis)
    distance = add(distance, multiply(index[axis], stride[axis], "the place of an element"),
        "the place of an element");
  return distance;
}

/// Whether an index names an element of this size.
template <int Rank> constexpr bool contained(const Dim<Rank>& index, const Dim<Rank>& size) {
  for (int axis = 0; axis < Rank; ++axis)
    if (index[axis] < 0 || index[axis] >= size[axis]) return false;
  return true;
}

/// The numbers of a span, as many as the type has.
template <int Rank> constexpr Dim<Rank> to_dim(std::span<const i64> numbers) {
  if (numbers.size() != static_cast<std::size_t>(Rank))
    refuse("rank " + std::to_string(numbers.size()) + " where " + std::to_string(Rank) +
        " is asked for");
  Dim<Rank> dim;
  for (int axis = 0; axis < Rank; ++axis) dim[axis] = numbers[static_cast<std::size_t>(axis)];
  return dim;
}

/// The strides with which the elements of this size lie one after the other, the last axis fastest.
template <int Rank> constexpr Dim<Rank> contiguous_strides(const Dim<Rank>& size) {
  return to_dim<Rank>(compact_strides(size.span()));
}

/// Whether elements of this size lie one after the other with these strides.
template <int Rank> constexpr bool contiguous(const Dim<Rank>& size, const Dim<Rank>& stride) {
  return is_compact(size.span(), stride.span());
}

}  // namespace lockstep::ndarray
