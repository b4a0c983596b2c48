#include "conformance/cases/classes.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>

#include "conformance/cases/boundary.h"
#include "conformance/cases/intermediates.h"
#include "conformance/cases/item.h"
#include "conformance/cases/mutate.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

// A set of classes of one axis: bit k is its class k.
using Bits = std::uint32_t;
constexpr std::size_t kMostClasses = 32;
constexpr Bits bit(i64 k) { return Bits{1} << k; }
constexpr Bits first_bits(i64 n) { return bit(n) - 1; }

constexpr i64 kWidths[] = {4, 8, 16, 32, 64};
constexpr Range kPrecisions[] = {
    {1, 1}, {2, 2}, {3, 7}, {8, 8}, {9, 16}, {17, 24}, {25, 31}, {32, 32}};

// The classes of numbers and of tuples of numbers. Each word or boolean is a class of its own.
enum OfNumber { kNone, kFixed, kNegative, kZero, kOne, kAboveOne, kLowest, kHighest, kEmpty };
constexpr const char* kNumberNames[] = {"None", "fixed", "negative", "zero", "one", "above one",
    "lowest", "highest", "empty", "one entry", "several entries"};

// The classes of extents: 1, within one of a vector width, at least kDeep.
constexpr char kOnes[] = "an extent of 1";
constexpr i64 kOnesBit = 0, kWidthBits = 1, kDeepBit = kWidthBits + std::ssize(kWidths);
std::string beside(i64 width) { return "beside " + std::to_string(width); }

constexpr i64 kMany = 4;  // as many inputs, or more, are one class

// The classes of values; the last two are of positions only.
enum OfValues {
  kAnyZero,
  kAllNegative,
  kAllPositive,
  kBothSigns,
  kLargest,
  kSmallest,
  kInside,
  kBeyond
};
constexpr const char* kValueNames[] = {"a zero", "all negative", "all positive", "both signs",
    "the largest", "the smallest", "inside", "beyond the end"};

// The classes of an attribute's number. A limit such as 0 or 1 counts only as its own class.
Bits classes_of(i64 v, Range r) {
  if (r.min == r.max) return bit(kFixed);
  Bits all = bit(v < 0 ? kNegative : v == 0 ? kZero : v == 1 ? kOne : kAboveOne);
  if (v == r.min && r.min < 0 && r.min > INT64_MIN) all |= bit(kLowest);
  if (v == r.max && r.max > 1 && r.max < INT64_MAX) all |= bit(kHighest);
  return all;
}

// Numbers of every class that a range has.
std::vector<i64> representatives(Range r) {
  std::vector<i64> all = {r.min, r.max};
  for (i64 v : {-2, -1, 0, 1, 2, 3})
    if (r.contains(v)) all.push_back(v);
  return all;
}

bool is_choice(const AttrInfo& f) {
  return f.kind == AttrKind::boolean || f.kind == AttrKind::word;
}

Bits classes_of(const AttrInfo& f, const Attr& v) {
  if (v.none) return bit(kNone);
  if (is_choice(f)) return bit(v.ints[0]);
  Bits all = f.kind == AttrKind::tuple ? bit(kEmpty + min(v.ints.size, 2)) : 0;
  for (i64 e : v.ints) all |= classes_of(e, f.range);
  return all;
}

Bits classes_of(const AttrInfo& f) {
  Bits all = f.kind == AttrKind::optional_integer ? bit(kNone) : 0;
  for (i64 v : representatives(f.range))
    for (int n = 0; n <= 2; ++n) {
      if (f.kind == AttrKind::tuple ? !f.entries.contains(n) : n != 1) continue;
      all |= classes_of(f, {f.kind, false, Tuple::filled(n, v)});
    }
  return all;
}

Bits classes_of_extent(i64 e) {
  Bits all = e == 1 ? bit(kOnesBit) : 0;
  for (i64 k = 0; k < std::ssize(kWidths); ++k)
    if (kWidths[k] - 1 <= e && e <= kWidths[k] + 1) all |= bit(kWidthBits + k);
  if (e >= kDeep) all |= bit(kDeepBit);
  return all;
}

Bits class_of_precision(i64 p) {
  Bits all = 0;
  for (i64 k = 0; k < std::ssize(kPrecisions); ++k)
    if (kPrecisions[k].min <= p && p <= kPrecisions[k].max) all |= bit(k);
  return all;
}

int port_of(const OpInfo& op, std::size_t k) {
  return static_cast<int>(min(static_cast<i64>(k), op.inputs.size() - 1));
}
std::string name_of_port(const OpInfo& op, int port) { return std::string(op.inputs[port].name); }

Bits class_of_count(i64 n) { return bit(min(n, kMany)); }

