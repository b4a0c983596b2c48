/// @file
/// The formulas of an operator: what the words of its fields `shape`, `precision` and `accumulator`
/// mean.
///
///     formula  = either {";" name ["(" name {"," name} ")"] "=" either}    definitions follow
///     either   = both {"or" both}
///     both     = relation {"and" relation}
///     relation = "not" relation
///              | joined [("=" | "!=" | "<" | "<=" | ">" | ">=" | "in") joined]
///     joined   = sum {"++" sum}                     lists, one behind the other
///     sum      = product {("+" | "-") product}
///     product  = value {("*" | "/" | "mod") value}  / is exact, or rounded down
///     value    = integer | "-" value | "(" either ")" | "|" name "|" | "#" name
///              | name ["[" either "]" | "(" either {"," either} ["," "..."] ")"]
///              | "[" [either {"," either}] "]"
///              | "[" either "for" name "<" sum ["if" either] "]"    name is 0, 1, 2, ...
///              | "{" either "if" either {"," either "if" either} "," either "}"
///
/// A name is that of an input or output, which stands for its shape; of an attribute, a boolean
/// being 1 or 0; of a definition, one of its parameters, or the variable of a list. `p0` is the
/// precision of input 0, and 0 where the call has no such input.
///
/// `X[d]` is entry d of the list X, from the back where d is negative, and 1 where there is none;
/// `#X` counts its entries. `|X|` is the number of elements of an input or output X, and the
/// magnitude of an attribute. Truth is 1, falsehood 0. In braces the first case that holds counts.
/// `bl(n)` is the bit length of n: 0 of 0, 3 of 4. `a(p)` is 2^(p-1) - 1, the largest element of
/// precision p. `ceil(n / d)` is the quotient rounded up, `prod(l)` the product of a list,
/// `total(n)` the sum of n over all inputs, X being each in turn, and elsewhere the first. `...`
/// stands for the precisions of all further inputs. Blanks mean nothing.
#pragma once
#include "spec/info.h"

namespace lockstep {
namespace detail {

/// What a formula computes: an integer, None, or a list of integers.
struct FormulaValue {
  using Entries = List<kMaxTuple + kMaxRank>;
  i64 n = 0;
  bool is_none = false, is_list = false;
  Entries items{};

  constexpr FormulaValue() = default;
  constexpr FormulaValue(i64 v) : n(v) {}
  template <int N> constexpr FormulaValue(const List<N>& l) : is_list(true) { append(l); }
  template <int N> constexpr void append(const List<N>& l) {
    for (i64 e : l) items.push(e);
  }
};

/// Evaluates one formula of a call.
class FormulaReader {
 public:
  constexpr FormulaReader(
      const OpInfo& op, Formula f, Attributes values, Types in, const Inferred* out)
      : op_(op), values_(values), in_(in), out_(out) {
    for (bool is_last = false; !is_last; ++count_) {
      const std::size_t end = f.find(';');
      is_last = end == f.npos;
      rest_ = f.substr(0, end);
      f.remove_prefix(is_last ? f.size() : end + 1);
      require(count_ < kMostDefinitions);
      definitions_[count_] = count_ == 0 ? Definition{.body = rest_} : definition();
    }
  }
  constexpr i64 integer() { return number(call(definitions_[0], nullptr)); }
  constexpr Shape shape() {
    const Value v = call(definitions_[0], nullptr);
    Shape s;
    for (i64 e : list(v)) s.push(e);
    return s;
  }

 private:
  using Value = FormulaValue;
  using Entries = FormulaValue::Entries;
  static constexpr int kMostDefinitions = 8, kMostParameters = 3, kMostVariables = 128;

  struct Definition {
    string_view name{}, parameters[kMostParameters]{};
    int arity = 0;
    string_view body{};
  };
  struct Variable {
    string_view name{};
    i64 value = 0;
  };

  static constexpr void require(bool holds) {
    if (!holds) throw BrokenSpecification("a formula is none");
  }
  static constexpr i64 number(const Value& v) {
    require(!v.is_list && !v.is_none);
    return v.n;
  }
  static constexpr const Entries& list(const Value& v) {
    require(v.is_list);
    return v.items;
  }

  // Reading: words and definitions.

