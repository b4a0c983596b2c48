/// @file
/// Shapes, coordinates and axes of tensors.
#pragma once
#include <initializer_list>

#include "spec/arithmetic.h"

namespace lockstep {

inline constexpr int kMaxRank = 6;               ///< of an operator's input or output
inline constexpr int kMaxTuple = 16;             ///< entries of a tuple attribute
inline constexpr i64 kMaxExtent = i64{1} << 24;  ///< of a tensor along an axis
inline constexpr i64 kMaxVolume = i64{1} << 30;  ///< elements of a tensor

/// A list that counts entries beyond its capacity without storing them.
template <int N> struct List {
  int size = 0;
  i64 item[N]{};

  constexpr List() = default;
  constexpr List(std::initializer_list<i64> v) {
    for (i64 e : v) push(e);
  }
  /// A list of n times v.
  static constexpr List filled(int n, i64 v) {
    List l;
    for (int i = 0; i < n; ++i) l.push(v);
    return l;
  }
  /// Appends v.
  constexpr void push(i64 v) {
    if (size < N) item[size] = v;
    ++size;
  }
  constexpr i64& operator[](int i) { return item[i]; }
  constexpr const i64& operator[](int i) const { return item[i]; }
  constexpr bool fits() const { return size <= N; }
  constexpr const i64* begin() const { return item; }
  constexpr const i64* end() const { return item + (size < N ? size : N); }
  constexpr bool operator==(const List& o) const {
    if (size != o.size) return false;
    for (int i = 0; i < size && i < N; ++i)
      if (item[i] != o.item[i]) return false;
    return true;
  }
};

using Shape = List<kMaxRank>;   ///< the extents of a tensor
using Index = Shape;            ///< the coordinates of an element
using Tuple = List<kMaxTuple>;  ///< the value of a tuple attribute

/// Number of elements; saturates at kMaxVolume + 1.
constexpr i64 volume(const Shape& s) {
  i64 n = 1;
  for (i64 e : s) {
    if (e == 0) return 0;
    n = e < 0 || e > kMaxVolume ? kMaxVolume + 1 : min(n * e, kMaxVolume + 1);
  }
  return n;
}

/// Whether a shape lies inside the limits of operators: rank 1..6, extents 1..2^24, volume <= 2^30.
constexpr bool legal(const Shape& s) {
  if (s.size < 1 || !s.fits()) return false;
  for (i64 e : s)
    if (e < 1 || e > kMaxExtent) return false;
  return volume(s) <= kMaxVolume;
}

/// The coordinates of element k in row-major order.
constexpr Index unravel(i64 k, const Shape& s) {
  Index i = s;
  for (int d = s.size - 1; d >= 0; --d) {
    i[d] = k % s[d];
    k /= s[d];
  }
  return i;
}

/// The row-major number of the element at coordinates i.
constexpr i64 ravel(const Index& i, const Shape& s) {
  i64 k = 0;
  for (int d = 0; d < s.size; ++d) k = k * s[d] + i[d];
  return k;
}

/// Steps to the next position in row-major order; false after the last one.
constexpr bool next(Index& i, const Shape& s) {
  for (int d = s.size - 1; d >= 0; --d) {
    if (++i[d] < s[d]) return true;
    i[d] = 0;
  }
  return false;
}

/// Whether `axis` names an axis of rank n, counted from either end.
constexpr bool axis_in(i64 axis, int n) { return -n <= axis && axis < n; }

/// The axis counted from the front.
constexpr int wrap(i64 axis, int n) { return static_cast<int>(axis < 0 ? axis + n : axis); }

/// Whether every entry of a list names an axis of rank n.
constexpr bool axes_in(const Tuple& axes, int n) {
  for (i64 d : axes)
    if (!axis_in(d, n)) return false;
  return true;
}

/// The axes of rank n that a list names, as a bit set.
constexpr unsigned axis_set(const Tuple& axes, int n) {
  unsigned set = 0;
  for (i64 d : axes) set |= 1u << wrap(d, n);
  return set;
}

/// Whether no axis of rank n is named twice.
constexpr bool axes_differ(const Tuple& axes, int n) {
  unsigned seen = 0;
  for (i64 d : axes) {
    const unsigned bit = 1u << wrap(d, n);
    if (seen & bit) return false;
    seen |= bit;
  }
  return true;
}

}  // namespace lockstep
