/// @file
/// Laws (metamorphic relations): equations between calls that hold for any legal call and data.
///
/// An operator states its laws as data, so that its OpInfo suffices to try a law on a call. A law
/// names other operators instead of including them; they are looked up when it is tried.
#pragma once
#include <type_traits>

#include "spec/op.h"

namespace lockstep {

struct Attr;

/// A tensor of an equation, by its number in the machine that holds it.
struct Term {
  int number = -1;
};

/// The arguments of a call.
struct Terms {
  Term item[kMaxDrawn];
  int count = 0;
  constexpr Terms() = default;
  constexpr Terms(std::initializer_list<Term> v) {
    for (Term t : v) add(t);
  }
  constexpr void add(Term t) { item[count++] = t; }
  /// One more argument, followed by these.
  constexpr Terms after(Term first) const {
    Terms all{first};
    for (Term t : *this) all.add(t);
    return all;
  }
  constexpr const Term* begin() const { return item; }
  constexpr const Term* end() const { return item + count; }
};

/// What a law says of one call: pairs of terms that agree in shape and in every element. Without
/// pairs the law does not apply to the call.
struct Claim {
  Terms left, right;
  constexpr Claim& also(Term a, Term b) {
    left.add(a);
    right.add(b);
    return *this;
  }
};

/// Makes `a == b` an equation.
constexpr Claim operator==(Term a, Term b) { return Claim().also(a, b); }

/// An attribute of a call: an integer or a boolean is a list of one.
struct Given {
  string_view name;
  Tuple value;
};
using GivenAttributes = std::initializer_list<Given>;

/// Holds the terms of a law and evaluates its calls.
struct Machine {
  Machine() = default;
  Machine(const Machine&) = delete;
  virtual ~Machine() = default;
  /// The call on which the law is tried: its inputs, other values of their types, its outputs.
  virtual int inputs() const = 0;
  virtual Term input(int k) = 0;
  virtual Term other(int k) = 0;
  virtual int outputs() = 0;
  virtual Term output(int k) = 0;
  /// Calls its operator again, with its attributes or others.
  virtual Term again(const Terms& in, int output) = 0;
  virtual Term again(Span<Attr> attrs, const Terms& in, int output) = 0;
  /// Calls another operator; attributes that are not given take their defaults.
  virtual Term call(string_view op, const Terms& in, GivenAttributes attrs, int output) = 0;

  virtual Type type(Term t) const = 0;
  /// A tensor whose element k is first + k * step.
  virtual Term series(const Type& t, i64 first, i64 step) = 0;
  /// A tensor whose elements are drawn from lo..hi.
  virtual Term drawn(const Type& t, i64 lo, i64 hi) = 0;
  /// Two tensors of x's type whose sum is x; each element lies between 0 and that of x.
  virtual std::pair<Term, Term> split(Term x) = 0;
  virtual i64 draw(i64 lo, i64 hi) = 0;
};

/// The call on which a law is tried, with the functions of which equations are made.
class AnyLawCall {
 public:
  explicit AnyLawCall(Machine& m) : machine(m) {}

  int inputs() const { return machine.inputs(); }
  int outputs() const { return machine.outputs(); }
  /// Input k, and other values of its type.
  Term operator[](int k) const { return machine.input(k); }
  Term other(int k) const { return machine.other(k); }
  Terms all() const {
    Terms in;
    for (int k = 0; k < inputs(); ++k) in.add((*this)[k]);
    return in;
  }
  /// The operator's result for the inputs, and for other terms with the same attributes.
  Term y(int output = 0) const { return machine.output(output); }
  Term self(const Terms& in, int output = 0) const { return machine.again(in, output); }
  /// The result of another operator.
  Term op(string_view name, const Terms& in, GivenAttributes attrs = {}, int output = 0) const {
    return machine.call(name, in, attrs, output);
  }

  Type type(Term t) const { return machine.type(t); }
  Shape shape(Term t) const { return type(t).shape; }
  i64 volume(Term t) const { return lockstep::volume(shape(t)); }
  i64 draw(i64 lo, i64 hi) const { return machine.draw(lo, hi); }