  static constexpr bool is_word(char c) {
    return c == '_' || ('0' <= c && c <= '9') || ('A' <= c && c <= 'Z') || ('a' <= c && c <= 'z');
  }
  constexpr void blanks() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  /// Removes a sign or a whole word.
  constexpr bool take(string_view word) {
    blanks();
    const std::size_t n = word.size();
    // Most words are refused by their first letter; compilers count the steps of a proof.
    if (rest_.empty() || rest_[0] != word[0] || !is_next(word)) return false;
    if (is_word(word[0]) && n < rest_.size() && is_word(rest_[n])) return false;
    rest_.remove_prefix(n);
    return true;
  }
  /// Whether an expression ends here.
  constexpr bool is_over() {
    blanks();
    return rest_.empty() || rest_[0] == ',' || is_closing(rest_[0]);
  }
  static constexpr bool is_closing(char c) { return c == ')' || c == ']' || c == '}'; }
  constexpr string_view name() {
    blanks();
    std::size_t n = 0;
    while (n < rest_.size() && is_word(rest_[n])) ++n;
    const string_view word = rest_.substr(0, n);
    require(n > 0);
    rest_.remove_prefix(n);
    return word;
  }
  constexpr Value closed(const Value& v, string_view bracket = ")") {
    require(take(bracket));
    return v;
  }
  constexpr Definition definition() {
    Definition d;
    d.name = name();
    if (take("(")) {
      do {
        require(d.arity < kMostParameters);
        d.parameters[d.arity++] = name();
      } while (take(","));
      require(take(")"));
    }
    require(take("="));
    d.body = rest_;
    return d;
  }
  /// Evaluates the body of a definition, which sees its parameters and no other variable.
  constexpr Value call(const Definition& d, const i64* arguments) {
    const string_view rest = rest_;
    const int first = first_, top = top_;
    first_ = top_;
    for (int k = 0; k < d.arity; ++k) bind(d.parameters[k], arguments[k]);
    rest_ = d.body;
    const Value v = either();
    blanks();
    require(rest_.empty());
    rest_ = rest;
    first_ = first;
    top_ = top;
    return v;
  }
  constexpr void bind(string_view word, i64 value) {
    require(top_ < kMostVariables);
    variables_[top_++] = {word, value};
  }
  /// Moves behind an expression without evaluating it.
  constexpr void skip() {
    for (int depth = 0; !rest_.empty(); rest_.remove_prefix(1)) {
      const char c = rest_[0];
      const bool is_word_next = c == ' ' && (is_next(" if ") || is_next(" for "));
      if (depth == 0 && (is_closing(c) || c == ',' || is_word_next)) return;
      depth += (c == '(' || c == '[' || c == '{') - is_closing(c);
    }
  }
  constexpr bool is_next(string_view text) const { return rest_.starts_with(text); }

  // Evaluation, from the weakest operation to the strongest.

  constexpr Value either() {
    Value v = both();
    while (take("or")) {
      const bool other = is_true(both());
      v = i64{is_true(v) || other};
    }
    return v;
  }
  constexpr Value both() {
    Value v = relation();
    while (take("and")) {
      const bool other = is_true(relation());
      v = i64{is_true(v) && other};
    }
    return v;
  }
  static constexpr bool is_true(const Value& v) { return number(v) != 0; }
  constexpr Value relation() {
    if (take("not")) return i64{!is_true(relation())};
    const Value a = joined();
    if (is_over()) return a;
    if (take("in")) return i64{contains(joined(), a)};
    if (take("=")) return i64{are_equal(a, joined())};
    if (take("!=")) return i64{!are_equal(a, joined())};
    if (take("<=")) return i64{number(a) <= number(joined())};
    if (take(">=")) return i64{number(a) >= number(joined())};
    if (take("<")) return i64{number(a) < number(joined())};
    if (take(">")) return i64{number(a) > number(joined())};
    return a;
  }
  static constexpr bool contains(const Value& all, const Value& v) {
    for (i64 e : list(all))
      if (e == number(v)) return true;
    return false;
  }
  static constexpr bool are_equal(const Value& a, const Value& b) {
    require(!a.is_list && !b.is_list);
    return a.is_none == b.is_none && a.n == b.n;
  }
  constexpr Value joined() {
    Value v = sum();
    while (take("++")) {
      require(v.is_list);
      const Value more = sum();
      v.append(list(more));
    }
    return v;
  }
  constexpr Value sum() {
    Value v = product();
    for (;;) {
      if (is_over() || is_next("++")) return v;
      if (take("+"))
        v = number(v) + number(product());
      else if (take("-"))
        v = number(v) - number(product());
      else
        return v;
    }
  }
  constexpr Value product() {
    Value v = value();
    for (;;) {
      if (is_over()) return v;
      if (take("*"))
        v = number(v) * number(value());
      else if (take("/"))
        v = floor_div(number(v), divisor());
      else if (take("mod"))
        v = modulo(number(v), divisor());
      else
        return v;
    }
  }
  constexpr i64 divisor() {
    const i64 d = number(value());
    require(d != 0);
    return d;
  }
  static constexpr i64 modulo(i64 n, i64 d) { return n - d * floor_div(n, d); }
  static constexpr i64 floor_div(i64 n, i64 d) {
    const i64 q = n / d;
    return q - (n % d != 0 && (n < 0) != (d < 0) ? 1 : 0);
  }