// @param table the tensor into which positions point. A position counts as inside or beyond only
// where that holds for every axis.
Bits classes_of_values(Hint hint, const Tensor& t, const Shape& table) {
  const i64 a = max_of(t.type.precision);
  bool negative = false, zero = false, positive = false, largest = false, smallest = false;
  for (i32 v : t.data) {
    negative |= v < 0;
    zero |= v == 0;
    positive |= v > 0;
    largest |= v == a;
    smallest |= v == -a;
  }
  Bits all = zero ? bit(kAnyZero) : 0;
  if (negative && !positive && !zero) all |= bit(kAllNegative);
  if (positive && !negative && !zero) all |= bit(kAllPositive);
  if (negative && positive) all |= bit(kBothSigns);
  if (largest && a > 0) all |= bit(kLargest);
  if (smallest && a > 0) all |= bit(kSmallest);
  if (hint == Hint::index || hint == Hint::count) {
    const i64 least = *std::min_element(table.begin(), table.end()), end = volume(table);
    for (i32 v : t.data) {
      if (0 < v && v < least) all |= bit(kInside);
      if (v > end) all |= bit(kBeyond);
    }
  }
  return all;
}

// The axes of an operator by number: attributes, how many inputs, three of each port, memory, the
// values of each port, and intermediates.
struct Axes {
  const OpInfo& op;
  int inputs() const { return op.attrs.size(); }
  int rank(int port) const { return inputs() + 1 + 3 * port; }
  int precision(int port) const { return rank(port) + 1; }
  int shape(int port) const { return rank(port) + 2; }
  int memory() const { return rank(op.inputs.size()); }
  int values(int port) const { return memory() + 1 + port; }
  int intermediates() const { return values(op.inputs.size()); }
  int size() const { return intermediates() + 1; }

  std::string name(int axis) const {
    if (axis < inputs()) return "attribute " + std::string(op.attrs[axis].name);
    if (axis == inputs()) return "number of inputs";
    if (axis == memory()) return "memory";
    if (axis == intermediates()) return "intermediates";
    if (axis > memory()) return "values of " + name_of_port(op, axis - values(0));
    constexpr const char* kOfPort[] = {"rank of ", "precision of ", "shape of "};
    return kOfPort[(axis - rank(0)) % 3] + name_of_port(op, (axis - rank(0)) / 3);
  }
  std::string class_name(int axis, int k) const {
    if (axis < inputs() && !is_choice(op.attrs[axis])) return kNumberNames[k];
    if (axis < inputs()) return attribute_text(op.attrs[axis], {op.attrs[axis].kind, false, {k}});
    if (axis == inputs()) return k < kMany ? std::to_string(k) : "many";
    if (axis == memory()) return std::string(name_of(static_cast<Layout>(k)));
    if (axis == intermediates()) return std::string(intermediate_name(k));
    if (axis > memory()) return kValueNames[k];
    const int of_port = (axis - rank(0)) % 3;
    if (of_port == 0) return std::to_string(k);
    if (of_port == 2)
      return k == kOnesBit ? kOnes : k == kDeepBit ? "deep" : beside(kWidths[k - kWidthBits]);
    const Range& p = kPrecisions[k];
    return std::to_string(p.min) + (p.min == p.max ? "" : ".." + std::to_string(p.max));
  }
};

// The classes that an operator's description allows, by axis.
std::vector<Bits> room_of(const OpInfo& op) {
  const Axes axes{op};
  std::vector<Bits> all(static_cast<std::size_t>(axes.size()));
  const auto at = [&](int axis) -> Bits& { return all[static_cast<std::size_t>(axis)]; };
  for (int i = 0; i < op.attrs.size(); ++i) at(i) = classes_of(op.attrs[i]);
  const i64 ports = op.inputs.size();
  const Arity last = op.inputs[op.inputs.size() - 1].arity;
  if (last == Arity::variadic) at(axes.inputs()) = first_bits(kMany + 1) & ~bit(0);
  if (last == Arity::optional)
    at(axes.inputs()) = class_of_count(ports - 1) | class_of_count(ports);
  for (int k = 0; k < op.inputs.size(); ++k) {
    const Port& port = op.inputs[k];
    at(axes.rank(k)) = first_bits(port.rank.max + 1) & ~first_bits(port.rank.min);
    at(axes.precision(k)) = first_bits(std::ssize(kPrecisions));
    at(axes.shape(k)) = first_bits(kDeepBit + 1);
    const bool points = port.hint == Hint::index || port.hint == Hint::count;
    at(axes.values(k)) = first_bits(points ? std::ssize(kValueNames) : i64{kInside});
  }
  at(axes.memory()) = first_bits(kLayouts);
  at(axes.intermediates()) = intermediates_of(op);
  return all;
}

