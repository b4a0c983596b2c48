#include "backends/cpu/patch.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace lockstep::cpu {

Axis axis_of(i64 extent, i64 outputs, i64 taps, i64 stride, i64 padding, i64 dilation) {
  const i64 spacing = taps == 1 ? stride : std::gcd(stride, dilation);
  return {extent, outputs, taps, stride, padding, dilation, spacing, stride / spacing,
      taps == 1 ? 1 : dilation / spacing};
}

Patch::Patch(const Axis& y, const Axis& x, i64 channels, const DotKernels& dot)
    : dot_(dot),
      channels_(channels),
      joins_taps_(channels * ceil_div(x.taps, dot.terms) < ceil_div(channels, dot.terms) * x.taps),
      taps_(x.taps),
      tap_dilation_(x.dilation),
      y_(y),
      x_(joins_taps_ ? axis_of(x.extent, x.outputs, ceil_div(x.taps, dot.terms), x.stride,
                           x.padding, x.dilation * dot.terms)
                     : x),
      planes_(joins_taps_ ? channels : ceil_div(channels, dot.terms)),
      rows_(y.outputs),
      columns_(x.outputs) {
  lay_out();
}

void Patch::lay_out() {
  const i64 cache_line = 64 / dot_.terms;  // in cells
  phase_lines_ = ceil_div(y_.cells(rows_), y_.step);
  pitch_ = ceil_div(x_.cells(columns_), x_.step);
  // An odd number of cache lines, because planes a power of two apart compete for few cache sets.
  plane_ = (ceil_div(lines() * line_cells(), cache_line) | 1) * cache_line;
}

bool Patch::shrink_to(i64 most) {
  while (bytes() > most && rows_ > 1) {
    rows_ = (rows_ + 1) / 2;
    lay_out();
  }
  while (bytes() > most && columns_ > dot_.lanes) {
    columns_ = ceil_div(columns_ / 2, dot_.lanes) * dot_.lanes;
    lay_out();
  }
  return bytes() <= most;
}

std::vector<Step> Patch::steps() const {
  std::vector<Step> all;
  const i64 taps = joins_taps_ ? dot_.terms : 1;
  for (i64 p = 0; p < planes_; ++p)
    for (i64 r = 0; r < y_.taps; ++r)
      for (i64 g = 0; g < x_.taps; ++g) {
        const i64 channel = joins_taps_ ? p : p * dot_.terms, column = g * taps;
        all.push_back({channel, r, column,
            min(dot_.terms, joins_taps_ ? taps_ - column : channels_ - channel)});
      }
  return all;
}

i64 Patch::offset(const Step& s) const {
  const i64 plane = joins_taps_ ? s.channel : s.channel / dot_.terms;
  const i64 line = s.row * y_.reach;
  const i64 cell = (joins_taps_ ? s.column / dot_.terms : s.column) * x_.reach;
  const i64 phase = line % y_.step * x_.step + cell % x_.step;
  return dot_.terms *
      (plane * plane_ + (phase * phase_lines_ + line / y_.step) * pitch_ + cell / x_.step);
}

// Packs the cells of one phase of a line. `left` is the source position of the first.
void Patch::pack_run(uint8_t* to, const View& x, const i32* from, i64 left, i64 terms) const {
  const i64 apart = joins_taps_ ? tap_dilation_ : 0, width = dot_.terms;
  const i64 begin = clamp(ceil_div(-left, x_.stride), 0, pitch_);
  const i64 end = clamp(ceil_div(x_.extent - left - (terms - 1) * apart, x_.stride), begin, pitch_);
  const Terms inside{1, end - begin, terms, 0, x_.stride * x.stride[3],
      joins_taps_ ? apart * x.stride[3] : x.stride[1], 0};
  if (begin < end)
    dot_.pack_cells(to + begin * width, from + (left + begin * x_.stride) * x.stride[3], inside);
  const auto fill = [&](i64 first, i64 last) {
    std::memset(to + first * width, dot_.offset, static_cast<std::size_t>((last - first) * width));
    for (i64 cell = first; joins_taps_ && cell < last; ++cell)
      for (i64 t = 0; t < terms; ++t)
        if (const i64 at = left + cell * x_.stride + t * apart; 0 <= at && at < x_.extent)
          to[cell * width + t] =
              static_cast<uint8_t>(from[at * x.stride[3]] + static_cast<i64>(dot_.offset));
  };
  fill(0, begin);
  fill(end, pitch_);
}

void Patch::pack_line(uint8_t* patch, const View& x, const i32* image, i64 plane, i64 line, i64 row,
    i64 column) const {
  const i64 phase = line / phase_lines_, cell = line % phase_lines_ * y_.step + phase;
  if (cell >= y_.cells(rows_)) return;  // no tap reaches it
  const i64 source = y_.source(row, cell), channel = joins_taps_ ? plane : plane * dot_.terms;
  const i64 terms = joins_taps_ ? dot_.terms : min(dot_.terms, channels_ - channel);
  const bool is_inside = 0 <= source && source < y_.extent;
  const i32* from = image + channel * x.stride[1] + (is_inside ? source * x.stride[2] : 0);
  for (i64 p = 0; p < x_.step; ++p) {
    const i64 to = (phase * x_.step + p) * phase_lines_ + line % phase_lines_;
    uint8_t* cells = patch + (plane * plane_ + to * pitch_) * dot_.terms;
    if (is_inside)
      pack_run(cells, x, from, x_.source(column, p), terms);
    else
      std::memset(cells, dot_.offset, static_cast<std::size_t>(pitch_ * dot_.terms));
  }
}

}  // namespace lockstep::cpu