  constexpr Value value() {
    if (take("(")) return closed(either());
    if (take("-")) return -number(value());
    if (take("[")) return listed();
    if (take("{")) return first_case();
    if (take("#")) return i64{list(value_of(name())).size};
    if (take("|")) {
      const i64 n = size_of(name());
      return closed(n, "|");
    }
    const string_view word = name();
    if ('0' <= word[0] && word[0] <= '9') return digits(word);
    if (take("(")) return function(word);
    if (!take("[")) return value_of(word);
    return entry(value_of(word), number(closed(either(), "]")));
  }
  static constexpr i64 entry(const Value& v, i64 d) {
    const auto& items = list(v);
    if (d < 0) d += items.size;
    return 0 <= d && d < items.size ? items[static_cast<int>(d)] : 1;
  }
  constexpr Value first_case() {
    Value found;
    for (bool is_open = true;;) {
      const string_view start = rest_;
      skip();
      const bool is_last = !take("if");
      bool holds = is_last;
      if (!is_last && is_open)
        holds = is_true(either());
      else if (!is_last)
        skip();
      if (is_open && holds) found = again(start);
      is_open = is_open && !holds;
      if (is_last) return closed(found, "}");
      require(take(","));
    }
  }
  /// Evaluates the expression that begins at `start`, and stays where the reader is.
  constexpr Value again(string_view start) {
    const string_view rest = rest_;
    rest_ = start;
    const Value v = either();
    rest_ = rest;
    return v;
  }
  constexpr Value listed() {
    Value v = Shape();
    if (take("]")) return v;
    const string_view start = rest_;
    skip();
    if (take("for")) return family(start);
    rest_ = start;
    do {
      const Value e = either();
      v.items.push(number(e));
    } while (take(","));
    return closed(v, "]");
  }
  /// The list of the expression at `start` for each value of a variable.
  constexpr Value family(string_view start) {
    Value v = Shape();
    const string_view word = name();
    require(take("<"));
    const i64 n = number(sum());
    const bool is_filtered = take("if");
    const string_view filter = rest_;
    if (is_filtered) skip();
    const int top = top_;
    for (i64 d = 0; d < n; ++d) {
      bind(word, d);
      if (!is_filtered || is_true(again(filter))) v.items.push(number(again(start)));
      top_ = top;
    }
    return closed(v, "]");
  }

  constexpr Value function(string_view word) {
    if (word == "bl") return i64{bit_length(number(closed(either())))};
    if (word == "a") return largest(number(closed(either())));
    if (word == "prod") return product_of(closed(either()));
    if (word == "total") return total();
    if (word == "max" || word == "min") return extreme(word == "max");
    if (word == "ceil") {
      const i64 n = number(value());
      require(take("/"));
      const i64 d = divisor();
      return closed(-floor_div(-n, d));
    }
    i64 arguments[kMostParameters]{};
    int n = 0;
    do {
      require(n < kMostParameters);
      arguments[n++] = number(either());
    } while (take(","));
    require(take(")"));
    for (int k = 1; k < count_; ++k)
      if (definitions_[k].name == word && definitions_[k].arity == n)
        return call(definitions_[k], arguments);
    throw BrokenSpecification("a formula names no function");
  }
  static constexpr i64 largest(i64 precision) {
    require(1 <= precision && precision <= kMaxPrecision);
    return max_of(precision);
  }
  static constexpr i64 product_of(const Value& v) {
    i64 n = 1;
    for (i64 e : list(v)) n *= e;
    return n;
  }
  constexpr Value total() {
    const string_view start = rest_;
    skip();
    i64 n = 0;
    const int each = each_;
    for (each_ = 0; each_ < in_.size(); ++each_) n += number(again(start));
    each_ = each;
    return closed(n);
  }
  constexpr Value extreme(bool is_max) {
    const auto better = [&](i64 a, i64 b) { return is_max ? max(a, b) : min(a, b); };
    i64 n = number(either());
    while (take(",")) {
      if (!take("...")) {
        n = better(n, number(either()));
        continue;
      }
      for (const Type& t : in_) n = better(n, t.precision);
      break;
    }
    return closed(n);
  }

