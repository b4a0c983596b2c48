#include "conformance/cases/mutate.h"

#include <map>

#include "spec/explain.h"

namespace lockstep::judge {
namespace {

i64 neighbour(i64 v, Range legal, Draw& draw) {
  switch (draw(0, 5)) {
    case 0: return v == INT64_MAX ? v : v + 1;
    case 1: return v == INT64_MIN ? v : v - 1;
    case 2: return v == INT64_MIN ? v : -v;
    case 3: return legal.min;
    case 4: return legal.max;
    default: return draw(-8, 8);
  }
}

void change_attribute(Case& c, Draw& draw) {
  if (c.attrs.empty()) return;
  const auto k = static_cast<std::size_t>(draw(0, std::ssize(c.attrs) - 1));
  const AttrInfo& f = c.op->attrs[static_cast<int>(k)];
  Attr& v = c.attrs[k];
  const i64 how = draw(0, 7);
  if (f.kind == AttrKind::word) return;
  if (f.kind == AttrKind::boolean) {
    v.ints[0] = 1 - v.ints[0];
  } else if (f.kind == AttrKind::tuple && how == 0) {
    v.ints.push(draw(-1, 2));
  } else if (f.kind == AttrKind::tuple && how == 1) {
    if (v.ints.size > 0) --v.ints.size;
  } else if (f.kind == AttrKind::tuple && how == 2) {
    const i64 all = draw.coin() ? f.range.max : f.range.min;
    for (int i = 0; i < v.ints.size; ++i) v.ints[i] = all;
  } else if (f.kind == AttrKind::optional_integer && how == 0) {
    v = {f.kind, !v.none, v.none ? Tuple{0} : Tuple{}};
  } else if (v.ints.size > 0) {
    i64& e = v.ints[static_cast<int>(draw(0, v.ints.size - 1))];
    e = neighbour(e, f.range, draw);
  }
}

Type& some_input(Case& c, Draw& draw) {
  return c.in[static_cast<std::size_t>(draw(0, std::ssize(c.in) - 1))];
}

void change_extent(Case& c, Draw& draw) {
  Type& t = some_input(c, draw);
  if (t.rank() == 0) return;
  i64& e = t.shape[static_cast<int>(draw(0, min(t.rank(), kMaxRank) - 1))];
  switch (draw(0, 4)) {
    case 0: e = 0; break;
    case 1: e = kMaxExtent + 1; break;
    case 2: e = max(e - 1, 0); break;
    default: ++e;
  }
}

void change_everywhere(Case& c, Draw& draw) {
  const Type& t = some_input(c, draw);
  if (t.rank() == 0) return;
  const i64 old = t.shape[static_cast<int>(draw(0, min(t.rank(), kMaxRank) - 1))];
  const i64 now = draw.coin() ? old + 1 : i64{1} << draw(10, 24);
  replace_number(c, old, now);
}

// Spreads 2^30 elements, or twice as many, over the axes of one input.
void inflate(Case& c, Draw& draw) {
  Type& t = some_input(c, draw);
  if (t.rank() == 0 || t.rank() > kMaxRank) return;
  i64 bits = draw(29, 31);
  for (int d = 0; d < t.rank(); ++d) {
    const i64 b = d == t.rank() - 1 ? min(bits, 24) : draw(0, min(bits, 24));
    t.shape[d] = i64{1} << b;
    bits -= b;
  }
}

void change_rank(Case& c, Draw& draw) {
  Shape& s = some_input(c, draw).shape;
  if (draw.coin())
    s.push(draw(1, 2));
  else if (s.size > 0)
    --s.size;
}

void change_count(Case& c, Draw& draw) {
  if (draw(0, 9) == 0) {
    c.in.resize(kMaxInputs + 1, c.in[0]);
  } else if (draw.coin()) {
    const Type copy = c.in.back();
    c.in.push_back(copy);
  } else if (c.in.size() > 1 || draw(0, 3) == 0) {
    c.in.pop_back();
  }
}

void change_precision(Case& c, Draw& draw) {
  static constexpr int kEdges[] = {0, 9, 31, 32, 33, -1};
  int& p = some_input(c, draw).precision;
  p = draw.coin() ? p + static_cast<int>(draw(-1, 1)) : kEdges[draw(0, std::size(kEdges) - 1)];
}

}  // namespace

void replace_number(Case& c, i64 old, i64 now) {
  for (Type& t : c.in)
    for (int d = 0; d < min(t.rank(), kMaxRank); ++d)
      if (t.shape[d] == old) t.shape[d] = now;
  for (Attr& v : c.attrs)
    for (int i = 0; v.kind != AttrKind::boolean && i < min(v.ints.size, kMaxTuple); ++i)
      if (v.ints[i] == old) v.ints[i] = now;
}

void mutate(Case& c, Draw& draw) {
  if (c.in.empty()) return;
  switch (draw(0, 9)) {
    case 0: return change_count(c, draw);
    case 1: return change_rank(c, draw);
    case 2: return change_precision(c, draw);
    case 3: return change_extent(c, draw);
    case 4: return change_everywhere(c, draw);
    case 5: return inflate(c, draw);
    default: return change_attribute(c, draw);
  }
}

std::vector<std::string> typed_labels(const OpInfo& op) {
  std::vector<std::string> labels;
  for (const SharedLabel& l : kSharedLabels)
    if (l.typed) labels.emplace_back(l.label);
  for (const OwnLabel& l : own_labels(op)) labels.push_back(l.label);
  return labels;
}

std::vector<Case> illegal_cases(const OpInfo& op, u64 seed, int per_label) {
  // Enough attempts to reach the rarest label of every operator many times.
  constexpr int kAttempts = 400'000;
  std::map<std::string, std::vector<Case>> found;
  const std::vector<std::string> labels = typed_labels(op);
  for (const std::string& l : labels) found[l];
  std::size_t open = labels.size();
  Seeded draw(mix(seed));
  for (int attempt = 0; attempt < kAttempts && open > 0; ++attempt) {
    Case c = draw_case(op, draw);
    c.fill = Fill::zero;
    // Few changes first: a call close to a legal one tests one rule.
    for (i64 n = draw(1, 1 + attempt % 4); n > 0; --n) mutate(c, draw);
    const Refusal r = refusal(c);
    if (!r.refused() || r.scope == "attr") continue;
    std::vector<Case>& cases = found[r.label()];
    if (static_cast<int>(cases.size()) >= per_label) continue;
    c.seed = static_cast<u64>(attempt);
    cases.push_back(std::move(c));
    if (static_cast<int>(cases.size()) == per_label) --open;
  }
  std::vector<Case> all;
  for (const std::string& l : labels) all.insert(all.end(), found[l].begin(), found[l].end());
  return all;
}

}  // namespace lockstep::judge
