/// @file
/// The formulas of precision: what the words of an operator's field `precision` mean.
///
///     sum     = quotient {"+" quotient}
///     quotient = value {"/" value}           exact, or rounded down
///     value   = integer | name | "|" name "|" | "(" sum ")"
///             | "bl(" sum ")"                the bit length: 0 of 0, 3 of 4
///             | "max(" sum {"," sum} ["," "..."] ")"
///
/// `p0` is the precision of input 0, and 0 where the call has no such input; another name is that
/// of an attribute, a boolean being 1 or 0. `|X|` is the number of elements of an input or output
/// X, and the magnitude of an attribute. `...` stands for the precisions of all further inputs.
/// Blanks mean nothing.
#pragma once
#include "spec/info.h"

namespace lockstep {
namespace detail {

/// Evaluates one formula of a call.
class FormulaReader {
 public:
  constexpr FormulaReader(
      const OpInfo& op, Formula f, Attributes values, Types in, const Inferred& out)
      : op_(op), rest_(f), values_(values), in_(in), out_(out) {}

  constexpr i64 result() {
    const i64 n = sum();
    require(rest_.empty());
    return n;
  }

 private:
  static constexpr void require(bool holds) {
    if (!holds) throw BrokenSpecification("a formula of precision is none");
  }
  constexpr bool take(string_view word) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  constexpr string_view name() {
    std::size_t n = 0;
    const auto is_word = [](char c) {
      return c == '_' || ('0' <= c && c <= '9') || ('A' <= c && c <= 'Z') || ('a' <= c && c <= 'z');
    };
    while (n < rest_.size() && is_word(rest_[n])) ++n;
    const string_view word = rest_.substr(0, n);
    require(n > 0);
    rest_.remove_prefix(n);
    return word;
  }

  constexpr i64 sum() {
    i64 n = quotient();
    while (take("+")) n += quotient();
    return n;
  }
  constexpr i64 quotient() {
    i64 n = value();
    while (take("/")) {
      const i64 d = value();
      require(d > 0);
      n /= d;
    }
    return n;
  }
  constexpr i64 value() {
    if (take("bl(")) return bit_length(closed(sum()));
    if (take("max(")) return largest();
    if (take("(")) return closed(sum());
    if (take("|")) {
      const i64 n = size_of(name());
      require(take("|"));
      return n;
    }
    const string_view word = name();
    return number(word) >= 0 ? number(word) : value_of(word);
  }
  constexpr i64 closed(i64 n) {
    require(take(")"));
    return n;
  }
  constexpr i64 largest() {
    i64 n = sum();
    while (take(",")) {
      if (!take("...")) {
        n = max(n, sum());
        continue;
      }
      for (const Type& t : in_) n = max(n, t.precision);
      break;
    }
    return closed(n);
  }

  /// A number in decimal digits, -1 if it is none.
  static constexpr i64 number(string_view word) {
    i64 n = word.empty() ? -1 : 0;
    for (char c : word) {
      if (c < '0' || '9' < c) return -1;
      n = n * 10 + (c - '0');
    }
    return n;
  }
  constexpr i64 value_of(string_view word) const {
    if (const i64 k = word[0] == 'p' ? number(word.substr(1)) : -1; k >= 0)
      return k < in_.size() ? in_[static_cast<int>(k)].precision : 0;
    for (int i = 0; i < op_.attrs.size(); ++i)
      if (op_.attrs[i].name == word && op_.attrs[i].kind <= AttrKind::boolean)
        return values_[i].ints[0];
    throw BrokenSpecification("a formula of precision names no attribute");
  }
  constexpr i64 size_of(string_view word) const {
    for (int k = 0; k < op_.inputs.size(); ++k)
      if (op_.inputs[k].name == word) return k < in_.size() ? volume(in_[k].shape) : 0;
    for (int k = 0; k < op_.outputs.size(); ++k)
      if (op_.outputs[k].name == word) return volume(out_[k].shape);
    return magnitude(value_of(word));
  }

  const OpInfo& op_;
  string_view rest_;
  Attributes values_;
  Types in_;
  const Inferred& out_;
};

}  // namespace detail

/// The precision of output k of a legal call by the operator's formula. `infer` gives the shapes of
/// the outputs.
/// @throws BrokenSpecification if the formula is none.
constexpr i64 stated_precision(
    const OpInfo& op, int k, Attributes values, Types in, const Inferred& out) {
  return detail::FormulaReader(op, op.precision[k], values, in, out).result();
}

}  // namespace lockstep
