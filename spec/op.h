/// @file
/// The vocabulary in which every operator is written.
///
/// An operator's header uses only this vocabulary and the C++ language. Everything is constexpr, so
/// that undefined behaviour in an example is a compile error. Integers only, exact in 64 bits.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "spec/erratum.h"
#include "spec/shape.h"

namespace lockstep {

using std::string_view;

inline constexpr int kMaxInputs = 1024;  ///< of a variadic operator
inline constexpr int kMaxOutputs = 2;    ///< of any operator
inline constexpr int kMaxDrawn = 8;      ///< inputs of a drawn call
inline constexpr int kMaxLiteral = 64;   ///< elements of an example's tensor

/// The type of a tensor: its shape and precision.
struct Type {
  Shape shape;
  int precision = 32;
  constexpr bool operator==(const Type&) const = default;
  constexpr int rank() const { return shape.size; }
  constexpr i64 dim(int d) const { return shape[d]; }
};

/// A view of a contiguous sequence.
template <class T> struct Span {
  const T* first = nullptr;
  int count = 0;
  constexpr const T& operator[](int i) const { return first[i]; }
  constexpr int size() const { return count; }
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
};
using Types = Span<Type>;  ///< the types of a call's inputs

/// The definition of an operator contradicts itself: an index out of range, or a result outside its
/// inferred precision. Never an error of the caller.
struct BrokenSpecification : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A tensor as an operator sees it: a type, strides in elements, and the address of element 0.
/// Checked views refuse every index outside the shape; unchecked ones are for kernels.
template <class T, bool kChecked> struct Strided : Type {
  T* data = nullptr;
  i64 stride[kMaxRank]{};
  bool compact = true;

  constexpr Strided() = default;
  constexpr Strided(const Type& t, T* p) : Type(t), data(p) {
    i64 n = 1;
    for (int d = rank() - 1; d >= 0; --d) {
      stride[d] = n;
      n *= dim(d);
    }
  }
  /// Element at the coordinates of an index list.
  constexpr T& operator()(const Index& i) const {
    i64 k = 0;
    bool in = i.size == rank();
    for (int d = 0; d < rank(); ++d) {
      if constexpr (kChecked) in &= below(i[d], dim(d));
      k += i[d] * stride[d];
    }
    if constexpr (kChecked) inside(in);
    return data[k];
  }
  /// Element whose coordinate on each axis d is f(d).
  template <class F> constexpr T& at(F f) const {
    i64 k = 0;
    bool in = true;
    for (int d = 0; d < rank(); ++d) {
      const i64 i = f(d);
      if constexpr (kChecked) in &= below(i, dim(d));
      k += i * stride[d];
    }
    if constexpr (kChecked) inside(in);
    return data[k];
  }
  /// Element at coordinates written out.
  template <std::integral... I> constexpr T& operator()(I... i) const {
    if constexpr (kChecked) inside(contains(i...));
    return data[offset(i...)];
  }
  /// Element at coordinates written out, 0 outside the tensor.
  template <std::integral... I> constexpr i64 padded(I... i) const {
    if constexpr (kChecked) inside(static_cast<int>(sizeof...(I)) == rank());
    return contains(i...) ? i64{data[offset(i...)]} : 0;
  }
  /// Element k in row-major order.
  constexpr T& element(i64 k) const {
    if (!compact) return (*this)(unravel(k, shape));
    if constexpr (kChecked) inside(0 <= k && k < stride[0] * dim(0));
    return data[k];
  }
  template <std::integral... I> constexpr bool contains(I... i) const {
    int d = 0;
    bool in = static_cast<int>(sizeof...(I)) == rank();
    ((in &= below(i, dim(d++))), ...);
    return in;
  }

 private:
  /// 0 <= i < n in one comparison; n is not negative.
  static constexpr bool below(i64 i, i64 n) {
    return static_cast<std::uint64_t>(i) < static_cast<std::uint64_t>(n);
  }
  template <std::integral... I> constexpr i64 offset(I... i) const {
    i64 k = 0;
    int d = 0;
    ((k += static_cast<i64>(i) * stride[d++]), ...);
    return k;
  }
  static constexpr void inside(bool in) {
    if (!in) throw BrokenSpecification("an operator read or wrote outside a tensor");
  }
};
using View = Strided<const i32, false>;        ///< an input
using Out = Strided<i32, false>;               ///< an output
using CheckedView = Strided<const i32, true>;  ///< an input whose every access is checked
using CheckedOut = Strided<i32, true>;         ///< an output whose every access is checked

/// A box of positions: `extent` of them along each axis, from `first` on.
struct Box {
  Index first;
  Shape extent;
  constexpr bool next(Index& i) const {
    for (int d = extent.size - 1; d >= 0; --d) {
      if (++i[d] < first[d] + extent[d]) return true;
      i[d] = first[d];
    }
    return false;
  }
};

/// Sum of f(position) over a box.
template <class F> constexpr i64 sum_over(const Box& box, F f) {
  i64 acc = 0;
  Index i = box.first;
  do acc += f(i);
  while (box.next(i));
  return acc;
}
/// Largest f(position) over a box.
template <class F> constexpr i64 max_over(const Box& box, F f) {
  i64 m = -kIntMax;
  Index i = box.first;
  do m = max(m, f(i));
  while (box.next(i));
  return m;
}
/// Sum of f(i) over 0 <= i < n.
template <class F> constexpr i64 sum(i64 n, F f) {
  i64 acc = 0;
  for (i64 i = 0; i < n; ++i) acc += f(i);
  return acc;
}
/// Sum of f(i, j, k) over 0 <= i < n, 0 <= j < m, 0 <= k < l.
template <class F> constexpr i64 sum(i64 n, i64 m, i64 l, F f) {
  // Nested loops would cost more than the products of a 1x1 window.
  if (m == 1 && l == 1) return sum(n, [&](i64 i) { return f(i, i64{0}, i64{0}); });
  i64 acc = 0;
  for (i64 i = 0; i < n; ++i)
    for (i64 j = 0; j < m; ++j)
      for (i64 k = 0; k < l; ++k) acc += f(i, j, k);
  return acc;
}
/// The positions min <= i < max.
struct Interval {
  i64 min, max;
};
/// Largest f(i, j) over a window.
template <class F> constexpr i64 max_over(Interval rows, Interval columns, F f) {
  i64 m = -kIntMax;
  for (i64 i = rows.min; i < rows.max; ++i)
    for (i64 j = columns.min; j < columns.max; ++j) m = max(m, f(i, j));
  return m;
}

/// The values an integer may take; both ends included.
struct Range {
  i64 min, max;
  constexpr bool contains(i64 v) const { return min <= v && v <= max; }
};
inline constexpr Range kAnyInt64{INT64_MIN, INT64_MAX};

/// The meaning of a port's values, for which the judge draws suitable data.
enum class Hint { any, index, count, boxes, score, flag };

/// How many tensors a port takes.
enum class Arity { one, optional, variadic };

/// An input or output of an operator.
struct Port {
  string_view name;
  Range rank;
  string_view text;
  Hint hint = Hint::any;
  Arity arity = Arity::one;
};

/// A word attribute: the number of the given spelling (the first is the default).
struct Word {
  i64 choice = 0;
  constexpr bool operator==(const Word&) const = default;
};

/// The attributes of an operator that has none.
struct NoAttrs {};

/// One row of an operator's attribute table.
template <class Attrs, class T> struct Field {
  string_view name;
  T Attrs::*member;
  Range range;
  string_view text;
  string_view words = {};  ///< legal spellings of a word, separated by '|'
  string_view alias = {};
  Range entries = {0, kMaxTuple};
  bool is_required = false, is_ignored = false;

  constexpr Field(string_view n, T Attrs::*m, Range r, string_view t)
      : name(n), member(m), range(r), text(t) {}
  /// A boolean, or a word whose spellings one_of() adds.
  constexpr Field(string_view n, T Attrs::*m, string_view t) : Field(n, m, Range{0, 1}, t) {}

  constexpr Field required() const {
    return with([](Field& f) { f.is_required = true; });
  }
  /// Accepted without effect: checked, never handed to a backend.
  constexpr Field ignored() const {
    return with([](Field& f) { f.is_ignored = true; });
  }
  /// The spellings of a word, separated by '|'; the first is the default.
  constexpr Field one_of(string_view w) const {
    return with([w](Field& f) {
      f.words = w;
      f.range = {0, 0};
      for (char c : w) f.range.max += c == '|';
    });
  }
  constexpr Field also(string_view a) const {
    return with([a](Field& f) { f.alias = a; });
  }
  constexpr Field length(i64 lo, i64 hi) const {
    return with([lo, hi](Field& f) { f.entries = {lo, hi}; });
  }
  constexpr Field length(i64 n) const { return length(n, n); }

 private:
  template <class F> constexpr Field with(F change) const {
    Field f = *this;
    change(f);
    return f;
  }
};

/// A condition of legal calls. Its label is the error id in every backend and binding; a violation
/// is a logic error of the caller.
template <class Attrs> struct Rule {
  string_view label, text;
  bool (*holds)(const Attrs&, Types);
};

/// The gas of one element of output 0, for operators where it is not 1.
template <class Attrs> struct Gas {
  string_view text;
  i64 (*base)(const Attrs&, Types);  ///< of a legal call
};

/// A shape or a precision in words of `spec/formula.h`, such as `[X[0], |X| / X[0]]` or
/// `max(p0, p1) + 1`. It says what `infer` says, to readers of any language; both are compared.
using Formula = string_view;

/// The types of an operator's outputs.
struct Inferred {
  Type type[kMaxOutputs];
  int count = 1;
  constexpr Inferred() = default;
  constexpr Inferred(const Type& a) : type{a} {}
  constexpr Inferred(const Type& a, const Type& b) : type{a, b}, count(2) {}
  constexpr const Type& operator[](int i) const { return type[i]; }
};

/// The limits that the outputs of a call may exceed after all rules hold: `shape`, `precision`.
enum Exceeds { kNothing = 0, kShape = 1, kPrecision = 2, kShapeAndPrecision = 3 };

/// A source of choices. `domain` builds legal calls from it without rejection.
struct Draw {
  constexpr virtual ~Draw() = default;
  /// An integer, both ends included.
  constexpr virtual i64 operator()(i64 lo, i64 hi) = 0;

