#include "conformance/cases/boundary.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "conformance/cases/item.h"
#include "conformance/cases/mutate.h"

namespace lockstep::judge {
namespace {

constexpr std::size_t kVariedInputs = 3;

Type& input(Case& c, const Parameter& k) { return c.in[static_cast<std::size_t>(k.which)]; }
const Type& input(const Case& c, const Parameter& k) {
  return c.in[static_cast<std::size_t>(k.which)];
}
Attr& attribute(Case& c, const Parameter& k) { return c.attrs[static_cast<std::size_t>(k.which)]; }
const Attr& attribute(const Case& c, const Parameter& k) {
  return c.attrs[static_cast<std::size_t>(k.which)];
}

void add_parameters(const Attr& v, int which, std::vector<Parameter>& all) {
  switch (v.kind) {
    case AttrKind::word: return;
    case AttrKind::boolean: all.push_back({Parameter::flag, which}); return;
    case AttrKind::tuple: all.push_back({Parameter::entries, which}); break;
    case AttrKind::optional_integer: all.push_back({Parameter::none, which}); break;
    case AttrKind::integer: break;
  }
  for (int i = 0; i < min(v.ints.size, kMaxTuple); ++i) all.push_back({Parameter::entry, which, i});
}

u64 apart(i64 a, i64 b) {
  return a < b ? static_cast<u64>(b) - static_cast<u64>(a)
               : static_cast<u64>(a) - static_cast<u64>(b);
}

// The value `by` steps from v towards `end`, or `end` itself if it is nearer.
i64 towards(i64 v, i64 end, u64 by) {
  if (by >= apart(v, end)) return end;
  return static_cast<i64>(v < end ? static_cast<u64>(v) + by : static_cast<u64>(v) - by);
}

// Collects boundaries and keeps, of each kind, the one whose legal call is smallest.
class Collection {
 public:
  explicit Collection(const OpInfo& op) : labels_(typed_labels(op)) {
    // A changed attribute can also get these two labels, which are judged first.
    labels_.insert(labels_.begin(), {"attr.length", "attr.range"});
  }
  // Looks for boundaries around a legal call.
  void look(const Case& origin) {
    for (const Parameter& k : parameters(origin)) {
      const Range range = turns(origin, k);
      for (i64 end : {range.min, range.max})
        if (const auto found = boundary_of(origin, k, end)) add(origin, k, *found);
    }
  }
  // Whether each label that calls with types can have has a boundary.
  bool complete() const {
    return std::all_of(labels_.begin() + 2, labels_.end(),
        [&](const std::string& l) { return seen_.contains(l); });
  }
  std::vector<Boundary> in_order() && {
    std::vector<Boundary> all;
    for (const std::string& l : labels_)
      for (auto& [kind, b] : found_)
        if (b.label == l) all.push_back(std::move(b));
    return all;
  }

 private:
  // What distinguishes boundaries: label, parameter without its axis or entry, direction.
  using Identity = std::tuple<std::string, int, int, bool>;

  void add(const Case& origin, const Parameter& k, Edge edge) {
    Boundary b{origin, origin, {}, k};
    set(b.legal, k, edge.legal);
    set(b.illegal, k, edge.illegal);
    b.label = refusal(b.illegal).label();
    seen_.insert(b.label);
    const Identity kind{b.label, k.what, k.which, edge.legal < edge.illegal};
    const auto at = found_.find(kind);
    if (at == found_.end())
      found_.emplace(kind, std::move(b));
    else if (elements_of(b.legal) < elements_of(at->second.legal))
      at->second = std::move(b);
  }

