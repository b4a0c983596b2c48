/// @file
/// Descriptions of operators as plain data and functions, so that the judge, the fuzzers, the
/// documentation and the benchmarks need no templates over operators.
#pragma once
#include "spec/laws.h"

namespace lockstep {

/// The kind of an attribute's value.
enum class AttrKind { integer, boolean, tuple, optional_integer, word };

/// An attribute's value outside its operator: at most 16 integers, or none.
struct Attr {
  AttrKind kind = AttrKind::integer;
  bool none = false;  ///< an optional integer that is None
  Tuple ints;
  constexpr bool operator==(const Attr&) const = default;
};
using Attributes = Span<Attr>;

/// A row of an attribute table.
struct AttrInfo {
  string_view name, alias, text, words;
  AttrKind kind = AttrKind::integer;
  Range range{0, 0}, entries{0, 0};
  bool required = false, ignored = false;
  Attr fallback;  ///< the default, if there is one
};

/// A rule without its predicate.
struct RuleInfo {
  string_view label, text;
};

/// A law without its equation.
struct LawInfo {
  string_view label, text;
};

inline constexpr int kMaxAttributes = 12;

/// A call as `domain` draws it, without types of its own.
struct Drawn {
  Attr attrs[kMaxAttributes];
  int attr_count = 0;
  Type in[kMaxDrawn];
  int in_count = 0;
  constexpr Attributes attributes() const { return {attrs, attr_count}; }
  constexpr Types types() const { return {in, in_count}; }
};

/// An example without types of its own.
struct AnyExample {
  string_view text;
  Drawn call;
  Literal in[3], out[kMaxOutputs];
};

/// Everything about an operator.
struct OpInfo {
  string_view name, alias, profile, summary, formula;
  Span<Port> inputs, outputs;
  Span<AttrInfo> attrs;
  Span<RuleInfo> rules;
  Span<Erratum> errata;
  Span<Formula> shape, precision;  ///< of each output
  Formula accumulator;         ///< the bits that hold every partial sum; empty where none is made
  string_view gas_text = "1";  ///< the result of `gas` in words
  Span<LawInfo> laws;
  Exceeds exceeds = kNothing;
  bool in_place =
      false;  ///< an output may take the storage of its input, or of input 0 or 1, in a graph
  bool pointwise = false;  ///< defined by `at`, else by `eval`
  int example_count = 0;

