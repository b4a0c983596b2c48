#include "conformance/cases/boundary.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "conformance/cases/item.h"
#include "conformance/cases/mutate.h"

namespace lockstep::judge {
namespace {

constexpr std::size_t kKnobbedInputs = 3;

Type& input(Case& c, const Knob& k) { return c.in[static_cast<std::size_t>(k.which)]; }
const Type& input(const Case& c, const Knob& k) { return c.in[static_cast<std::size_t>(k.which)]; }
Attr& attribute(Case& c, const Knob& k) { return c.attrs[static_cast<std::size_t>(k.which)]; }
const Attr& attribute(const Case& c, const Knob& k) {
  return c.attrs[static_cast<std::size_t>(k.which)];
}

void add_knobs(const Attr& v, int which, std::vector<Knob>& all) {
  switch (v.kind) {
    case AttrKind::word:
      return;
    case AttrKind::boolean:
      all.push_back({Knob::flag, which});
      return;
    case AttrKind::tuple:
      all.push_back({Knob::entries, which});
      break;
    case AttrKind::optional_integer:
      all.push_back({Knob::none, which});
      break;
    case AttrKind::integer:
      break;
  }
  for (int i = 0; i < min(v.ints.size, kMaxTuple); ++i) all.push_back({Knob::entry, which, i});
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
    for (const Knob& k : knobs(origin)) {
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

  void add(const Case& origin, const Knob& k, Interval values) {
    Boundary b{origin, origin, {}, k};
    set(b.legal, k, values.min);
    set(b.illegal, k, values.max);
    b.label = refusal(b.illegal).label();
    seen_.insert(b.label);
    const Identity kind{b.label, k.what, k.which, values.min < values.max};
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

std::vector<Knob> knobs(const Case& c) {
  std::vector<Knob> all = {{Knob::count}};
  for (std::size_t i = 0; i < c.attrs.size(); ++i) add_knobs(c.attrs[i], static_cast<int>(i), all);
  for (std::size_t i = 0; i < std::min(c.in.size(), kKnobbedInputs); ++i) {
    const int which = static_cast<int>(i);
    all.push_back({Knob::rank, which});
    for (int d = 0; d < min(c.in[i].rank(), kMaxRank); ++d) all.push_back({Knob::extent, which, d});
    all.push_back({Knob::precision, which});
  }
  return all;
}

i64 value_of(const Case& c, const Knob& k) {
  switch (k.what) {
    case Knob::count:
      return std::ssize(c.in);
    case Knob::rank:
      return input(c, k).rank();
    case Knob::extent:
      return input(c, k).dim(k.at);
    case Knob::precision:
      return input(c, k).precision;
    case Knob::entries:
      return attribute(c, k).ints.size;
    case Knob::entry:
    case Knob::flag:
      return attribute(c, k).ints[k.at];
    case Knob::none:
      break;
  }
  return attribute(c, k).none;
}

void set(Case& c, const Knob& k, i64 v) {
  switch (k.what) {
    case Knob::count:
      c.in.resize(static_cast<std::size_t>(v), c.in.empty() ? Type{} : c.in.back());
      return;
    case Knob::rank: {
      Shape& s = input(c, k).shape;
      while (s.size < v) s.push(1);
      s.size = static_cast<int>(v);
      return;
    }
    case Knob::extent:
      input(c, k).shape[k.at] = v;
      return;
    case Knob::precision:
      input(c, k).precision = static_cast<int>(v);
      return;
    case Knob::entries: {
      Tuple& t = attribute(c, k).ints;
      const Range legal = c.op->attrs[k.which].range;
      while (t.size < v) t.push(t.size > 0 ? t[t.size - 1] : clamp(1, legal.min, legal.max));
      t.size = static_cast<int>(v);
      return;
    }
    case Knob::entry:
    case Knob::flag:
      attribute(c, k).ints[k.at] = v;
      return;
    case Knob::none:
      attribute(c, k) = {AttrKind::optional_integer, v == 1, v == 1 ? Tuple{} : Tuple{0}};
  }
}

Range turns(const Case& c, const Knob& k) {
  switch (k.what) {
    case Knob::count: {
      const Port& last = c.op->inputs[c.op->inputs.size() - 1];
      return {0, last.arity == Arity::variadic ? kMaxInputs + 1 : c.op->inputs.size() + 1};
    }
    case Knob::rank:
      return {0, kMaxRank + 1};
    case Knob::extent:
      return {0, kMaxExtent + 1};
    case Knob::precision:
      return {0, kMaxPrecision + 1};
    case Knob::entries:
      return {0, kMaxTuple + 1};
    case Knob::entry: {
      const Range legal = c.op->attrs[k.which].range;
      return {legal.min > INT64_MIN ? legal.min - 1 : legal.min,
              legal.max < INT64_MAX ? legal.max + 1 : legal.max};
    }
    case Knob::flag:
    case Knob::none:
      break;
  }
  return {0, 1};
}

// Doubles the step until the call is illegal, then bisects.
std::optional<Interval> boundary_of(const Case& origin, const Knob& k, i64 end) {
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
  return Interval{good, bad};
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
  for (const Knob& k : knobs(c)) {
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
