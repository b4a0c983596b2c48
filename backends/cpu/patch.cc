#include "backends/cpu/patch.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace lockstep::cpu {
namespace {

/// Copies rows that are often too short for a call of memcpy.
void copy_words(Word* to, const i32* from, i64 n) {
  constexpr i64 kStep = 4, kLong = 64;
  if (n < kStep || n >= kLong) {
    std::copy_n(from, n, to);
    return;
  }
  for (i64 k = 0; k < n; k += kStep) {
    const i64 at = min(k, n - kStep);
    std::memcpy(to + at, from + at, kStep * sizeof(Word));
  }
}

}  // namespace

Axis axis_of(i64 extent, i64 outputs, i64 taps, i64 stride, i64 padding, i64 dilation) {
  const i64 spacing = taps == 1 ? stride : std::gcd(stride, dilation);
  return {extent, outputs, taps, stride, padding, dilation, spacing, stride / spacing,
      taps == 1 ? 1 : dilation / spacing};
}

Patch::Patch(const Axis& y, const Axis& x, i64 channels, const DotKernels& dot, bool reads_cells)
    : dot_(dot),
      zeros_(static_cast<uint32_t>(dot.offset) * 0x01010101U),
      channels_(channels),
      reads_cells_(reads_cells),
      joins_taps_(!reads_cells &&
          channels * ceil_div(x.taps, dot.terms) < ceil_div(channels, dot.terms) * x.taps),
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
  constexpr i64 kCacheLine = 64 / sizeof(Word);
  phase_lines_ = ceil_div(y_.cells(rows_), y_.step);
  pitch_ = ceil_div(x_.cells(columns_), x_.step);
  shared_ = columns_ == x_.outputs ? shared_padding() : 0;
  pitch_ -= shared_;
  plane_ = lines() * line_cells() + shared_;
  // An odd number of cache lines, because planes a power of two apart compete for few cache sets.
  if (plane_ >= kCacheLine) plane_ = (ceil_div(plane_, kCacheLine) | 1) * kCacheLine;
}

// How many cells of padding at the end of a line those at the beginning of the next can replace.
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
  const auto add = [&](i64 p, i64 r, i64 g) {
    const i64 channel = joins_taps_ ? p : p * dot_.terms, column = g * taps;
    all.push_back(
        {channel, r, column, min(dot_.terms, joins_taps_ ? taps_ - column : channels_ - channel)});
  };
  // The taps of as many planes as a chunk has steps read the same cache lines.
  const i64 together = !dot_.block ? 1 : planes_ % chunk_steps() == 0 ? chunk_steps() : planes_;
  for (i64 first = 0; first < planes_; first += together)
    for (i64 r = 0; r < y_.taps; ++r)
      for (i64 g = 0; g < x_.taps; ++g)
        for (i64 p = first; p < first + together; ++p) add(p, r, g);
  return all;
}

i64 Patch::chunk_steps() const {
  constexpr i64 kFew = kChunkSteps * 3 / 4;
  const i64 steps = planes_ * y_.taps * x_.taps;
  if (steps > planes_)
    for (i64 n = kChunkSteps; n >= kFew; --n)
      if (planes_ % n == 0) return n;
  return min(kChunkSteps, steps);
}

i64 Patch::offset(const Step& s) const {
  const i64 plane = joins_taps_ ? s.channel : s.channel / dot_.terms;
  const i64 line = s.row * y_.reach;
  const i64 cell = (joins_taps_ ? s.column / dot_.terms : s.column) * x_.reach;
  const i64 phase = line % y_.step * x_.step + cell % x_.step;
  return static_cast<i64>(sizeof(Word)) *
      (plane * plane_ + (phase * phase_lines_ + line / y_.step) * pitch_ + cell / x_.step);
}

void Patch::fill(Word* to, i64 cells) const { std::fill_n(to, cells, zeros_); }

void Patch::pack(Word* to, const i32* from, const Terms& t) const {
  if (reads_cells_) return copy_cells(to, from, t);
  dot_.pack_cells(reinterpret_cast<uint8_t*>(to), from, t);
}

void Patch::copy_cells(Word* to, const i32* from, const Terms& t) const {
  for (i64 s = 0; s < t.steps; ++s, to += pitch_, from += t.step_stride)
    if (t.lane_stride == 1)
      copy_words(to, from, t.lanes);
    else if (t.lane_stride == 2)  // which compilers turn into shuffles
      for (i64 l = 0; l < t.lanes; ++l) to[l] = static_cast<Word>(from[l * 2]);
    else
      for (i64 l = 0; l < t.lanes; ++l) to[l] = static_cast<Word>(from[l * t.lane_stride]);
}

