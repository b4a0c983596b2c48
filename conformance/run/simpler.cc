#include "conformance/run/simpler.h"

#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "conformance/cases/boundary.h"
#include "conformance/cases/exhaustive.h"
#include "conformance/cases/item.h"

namespace lockstep::judge {
namespace {

constexpr i64 kFewValues = 8;   // that are written out although they are all equal
constexpr i64 kMaxRows = 1024;  // written out with rows of boxes, which no recipe makes small

// RapidCheck's sequence of smaller integers, starting at the target. It halves the distance and
// might try only even numbers, so the neighbours of the target and of the middle are added.
std::vector<i64> smaller(i64 v, i64 target) {
  constexpr std::size_t kWithNeighbour = 2;
  const i64 away = v > target ? 1 : -1;
  std::vector<i64> all;
  auto seq = rc::shrink::towards(v, target);
  for (std::size_t n = 0; auto next = seq.next(); ++n) {
    all.push_back(*next);
    if (n < kWithNeighbour && *next + away != v) all.push_back(*next + away);
  }
  return all;
}

void fewer_inputs(const Case& c, Candidates& out) {
  for (std::size_t k = 0; c.in.size() > 1 && k < c.in.size(); ++k) {
    Case s = c;
    s.in.erase(s.in.begin() + static_cast<std::ptrdiff_t>(k));
    if (!c.data.empty()) s.data.erase(s.data.begin() + static_cast<std::ptrdiff_t>(k));
    out.push_back(s);
  }
}

// Adds calls that enumerate values, but from a later number on.
void later_numbers(const Case& c, Candidates& out) {
  if ((c.fill != Fill::range && c.fill != Fill::edges) || c.in.empty()) return;
  const Shape& all = c.in[0].shape;
  for (const Type& t : c.in)
    if (t.rank() != 1 || t.shape != all) return;
  for (i64 left : smaller(all[0], 1)) {
    Case s = c;
    s.seed += static_cast<u64>(all[0] - left);
    for (Type& t : s.in) t.shape = {left};
    out.push_back(s);
  }
}

// Adds calls with a smaller extent, replaced everywhere, also in attributes, so that they stay
// legal.
void smaller_extents(const Case& c, Candidates& out) {
  if (c.fill == Fill::literal) return;
  std::vector<i64> extents;
  for (const Type& t : c.in)
    for (i64 e : t.shape)
      if (std::find(extents.begin(), extents.end(), e) == extents.end()) extents.push_back(e);
  for (i64 old : extents)
    for (i64 now : smaller(old, 1)) {
      Case s = c;
      for (Type& t : s.in)
        for (int d = 0; d < min(t.rank(), kMaxRank); ++d)
          if (t.shape[d] == old) t.shape[d] = now;
      for (std::size_t k = 0; k < s.attrs.size(); ++k)
        for (int i = 0; s.op->attrs[static_cast<int>(k)].kind != AttrKind::boolean &&
             i < min(s.attrs[k].ints.size, kMaxTuple);
             ++i)
          if (s.attrs[k].ints[i] == old) s.attrs[k].ints[i] = now;
      out.push_back(s);
    }
  for (std::size_t k = 0; k < c.in.size(); ++k)
    for (int d = 0; d < min(c.in[k].rank(), kMaxRank); ++d)
      for (i64 now : smaller(c.in[k].shape[d], 1)) {
        Case s = c;
        s.in[k].shape[d] = now;
        out.push_back(s);
      }
}

// Whether the first input holds rows (B, n, K) of scores and boxes.
bool has_rows(const OpInfo& op) {
  return op.inputs.size() > 0 &&
      (op.inputs[0].hint == Hint::boxes || op.inputs[0].hint == Hint::score);
}

// A count of rows after some are cut.
i64 without(i64 count, i64 first, i64 gone) {
  return count - std::clamp<i64>(count - first, 0, gone);
}

// The literal case without some rows; counts of rows follow.
Case cut_rows(const Case& c, i64 first, i64 count) {
  Case s = c;
  const Shape& x = c.in[0].shape;
  s.in[0].shape.item[1] -= count;
  s.data[0].clear();
  for (std::size_t i = 0; i < c.data[0].size(); ++i)
    if (const i64 row = static_cast<i64>(i) / x[2] % x[1]; row < first || row >= first + count)
      s.data[0].push_back(c.data[0][i]);
  for (std::size_t k = 1; k < c.in.size(); ++k)
    for (i64& v : s.data[k])
      if (c.op->inputs[static_cast<int>(k)].hint == Hint::count) v = without(v, first, count);
  return s;
}

// The literal case without one batch, the first axis of every input.
Case cut_batch(const Case& c, i64 batch) {
  Case s = c;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    const i64 rest = volume(c.in[k].shape) / c.in[k].dim(0);
    const auto first = s.data[k].begin() + batch * rest;
    s.data[k].erase(first, first + rest);
    --s.in[k].shape.item[0];
  }
  return s;
}

// The literal case without some positions of every axis of this extent, also in attributes.
Case cut(const Case& c, i64 extent, i64 first, i64 count) {
  Case s = c;
  const auto gone = [&](i64 i) { return first <= i && i < first + count; };
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    const Shape& shape = c.in[k].shape;
    s.data[k].clear();
    Index at = Index::filled(shape.size, 0);
    for (i64 v : c.data[k]) {
      bool kept = true;
      for (int d = 0; d < shape.size; ++d) kept = kept && !(shape[d] == extent && gone(at[d]));
      if (kept) s.data[k].push_back(v);
      next(at, shape);
    }
    for (i64& e : s.in[k].shape.item)
      if (e == extent) e -= count;
  }
  for (std::size_t k = 0; k < s.attrs.size(); ++k)
    for (int i = 0; s.op->attrs[static_cast<int>(k)].kind != AttrKind::boolean &&
         i < min(s.attrs[k].ints.size, kMaxTuple);
         ++i)
      if (s.attrs[k].ints[i] == extent) s.attrs[k].ints[i] -= count;
  return s;
}