  constexpr bool coin() { return (*this)(0, 1) == 1; }
  /// An extent of at most `most`: small, or sometimes beside a vector width.
  constexpr i64 extent(i64 most = 64) {
    constexpr i64 kTails[] = {5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65};
    const bool tail = (*this)(0, 5) == 5;
    return min(most, tail ? kTails[(*this)(0, std::size(kTails) - 1)] : (*this)(1, 4));
  }
  /// A shape of lo..hi axes with at most `most` elements.
  constexpr Shape shape(i64 lo, i64 hi, i64 most = 600) {
    Shape s;
    for (i64 r = (*this)(lo, hi); r > 0; --r) {
      const i64 n = extent(most);
      s.push(n);
      most /= n;
    }
    return s;
  }
  /// The length of a dot product: short, beside a vector width, or deep enough that the sum of
  /// full-range 8-bit products passes 2^24.
  constexpr i64 depth() { return (*this)(0, 15) == 15 ? (*this)(1041, 1100) : extent(); }
  /// A precision of 1..top: 8, a boundary, or any.
  constexpr int precision(i64 top = kMaxPrecision) {
    constexpr i64 kEdges[] = {1, 2, 7, 9, 16, 24, 25, 31, 32};
    const i64 kind = (*this)(0, 3);
    const i64 p = kind == 0 ? 8
        : kind == 1         ? kEdges[(*this)(0, std::size(kEdges) - 1)]
                            : (*this)(1, top);
    return static_cast<int>(min(p, top));
  }
};

/// A drawn call: attributes and input types, data left to the judge.
template <class Attrs> struct Case {
  Attrs attrs;
  Type in[kMaxDrawn]{};
  int count = 0;
  constexpr void add(const Shape& s, int precision) { in[count++] = {s, precision}; }
};

/// A small tensor written out.
struct Literal {
  Shape shape;
  int precision = 0;
  List<kMaxLiteral> data;
};

/// A call and its exact result as data. The documentation shows it and the compiler proves it.
template <class Attrs> struct Example {
  string_view text;
  Attrs attrs;
  Literal in[3];
  Literal out[kMaxOutputs];
};

/// The members that every operator defines.
template <class Op>
concept Operator = requires(const typename Op::Attrs& a, Types t, Draw& draw) {
  { Op::name } -> std::convertible_to<string_view>;
  { Op::infer(a, t) } -> std::same_as<Inferred>;
  { Op::shape[0] } -> std::convertible_to<Formula>;
  { Op::precision[0] } -> std::convertible_to<Formula>;
  { Op::domain(draw) } -> std::same_as<Case<typename Op::Attrs>>;
};
/// An operator defined by `at`, the value of one output element.
template <class Op>
concept Pointwise = Operator<Op> &&(
    requires(const typename Op::Attrs& a, Span<View> in, Index y) {
      { Op::at(a, in, y) } -> std::same_as<i64>;
    } ||
    requires(const typename Op::Attrs& a, Span<View> in, Index y, Type t) {
      { Op::at(a, in, y, t) } -> std::same_as<i64>;
    });
/// An operator defined by `eval`, all outputs at once.
template <class Op>
concept Whole = Operator<Op> &&
    requires(const typename Op::Attrs& a, Span<View> in, Span<Out> out) {
  Op::eval(a, in, out);
};

/// The value of one output element of a pointwise operator.
template <Pointwise Op, class In>
constexpr i64 value_at(const typename Op::Attrs& a, const In& in, const Index& y, const Type& t) {
  if constexpr (requires { Op::at(a, in, y, t); })
    return Op::at(a, in, y, t);
  else
    return Op::at(a, in, y);
}

}  // namespace lockstep
