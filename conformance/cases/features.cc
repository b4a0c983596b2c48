#include "conformance/cases/features.h"

#include <algorithm>
#include <set>
#include <utility>

#include "conformance/cases/boundary.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

using Values = std::vector<std::string>;

constexpr i64 kWidths[] = {4, 8, 16, 32, 64};
constexpr Interval kPrecisions[] = {{1, 1},  {2, 2},   {3, 7},   {8, 8},
                                    {9, 16}, {17, 24}, {25, 31}, {32, 32}};

constexpr char kOnes[] = "an extent of 1";
std::string beside(i64 width) { return "beside " + std::to_string(width); }

// The classes of an attribute's number. A limit that has a class of its own is named once.
Values classes_of(i64 v, Range r) {
  if (r.min == r.max) return {"fixed"};
  Values all = {v < 0 ? "negative" : v == 0 ? "zero" : v == 1 ? "one" : "above one"};
  if (v == r.min && r.min < 0 && r.min > INT64_MIN) all.emplace_back("lowest");
  if (v == r.max && r.max > 1 && r.max < INT64_MAX) all.emplace_back("highest");
  return all;
}

// Numbers of every class that a range has.
std::vector<i64> representatives(Range r) {
  std::vector<i64> all = {r.min, r.max};
  for (i64 v : {-2, -1, 0, 1, 2, 3})
    if (r.contains(v)) all.push_back(v);
  return all;
}

Values classes_of(const AttrInfo& f, const Attr& v) {
  Values all;
  if (v.none) return {"None"};
  if (f.kind == Kind::boolean || f.kind == Kind::word) return {attribute_text(f, v)};
  if (f.kind == Kind::tuple)
    all.push_back(v.ints.size == 0 ? "empty" : v.ints.size == 1 ? "one entry" : "several entries");
  for (i64 e : v.ints)
    for (std::string& s : classes_of(e, f.range)) all.push_back(std::move(s));
  return all;
}

Values classes_of(const AttrInfo& f) {
  std::set<std::string> all;
  const auto add = [&](const Attr& v) {
    for (std::string& c : classes_of(f, v)) all.insert(std::move(c));
  };
  if (f.kind == Kind::optional_integer) add({f.kind, true, {}});
  for (i64 v : representatives(f.range))
    for (int n = 0; n <= 2; ++n) {
      if (f.kind == Kind::tuple ? !f.entries.contains(n) : n != 1) continue;
      add({f.kind, false, Tuple::filled(n, v)});
    }
  return {all.begin(), all.end()};
}

Values classes_of_extent(i64 e) {
  Values all;
  if (e == 1) all.emplace_back(kOnes);
  for (i64 w : kWidths)
    if (w - 1 <= e && e <= w + 1) all.push_back(beside(w));
  if (e >= kDeep) all.emplace_back("deep");
  return all;
}

std::string precision_class(i64 p) {
  for (const Interval& i : kPrecisions)
    if (i.min <= p && p <= i.max)
      return i.min == i.max ? std::to_string(p)
                            : std::to_string(i.min) + ".." + std::to_string(i.max);
  return "none";
}

int port_of(const OpInfo& op, std::size_t k) {
  return static_cast<int>(min(static_cast<i64>(k), op.inputs.size() - 1));
}
std::string name_of_port(const OpInfo& op, int port) { return std::string(op.inputs[port].name); }

std::string count_class(i64 n) { return n <= 3 ? std::to_string(n) : "many"; }

// @param table what positions point into; for those inside and beyond it for sure.
Values classes_of_values(Hint hint, const Tensor& t, const Shape& table) {
  const i64 a = max_of(t.type.precision);
  const auto any = [&](auto test) { return std::any_of(t.data.begin(), t.data.end(), test); };
  Values all;
  const bool negative = any([](i32 v) { return v < 0; }),
             positive = any([](i32 v) { return v > 0; });
  const bool zero = any([](i32 v) { return v == 0; });
  if (zero) all.emplace_back("a zero");
  if (negative && !positive && !zero) all.emplace_back("all negative");
  if (positive && !negative && !zero) all.emplace_back("all positive");
  if (negative && positive) all.emplace_back("both signs");
  if (any([&](i32 v) { return v == a && a > 0; })) all.emplace_back("the largest");
  if (any([&](i32 v) { return v == -a && a > 0; })) all.emplace_back("the smallest");
  if (hint == Hint::index || hint == Hint::count) {
    const i64 least = *std::min_element(table.begin(), table.end()), end = volume(table);
    if (any([&](i32 v) { return 0 < v && v < least; })) all.emplace_back("inside");
    if (any([&](i32 v) { return v > end; })) all.emplace_back("beyond the end");
  }
  return all;
}