// The classes that a call shows, by axis, without those of its values.
std::vector<Bits> shown_by(const Case& c) {
  const OpInfo& op = *c.op;
  const Axes axes{op};
  std::vector<Bits> all(static_cast<std::size_t>(axes.size()));
  const auto at = [&](int axis) -> Bits& { return all[static_cast<std::size_t>(axis)]; };
  for (int i = 0; i < op.attrs.size(); ++i)
    at(i) = classes_of(op.attrs[i], c.attrs[static_cast<std::size_t>(i)]);
  if (op.inputs[op.inputs.size() - 1].arity != Arity::one)
    at(axes.inputs()) = class_of_count(std::ssize(c.in));
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    const int port = port_of(op, k);
    at(axes.rank(port)) |= bit(c.in[k].rank());
    at(axes.precision(port)) |= class_of_precision(c.in[k].precision);
    for (i64 e : c.in[k].shape) at(axes.shape(port)) |= classes_of_extent(e);
  }
  at(axes.memory()) = bit(static_cast<i64>(c.layout));
  return all;
}

// Adds the classes that the values of inputs show.
void add_values(std::vector<Bits>& all, const Case& c, const std::vector<Tensor>& in) {
  const OpInfo& op = *c.op;
  for (std::size_t k = 0; k < in.size(); ++k) {
    const int port = port_of(op, k);
    const Type& table = c.in[k == 0 && in.size() > 1 ? 1 : 0];
    all[static_cast<std::size_t>(Axes{op}.values(port))] |=
        classes_of_values(op.inputs[port].hint, in[k], table.shape);
  }
  all[static_cast<std::size_t>(Axes{op}.intermediates())] = intermediates_of(c, in);
}

template <class F> void each_class(const std::vector<Bits>& classes, F f) {
  for (std::size_t axis = 0; axis < classes.size(); ++axis)
    for (Bits left = classes[axis]; left != 0; left &= left - 1)
      f(static_cast<int>(axis), std::countr_zero(left));
}

std::vector<CallClass> features_of(const OpInfo& op, const std::vector<Bits>& classes) {
  std::vector<CallClass> all;
  each_class(classes, [&](int axis, int k) {
    all.push_back({Axes{op}.name(axis), Axes{op}.class_name(axis, k)});
  });
  return all;
}

// Sets every extent other than `kept` to 1.
void shrink_others(Case& c, i64 kept) {
  for (std::size_t k = 0; k < c.in.size(); ++k)
    for (int d = 0; d < c.in[k].rank(); ++d)
      if (const i64 e = c.in[k].dim(d); e != kept && e != 1) replace_number(c, e, 1);
}

// Sets the extent of one axis, and sometimes all other extents to 1, which keeps the call small.
void change_extent(Case& c, std::size_t k, i64 now, Draw& draw) {
  if (c.in[k].rank() == 0) return;
  i64& e = c.in[k].shape[static_cast<int>(draw(0, c.in[k].rank() - 1))];
  if (draw(0, 2) == 0)
    e = now;
  else
    replace_number(c, i64{e}, now);
  if (draw(0, 2) == 0) shrink_others(c, now);
}

// An extent of a class.
i64 extent_of(const std::string& value, Draw& draw) {
  for (i64 w : kWidths)
    if (value == beside(w)) return w + draw(-1, 1);
  return value == kOnes ? 1 : kDeep;
}

bool is_axis(string_view axis, string_view what, string_view whose) {
  return axis.starts_with(what) && axis.substr(what.size()) == whose;
}

// Gives every input the widest legal precision: only such values leave 32 bits.
void widen_inputs(Case& c) {
  for (Type& t : c.in)
    for (t.precision = kMaxPrecision; t.precision > 1 && refusal(c).refused();) --t.precision;
}

// Changes at random the parameter to which a class belongs.
void aim(Case& c, const CallClass& f, Draw& draw) {
  if (f.axis.starts_with("attribute") && draw(0, 3) == 0) shrink_others(c, 1);
  if (f.axis == "memory") c.layout = static_cast<Layout>(draw(0, kLayouts - 1));
  if (f.axis == "intermediates") widen_inputs(c);
  for (std::size_t i = 0; i < c.attrs.size(); ++i) {
    const AttrInfo& info = c.op->attrs[static_cast<int>(i)];
    if (!is_axis(f.axis, "attribute ", info.name)) continue;
    const auto reps = representatives(info.range);
    const auto any = [&] { return reps[static_cast<std::size_t>(draw(0, std::ssize(reps) - 1))]; };
    Attr& v = c.attrs[i];
    if (info.kind == AttrKind::optional_integer) v = {info.kind, draw(0, 3) == 0, {}};
    if (info.kind == AttrKind::tuple && draw.coin())
      v.ints =
          Tuple::filled(static_cast<int>(draw(info.entries.min, min(6, info.entries.max))), any());
    else if (info.kind != AttrKind::tuple && !v.none)
      v.ints = {any()};
    else if (v.ints.size > 0)
      v.ints[static_cast<int>(draw(0, v.ints.size - 1))] = any();
  }
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    const string_view port = c.op->inputs[port_of(*c.op, k)].name;
    if (is_axis(f.axis, "precision of ", port))
      c.in[k].precision = static_cast<int>(draw(1, kMaxPrecision));
    if (is_axis(f.axis, "rank of ", port))
      set(c, {Parameter::rank, static_cast<int>(k)}, draw(1, kMaxRank));
    if (!is_axis(f.axis, "shape of ", port)) continue;
    change_extent(c, k, extent_of(f.value, draw), draw);
  }
}

}  // namespace