// Packs one cell of each line, some of whose terms lie outside the image. It reads neighbours
// inside the image in their place, and then shifts zeros in.
void Patch::pack_edge(
    Word* to, const View& x, const i32* from, const Cells& c, i64 cell, i64 lines) const {
  constexpr i64 kAtOnce = 64;
  const i64 width = dot_.terms, apart = tap_dilation_, next_line = y_.stride * x.stride[2];
  const i64 first = c.left + cell * x_.stride, bits = 32 / width;
  const i64 begin = joins_taps_ ? clamp(ceil_div(-first, apart), 0, width) : width;
  const i64 end = clamp(ceil_div(x_.extent - first, apart), begin, width);
  to += cell;
  if (begin == end) {
    for (i64 l = 0; l < lines; ++l, to += pitch_) *to = zeros_;
    return;
  }
  Terms some{1, 0, width, 0, next_line, apart * x.stride[3], 0};
  i64 shift = begin > 0 ? begin : end - width;
  if (const i64 at = first + shift * apart; at < 0 || at + (width - 1) * apart >= x_.extent) {
    some.terms = end - begin;
    shift = begin;
  }
  from += (first + shift * apart) * x.stride[3];
  Word packed[kAtOnce];
  for (i64 l = 0; l < lines; l += kAtOnce, from += kAtOnce * next_line) {
    some.lanes = min(kAtOnce, lines - l);
    pack(packed, from, some);
    for (i64 k = 0; k < some.lanes; ++k, to += pitch_) {
      const Word word = packed[k] ^ zeros_;
      *to = zeros_ ^ (shift > 0 ? word << (bits * shift) : word >> (-bits * shift));
    }
  }
}

// Packs lines of one phase that lie in the image.
void Patch::pack_inside(Word* to, const View& x, const i32* from, const Cells& c, i64 lines) const {
  if (c.begin < c.end)
    pack(to + c.begin, from + (c.left + c.begin * x_.stride) * x.stride[3],
        {lines, c.end - c.begin, c.terms, y_.stride * x.stride[2], x_.stride * x.stride[3],
            joins_taps_ ? tap_dilation_ * x.stride[3] : x.stride[1],
            pitch_ * static_cast<i64>(sizeof(Word))});
  for (i64 cell = 0; cell < c.begin; ++cell) pack_edge(to, x, from, c, cell, lines);
  for (i64 cell = c.end; cell < pitch_; ++cell) pack_edge(to, x, from, c, cell, lines);
}

void Patch::pack_lines(Word* patch, const View& x, const i32* image, i64 plane, i64 first, i64 last,
    i64 row, i64 column) const {
  const i64 channel = joins_taps_ ? plane : plane * dot_.terms;
  const i64 terms = joins_taps_ ? dot_.terms : min(dot_.terms, channels_ - channel);
  const i64 apart = joins_taps_ ? (terms - 1) * tap_dilation_ : 0;
  image += (reads_cells_ ? plane : channel) * x.stride[1];
  patch += plane * plane_;
  for (i64 p = 0; p < x_.step; ++p) {
    Cells c{x_.source(column, p), 0, 0, terms};
    c.begin = clamp(ceil_div(-c.left, x_.stride), 0, pitch_);
    c.end = clamp(ceil_div(x_.extent - c.left - apart, x_.stride), c.begin, pitch_);
    for (i64 line = first; line < last;) {
      const i64 phase = line / phase_lines_, begin = line % phase_lines_;
      const i64 end = min(phase_lines_, begin + last - line), top = y_.source(row, phase);
      const i64 inside = clamp(ceil_div(-top, y_.stride), begin, end);
      const i64 below = clamp(ceil_div(y_.extent - top, y_.stride), inside, end);
      Word* to = patch + (phase * x_.step + p) * phase_lines_ * pitch_;
      fill(to + begin * pitch_, (inside - begin) * pitch_);
      if (inside < below)
        pack_inside(to + inside * pitch_, x, image + (top + inside * y_.stride) * x.stride[2], c,
            below - inside);
      fill(to + below * pitch_, (end - below) * pitch_);
      line += end - begin;
    }
  }
  if (last == lines()) fill(patch + lines() * line_cells(), shared_);
}

}  // namespace lockstep::cpu
