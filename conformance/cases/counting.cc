#include "conformance/cases/counting.h"

#include <algorithm>

#include "conformance/cases/fill.h"

namespace lockstep::judge {
namespace {

constexpr i64 kChunk = i64{1} << 19;  // elements of a call: all of its copies stay in a cache
constexpr i64 kNarrow = 32;           // an attribute with at most so many values gets all of them

std::vector<i64> choices(const AttrInfo& f) {
  std::vector<i64> all;
  if (f.range.max - f.range.min < kNarrow) {
    for (i64 v = f.range.min; v <= f.range.max; ++v) all.push_back(v);
    return all;
  }
  for (int k : {0, 1, 4, 7, 8, 15, 16, 23, 24, 25, 30, 31})
    for (i64 v : {(i64{1} << k) - 1, i64{1} << k})
      for (i64 signed_v : {v, -v})
        if (f.range.contains(signed_v)) all.push_back(signed_v);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

enum class Booleans { alternate, both };

// Every combination of attributes, legal or not. Alternating booleans keep their number small.
std::vector<std::vector<Attr>> attribute_settings(const OpInfo& op, Booleans booleans) {
  std::vector<std::vector<Attr>> all(1);
  for (const AttrInfo& f : op.attrs) {
    std::vector<std::vector<Attr>> more;
    for (const std::vector<Attr>& some : all) {
      const auto add = [&](const Attr& v) {
        more.push_back(some);
        more.back().push_back(v);
      };
      if (f.kind == AttrKind::integer)
        for (i64 v : choices(f)) add({f.kind, false, {v}});
      else if (f.kind == AttrKind::boolean && booleans == Booleans::both)
        for (i64 v : {1, 0}) add({f.kind, false, {v}});
      else if (f.kind == AttrKind::boolean)
        add({f.kind, false, {static_cast<i64>(more.size() % 2)}});
      else
        add(f.fallback);
    }
    all = std::move(more);
  }
  return all;
}

// Gives the last input the widest legal precision; false if none is legal.
bool widen(Case& c) {
  for (int p = kMaxPrecision; p >= 1; --p) {
    c.in.back().precision = p;
    if (!refusal(c).refused()) return true;
  }
  return false;
}

// Every setting, as a call of one element.
std::vector<Case> settings(const OpInfo& op) {
  std::vector<Case> all;
  if (!is_enumerable(op)) return all;
  Case c;
  c.op = &op;
  for (std::vector<Attr>& attrs : attribute_settings(op, Booleans::alternate)) {
    c.attrs = std::move(attrs);
    c.in.assign(static_cast<std::size_t>(op.inputs.size()), Type{{1}, kMaxPrecision});
    if (c.in.size() == 1) {
      if (widen(c)) all.push_back(c);
      continue;
    }
    for (int p : {32, 31, 25, 16, 8, 1}) {
      for (Type& t : c.in) t.precision = p;
      if (widen(c)) all.push_back(c);
    }
  }
  return all;
}

}  // namespace

bool is_enumerable(const OpInfo& op) {
  const bool once = std::all_of(
      op.inputs.begin(), op.inputs.end(), [](const Port& p) { return p.arity == Arity::one; });
  const bool plain = std::all_of(op.attrs.begin(), op.attrs.end(), [](const AttrInfo& f) {
    return f.kind != AttrKind::tuple && f.kind != AttrKind::optional_integer;
  });
  return op.profile == "ELEM" && op.pointwise && once && plain;
}

std::vector<Case> edge_cases(const OpInfo& op) {
  std::vector<Case> all = settings(op);
  for (std::size_t n = 0; n < all.size(); ++n) {
    Case& c = all[n];
    i64 elements = 1;
    for (const Type& t : c.in) elements *= std::ssize(edge_values(t.precision, c.in.size()));
    for (Type& t : c.in) t.shape = {elements};
    c.fill = Fill::edges;
    c.layout = static_cast<Layout>(1 + n % (kLayouts - 1));
  }
  return all;
}

std::vector<Case> range_cases(const OpInfo& op, u64 seed, int count) {
  if (op.inputs.size() != 1) return {};
  std::vector<Case> all = settings(op), ranges;
  for (int n = 0; n < count && !all.empty(); ++n) {
    const auto k = word(seed, 21, static_cast<u64>(n)) % all.size();
    Case c = std::move(all[k]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(k));
    const i64 values = 2 * max_of(c.in[0].precision) + 1;
    c.fill = Fill::range;
    for (i64 from = 0; from < values; from += kChunk) {
      c.seed = static_cast<u64>(from);
      c.in[0].shape = {min(kChunk, values - from)};
      ranges.push_back(c);
    }
  }
  return ranges;
}

std::vector<Case> value_settings(const OpInfo& op, int precision) {
  std::vector<Case> all;
  for (std::vector<Attr>& attrs : attribute_settings(op, Booleans::both)) {
    Case c{.op = &op, .attrs = std::move(attrs), .in = {Type{{1}, precision}}};
    if (!refusal(c).refused()) all.push_back(std::move(c));
  }
  return all;
}

bool has_wide_attribute(const OpInfo& op) {
  return std::any_of(op.attrs.begin(), op.attrs.end(), [](const AttrInfo& f) {
    return f.kind == AttrKind::integer && f.range.max - f.range.min >= kNarrow;
  });
}

}  // namespace lockstep::judge