  /// A tensor of one element, and a tensor filled with one value.
  Term constant(i64 v) const { return filled({1}, v); }
  Term filled(const Shape& s, i64 v) const { return machine.series({s, bits(v)}, v, 0); }
  /// The list first, first + step, ... of n integers.
  Term series(i64 n, i64 first = 0, i64 step = 1) const {
    return machine.series({{n}, kMaxPrecision}, first, step);
  }
  /// The row-major numbers of the elements of a shape.
  Term numbers(const Shape& s) const { return machine.series({s, kMaxPrecision}, 0, 1); }
  /// A list of indices below n in any order, possibly with repetitions.
  Term indices(i64 n) const { return machine.drawn({{draw(1, 2 * n)}, kMaxPrecision}, 0, n - 1); }
  /// Two tensors of x's type whose sum is x.
  std::pair<Term, Term> split(Term x) const { return machine.split(x); }

  Term sum(Term a, Term b) const { return op("broadcast_add", {a, b}); }
  Term difference(Term a, Term b) const { return op("broadcast_sub", {a, b}); }
  Term product(Term a, Term b) const { return op("broadcast_mul", {a, b}); }
  Term larger(Term a, Term b) const { return op("broadcast_max", {a, b}); }
  Term greater(Term a, Term b) const { return op("broadcast_greater", {a, b}); }
  Term abs(Term x) const { return op("abs", {x}); }
  Term negative(Term x) const { return op("negative", {x}); }
  Term beside(Term a, Term b, i64 axis) const {
    return op("concatenate", {a, b}, {{"axis", {axis}}});
  }
  Term reshaped(Term x, const Shape& s) const { return op("reshape", {x}, {{"shape", tuple(s)}}); }
  /// Elements of x by their numbers, and slices along its first axis.
  Term elements(Term x, Term i) const { return op("take", {x, i}); }
  Term rows(Term x, Term i) const { return op("take", {x, i}, {{"axis", {0}}}); }
  /// x reversed along every axis.
  Term mirror(Term x) const {
    const int n = type(x).rank();
    return op("strided_slice", {x},
        {{"begin", Tuple::filled(n, -1)}, {"end", Tuple::filled(n, -kIntMax)},
            {"stride", Tuple::filled(n, -1)}});
  }
  /// Every input reversed.
  Terms mirrored() const {
    Terms in;
    for (int k = 0; k < inputs(); ++k) in.add(mirror((*this)[k]));
    return in;
  }
  /// The first elements of x on each axis, as many as a shape has.
  Term corner(Term x, const Shape& s) const {
    return op("strided_slice", {x}, {{"begin", {}}, {"end", tuple(s)}});
  }
  /// n slices of x along an axis.
  Term slice(Term x, int axis, i64 first, i64 n) const {
    const int rank = type(x).rank();
    Tuple begin = Tuple::filled(rank, 0), end = Tuple::filled(rank, kIntMax);
    begin[axis] = first;
    end[axis] = first + n;
    return op("strided_slice", {x}, {{"begin", begin}, {"end", end}});
  }
  /// x at every step-th position of each axis.
  Term every(Term x, const Tuple& steps) const {
    return op("strided_slice", {x}, {{"begin", {}}, {"end", {}}, {"stride", steps}});
  }

  static constexpr Tuple tuple(const Shape& s) {
    Tuple t;
    for (i64 e : s) t.push(e);
    return t;
  }

 protected:
  /// The smallest precision that holds v.
  static constexpr int bits(i64 v) { return bit_length(magnitude(v)) + 1; }

