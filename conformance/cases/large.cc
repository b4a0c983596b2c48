#include "conformance/cases/large.h"

#include <algorithm>
#include <optional>

#include "conformance/cases/boundary.h"
#include "conformance/cases/item.h"
#include "conformance/cases/layout.h"
#include "conformance/cases/mutate.h"

namespace lockstep::judge {
namespace {

constexpr i64 kMostGas = i64{1} << 26;    // a multiply-add costs 3
constexpr i64 kMostPairs = i64{1} << 31;  // of elements along one axis

Inferred types_of(const Case& c) { return c.op->infer(c.attributes(), c.types()); }

i64 largest_input(const Case& c) {
  i64 n = 0;
  for (const Type& t : c.in) n = max(n, volume(t.shape));
  return n;
}
i64 largest_output(const Case& c) {
  const Inferred y = types_of(c);
  i64 n = 0;
  for (int k = 0; k < y.count; ++k) n = max(n, volume(y[k].shape));
  return n;
}

// Gas measures work only for operators that are defined element by element; others count as 1.
i64 gas_of_element(const Case& c) {
  return c.op->pointwise ? c.op->gas(c.attributes(), c.types()) : 1;
}
// The work for an output element: its products, which cost 3 each, or its share of an input.
i64 gas_of_sum(const Case& c) {
  return max(gas_of_element(c), largest_input(c) / largest_output(c));
}

// A call is to have more than `beyond` of an amount, by enlarging at least `axes` axes, and at most
// `most_elements` in all its tensors.
struct Aim {
  i64 (*amount)(const Case&);
  i64 beyond;
  int axes;
  i64 most_elements = i64{7} << 19;
};
// The first leaves room for three tensors of more than kLargeOutput elements.
constexpr Aim kAims[] = {{largest_output, kLargeOutput, 1, i64{13} << 19},
    {largest_input, kLargeTensor, 2}, {gas_of_sum, 3 * kDeepSum, 1},
    {gas_of_sum, 3 * kDeepestSum, 1}};

// Whether a call costs little enough. An operator that is defined as a whole may compare all
// elements along an axis with each other.
bool is_affordable(const Case& c, i64 most_elements) {
  i64 longest = 1;
  for (const Type& t : c.in)
    for (i64 e : t.shape) longest = max(longest, e);
  return elements_of(c) <= most_elements &&
      (c.op->pointwise ? gas_of_element(c) * largest_output(c) <= kMostGas
                       : longest * largest_input(c) <= kMostPairs);
}

// Lowers precisions until that of the outputs is legal. @return whether the call is legal now
bool becomes_legal(Case& c) {
  for (;;) {
    const Refusal r = refusal(c);
    if (!r.refused()) return true;
    if (!r.is(c.op->name, "precision")) return false;
    for (Type& t : c.in)
      if (--t.precision == 0) return false;
  }
}

// The call with another value of a parameter, alone or wherever its old value stands.
std::optional<Case> changed(const Case& c, const Parameter& k, i64 now) {
  Case alone = c, all = c;
  set(alone, k, now);
  if (becomes_legal(alone)) return alone;
  replace_number(all, value_of(c, k), now);
  if (becomes_legal(all)) return all;
  return std::nullopt;
}

bool is_size(const Case& c, const Parameter& k) {
  return (k.what == Parameter::extent || k.what == Parameter::entry) && value_of(c, k) > 0;
}

// Any size of a call; nothing if it has none.
std::optional<Parameter> some_size(const Case& c, Draw& draw) {
  std::vector<Parameter> all = parameters(c);
  std::erase_if(all, [&](const Parameter& k) { return !is_size(c, k); });
  if (all.empty()) return std::nullopt;
  return all[static_cast<std::size_t>(draw(0, std::ssize(all) - 1))];
}

// A drawn call, enlarged along some axes on the assumption that its amount grows in proportion.
std::optional<Case> enlarged(const OpInfo& op, const Aim& aim, int axes, Draw& draw) {
  constexpr i64 kSpread = 31, kNarrowVector = 8;  // the amount is no multiple of a vector
  Case c = draw_case(op, draw);
  for (int left = axes; left > 0; --left) {
    const i64 amount = aim.amount(c), times = aim.beyond / amount;
    const int bits = left == 1 ? 0 : bit_length(times) / left;
    const i64 wanted = left == 1 ? aim.beyond : amount << bits;
    const std::optional<Parameter> k = some_size(c, draw);
    if (!k || value_of(c, *k) > kMaxExtent) return std::nullopt;
    // An odd size is no multiple of any block.
    const i64 now = (value_of(c, *k) * wanted / amount + 1 + draw(0, kSpread)) | 1;
    std::optional<Case> larger = changed(c, *k, now);
    if (!larger) return std::nullopt;
    c = std::move(*larger);
  }
  const i64 amount = aim.amount(c);
  const bool met = aim.beyond < amount && amount <= aim.beyond + aim.beyond / 4 &&
      amount % kNarrowVector != 0 && is_affordable(c, aim.most_elements);
  return met ? std::optional(std::move(c)) : std::nullopt;
}

// Chooses values, those of hints where there are any, and memory of the n-th call.
void fill(Case& c, Fill values, std::size_t n) {
  const Span<Port> ports = c.op->inputs;
  const bool hinted =
      std::any_of(ports.begin(), ports.end(), [](const Port& p) { return p.hint != Hint::any; });
  c.fill = hinted ? Fill::hinted : values;
  c.seed = n;
  c.layout = static_cast<Layout>(1 + n % (kLayouts - 1));
}

// Whether all outputs are 0, as when windows lie beside their image or sums add zeros.
bool tells_nothing(const Case& c) {
  const std::vector<Tensor> out = reference::outputs(*c.op, c.attributes(), inputs_of(c));
  return std::all_of(out.begin(), out.end(), [](const Tensor& t) {
    return std::all_of(t.data.begin(), t.data.end(), [](i32 v) { return v == 0; });
  });
}

// An axis along which kernels use vectors.
enum class Axis { innermost_of_input, innermost_of_output, channels_of_output };
constexpr Axis kAxes[] = {
    Axis::innermost_of_input, Axis::innermost_of_output, Axis::channels_of_output};

// The extent of the axis; 0 if there is no axis of channels.
i64 extent_of(const Case& c, Axis axis) {
  const Type t = axis == Axis::innermost_of_input ? c.in[0] : types_of(c)[0];
  if (axis == Axis::channels_of_output) return t.rank() > 2 ? t.dim(1) : 0;
  return t.dim(t.rank() - 1);
}

i64 row_of(const Case& c) { return extent_of(c, Axis::innermost_of_output); }

// A small call with whole widest vectors and `rest` elements left over along an axis.
std::optional<Case> tailed(const OpInfo& op, Axis axis, i64 rest, Draw& draw) {
  constexpr int kTries = 3000;
  constexpr i64 kMostVectors = 3;
  for (int n = 0; n < kTries; ++n) {
    const Case c = draw_case(op, draw);
    const std::optional<Parameter> k = some_size(c, draw);
    if (!k) continue;
    const i64 extent = kWidestVector * draw(1, kMostVectors) + rest;
    std::optional<Case> t = changed(c, *k, extent);
    if (t && extent_of(*t, axis) == extent && elements_of(*t) <= kMaxRun) return t;
  }
  return std::nullopt;
}

// Whether the length of output rows depends on a parameter, whose value is more than 1.
bool decides_on_rows(const Case& c, const Parameter& k) {
  const std::optional<Case> less = changed(c, k, value_of(c, k) - 1);
  return less && row_of(*less) != row_of(c);
}

// A small call in which the last number of an attribute has this value and decides on the length of
// long rows.
std::optional<Case> in_long_rows(const OpInfo& op, int attribute, i64 value, Draw& draw) {
  constexpr int kTries = 1000;
  for (int n = 0; n < kTries; ++n) {
    const Case drawn = draw_case(op, draw);
    const Tuple& numbers = drawn.attrs[static_cast<std::size_t>(attribute)].ints;
    if (numbers.size == 0) continue;
    const Parameter k{Parameter::entry, attribute, numbers.size - 1};
    std::optional<Case> c = changed(drawn, k, value);
    const std::optional<Parameter> size = c ? some_size(*c, draw) : std::nullopt;
    if (size && row_of(*c) < kLongRow)
      c = changed(*c, *size, draw(kLongRow, kLongRow * (value + 1)));
    if (c && value_of(*c, k) == value && row_of(*c) >= kLongRow && elements_of(*c) <= kMaxRun &&
        decides_on_rows(*c, k))
      return c;
  }
  return std::nullopt;
}

// Lays out input 0 so that elements along an axis are adjacent in memory. @return whether it can
bool lay_innermost(Case& c, int d) {
  constexpr u64 kSeeds = 64;
  c.layout = Layout::permuted;
  for (c.seed = 0; c.seed < kSeeds; ++c.seed)
    if (place_input(c.in[0], c.layout, c.seed, 0).stride[d] == 1) return true;
  return false;
}

// A call with one long axis of input 0, and few elements and little work besides.
std::optional<Case> with_long_axis(const OpInfo& op, int d, Draw& draw) {
  constexpr int kTries = 1000;
  constexpr i64 kMostWork = i64{1} << 22, kMostPairs = i64{1} << 30;
  for (int n = 0; n < kTries; ++n) {
    const Case drawn = draw_case(op, draw);
    if (drawn.in.empty() || drawn.in[0].rank() <= d) continue;
    std::optional<Case> c = changed(drawn, {Parameter::extent, 0, d}, kLeftOver);
    if (!c || is_large(*c)) continue;
    const bool is_cheap = op.pointwise ? gas_of_element(*c) * largest_output(*c) <= kMostWork
                                       : kLeftOver * largest_input(*c) <= kMostPairs;
    if (is_cheap && lay_innermost(*c, d) && !tells_nothing(*c)) return c;
  }
  return std::nullopt;
}

constexpr i64 kGasOfProduct = 3;

bool adds_products(const Case& c) { return c.in.size() > 1 && gas_of_element(c) >= kGasOfProduct; }

// A small call with many channels, many products in each sum and long rows.
std::optional<Case> broad(const OpInfo& op, Draw& draw) {
  constexpr int kTries = 20000, kEnlarged = 3;
  for (int n = 0; n < kTries && op.pointwise; ++n) {
    Case c = draw_case(op, draw);
    if (!adds_products(c)) continue;
    for (int left = kEnlarged; left > 0; --left)
      if (const std::optional<Parameter> k = some_size(c, draw))
        if (std::optional<Case> larger = changed(c, *k, draw(kLongRow, kBroad + kLongRow)))
          c = std::move(*larger);
    if (elements_of(c) <= kMaxRun && gas_of_element(c) >= kGasOfProduct * kBroad &&
        types_of(c)[0].dim(1) >= kBroad && row_of(c) >= kLongRow)
      return c;
  }
  return std::nullopt;
}

// Lays out output 0 so that elements along an axis lie two apart. @return whether it can
bool spread(Case& c, int d) {
  constexpr u64 kSeeds = 64;
  const Type y = types_of(c)[0];
  c.layout = Layout::scattered_out;
  for (c.seed = 0; c.seed < kSeeds; ++c.seed)
    if (place_output(y, c.layout, c.seed, 0).stride[d] == 2) return true;
  return false;
}

// Whether the last output holds at least kCrowd / 2 rows; elements outside rows are -1.
bool is_crowded(const Case& c) {
  const Tensor y = reference::outputs(*c.op, c.attributes(), inputs_of(c)).back();
  const i64 columns = y.type.dim(y.type.rank() - 1),
            fill = std::count(y.data.begin(), y.data.end(), -1);
  return std::ssize(y.data) - fill >= kCrowd / 2 * columns;
}

}  // namespace

std::vector<Case> repeated_cases(const OpInfo& op, u64 seed) {
  constexpr int kTries = 20000;
  constexpr Aim kAim{elements_of, kNotLarge, 1};
  Seeded draw(word(seed, 17, 0));
  for (int n = 0; n < kTries; ++n) {
    std::optional<Case> c = enlarged(op, kAim, kAim.axes + 2 * n / kTries, draw);
    if (!c || !is_repeated(*c)) continue;
    fill(*c, Fill::dense, static_cast<std::size_t>(n));
    if (!tells_nothing(*c)) return {std::move(*c)};
  }
  return {};
}

std::vector<Case> large_cases(const OpInfo& op, u64 seed, int rounds) {
  constexpr int kTries = 2000;
  constexpr Fill kFills[] = {Fill::dense, Fill::boundary, Fill::critical, Fill::dense};
  std::vector<Case> all;
  for (int round = 0; round < rounds; ++round)
    for (const Aim& aim : kAims) {
      Seeded draw(word(seed, 9, static_cast<u64>(&aim - kAims) + 16 * static_cast<u64>(round)));
      // The second half of the tries enlarges one more axis, since one long axis makes some calls
      // too costly.
      for (int n = 0; n < kTries; ++n) {
        std::optional<Case> c = enlarged(op, aim, aim.axes + 2 * n / kTries, draw);
        if (!c) continue;
        fill(*c, kFills[all.size() % std::size(kFills)], all.size());
        if (tells_nothing(*c)) continue;
        all.push_back(std::move(*c));
        break;
      }
    }
  return all;
}

std::vector<Case> tail_cases(const OpInfo& op, u64 seed) {
  std::vector<Case> all;
  for (const Axis axis : kAxes) {
    Seeded draw(word(seed, 10, static_cast<u64>(axis)));
    const auto leaves = [&](const Case& c, i64 rest) {
      const i64 extent = extent_of(c, axis);
      return extent >= kWidestVector && extent % kWidestVector == rest;
    };
    for (i64 rest = 0; rest < kWidestVector; ++rest) {
      if (std::any_of(all.begin(), all.end(), [&](const Case& c) { return leaves(c, rest); }))
        continue;
      std::optional<Case> c = tailed(op, axis, rest, draw);
      if (!c) break;  // the operator has no such axis, or fixes its extent
      all.push_back(std::move(*c));
    }
  }
  return all;
}

std::vector<Case> long_row_cases(const OpInfo& op, u64 seed) {
  constexpr i64 kValues[] = {2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17};
  constexpr std::size_t kRounds = 3;
  std::vector<Case> all;
  for (int attribute = 0; attribute < op.attrs.size(); ++attribute) {
    const AttrInfo& info = op.attrs[attribute];
    if (info.kind != AttrKind::integer && info.kind != AttrKind::tuple) continue;
    Seeded draw(word(seed, 11, static_cast<u64>(attribute)));
    for (std::size_t k = 0; k < kRounds * std::size(kValues); ++k) {
      std::optional<Case> c = in_long_rows(op, attribute, kValues[k / kRounds], draw);
      if (!c) break;                      // the rows do not depend on this attribute
      fill(*c, Fill::dense, all.size());  // values that repeat may hide wrong places
      all.push_back(std::move(*c));
    }
  }
  return all;
}

std::vector<Case> left_over_cases(const OpInfo& op, u64 seed) {
  std::vector<Case> all;
  for (int d = 0; d < kMaxRank; ++d) {
    Seeded draw(word(seed, 12, static_cast<u64>(d)));
    if (std::optional<Case> c = with_long_axis(op, d, draw)) {
      c->fill = Fill::dense;  // values that repeat may hide wrong places
      all.push_back(std::move(*c));
    }
  }
  return all;
}

std::vector<Case> spread_cases(const OpInfo& op, u64 seed) {
  std::vector<Case> all;
  Seeded draw(word(seed, 14, 0));
  for (int d = 0; d < kMaxRank; ++d) {
    std::optional<Case> c = broad(op, draw);
    if (!c || d >= types_of(*c)[0].rank() || !spread(*c, d)) break;
    c->fill = Fill::dense;  // values that repeat may hide wrong places
    all.push_back(std::move(*c));
  }
  return all;
}

std::vector<Case> full_count_cases(const OpInfo& op, u64 seed) {
  constexpr int kTries = 20000;
  constexpr i64 kMostElements = 8 * kFullCount;
  Seeded draw(word(seed, 15, 0));
  for (int n = 0; n < kTries && op.pointwise; ++n) {
    const Case drawn = draw_case(op, draw);
    if (!adds_products(drawn)) continue;
    std::optional<Case> c = changed(drawn, {Parameter::extent, 1, 0}, kFullCount);
    if (!c || types_of(*c)[0].dim(1) != kFullCount || elements_of(*c) > kMostElements) continue;
    fill(*c, Fill::dense, static_cast<std::size_t>(n));
    if (!tells_nothing(*c)) return {std::move(*c)};
  }
  return {};
}

std::vector<Case> deep_row_cases(const OpInfo& op, u64 seed) {
  constexpr int kTries = 20000;
  constexpr i64 kMostElements = 5 * kDeepRow;
  Seeded draw(word(seed, 16, 0));
  for (int n = 0; n < kTries && op.pointwise; ++n) {
    const Case drawn = draw_case(op, draw);
    const std::optional<Parameter> k = some_size(drawn, draw);
    if (!adds_products(drawn) || !k) continue;
    std::optional<Case> c = changed(drawn, *k, draw(kLongRow / 2, kLongRow));
    if (!c || row_of(*c) < kLongRow) continue;
    c = changed(*c, {Parameter::extent, 0, 1}, kDeepRow | 1);
    if (!c || gas_of_element(*c) <= kGasOfProduct * kDeepRow || row_of(*c) < kLongRow ||
        !is_affordable(*c, kMostElements))
      continue;
    fill(*c, Fill::dense, static_cast<std::size_t>(n));
    if (!tells_nothing(*c)) return {std::move(*c)};
  }
  return {};
}

std::vector<Case> crowded_cases(const OpInfo& op, u64 seed) {
  constexpr int kTries = 1000, kCountBits = 12;
  constexpr std::size_t kCases = 4;
  std::vector<Case> all;
  if (op.pointwise) return all;
  Seeded draw(word(seed, 13, 0));
  for (int n = 0; n < kTries && all.size() < kCases; ++n) {
    Case drawn = draw_case(op, draw);
    // The inputs after the first must be able to hold the larger numbers of rows.
    for (std::size_t k = 1; k < drawn.in.size(); ++k)
      drawn.in[k].precision = std::max(drawn.in[k].precision, kCountBits);
    std::optional<Case> c = changed(drawn, {Parameter::extent, 0, 1}, kCrowd + draw(0, kCrowd));
    if (!c || is_large(*c)) continue;
    fill(*c, Fill::dense, static_cast<std::size_t>(n));
    if (is_crowded(*c)) all.push_back(std::move(*c));
  }
  return all;
}

i64 largest_tensor(const Case& c) { return max(largest_input(c), largest_output(c)); }

}  // namespace lockstep::judge