  // What names stand for.

  static constexpr i64 digits(string_view word) {
    i64 n = 0;
    for (char c : word) {
      require('0' <= c && c <= '9');
      n = n * 10 + (c - '0');
    }
    return n;
  }
  constexpr Value value_of(string_view word) {
    for (int k = top_ - 1; k >= first_; --k)
      if (variables_[k].name == word) return variables_[k].value;
    for (int k = 1; k < count_; ++k)
      if (definitions_[k].name == word && definitions_[k].arity == 0)
        return call(definitions_[k], nullptr);
    if (word == "None") return none();
    if (const Type* t = tensor(word)) return t->shape;
    if (word.size() > 1 && word[0] == 'p' && '0' <= word[1] && word[1] <= '9') {
      const i64 k = digits(word.substr(1));
      return i64{k < in_.size() ? in_[static_cast<int>(k)].precision : 0};
    }
    for (int i = 0; i < op_.attrs.size(); ++i)
      if (op_.attrs[i].name == word) return of_attribute(values_[i]);
    throw BrokenSpecification("a formula names nothing");
  }
  static constexpr Value none() {
    Value v;
    v.is_none = true;
    return v;
  }
  static constexpr Value of_attribute(const Attr& a) {
    require(a.kind != AttrKind::word);
    if (a.none) return none();
    return a.kind == AttrKind::tuple ? Value(a.ints) : Value(a.ints[0]);
  }
  /// The input or output of that name; null if there is none. An input that the call lacks is
  /// empty.
  constexpr const Type* tensor(string_view word) const {
    for (int k = 0; k < op_.inputs.size(); ++k)
      if (op_.inputs[k].name == word) {
        const int given = op_.inputs[k].arity == Arity::variadic ? k + each_ : k;
        return given < in_.size() ? &in_[given] : &kAbsent;
      }
    for (int k = 0; out_ && k < op_.outputs.size(); ++k)
      if (op_.outputs[k].name == word) return &out_->type[k];
    return nullptr;
  }
  static constexpr Type kAbsent{Shape{0}, 0};

  constexpr i64 size_of(string_view word) {
    if (const Type* t = tensor(word)) return volume(t->shape);
    return magnitude(number(value_of(word)));
  }

  const OpInfo& op_;
  Attributes values_;
  Types in_;
  const Inferred* out_;
  Definition definitions_[kMostDefinitions]{};
  int count_ = 0;
  Variable variables_[kMostVariables]{};
  int first_ = 0, top_ = 0;
  int each_ = 0;  // the input for which a variadic port stands
  string_view rest_{};
};

}  // namespace detail

/// The precision of output k of a legal call by the operator's formula. `infer` gives the shapes of
/// the outputs.
/// @throws BrokenSpecification if the formula is none.
constexpr i64 stated_precision(
    const OpInfo& op, int k, Attributes values, Types in, const Inferred& out) {
  return detail::FormulaReader(op, op.precision[k], values, in, &out).integer();
}

/// The shape of output k of a legal call by the operator's formula.
/// @throws BrokenSpecification if the formula is none.
constexpr Shape stated_shape(const OpInfo& op, int k, Attributes values, Types in) {
  return detail::FormulaReader(op, op.shape[k], values, in, nullptr).shape();
}

/// The bits that hold every partial sum of a legal call, in any order, by the operator's formula;
/// 0 if the operator adds up no products or elements.
/// @throws BrokenSpecification if the formula is none.
constexpr i64 stated_accumulator(
    const OpInfo& op, Attributes values, Types in, const Inferred& out) {
  if (op.accumulator.empty()) return 0;
  return detail::FormulaReader(op, op.accumulator, values, in, &out).integer();
}

}  // namespace lockstep