  Machine& machine;
};

/// A call with its attributes.
template <class Attrs> class LawCall : public AnyLawCall {
 public:
  using Call = Term (*)(Machine&, const Attrs&, const Terms&, int output);
  LawCall(Machine& m, const Attrs& a, Call c) : AnyLawCall(m), attrs(a), call_(c) {}

  using AnyLawCall::self;
  /// The operator's result for terms, or for the inputs, with other attributes.
  Term self(const Attrs& a, const Terms& in, int output = 0) const {
    return call_(machine, a, in, output);
  }
  Term self(const Attrs& a) const { return self(a, all()); }
  /// The attributes of the call with one of them changed.
  template <class V> Attrs with(V Attrs::*member, std::type_identity_t<V> v) const {
    Attrs a = attrs;
    a.*member = v;
    return a;
  }
  const Attrs& attrs;

 private:
  Call call_;
};

/// The numbers of ports, as a bit set.
using PortSet = unsigned;
inline constexpr PortSet kEveryPort = ~PortSet{0};
template <int... Ports>
inline constexpr PortSet kPorts = (PortSet{0} | ... | (PortSet{1} << Ports));

/// A law for operators with any attributes. Its text is a pattern, from which LawText makes a text
/// with an operator's own ports.
struct CommonLaw {
  string_view label, pattern;
  PortSet ports;  ///< the inputs that the pattern's <...> changes
  Claim (*claim)(const AnyLawCall&);
  constexpr CommonLaw named(string_view l) const { return {l, pattern, ports, claim}; }
};

/// The text of a common law, with the names of an operator's ports. In a pattern
///   *      is the list of all inputs: "X, W, B"
///   <...>  is the same list, some of them changed as the brackets say, where $ is the input's
///   name:
///          <$ + $'> in ports X and B is "X + X', W, B + B'"
///   $0     is the name of the first input, $1 that of the second
class LawText {
 public:
  constexpr LawText() = default;
  constexpr LawText(string_view pattern, PortSet ports, Span<Port> inputs) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == '<') {
        const std::size_t end = pattern.find('>', i);
        add_list(inputs, ports, pattern.substr(i + 1, end - i - 1));
        i = end;
      } else if (pattern[i] == '$') {
        add(inputs[pattern[++i] - '0'].name);
      } else {
        add_other(pattern[i], inputs);
      }
    }
  }
  constexpr string_view view() const { return {text_, size_}; }

 private:
  constexpr void add(string_view s) {
    for (const char c : s) text_[size_++] = c;
  }
  constexpr void add_other(char c, Span<Port> inputs) {
    if (c == '*')
      add_list(inputs, 0, {});
    else
      text_[size_++] = c;
  }
  constexpr void add_list(Span<Port> inputs, PortSet ports, string_view form) {
    for (int k = 0; k < inputs.size(); ++k) {
      if (k > 0) add(", ");
      if (!(ports >> k & 1)) {
        add(inputs[k].name);
        continue;
      }
      for (const char c : form)
        if (c == '$')
          add(inputs[k].name);
        else
          add_other(c, inputs);
    }
  }

  char text_[160]{};  // a longer text does not compile
  std::size_t size_ = 0;
};

/// A law of an operator, with a label that is unique there.
template <class Attrs> struct Law {
  string_view label, text;  ///< the text of a common law is its pattern
  PortSet ports = 0;
  Claim (*claim)(const LawCall<Attrs>&) = nullptr;
  Claim (*common)(const AnyLawCall&) = nullptr;
  bool is_common = false;  ///< with sanitizers, function pointers are no constant conditions

  constexpr Law(string_view l, string_view t, Claim (*c)(const LawCall<Attrs>&))
      : label(l), text(t), claim(c) {}
  constexpr Law(const CommonLaw& c)
      : label(c.label), text(c.pattern), ports(c.ports), common(c.claim), is_common(true) {}
  Claim of(const LawCall<Attrs>& t) const { return is_common ? common(t) : claim(t); }
};

