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
  shared_ = columns_ == x_.outputs ? shared_padding() : 0;
  pitch_ -= shared_;
  // An odd number of cache lines, because planes a power of two apart compete for few cache sets.
  plane_ = (ceil_div(lines() * line_cells() + shared_, cache_line) | 1) * cache_line;
}

// Cells of padding at the end of every line that those at the beginning of the next can stand for.
i64 Patch::shared_padding() const {
  const i64 last_term = joins_taps_ ? (dot_.terms - 1) * tap_dilation_ : 0;
  i64 most = pitch_ - columns_;  // outputs have cells of their own
  for (i64 p = 0; p < x_.step; ++p) {
    const i64 left = x_.source(0, p), before = ceil_div(-left - last_term, x_.stride);
    most = min(most, min(before, pitch_ - ceil_div(x_.extent - left, x_.stride)));
  }
  return max(most, 0);
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

void Patch::fill(uint8_t* cells, i64 first, i64 last) const {
  std::memset(cells + first * dot_.terms, dot_.offset,
      static_cast<std::size_t>((last - first) * dot_.terms));
}

void Patch::pack_run(uint8_t* to, const View& x, const i32* from, const Run& run) const {
  const i64 width = dot_.terms;
  if (run.begin < run.end)
    dot_.pack_cells(to + run.begin * width, from + (run.left + run.begin * x_.stride) * x.stride[3],
        {1, run.end - run.begin, run.terms, 0, x_.stride * x.stride[3],
            joins_taps_ ? tap_dilation_ * x.stride[3] : x.stride[1], 0});
  const auto fill_partly = [&](i64 first, i64 last) {
    fill(to, first, last);
    for (i64 cell = first; joins_taps_ && cell < last; ++cell)
      for (i64 t = 0; t < run.terms; ++t)
        if (const i64 at = run.left + cell * x_.stride + t * tap_dilation_;
            0 <= at && at < x_.extent)
          to[cell * width + t] =
              static_cast<uint8_t>(from[at * x.stride[3]] + static_cast<i64>(dot_.offset));
  };
  fill_partly(0, run.begin);
  fill_partly(run.end, pitch_);
}

void Patch::pack_lines(uint8_t* patch, const View& x, const i32* image, i64 plane, i64 first,
    i64 last, i64 row, i64 column) const {
  const i64 channel = joins_taps_ ? plane : plane * dot_.terms;
  const i64 terms = joins_taps_ ? dot_.terms : min(dot_.terms, channels_ - channel);
  const i64 apart = joins_taps_ ? (terms - 1) * tap_dilation_ : 0, step = pitch_ * dot_.terms;
  image += channel * x.stride[1];
  patch += plane * plane_ * dot_.terms;
  for (i64 p = 0; p < x_.step; ++p) {
    Run run{x_.source(column, p), 0, 0, terms};
    run.begin = clamp(ceil_div(-run.left, x_.stride), 0, pitch_);
    run.end = clamp(ceil_div(x_.extent - run.left - apart, x_.stride), run.begin, pitch_);
    i64 phase = first / phase_lines_, in_phase = first % phase_lines_;
    for (i64 line = first; line < last; ++line, ++in_phase) {
      if (in_phase == phase_lines_) ++phase, in_phase = 0;
      const i64 to = (phase * x_.step + p) * phase_lines_ + in_phase;
      const i64 source = y_.source(row, in_phase * y_.step + phase);
      if (0 <= source && source < y_.extent)
        pack_run(patch + to * step, x, image + source * x.stride[2], run);
      else
        fill(patch + to * step, 0, pitch_);
      if (to + 1 == lines() * x_.step) fill(patch + to * step, pitch_, pitch_ + shared_);
    }
  }
}

}  // namespace lockstep::cpu
