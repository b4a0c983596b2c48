#include "backends/cpu/patch.h"

#include <algorithm>
#include <numeric>

namespace lockstep::cpu {
namespace {

/// Values along an image's row: value t for begin <= t < end, of which `data` is the first; zero
/// elsewhere.
struct Line {
  const i32* data;
  i64 step, begin, end;
};

Line line_of(const i32* row, i64 element_stride, i64 first, i64 stride, i64 extent, i64 count) {
  const i64 begin = clamp(ceil_div(-first, stride), 0, count);
  const i64 end = clamp(ceil_div(extent - first, stride), begin, count);
  const i32* data = begin < end ? row + (first + begin * stride) * element_stride : row;
  return {data, stride * element_stride, begin, end};
}

void pack_pairs(Pair* to, i64 count, const Line& a, const Line& b) {
  std::fill(to, to + a.begin, 0);
  std::fill(to + a.end, to + count, 0);
  Pair* at = to + a.begin;
  const i64 n = a.end - a.begin;
  const bool is_fused = a.begin == b.begin && a.end == b.end;
  if (is_fused && a.step == 1) {
    for (i64 i = 0; i < n; ++i) at[i] = pair_of(a.data[i], b.data[i]);
  } else if (is_fused) {
    for (i64 i = 0; i < n; ++i) at[i] = pair_of(a.data[i * a.step], b.data[i * b.step]);
  } else {
    for (i64 i = 0; i < n; ++i) at[i] = pair_of(a.data[i * a.step], 0);
    for (i64 i = b.begin; i < b.end; ++i) to[i] |= pair_of(0, b.data[(i - b.begin) * b.step]);
  }
}

}  // namespace

Axis axis_of(i64 extent, i64 outputs, i64 taps, i64 stride, i64 padding, i64 dilation) {
  const i64 spacing = taps == 1 ? stride : std::gcd(stride, dilation);
  return {extent, outputs, taps, stride, padding, spacing, stride / spacing,
      taps == 1 ? 1 : dilation / spacing};
}

Patch::Patch(const Axis& y, const Axis& x, i64 channels)
    : y_(y),
      x_(x),
      channels_(channels),
      pairs_taps_(channels * ((x.taps + 1) / 2) < (channels + 1) / 2 * x.taps),
      planes_(pairs_taps_ ? channels : (channels + 1) / 2),
      rows_(y.outputs),
      columns_(x.outputs) {
  lay_out();
}

void Patch::lay_out() {
  constexpr i64 kCacheLine = 16;  // pairs
  phase_ = ceil_div(x_.cells(columns_), x_.step);
  pitch_ = phase_ * x_.step;
  // An odd number of cache lines, because planes a power of two apart compete for few cache sets.
  plane_ = (ceil_div(y_.cells(rows_) * pitch_, kCacheLine) | 1) * kCacheLine;
}

bool Patch::shrink_to(i64 bytes) {
  while (group_bytes() > bytes && rows_ > 1) {
    rows_ = (rows_ + 1) / 2;
    lay_out();
  }
  while (group_bytes() > bytes && columns_ > kLanes) {
    columns_ = ceil_div(columns_ / 2, kLanes) * kLanes;
    lay_out();
  }
  return group_bytes() <= bytes;
}

std::vector<Term> Patch::terms() const {
  std::vector<Term> all;
  const i64 columns = pairs_taps_ ? 2 : 1;
  for (i64 p = 0; p < planes_; ++p)
    for (i64 r = 0; r < y_.taps; ++r)
      for (i64 s = 0; s < x_.taps; s += columns) {
        const i64 c = pairs_taps_ ? p : 2 * p;
        const bool has_next = pairs_taps_ ? s + 1 < x_.taps : c + 1 < channels_;
        all.push_back({c, r, s, !has_next ? -1 : pairs_taps_ ? c : c + 1, pairs_taps_ ? s + 1 : s});
      }
  return all;
}

i64 Patch::offset(const Term& t) const {
  const i64 plane = pairs_taps_ ? t.channel : t.channel / 2, cell = t.column * x_.dilation;
  return plane * plane_ + t.row * y_.dilation * pitch_ + cell % x_.step * phase_ + cell / x_.step;
}

void Patch::pack_line(
    Pair* group, const View& x, const i32* image, i64 plane, i64 line, i64 row, i64 column) const {
  Pair* to = group + plane * plane_ + line * pitch_;
  const i64 source = y_.source(row, line);
  if (source < 0 || source >= y_.extent) {
    std::fill(to, to + pitch_, 0);
    return;
  }
  const i64 channel = pairs_taps_ ? plane : 2 * plane;
  const bool has_next = pairs_taps_ || channel + 1 < channels_;
  const i32* first = image + channel * x.stride[1] + source * x.stride[2];
  const i32* second = pairs_taps_ || !has_next ? first : first + x.stride[1];
  for (i64 phase = 0; phase < x_.step; ++phase, to += phase_) {
    const i64 left = x_.source(column, phase);
    const i64 shift = pairs_taps_ ? x_.dilation * x_.spacing : 0;
    const Line a = line_of(first, x.stride[3], left, x_.stride, x_.extent, phase_);
    Line b = line_of(second, x.stride[3], left + shift, x_.stride, x_.extent, phase_);
    if (!has_next) b.end = b.begin;
    pack_pairs(to, phase_, a, b);
  }
}

}  // namespace lockstep::cpu