std::vector<CallClass> call_classes(const OpInfo& op) {
  std::vector<Bits> room = room_of(op);
  room.resize(static_cast<std::size_t>(Axes{op}.values(0)));
  std::vector<CallClass> all = features_of(op, room);
  // Classes of one attribute are sorted by their names.
  const auto others = std::find_if(
      all.begin(), all.end(), [](const CallClass& f) { return !f.axis.starts_with("attribute "); });
  for (auto from = all.begin(); from != others;) {
    const auto to =
        std::find_if(from, others, [&](const CallClass& f) { return f.axis != from->axis; });
    std::sort(from, to);
    from = to;
  }
  return all;
}

std::vector<CallClass> call_classes(const Case& c) { return features_of(*c.op, shown_by(c)); }

std::vector<CallClass> value_classes(const OpInfo& op) {
  std::vector<Bits> room = room_of(op);
  std::fill_n(room.begin(), Axes{op}.values(0), 0);
  return features_of(op, room);
}

std::vector<CallClass> value_classes(const Case& c, const std::vector<Tensor>& in) {
  std::vector<Bits> shown(static_cast<std::size_t>(Axes{*c.op}.size()));
  add_values(shown, c, in);
  return features_of(*c.op, shown);
}

static std::size_t place_of(int axis, int k) {
  return static_cast<std::size_t>(axis) * kMostClasses + static_cast<std::size_t>(k);
}

ClassNumbers::ClassNumbers(const OpInfo& op, const std::vector<CallClass>& numbered) {
  const std::vector<Bits> room = room_of(op);
  numbers_.assign(room.size() * kMostClasses, -1);
  each_class(room, [&](int axis, int k) {
    const CallClass f{Axes{op}.name(axis), Axes{op}.class_name(axis, k)};
    const auto at = std::find(numbered.begin(), numbered.end(), f);
    numbers_[place_of(axis, k)] = static_cast<int>(at - numbered.begin());
  });
}

std::vector<int> ClassNumbers::of(const Case& c, const std::vector<Tensor>& in) const {
  std::vector<Bits> shown = shown_by(c);
  add_values(shown, c, in);
  std::vector<int> all;
  each_class(shown, [&](int axis, int k) {
    all.push_back(numbers_[place_of(axis, k)]);
    if (all.back() < 0) throw std::logic_error("a call shows a class that its row has no room for");
  });
  std::sort(all.begin(), all.end());
  return all;
}

bool is_constant(const std::vector<Tensor>& out) {
  return std::all_of(out.begin(), out.end(), [](const Tensor& t) {
    return std::all_of(t.data.begin(), t.data.end(), [&](i32 v) { return v == t.data[0]; });
  });
}

std::optional<Case> attempt(
    const OpInfo& op, const std::vector<CallClass>& wanted, i64 most, int n, Draw& draw) {
  Case c = n % 3 == 0 ? varied_case(op, draw) : draw_case(op, draw);
  if (n % 3 != 1)
    for (const CallClass& f : wanted) aim(c, f, draw);
  if (refusal(c).refused() || elements_of(c) > most) return std::nullopt;
  return c;
}

std::optional<Case> aimed_case(
    const OpInfo& op, const CallClass& f, i64 most, int tries, Draw& draw) {
  const std::vector<CallClass> wanted = {f};
  std::size_t place = 0;
  Bits one = 0;
  each_class(room_of(op), [&](int axis, int k) {
    if (Axes{op}.name(axis) == f.axis && Axes{op}.class_name(axis, k) == f.value)
      place = static_cast<std::size_t>(axis), one = bit(k);
  });
  for (int n = 0; n < tries; ++n) {
    std::optional<Case> c = attempt(op, wanted, most, n, draw);
    if (c && (shown_by(*c)[place] & one) != 0) return c;
  }
  return std::nullopt;
}

}  // namespace lockstep::judge