std::vector<Feature> distinct(std::vector<Feature> all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Replaces a number wherever it stands, so that shapes and attributes keep agreeing.
void replace(Case& c, i64 old, i64 now) {
  for (Type& t : c.in)
    for (int d = 0; d < t.rank(); ++d)
      if (t.dim(d) == old) t.shape[d] = now;
  for (std::size_t i = 0; i < c.attrs.size(); ++i)
    for (int e = 0; c.attrs[i].kind != Kind::boolean && e < c.attrs[i].ints.size; ++e)
      if (c.attrs[i].ints[e] == old) c.attrs[i].ints[e] = now;
}

// Makes every extent 1 but those of `kept`.
void shrink_others(Case& c, i64 kept) {
  for (std::size_t k = 0; k < c.in.size(); ++k)
    for (int d = 0; d < c.in[k].rank(); ++d)
      if (const i64 e = c.in[k].dim(d); e != kept && e != 1) replace(c, e, 1);
}

// Gives one axis an extent; of the others, now and then, 1 to all, so that the whole stays small.
void change_extent(Case& c, std::size_t k, i64 now, Draw& draw) {
  if (c.in[k].rank() == 0) return;
  i64& e = c.in[k].shape[static_cast<int>(draw(0, c.in[k].rank() - 1))];
  if (draw(0, 2) == 0)
    e = now;
  else
    replace(c, i64{e}, now);
  if (draw(0, 2) == 0) shrink_others(c, now);
}

// An extent of a class.
i64 extent_of(const std::string& value, Draw& draw) {
  for (i64 w : kWidths)
    if (value == beside(w)) return w + draw(-1, 1);
  return value == kOnes ? 1 : kDeep;
}

// Changes at random what an axis is about.
void aim(Case& c, const Feature& f, Draw& draw) {
  if (f.axis.starts_with("attribute") && draw(0, 3) == 0) shrink_others(c, 1);
  if (f.axis == "memory") c.layout = static_cast<Layout>(draw(0, kLayouts - 1));
  for (std::size_t i = 0; i < c.attrs.size(); ++i) {
    const AttrInfo& info = c.op->attrs[static_cast<int>(i)];
    if (f.axis != "attribute " + std::string(info.name)) continue;
    const auto reps = representatives(info.range);
    const auto any = [&] { return reps[static_cast<std::size_t>(draw(0, std::ssize(reps) - 1))]; };
    Attr& v = c.attrs[i];
    if (info.kind == Kind::optional_integer) v = {info.kind, draw(0, 3) == 0, {}};
    if (info.kind == Kind::tuple && draw.coin())
      v.ints =
          Tuple::filled(static_cast<int>(draw(info.entries.min, min(6, info.entries.max))), any());
    else if (info.kind != Kind::tuple && !v.none)
      v.ints = {any()};
    else if (v.ints.size > 0)
      v.ints[static_cast<int>(draw(0, v.ints.size - 1))] = any();
  }
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    const std::string of = " of " + name_of_port(*c.op, port_of(*c.op, k));
    if (f.axis == "precision" + of) c.in[k].precision = static_cast<int>(draw(1, kMaxPrecision));
    if (f.axis == "rank" + of) set(c, {Knob::rank, static_cast<int>(k)}, draw(1, kMaxRank));
    if (f.axis != "shape" + of) continue;
    change_extent(c, k, extent_of(f.value, draw), draw);
  }
}

}  // namespace