/// Laws that many operators have.
namespace law {

/// The inputs of a call, those of some ports replaced by f(input).
template <int... Ports, class F> Terms replaced(const AnyLawCall& t, F f) {
  Terms in;
  for (int k = 0; k < t.inputs(); ++k) in.add((... || (k == Ports)) ? f(t[k]) : t[k]);
  return in;
}
/// Every input replaced by f(input).
template <class F> Terms mapped(const AnyLawCall& t, F f) {
  Terms in;
  for (int k = 0; k < t.inputs(); ++k) in.add(f(t[k]));
  return in;
}

inline constexpr CommonLaw idempotent{
    "idempotent", "op(<op(*)>) = op(*)", kPorts<0>, [](const AnyLawCall& t) {
      return t.self(replaced<0>(t, [&](Term) { return t.y(); })) == t.y();
    }};

inline constexpr CommonLaw involution{
    "involution", "op(op(*)) = *", 0, [](const AnyLawCall& t) { return t.self({t.y()}) == t[0]; }};

inline constexpr CommonLaw commutative{
    "commutative", "op($0, $1) = op($1, $0)", 0, [](const AnyLawCall& t) {
      return t.self({t[1], t[0]}) == t.y();
    }};

inline constexpr CommonLaw associative{
    "associative", "op(op($0, $1), $0') = op($0, op($1, $0'))", 0, [](const AnyLawCall& t) {
      const Term c = t.other(0);
      return t.self({t.y(), c}) == t.self({t[0], t.self({t[1], c})});
    }};

/// The inputs, the first one negated.
inline Terms negated(const AnyLawCall& t) {
  return replaced<0>(t, [&](Term x) { return t.negative(x); });
}
inline constexpr CommonLaw odd{"odd", "op(<-$>) = -op(*)", kPorts<0>,
    [](const AnyLawCall& t) { return t.self(negated(t)) == t.negative(t.y()); }};

inline constexpr CommonLaw even{"even", "op(<-$>) = op(*)", kPorts<0>,
    [](const AnyLawCall& t) { return t.self(negated(t)) == t.y(); }};

/// A function of ordered values preserves their order exactly if it distributes over the maximum.
inline constexpr CommonLaw monotone{
    "monotone", "op(<max($, $')>) = max(op(*), op(<$'>))", kPorts<0>, [](const AnyLawCall& t) {
      const Term both = t.self(replaced<0>(t, [&](Term x) { return t.larger(x, t.other(0)); }));
      return both == t.larger(t.y(), t.self(replaced<0>(t, [&](Term) { return t.other(0); })));
    }};

inline constexpr CommonLaw pointwise{"pointwise",
    "op(<$[I]>) = op(*)[I] for elements I in any order", kEveryPort, [](const AnyLawCall& t) {
      const Term i = t.indices(t.volume(t[0]));
      return t.self(mapped(t, [&](Term x) { return t.elements(x, i); })) == t.elements(t.y(), i);
    }};

inline constexpr CommonLaw mirrored{"mirrored",
    "op of all inputs backwards = op(*) backwards, on every axis", 0,
    [](const AnyLawCall& t) { return t.self(t.mirrored()) == t.mirror(t.y()); }};

inline constexpr CommonLaw selects{"selects",
    "op(*) = $0[op(<numbers of the elements of $>)]: elements move, unchanged", kPorts<0>,
    [](const AnyLawCall& t) {
      const Terms numbered = replaced<0>(t, [&](Term x) { return t.numbers(t.shape(x)); });
      return t.elements(t[0], t.self(numbered)) == t.y();
    }};

/// Linear in several inputs together; the others stay.
template <int... Ports> inline constexpr CommonLaw additive{
    "additive", "op(<$ + $'>) = op(*) + op(<$'>)", kPorts<Ports...>, [](const AnyLawCall& t) {
      Terms rest;
      const Terms some = mapped(t, [&](Term x) {
        const auto [one, other] = t.split(x);
        rest.add(other);
        return one;
      });
      const auto with = [&](const Terms& parts) {
        Terms in;
        for (int k = 0; k < t.inputs(); ++k) in.add((... || (k == Ports)) ? parts.item[k] : t[k]);
        return t.self(in);
      };
      return t.y() == t.sum(with(some), with(rest));
    }};

/// In the inputs that have the batch axis.
template <int... Ports> inline constexpr CommonLaw batchwise{"batchwise",
    "op(<$[I]>) = op(*)[I] for batches I in any order", kPorts<Ports...>, [](const AnyLawCall& t) {
      const Term i = t.indices(t.shape(t[0])[0]);
      const Terms in = replaced<Ports...>(t, [&](Term x) { return t.rows(x, i); });
      Claim claim;
      for (int k = 0; k < t.outputs(); ++k) claim.also(t.self(in, k), t.rows(t.y(k), i));
      return claim;
    }};

}  // namespace law

}  // namespace lockstep