  /// How many inputs these attributes require; -1 if a variadic port accepts any number.
  int (*inputs_needed)(Attributes) = nullptr;
  /// The number of the first violated rule, or -1. Attributes and input types must be legal.
  int (*first_broken)(Attributes, Types) = nullptr;
  Inferred (*infer)(Attributes, Types) = nullptr;
  /// The gas of one element of output 0 of a legal call.
  i64 (*gas)(Attributes, Types) = nullptr;
  /// Outputs of a legal call, over range-checked views.
  void (*evaluate)(Attributes, Span<CheckedView>, Span<CheckedOut>) = nullptr;
  void (*domain)(Draw&, Drawn&) = nullptr;
  AnyExample (*example)(int) = nullptr;
  /// What law `i` says of a machine's call, which has these attributes.
  Claim (*claim)(int i, Attributes, Machine&) = nullptr;
};

namespace detail {

constexpr Attr to_attr(i64 v) { return {AttrKind::integer, false, {v}}; }
constexpr Attr to_attr(bool v) { return {AttrKind::boolean, false, {v ? 1 : 0}}; }
constexpr Attr to_attr(const Tuple& v) { return {AttrKind::tuple, false, v}; }
constexpr Attr to_attr(Word v) { return {AttrKind::word, false, {v.choice}}; }
constexpr Attr to_attr(const std::optional<i64>& v) {
  return {AttrKind::optional_integer, !v.has_value(), v ? Tuple{*v} : Tuple{}};
}
constexpr void from_attr(const Attr& a, i64& v) { v = a.ints[0]; }
constexpr void from_attr(const Attr& a, bool& v) { v = a.ints[0] != 0; }
constexpr void from_attr(const Attr& a, Tuple& v) { v = a.ints; }
constexpr void from_attr(const Attr& a, Word& v) { v.choice = a.ints[0]; }
constexpr void from_attr(const Attr& a, std::optional<i64>& v) {
  v = a.none ? std::nullopt : std::optional<i64>(a.ints[0]);
}

template <class A, class T> constexpr AttrInfo describe(const Field<A, T>& f) {
  const Attr fallback = to_attr(A{}.*f.member);
  const bool listed = fallback.kind == AttrKind::tuple;
  return {f.name, f.alias, f.text, f.words, fallback.kind, f.range,
      listed ? f.entries : Range{1, 1}, f.is_required, f.is_ignored, fallback};
}

template <class T, std::size_t N> constexpr Span<T> span(const std::array<T, N>& a) {
  return {a.data(), static_cast<int>(N)};
}

}  // namespace detail

/// The attribute values of an operator, in table order.
template <Operator Op>
constexpr std::array<Attr, std::tuple_size_v<decltype(Op::attrs)>> to_attributes(
    const typename Op::Attrs& a) {
  return std::apply(
      [&](const auto&... f) {
        return std::array<Attr, sizeof...(f)>{detail::to_attr(a.*f.member)...};
      },
      Op::attrs);
}

/// The attributes of an operator from their values in table order.
template <Operator Op> constexpr typename Op::Attrs from_attributes(Attributes values) {
  typename Op::Attrs a;
  std::apply(
      [&](const auto&... f) {
        [[maybe_unused]] int i = 0;
        (detail::from_attr(values[i++], a.*f.member), ...);
      },
      Op::attrs);
  return a;
}

/// Writes every output element of a legal call.
template <Operator Op, class In, class Result>
constexpr void evaluate(const typename Op::Attrs& a, const In& in, const Span<Result>& out) {
  if constexpr (Whole<Op>) {
    Op::eval(a, in, out);
  } else {
    const Type type = out[0];
    Index y = Index::filled(type.rank(), 0);
    i64 k = 0;
    do out[0].element(k++) = static_cast<i32>(value_at<Op>(a, in, y, type));
    while (next(y, type.shape));
  }
}

namespace detail {

/// Folds one operator header into plain functions and static tables.
template <Operator Op> struct Folded {
  using Attrs = typename Op::Attrs;
  static constexpr int kAttrCount = std::tuple_size_v<decltype(Op::attrs)>;

  static constexpr auto attrs = std::apply(
      [](const auto&... f) { return std::array<AttrInfo, sizeof...(f)>{describe(f)...}; },
      Op::attrs);
  static constexpr auto rules = [] {
    std::array<RuleInfo, std::size(Op::rules)> r{};
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = {Op::rules[i].label, Op::rules[i].text};
    return r;
  }();

  /// The texts of the laws that operators share.
  static constexpr auto law_texts = [] {
    if constexpr (requires { Op::laws; }) {
      std::array<LawText, std::size(Op::laws)> texts{};
      for (std::size_t i = 0; i < texts.size(); ++i)
        if (const auto& law = Op::laws[i]; law.is_common)
          texts[i] = {law.text, law.ports, {Op::inputs, static_cast<int>(std::size(Op::inputs))}};
      return texts;
    } else {
      return std::array<LawText, 0>{};
    }
  }();
  static constexpr auto laws = [] {
    std::array<LawInfo, law_texts.size()> l{};
    for (std::size_t i = 0; i < l.size(); ++i) {
      const auto& law = Op::laws[i];
      l[i] = {law.label, law.is_common ? law_texts[i].view() : law.text};
    }
    return l;
  }();
  static_assert(
      [] {
        for (std::size_t i = 0; i < laws.size(); ++i)
          for (std::size_t k = 0; k < i; ++k)
            if (laws[i].label == laws[k].label || laws[i].text == laws[k].text) return false;
        return true;
      }(),
      "an operator states two laws with one label, or one law twice");

  static constexpr int inputs_needed([[maybe_unused]] Attributes a) {
    if constexpr (requires(const Attrs& t) { Op::inputs_needed(t); })
      return Op::inputs_needed(from_attributes<Op>(a));
    else
      return Op::inputs[std::size(Op::inputs) - 1].arity == Arity::variadic
          ? -1
          : static_cast<int>(std::size(Op::inputs));
  }
  static constexpr int first_broken(Attributes a, Types in) {
    const Attrs t = from_attributes<Op>(a);
    for (int i = 0; i < static_cast<int>(std::size(Op::rules)); ++i)
      if (!Op::rules[static_cast<std::size_t>(i)].holds(t, in)) return i;
    return -1;
  }
  static constexpr Inferred infer(Attributes a, Types in) {
    return Op::infer(from_attributes<Op>(a), in);
  }
  static constexpr i64 gas([[maybe_unused]] Attributes a, [[maybe_unused]] Types in) {
    if constexpr (requires { Op::gas; })
      return Op::gas.base(from_attributes<Op>(a), in);
    else
      return 1;
  }
  static constexpr void evaluate(Attributes a, Span<CheckedView> in, Span<CheckedOut> out) {
    lockstep::evaluate<Op>(from_attributes<Op>(a), in, out);
  }
  static constexpr void pack(const Attrs& a, Drawn& d) {
    const auto values = to_attributes<Op>(a);
    for (const Attr& v : values) d.attrs[d.attr_count++] = v;
  }
  static constexpr void domain(Draw& draw, Drawn& d) {
    const Case<Attrs> c = Op::domain(draw);
    d = {};
    pack(c.attrs, d);
    for (int i = 0; i < c.count; ++i) d.in[i] = c.in[i];
    d.in_count = c.count;
  }
  static constexpr AnyExample example(int i) {
    const Example<Attrs>& e = Op::examples[i];
    AnyExample any{e.text, {}, {e.in[0], e.in[1], e.in[2]}, {e.out[0], e.out[1]}};
    pack(e.attrs, any.call);
    for (const Literal& l : e.in)
      if (l.shape.size > 0) any.call.in[any.call.in_count++] = {l.shape, l.precision};
    return any;
  }
  static Term call(Machine& m, const Attrs& a, const Terms& in, int output) {
    const auto values = to_attributes<Op>(a);
    return m.again(span(values), in, output);
  }
  static Claim claim([[maybe_unused]] int i, Attributes values, Machine& m) {
    const Attrs a = from_attributes<Op>(values);
    const LawCall<Attrs> trial(m, a, call);
    if constexpr (laws.size() > 0) return Op::laws[i].of(trial);
    return {};
  }

  static constexpr OpInfo make() {
    static_assert(kAttrCount <= kMaxAttributes && (Pointwise<Op> || Whole<Op>));
    static_assert(std::size(Op::shape) == std::size(Op::outputs));
    static_assert(std::size(Op::precision) == std::size(Op::outputs));
    OpInfo o;
    o.name = Op::name;
    o.profile = Op::profile;
    o.summary = Op::summary;
    o.formula = Op::formula;
    o.inputs = {Op::inputs, static_cast<int>(std::size(Op::inputs))};
    o.outputs = {Op::outputs, static_cast<int>(std::size(Op::outputs))};
    o.shape = {Op::shape, static_cast<int>(std::size(Op::shape))};
    o.precision = {Op::precision, static_cast<int>(std::size(Op::precision))};
    o.attrs = span(attrs);
    o.rules = span(rules);
    o.laws = span(laws);
    o.pointwise = !Whole<Op>;
    o.example_count = static_cast<int>(std::size(Op::examples));
    if constexpr (requires { Op::alias; }) o.alias = Op::alias;
    if constexpr (requires { Op::errata; })
      o.errata = {Op::errata, static_cast<int>(std::size(Op::errata))};
    if constexpr (requires { Op::accumulator; }) o.accumulator = Op::accumulator;
    if constexpr (requires { Op::exceeds; }) o.exceeds = Op::exceeds;
    if constexpr (requires { Op::in_place; }) o.in_place = Op::in_place;
    if constexpr (requires { Op::gas; }) o.gas_text = Op::gas.text;
    o.inputs_needed = inputs_needed;
    o.first_broken = first_broken;
    o.infer = infer;
    o.gas = gas;
    o.evaluate = evaluate;
    o.domain = domain;
    o.example = example;
    o.claim = claim;
    return o;
  }
};

}  // namespace detail

/// The description of an operator. Declared here, instantiated once in the operator's own unit.
template <Operator Op> const OpInfo& info();

}  // namespace lockstep