  std::vector<std::string> labels_;
  std::set<std::string> seen_;
  std::map<Identity, Boundary> found_;
};

}  // namespace

std::vector<Parameter> parameters(const Case& c) {
  std::vector<Parameter> all = {{Parameter::count}};
  for (std::size_t i = 0; i < c.attrs.size(); ++i)
    add_parameters(c.attrs[i], static_cast<int>(i), all);
  for (std::size_t i = 0; i < std::min(c.in.size(), kVariedInputs); ++i) {
    const int which = static_cast<int>(i);
    all.push_back({Parameter::rank, which});
    for (int d = 0; d < min(c.in[i].rank(), kMaxRank); ++d)
      all.push_back({Parameter::extent, which, d});
    all.push_back({Parameter::precision, which});
  }
  return all;
}

i64 value_of(const Case& c, const Parameter& k) {
  switch (k.what) {
    case Parameter::count: return std::ssize(c.in);
    case Parameter::rank: return input(c, k).rank();
    case Parameter::extent: return input(c, k).dim(k.at);
    case Parameter::precision: return input(c, k).precision;
    case Parameter::entries: return attribute(c, k).ints.size;
    case Parameter::entry:
    case Parameter::flag: return attribute(c, k).ints[k.at];
    case Parameter::none: break;
  }
  return attribute(c, k).none;
}

void set(Case& c, const Parameter& k, i64 v) {
  switch (k.what) {
    case Parameter::count:
      c.in.resize(static_cast<std::size_t>(v), c.in.empty() ? Type{} : c.in.back());
      return;
    case Parameter::rank: {
      Shape& s = input(c, k).shape;
      while (s.size < v) s.push(1);
      s.size = static_cast<int>(v);
      return;
    }
    case Parameter::extent: input(c, k).shape[k.at] = v; return;
    case Parameter::precision: input(c, k).precision = static_cast<int>(v); return;
    case Parameter::entries: {
      Tuple& t = attribute(c, k).ints;
      const Range legal = c.op->attrs[k.which].range;
      while (t.size < v) t.push(t.size > 0 ? t[t.size - 1] : clamp(1, legal.min, legal.max));
      t.size = static_cast<int>(v);
      return;
    }
    case Parameter::entry:
    case Parameter::flag: attribute(c, k).ints[k.at] = v; return;
    case Parameter::none:
      attribute(c, k) = {AttrKind::optional_integer, v == 1, v == 1 ? Tuple{} : Tuple{0}};
  }
}

Range turns(const Case& c, const Parameter& k) {
  switch (k.what) {
    case Parameter::count: {
      const Port& last = c.op->inputs[c.op->inputs.size() - 1];
      return {0, last.arity == Arity::variadic ? kMaxInputs + 1 : c.op->inputs.size() + 1};
    }
    case Parameter::rank: return {0, kMaxRank + 1};
    case Parameter::extent: return {0, kMaxExtent + 1};
    case Parameter::precision: return {0, kMaxPrecision + 1};
    case Parameter::entries: return {0, kMaxTuple + 1};
    case Parameter::entry: {
      const Range legal = c.op->attrs[k.which].range;
      return {legal.min > INT64_MIN ? legal.min - 1 : legal.min,
          legal.max < INT64_MAX ? legal.max + 1 : legal.max};
    }
    case Parameter::flag:
    case Parameter::none: break;
  }
  return {0, 1};
}

// Doubles the step until the call is illegal, then bisects.
std::optional<Edge> boundary_of(const Case& origin, const Parameter& k, i64 end) {
  const auto legal_at = [&](i64 v) {
    Case c = origin;
    set(c, k, v);
    return !refusal(c).refused();
  };
  i64 good = value_of(origin, k), bad = good;
  for (u64 step = 1; good != end && bad == good; step *= 2) {
    const i64 next = towards(good, end, step);
    if (legal_at(next))
      good = bad = next;
    else
      bad = next;
  }
  if (bad == good) return std::nullopt;
  while (apart(good, bad) > 1) {
    const i64 middle = towards(good, bad, apart(good, bad) / 2);
    (legal_at(middle) ? good : bad) = middle;
  }
  return Edge{good, bad};
}

std::vector<Boundary> boundaries(const OpInfo& op, u64 seed) {
  // kLeast draws find the rarest kind many times; a label that is still missing gets kMost.
  constexpr int kLeast = 150, kMost = 4000;
  Collection all(op);
  Seeded draw(word(seed, 2, 0));
  for (int n = 0; n < kLeast || (n < kMost && !all.complete()); ++n)
    all.look(n % 2 == 0 ? draw_case(op, draw) : varied_case(op, draw));
  return std::move(all).in_order();
}

std::vector<std::string> labels_beside(const Case& c) {
  std::set<std::string> labels;
  for (const Parameter& k : parameters(c)) {
    const Range range = turns(c, k);
    const i64 v = value_of(c, k);
    for (i64 end : {range.min, range.max}) {
      if (v == end) continue;
      Case beside = c;
      set(beside, k, towards(v, end, 1));
      labels.insert(refusal(beside).label());
    }
  }
  return {labels.begin(), labels.end()};
}

Case varied_case(const OpInfo& op, Draw& draw) {
  Case c = draw_case(op, draw);
  c.fill = Fill::zero;
  for (i64 n = draw(1, 4); n > 0; --n) {
    Case changed = c;
    mutate(changed, draw);
    if (!refusal(changed).refused()) c = std::move(changed);
  }
  return c;
}

}  // namespace lockstep::judge