// Parts of an axis: halves, then smaller ones, then single positions. @param f takes first, count
template <class F> void each_part(i64 extent, F f) {
  for (i64 size = extent / 2; size > 1; size /= 2)
    for (i64 first = 0; first < extent; first += size) f(first, min(size, extent - first));
  for (i64 i = 0; extent > 1 && i < extent; ++i) f(i, i64{1});
}

void fewer_positions(const Case& c, Candidates& out) {
  if (c.fill != Fill::literal || refusal(c).refused()) return;
  if (has_rows(*c.op)) {
    each_part(c.in[0].dim(1), [&](i64 first, i64 n) { out.push_back(cut_rows(c, first, n)); });
    for (i64 b = 0; c.in[0].dim(0) > 1 && b < c.in[0].dim(0); ++b) out.push_back(cut_batch(c, b));
  }
  std::set<i64> extents;
  for (const Type& t : c.in) extents.insert(t.shape.begin(), t.shape.end());
  for (i64 e : extents) {
    if (e > 3) {
      out.push_back(cut(c, e, 0, e / 2));
      out.push_back(cut(c, e, e / 2, e - e / 2));
    }
    for (i64 i = 0; e > 1 && i < e; ++i) out.push_back(cut(c, e, i, 1));
  }
}

void lower_ranks(const Case& c, Candidates& out) {
  int top = 0;
  for (const Type& t : c.in) top = std::max(top, t.rank());
  for (int d = 0; d < min(top, kMaxRank); ++d) {
    Case s = c;
    // Without the axis, written-out values stay in place only if it has one position.
    const auto stays = [&](const Type& t) {
      return d >= t.rank() || t.rank() < 2 || (c.fill == Fill::literal && t.shape[d] != 1);
    };
    for (Type& t : s.in) {
      if (stays(t)) continue;
      Shape less;
      for (int e = 0; e < min(t.rank(), kMaxRank); ++e)
        if (e != d) less.push(t.shape[e]);
      t.shape = less;
    }
    out.push_back(s);
  }
}

void simpler_attributes(const Case& c, Candidates& out) {
  for (std::size_t k = 0; k < c.attrs.size(); ++k) {
    const AttrInfo& f = c.op->attrs[static_cast<int>(k)];
    Case s = c;
    if (!f.required && !(c.attrs[k] == f.fallback)) {
      s.attrs[k] = f.fallback;
      out.push_back(s);
    }
    if (f.kind == AttrKind::tuple && c.attrs[k].ints.size > 0) {
      s = c;
      --s.attrs[k].ints.size;
      out.push_back(s);
    }
    if (f.kind == AttrKind::word || f.kind == AttrKind::boolean) continue;
    for (int i = 0; i < min(c.attrs[k].ints.size, kMaxTuple); ++i) {
      const bool has_default = !f.required && i < f.fallback.ints.size;
      const i64 target = has_default ? f.fallback.ints[i] : clamp(1, f.range.min, f.range.max);
      for (i64 now : smaller(c.attrs[k].ints[i], target)) {
        s = c;
        s.attrs[k].ints[i] = now;
        out.push_back(s);
      }
    }
  }
}