std::vector<Feature> call_features(const OpInfo& op) {
  std::vector<Feature> all;
  for (const AttrInfo& f : op.attrs)
    for (const std::string& s : classes_of(f))
      all.push_back({"attribute " + std::string(f.name), s});
  const Port& last = op.inputs[op.inputs.size() - 1];
  if (last.arity == Arity::variadic)
    for (const char* n : {"1", "2", "3", "many"}) all.push_back({"number of inputs", n});
  if (last.arity == Arity::optional)
    for (int n : {-1, 0}) all.push_back({"number of inputs", count_class(op.inputs.size() + n)});
  for (int k = 0; k < op.inputs.size(); ++k) {
    const std::string of = " of " + name_of_port(op, k);
    for (i64 r = op.inputs[k].rank.min; r <= op.inputs[k].rank.max; ++r)
      all.push_back({"rank" + of, std::to_string(r)});
    for (const Interval& p : kPrecisions) all.push_back({"precision" + of, precision_class(p.min)});
    all.push_back({"shape" + of, kOnes});
    for (i64 w : kWidths) all.push_back({"shape" + of, beside(w)});
    all.push_back({"shape" + of, "deep"});
  }
  for (int l = 0; l < kLayouts; ++l)
    all.push_back({"memory", std::string(name_of(static_cast<Layout>(l)))});
  return all;
}

std::vector<Feature> call_features(const Case& c) {
  const OpInfo& op = *c.op;
  std::vector<Feature> all;
  for (int i = 0; i < op.attrs.size(); ++i)
    for (const std::string& s : classes_of(op.attrs[i], c.attrs[static_cast<std::size_t>(i)]))
      all.push_back({"attribute " + std::string(op.attrs[i].name), s});
  if (op.inputs[op.inputs.size() - 1].arity != Arity::one)
    all.push_back({"number of inputs", count_class(std::ssize(c.in))});
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    const std::string of = " of " + name_of_port(op, port_of(op, k));
    all.push_back({"rank" + of, std::to_string(c.in[k].rank())});
    all.push_back({"precision" + of, precision_class(c.in[k].precision)});
    for (i64 e : c.in[k].shape)
      for (const std::string& s : classes_of_extent(e)) all.push_back({"shape" + of, s});
  }
  all.push_back({"memory", std::string(name_of(c.layout))});
  return distinct(std::move(all));
}

std::vector<Feature> value_features(const OpInfo& op) {
  std::vector<Feature> all;
  for (int k = 0; k < op.inputs.size(); ++k) {
    const std::string axis = "values of " + name_of_port(op, k);
    for (const char* s :
         {"a zero", "all negative", "all positive", "both signs", "the largest", "the smallest"})
      all.push_back({axis, s});
    if (op.inputs[k].hint == Hint::index || op.inputs[k].hint == Hint::count)
      for (const char* s : {"inside", "beyond the end"}) all.push_back({axis, s});
  }
  return all;
}

std::vector<Feature> value_features(const Case& c, const std::vector<Tensor>& in) {
  const OpInfo& op = *c.op;
  std::vector<Feature> all;
  for (std::size_t k = 0; k < in.size(); ++k) {
    const int port = port_of(op, k);
    const Type& table = c.in[k == 0 && in.size() > 1 ? 1 : 0];
    for (const std::string& s : classes_of_values(op.inputs[port].hint, in[k], table.shape))
      all.push_back({"values of " + name_of_port(op, port), s});
  }
  return distinct(std::move(all));
}

bool is_constant(const std::vector<Tensor>& out) {
  return std::all_of(out.begin(), out.end(), [](const Tensor& t) {
    return std::all_of(t.data.begin(), t.data.end(), [&](i32 v) { return v == t.data[0]; });
  });
}

std::optional<Case> attempt(const OpInfo& op, const std::vector<Feature>& wanted, i64 most, int n,
                            Draw& draw) {
  Case c = n % 3 == 0 ? varied_case(op, draw) : draw_case(op, draw);
  if (n % 3 != 1)
    for (const Feature& f : wanted) aim(c, f, draw);
  if (refusal(c).refused() || elements_of(c) > most) return std::nullopt;
  return c;
}

std::optional<Case> aimed_case(const OpInfo& op, const Feature& f, i64 most, int tries,
                               Draw& draw) {
  for (int n = 0; n < tries; ++n) {
    std::optional<Case> c = attempt(op, {f}, most, n, draw);
    if (!c) continue;
    const std::vector<Feature> shown = call_features(*c);
    if (std::find(shown.begin(), shown.end(), f) != shown.end()) return c;
  }
  return std::nullopt;
}

}  // namespace lockstep::judge
