#include "conformance/cases/fill.h"

#include <algorithm>

namespace lockstep::judge {
namespace {

// One element, and what is known of its input.
struct Spot {
  const Case& c;
  int k;
  i64 i, n;  // element number, number of elements
  i64 a;     // the largest legal magnitude
  u64 word() const { return lockstep::word(c.seed, static_cast<u64>(k), static_cast<u64>(i)); }
};

i64 dense(const Spot& s) { return within(s.word(), -s.a, s.a); }

// Powers of two and their neighbours, at which narrower types end, with both signs.
i64 boundary(const Spot& s) {
  const u64 w = s.word();
  const i64 power = i64{1} << within(w, 0, 31);
  const i64 v = power + within(w >> 8, -1, 1);
  return clamp(w >> 63 ? -v : v, -s.a, s.a);
}

// Long runs of one sign near the extreme: partial sums climb past 2^8, 2^11, 2^15 and 2^24 with low
// bits that are not 0. For some seeds the second half brings the sum down again.
i64 critical(const Spot& s) {
  const i64 v = max(s.a - within(s.word(), 0, 2), 0);
  const bool down = s.k == 0 && s.c.seed % 2 == 1 && s.i % s.n >= s.n / 2;
  return down ? -v : v;
}

// The bound of meaningful indices: an extent or the volume of the other input.
i64 index_bound(const Spot& s) {
  const Type& x = s.c.in[s.k == 0 ? 1 : 0];
  const int d = static_cast<int>(s.c.seed % static_cast<u64>(x.rank() + 1));
  return d < x.rank() ? x.dim(d) : volume(x.shape);
}

// Rows (id, score, x1, y1, x2, y2) with few ids and few scores. Boxes are small and overlap, or
// come in pairs of a wide box and a part of it that covers a round percentage, one unit more or
// less, and so lies at the boundary of a threshold.
i64 boxes(const Spot& s) {
  const u64 w = s.word(), row = lockstep::word(s.c.seed, 77, static_cast<u64>(s.i / 6));
  const i64 column = s.i % 6;
  if (column == 0) return min(within(w, -1, 3), 1);
  if (column == 1) return within(w, -3, 6);
  if (s.c.seed % 2 == 0) {
    const i64 first = within(column % 2 == 0 ? row : row >> 8, 0, 6);
    return column < 4 ? first : first + within(w, -1, 9);
  }
  constexpr i64 kPercent[] = {10, 29, 50, 57, 70, 100};
  const i64 unit = max(1, s.a / 200 >> within(lockstep::word(s.c.seed, 78, 0), 0, 8));
  const i64 part = kPercent[within(row >> 16, 0, 5)];
  if (column < 4) return 0;
  return column == 4 ? 100 * unit : part * unit + within(row >> 24, -1, 1);
}

i64 hinted(const Spot& s, Hint hint) {
  const u64 w = s.word();
  switch (hint) {
    case Hint::index: {
      const i64 n = index_bound(s);
      return within(w, -2, n + 1);
    }
    case Hint::count: return within(w, -1, s.c.in[0].dim(1) + 1);
    case Hint::boxes: return boxes(s);
    case Hint::score: return within(w, -4, 4);
    case Hint::flag: return within(w, 0, 1);
    case Hint::any: break;
  }
  return dense(s);
}

i64 value(const Spot& s, Hint hint) {
  switch (s.c.fill) {
    case Fill::zero: return 0;
    case Fill::one: return 1;
    case Fill::minus_one: return -1;
    case Fill::max: return s.a;
    case Fill::min: return -s.a;
    case Fill::alternating: return (s.i + s.k) % 2 == 0 ? s.a : -s.a;
    case Fill::one_hot:
      return static_cast<u64>(s.i) ==
              lockstep::word(s.c.seed, 99, static_cast<u64>(s.k)) % static_cast<u64>(s.n)
          ? s.a
          : 0;
    case Fill::sparse: return s.word() % 8 == 0 ? dense(s) : 0;
    case Fill::boundary: return boundary(s);
    case Fill::critical: return critical(s);
    case Fill::hinted: return hinted(s, hint);
    case Fill::constant: return s.c.data[static_cast<std::size_t>(s.k)][0];
    case Fill::dense:
    case Fill::range:
    case Fill::edges:
    case Fill::literal: break;
  }
  return dense(s);
}

std::vector<i64> edges_of_32_bits(bool one_input) {
  std::vector<i64> all;
  const int products = one_input ? 31 : 0, beside = one_input ? 2 : 0;
  for (int i = 0; i < 32; ++i)
    for (int e = -1; e <= 1; ++e)
      for (int j = 0; j <= min(products, 31 - i); ++j)
        for (int d = -beside; d <= beside; ++d) {
          const i64 v = (((i64{1} << i) + e) << j) + d;
          all.insert(all.end(), {v, -v});
        }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Element i holds a digit of the number `seed` + i. The digit of input 0 changes fastest, so that
// large enough inputs hold every combination of values.
std::vector<i32> enumerate_values(const Case& c, int k) {
  constexpr u64 kMost = u64{1} << 62;
  const auto digits = [&](const Type& t) {
    return c.fill == Fill::range ? 2 * static_cast<u64>(max_of(t.precision)) + 1
                                 : edge_values(t.precision, c.in.size()).size();
  };
  u64 period = 1;  // a digit stays the same for so many numbers
  for (int j = 0; j < k; ++j) {
    const u64 n = digits(c.in[static_cast<std::size_t>(j)]);
    period = period > kMost / n ? kMost : period * n;
  }
  const Type& t = c.in[static_cast<std::size_t>(k)];
  const std::span<const i64> edges = edge_values(t.precision, c.in.size());
  const u64 base = digits(t);
  const i64 first = -max_of(t.precision);
  u64 within = c.seed % period, digit = c.seed / period % base;
  std::vector<i32> v(static_cast<std::size_t>(volume(t.shape)));
  for (i32& e : v) {
    e = static_cast<i32>(c.fill == Fill::range ? first + static_cast<i64>(digit) : edges[digit]);
    if (++within < period) continue;
    within = 0;
    if (++digit == base) digit = 0;
  }
  return v;
}

}  // namespace

std::span<const i64> edge_values(int precision, std::size_t inputs) {
  static const std::vector<i64> one = edges_of_32_bits(true), several = edges_of_32_bits(false);
  const std::vector<i64>& all = inputs == 1 ? one : several;
  const i64 a = max_of(precision);
  const auto first = std::lower_bound(all.begin(), all.end(), -a) - all.begin();
  const auto end = std::upper_bound(all.begin(), all.end(), a) - all.begin();
  return {all.data() + first, all.data() + end};
}

std::vector<i32> fill_values(const Case& c, int k) {
  if (c.fill == Fill::range || c.fill == Fill::edges) return enumerate_values(c, k);
  const Type& t = c.in[static_cast<std::size_t>(k)];
  const int ports = c.op->inputs.size();
  const Hint hint = c.op->inputs[k < ports ? k : ports - 1].hint;
  const i64 n = volume(t.shape), a = max_of(t.precision);
  std::vector<i32> v(static_cast<std::size_t>(n));
  for (i64 i = 0; i < n; ++i)
    v[static_cast<std::size_t>(i)] = static_cast<i32>(clamp(value({c, k, i, n, a}, hint), -a, a));
  return v;
}

}  // namespace lockstep::judge