void simpler_memory(const Case& c, Candidates& out) {
  if (c.layout == Layout::compact) return;
  Case s = c;
  for (Layout l : {Layout::compact, Layout::padded, Layout::offset, Layout::permuted}) {
    if (l >= c.layout) break;
    s.layout = l;
    out.push_back(s);
  }
}

// How many values a case has; INT64_MAX if a precision is illegal.
i64 values_of(const Case& c) {
  i64 n = 0;
  for (const Type& t : c.in) {
    if (t.precision < 1 || t.precision > kMaxPrecision) return INT64_MAX;
    n += volume(t.shape);
  }
  return n;
}

bool worth_writing(const Case& c) {
  const i64 n = values_of(c);
  return c.fill == Fill::constant ? n <= kFewValues
                                  : n <= (has_rows(*c.op) ? kMaxRows : kMaxLiteral);
}

// The case with the largest value of each input everywhere.
Case with_constants(const Case& c) {
  Case s = c;
  s.fill = Fill::constant;
  s.seed = 0;
  s.data.clear();
  for (const Tensor& t : inputs_of(c)) {
    i64 largest = 0;
    for (i64 v : t.data)
      if (std::abs(v) > std::abs(largest)) largest = v;
    s.data.push_back({largest});
  }
  return s;
}

// Written-out values that are all equal, as a recipe.
void equal_values(const Case& c, Candidates& out) {
  const bool equal = std::all_of(c.data.begin(), c.data.end(), [](const std::vector<i64>& v) {
    return !v.empty() && std::count(v.begin(), v.end(), v[0]) == std::ssize(v);
  });
  if (equal && values_of(c) > kFewValues && values_of(c) < INT64_MAX)
    out.push_back(with_constants(c));
}

void simpler_recipe(const Case& c, Candidates& out) {
  if (worth_writing(c)) out.push_back(with_literal_data(c));
  if (c.fill == Fill::constant) return;
  for (Fill f : {Fill::zero, Fill::one, Fill::max}) {
    if (f >= c.fill) break;
    Case s = c;
    s.fill = f;
    out.push_back(s);
  }
}

void simpler_values(const Case& c, Candidates& out) {
  if (c.fill == Fill::literal)
    equal_values(c, out);
  else
    simpler_recipe(c, out);
  for (std::size_t k = 0; k < c.data.size(); ++k) {
    Case s = c;
    std::fill(s.data[k].begin(), s.data[k].end(), 0);
    if (s.data[k] != c.data[k]) out.push_back(s);
    for (std::size_t i = 0; i < c.data[k].size(); ++i)
      for (i64 now : smaller(c.data[k][i], 0)) {
        s = c;
        s.data[k][i] = now;
        out.push_back(s);
      }
  }
}

}  // namespace

Candidates simpler(const Case& c) {
  Candidates all;
  fewer_inputs(c, all);
  lower_ranks(c, all);
  later_numbers(c, all);
  smaller_extents(c, all);
  fewer_positions(c, all);
  simpler_attributes(c, all);
  simpler_memory(c, all);
  simpler_values(c, all);
  // A candidate equal to the case itself would make the descent endless.
  std::erase_if(all, [id = case_id(c)](const Case& s) { return case_id(s) == id; });
  return all;
}

Candidates near_the_simplest(const Case& c) {
  constexpr int kDeviations = 2;
  constexpr std::size_t kMost = 60;
  if (what_of(c) != Item::legal) return {};
  const Case largest = with_constants(c);
  Candidates all;
  Exhaustive draw(kDeviations);
  do {
    Case s = draw_case(*c.op, draw);
    if (s.in.size() != c.in.size()) continue;
    for (std::size_t k = 0; k < s.in.size(); ++k) s.in[k].precision = c.in[k].precision;
    if (refusal(s).refused() || elements_of(s) >= elements_of(c)) continue;
    s.fill = Fill::constant;
    s.data = largest.data;
    all.push_back(values_of(s) <= kFewValues ? with_literal_data(s) : s);
  } while (draw.next());
  std::stable_sort(all.begin(), all.end(),
      [](const Case& a, const Case& b) { return elements_of(a) < elements_of(b); });
  all.resize(std::min(all.size(), kMost));
  return all;
}

}  // namespace lockstep::judge
