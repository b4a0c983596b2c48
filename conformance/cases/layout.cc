#include "conformance/cases/layout.h"

#include <numeric>

namespace lockstep::judge {
namespace {

// Larger padding would test the allocator, not the backend.
constexpr i64 kMaxPadded = i64{1} << 22;

struct Full {
  i64 extent[kMaxRank], before[kMaxRank];
};

Full padded_extents(const Type& t, Layout layout, u64 seed, int which) {
  Full full{};
  i64 total = volume(t.shape);
  for (int d = 0; d < t.rank(); ++d) {
    const u64 w = word(seed, 1000 + static_cast<u64>(which), static_cast<u64>(d));
    i64 pad = layout == Layout::compact || layout == Layout::permuted ? 0 : within(w, 0, 3);
    // Without padding of the innermost axis the layout could be compact.
    if (layout != Layout::compact && layout != Layout::permuted && d == t.rank() - 1) pad += 1;
    if (total / t.dim(d) * (t.dim(d) + pad) > kMaxPadded) pad = 0;
    total = total / t.dim(d) * (t.dim(d) + pad);
    full.extent[d] = t.dim(d) + pad;
    full.before[d] = layout == Layout::padded ? 0 : within(w >> 20, 0, pad);
  }
  return full;
}

// @param which the number of the tensor in its case: tensors get different padding.
Placement place(const Type& t, Layout layout, u64 seed, int which) {
  const int n = t.rank();
  const Full full = padded_extents(t, layout, seed, which);
  int order[kMaxRank];
  std::iota(order, order + n, 0);
  if (layout == Layout::permuted || layout == Layout::scattered)
    for (int d = n - 1; d > 0; --d)
      std::swap(order[d],
          order[within(word(seed, 2000 + static_cast<u64>(which), static_cast<u64>(d)), 0, d)]);
  Placement p;
  const i64 spread = layout == Layout::scattered ? 2 : 1;
  p.allocated = 1;
  for (int k = n - 1; k >= 0; --k) {
    const int d = order[k];
    p.stride[d] = p.allocated * spread;
    p.allocated *= full.extent[d];
    p.offset += full.before[d] * p.stride[d];
  }
  p.allocated *= spread;
  return p;
}

}  // namespace

Placement place_input(const Type& t, Layout layout, u64 seed, int k) {
  if (layout == Layout::scattered_out) layout = Layout::compact;
  return place(t, layout == Layout::scattered_in ? Layout::scattered : layout, seed, k);
}

Placement place_output(const Type& t, Layout layout, u64 seed, int k) {
  if (layout == Layout::scattered_in) layout = Layout::compact;
  return place(
      t, layout == Layout::scattered_out ? Layout::scattered : layout, seed, kMaxInputs + k);
}

}  // namespace lockstep::judge
