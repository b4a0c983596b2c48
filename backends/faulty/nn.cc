/// @file
/// Mistakes in the operators of neural networks.
#include "backends/faulty/mutant.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/dense.h"
#include "spec/ops/max_pool2d.h"
#include "spec/ops/upsampling.h"

namespace lockstep::faulty {
namespace {

// One product of a convolution: its positions in the kernel and in the image.
struct Tap {
  i64 n, o, channel, i, r, s, row, column;
};

// Calls f for every product of output y.
template <class F> void each_tap(const Conv2dAttrs& a, In in, const Index& y, F f) {
  const CheckedView& w = in[Conv2d::W];
  const i64 first = y[1] / (a.channels / a.groups) * w.dim(1);
  for (i64 i = 0; i < w.dim(1); ++i)
    for (i64 r = 0; r < w.dim(2); ++r)
      for (i64 s = 0; s < w.dim(3); ++s)
        f(Tap{y[0], y[1], first + i, i, r, s,
            y[2] * a.strides[0] - a.padding[0] + r * a.dilation[0],
            y[3] * a.strides[1] - a.padding[1] + s * a.dilation[1]});
}

// A convolution that reads its image or kernel by the given functions.
template <class Image, class Kernel>
i64 convolve(const Conv2dAttrs& a, In in, const Index& y, Image image, Kernel kernel) {
  i64 total = a.use_bias ? in[Conv2d::B](y[1]) : 0;
  each_tap(a, in, y, [&](const Tap& t) { total += image(in[0], t) * kernel(in[1], t); });
  return total;
}

i64 image(const CheckedView& x, const Tap& t) { return x.padded(t.n, t.channel, t.row, t.column); }
i64 kernel(const CheckedView& w, const Tap& t) { return w(t.o, t.i, t.r, t.s); }

i64 bias(bool used, In in, i64 o) { return used ? in[2](o) : 0; }

// The dot product of dense, in which term k counts taken(k) times.
template <class Taken> i64 dot(In in, const Index& y, Taken taken) {
  return sum(in[0].dim(1), [&](i64 k) { return taken(k) * in[0](y[0], k) * in[1](y[1], k); });
}

// Whether the window of output y leaves the image.
bool leaves_image(const MaxPool2dAttrs& a, In in, const Index& y) {
  for (int d = 0; d < 2; ++d) {
    const i64 first = y[2 + d] * a.strides[d] - MaxPool2d::pad(a, d);
    if (first < 0 || first + a.pool_size[d] > in[0].dim(2 + d)) return true;
  }
  return false;
}

// A convolution whose factor from the image, or from the kernel, is a function of the tensor and
// the tap.
template <Captureless Image>
constexpr Mutant reads_image(string_view name, string_view kind, string_view provenance, Image) {
  return wrong<Conv2d>(name, kind, provenance,
      [](auto& a, In in, auto& y, auto&) { return convolve(a, in, y, Image{}, kernel); });
}
template <Captureless Kernel>
constexpr Mutant reads_kernel(string_view name, string_view kind, string_view provenance, Kernel) {
  return wrong<Conv2d>(name, kind, provenance,
      [](auto& a, In in, auto& y, auto&) { return convolve(a, in, y, image, Kernel{}); });
}

// An operator with attributes that a function changes, and the output that it should have.
template <class Op, Captureless Change>
constexpr Mutant given(string_view name, string_view kind, string_view provenance, Change) {
  return wrong<Op>(name, kind, provenance, [](auto a, In in, auto& y, auto&) {
    Change{}(a);
    return Op::at(a, in, y);
  });
}

// dense whose sum without the bias is a function of (inputs, y).
template <Captureless Sum>
constexpr Mutant summed(string_view name, string_view kind, string_view provenance, Sum) {
  return wrong<Dense>(name, kind, provenance,
      [](auto& a, In in, auto& y, auto&) { return bias(a.use_bias, in, y[1]) + Sum{}(in, y); });
}

// An enlarged image: `source` finds the row or column of X from one of Y, the scale and X's extent.
template <Captureless Source>
constexpr Mutant resized(string_view name, string_view kind, string_view provenance, Source) {
  return wrong<Upsampling>(name, kind, provenance, [](auto& a, In in, auto& y, auto&) {
    const CheckedView& x = in[0];
    return i64{x(y[0], y[1], Source{}(y[2], a.scale, x.dim(2)), Source{}(y[3], a.scale, x.dim(3)))};
  });
}

template <i64 kWidth> constexpr Mutant stale_columns(string_view name) {
  return misplaced<Conv2d>(name, "TAIL", "the last vector of a row stores the one before it again",
      [](auto&, In, auto& y, auto& t) { y[3] = repeat_vector(y[3], t.dim(3), kWidth); });
}

constexpr Mutant kNnMutants[] = {
    reads_image("conv2d.edge_padding", "PADDING", "replicates the edge, as image filters do",
        [](auto& x, const Tap& t) {
          return i64{
              x(t.n, t.channel, clamp(t.row, 0, x.dim(2) - 1), clamp(t.column, 0, x.dim(3) - 1))};
        }),
    reads_image("conv2d.reads_past_row", "BOUNDS",
        "column <= W: the first element of the next row stands for the padding",
        [](auto& x, const Tap& t) {
          const i64 next_row = ((t.n * x.dim(1) + t.channel) * x.dim(2) + t.row + 1) * x.dim(3);
          const bool past = t.column == x.dim(3) && 0 <= t.row && t.row < x.dim(2);
          return past && next_row < volume(x.shape) ? i64{x.element(next_row)} : image(x, t);
        }),
    reads_kernel("conv2d.flips_kernel", "ORDER",
        "convolution as in mathematics: the kernel is turned by 180 degrees",
        [](auto& w, const Tap& t) {
          return i64{w(t.o, t.i, w.dim(2) - 1 - t.r, w.dim(3) - 1 - t.s)};
        }),
    reads_kernel("conv2d.kernel_ohwi", "LAYOUT", "weights packed channels-last and never told so",
        [](auto& w, const Tap& t) {
          return i64{w.element(((t.o * w.dim(2) + t.r) * w.dim(3) + t.s) * w.dim(1) + t.i)};
        }),
    reads_image("conv2d.first_batch", "BOUNDS", "the image's batch stride is 0",
        [](auto& x, const Tap& t) { return x.padded(0, t.channel, t.row, t.column); }),
    reads_image("conv2d.ignores_groups", "BOUNDS", "every group reads the first group's channels",
        [](auto& x, const Tap& t) { return x.padded(t.n, t.i, t.row, t.column); }),
    reads_kernel("conv2d.last_channels", "TAIL",
        "vpdpbusd takes four channels at a time: the last IC mod 4 are dropped",
        [](auto& w, const Tap& t) { return t.i < w.dim(1) - w.dim(1) % 4 ? kernel(w, t) : 0; }),
    reads_kernel("conv2d.kernel_end", "BOUNDS", "the last column of a kernel is not read",
        [](auto& w, const Tap& t) {
          return t.s + 1 < w.dim(3) || w.dim(3) == 1 ? kernel(w, t) : 0;
        }),
    given<Conv2d>("conv2d.swaps_strides", "ORDER", "(x, y) read for (y, x)",
        [](auto& a) { std::swap(a.strides[0], a.strides[1]); }),
    given<Conv2d>("conv2d.swaps_padding", "ORDER", "(x, y) read for (y, x)",
        [](auto& a) { std::swap(a.padding[0], a.padding[1]); }),
    given<Conv2d>("conv2d.ignores_dilation", "BOUNDS", "dilation is rare and was never wired",
        [](auto& a) {
          a.dilation = {1, 1};
        }),
    given<Conv2d>("conv2d.no_bias", "ORDER", "bias fused into the first layers' kernel only",
        [](auto& a) { a.use_bias = false; }),
    wrong<Conv2d>("conv2d.first_bias", "BROADCAST", "a scalar bias broadcast to every channel",
        [](auto a, In in, auto& y, auto&) {
          const bool used = std::exchange(a.use_bias, false);
          return Conv2d::at(a, in, y) + bias(used, in, 0);
        }),
    wrong<Conv2d>("conv2d.saturating_pairs", "SATURATION",
        "vpmaddubsw saturates at int16 (oneDNN below VNNI, full-range int8)",
        [](auto& a, In in, auto& y, auto&) {
          SaturatingPairs p;
          each_tap(a, in, y, [&](const Tap& t) { p.add(image(in[0], t), kernel(in[1], t)); });
          return bias(a.use_bias, in, y[1]) + p.result();
        }),
    wrong<Conv2d>("conv2d.int16", "ACC_WIDTH", "16-bit accumulators that wrap, widened at the end",
        [](auto a, In in, auto& y, auto&) {
          const bool used = std::exchange(a.use_bias, false);
          return to_int16(Conv2d::at(a, in, y)) + bias(used, in, y[1]);
        }),
    wrong<Conv2d>("conv2d.float32", "ACC_WIDTH", "float accumulators and bias: exact to 2^24 only",
        [](auto& a, In in, auto& y, auto&) {
          auto total = static_cast<float>(bias(a.use_bias, in, y[1]));
          each_tap(a, in, y, [&](const Tap& t) {
            total += static_cast<float>(image(in[0], t) * kernel(in[1], t));
          });
          return static_cast<i64>(total);
        }),
    wrong<Conv2d>("conv2d.float16", "ACC_WIDTH", "tensor cores accumulating in binary16",
        [](auto& a, In in, auto& y, auto&) {
          i64 total = 0;
          each_tap(a, in, y,
              [&](const Tap& t) { total = to_half(total + image(in[0], t) * kernel(in[1], t)); });
          return total + bias(a.use_bias, in, y[1]);
        }),
    reads_image("conv2d.stale_padding", "PADDING",
        "bytes made unsigned by adding 128, and the padding stays 0, which stands for -128",
        [](auto& x, const Tap& t) {
          const bool inside =
              0 <= t.row && t.row < x.dim(2) && 0 <= t.column && t.column < x.dim(3);
          return inside ? image(x, t) : -128;
        }),
    wrong<Conv2d>("conv2d.uncompensated_channels", "TAIL",
        "what the offset of unsigned bytes adds is subtracted in whole blocks of 16 channels only",
        [](auto& a, In in, auto& y, auto& t) {
          i64 offset = 0;
          each_tap(a, in, y, [&](const Tap& tap) { offset += 128 * kernel(in[1], tap); });
          return Conv2d::at(a, in, y) + (in_tail(y[1], t.dim(1), 16) ? offset : 0);
        }),
    stale_columns<16>("conv2d.stale_columns_16"),
    stale_columns<32>("conv2d.stale_columns_32"),
    misplaced<Conv2d>("conv2d.swaps_quarters", "ORDER",
        "vphaddd adds within 128-bit halves; without vpermq two pairs of eight columns are swapped",
        [](auto&, In, auto& y, auto& t) {
          const i64 pair = y[3] / 2 % 4;
          if (!in_tail(y[3], t.dim(3), 8)) y[3] += pair == 1 ? 2 : pair == 2 ? -2 : 0;
        }),
    misplaced<Conv2d>("conv2d.vectors_span_rows", "BOUNDS",
        "a vector of 16 that spans two rows of outputs goes on behind the end of the first",
        [](auto&, In, auto& y, auto& t) {
          const i64 n = t.dim(3), k = y[2] * n + y[3], row = (k - k % 16) / n;
          y[3] += (y[2] - row) * n;
          y[2] = row;
        }),
    reads_kernel("conv2d.depthwise_multiplier", "ORDER",
        "depthwise: the filter of the input channel, though each has several outputs",
        [](auto& w, const Tap& t) {
          return i64{w(w.dim(1) == 1 ? t.channel : t.o, t.i, t.r, t.s)};
        }),

    summed("dense.saturating_pairs", "SATURATION",
        "vpmaddubsw saturates at int16 (the x86 int8 path before VNNI)",
        [](In in, auto& y) {
          SaturatingPairs p;
          for (i64 k = 0; k < in[0].dim(1); ++k) p.add(in[0](y[0], k), in[1](y[1], k));
          return p.result();
        }),
    summed("dense.float32", "ACC_WIDTH", "sgemm: exact to 2^24 only",
        [](In in, auto& y) {
          float total = 0;
          for (i64 k = 0; k < in[0].dim(1); ++k)
            total += static_cast<float>(in[0](y[0], k)) * static_cast<float>(in[1](y[1], k));
          return static_cast<i64>(total);
        }),
    then_wrong<Dense>("dense.bias_float32", "ACC_WIDTH",
        "bias added in float by the requantizing tail", [](i64 v, auto&) { return to_float(v); }),
    summed("dense.int16", "ACC_WIDTH", "smlal chains left in 16 bits for too long",
        [](In in, auto& y) { return to_int16(dot(in, y, [](i64) { return 1; })); }),
    summed("dense.tail_16", "TAIL", "K padded down: the last K mod 16 terms are dropped",
        [](In in, auto& y) {
          const i64 whole = in[0].dim(1) - in[0].dim(1) % 16;
          return dot(in, y, [&](i64 k) { return k < whole; });
        }),
    summed("dense.tail_64", "TAIL",
        "rows longer than a register of 64 bytes lose the last K mod 64 terms",
        [](In in, auto& y) {
          const i64 n = in[0].dim(1), whole = n > 64 ? n - n % 64 : n;
          return dot(in, y, [&](i64 k) { return k < whole; });
        }),
    summed("dense.tail_32_twice", "TAIL",
        "a last 32-byte load moved back to end with the row adds its overlap twice",
        [](In in, auto& y) {
          const i64 n = in[0].dim(1), whole = n - n % 32;
          const i64 from = n > 32 && n % 32 ? n - 32 : whole;
          return dot(in, y, [&](i64 k) { return from <= k && k < whole ? 2 : 1; });
        }),
    summed("dense.last_term", "BOUNDS", "k < K - 1 in a hand-unrolled loop",
        [](In in, auto& y) {
          return dot(in, y, [&](i64 k) { return k == 0 || k + 1 < in[0].dim(1); });
        }),
    wrong<Dense>("dense.last_units", "TAIL",
        "eight units a pass; the remainder keeps only its bias",
        [](auto& a, In in, auto& y, auto&) {
          const i64 whole = a.units - a.units % 8;
          return y[1] < whole ? Dense::at(a, in, y) : bias(a.use_bias, in, y[1]);
        }),
    wrong<Dense>("dense.bias_first_row", "BROADCAST", "beta = 0 after the first block of rows",
        [](auto a, In in, auto& y, auto&) {
          a.use_bias = a.use_bias && y[0] == 0;
          return Dense::at(a, in, y);
        }),
    summed("dense.weight_transposed", "LAYOUT", "a gemm told B is (K, units)",
        [](In in, auto& y) {
          return sum(in[0].dim(1),
              [&](i64 k) { return i64{in[0](y[0], k)} * in[1].element(k * in[1].dim(0) + y[1]); });
        }),
    summed("dense.uncompensated_terms", "TAIL",
        "the offset of unsigned bytes is subtracted for whole words of four weights only",
        [](In in, auto& y) {
          const i64 n = in[0].dim(1);
          return sum(n, [&](i64 k) {
            return (in[0](y[0], k) + (in_tail(k, n, 4) ? i64{128} : 0)) * in[1](y[1], k);
          });
        }),
    misplaced<Dense>("dense.swaps_halves", "ORDER",
        "vextracti128 takes the upper half first: units 8..15 of sixteen stand before 0..7",
        [](auto&, In, auto& y, auto& t) { y[1] = swap_halves(y[1], t.dim(1), 16); }),
    wrong<Dense>("dense.single_row_bias_twice", "BROADCAST",
        "a path for one row starts with the bias, and the end that all paths share adds it again",
        [](auto& a, In in, auto& y, auto& t) {
          return Dense::at(a, in, y) + bias(a.use_bias && t.dim(0) == 1, in, y[1]);
        }),

    wrong<MaxPool2d>("max_pool2d.pads_with_zero", "PADDING", "padding shared with conv2d's kernel",
        [](auto& a, In in, auto& y, auto&) {
          const i64 m = MaxPool2d::at(a, in, y);
          return leaves_image(a, in, y) ? max(m, 0) : m;
        }),
    then_wrong<MaxPool2d>("max_pool2d.starts_at_int8_min", "SIGN",
        "-128 for minus infinity, kept when inputs became wider",
        [](i64 v, auto&) { return max(v, INT8_MIN); }),
    wrong<MaxPool2d>("max_pool2d.ignores_ceil_mode", "BOUNDS",
        "the loop ends at the floor extents and leaves zeros in the last windows",
        [](auto& a, In in, auto& y, auto&) {
          bool reached = true;
          for (int d = 0; d < 2; ++d) {
            const i64 room = in[0].dim(2 + d) + 2 * MaxPool2d::pad(a, d) - a.pool_size[d];
            reached = reached && y[2 + d] <= room / a.strides[d];
          }
          return reached ? MaxPool2d::at(a, in, y) : 0;
        }),
    given<MaxPool2d>("max_pool2d.swaps_strides", "ORDER", "(x, y) read for (y, x)",
        [](auto& a) { std::swap(a.strides[0], a.strides[1]); }),
    given<MaxPool2d>("max_pool2d.one_padding_entry", "PADDING",
        "a single padding entry serves the rows only",
        [](auto& a) {
          if (a.padding.size == 1) a.padding = {a.padding[0], 0};
        }),
    wrong<MaxPool2d>("max_pool2d.window_end", "BOUNDS", "the last column of a window is not read",
        [](auto a, In in, auto& y, auto&) {
          const i64 m = MaxPool2d::at(a, in, y);
          if (a.pool_size[1] > 1) --a.pool_size[1];
          const i64 less = MaxPool2d::at(a, in, y);
          return less == -kIntMax ? m : less;
        }),
    wrong<MaxPool2d>("max_pool2d.doubles_windows", "BOUNDS",
        "a window as two halves that do not overlap: an odd one ends a column too late",
        [](auto a, In in, auto& y, auto&) {
          if (a.pool_size[1] > 1) a.pool_size[1] += a.pool_size[1] % 2;
          return MaxPool2d::at(a, in, y);
        }),
    wrong<MaxPool2d>("max_pool2d.odd_lanes", "TAIL",
        "stride 2 takes the even lanes; the last vector of a row takes the odd ones",
        [](auto a, In in, auto y, auto& t) {
          const i64 m = MaxPool2d::at(a, in, y);
          if (a.strides[1] != 2 || !in_tail(y[3], t.dim(3), 8)) return m;
          a.strides[1] = 1;
          y[3] = 2 * y[3] + 1;
          const i64 odd = MaxPool2d::at(a, in, y);
          return odd == -kIntMax ? m : odd;
        }),
    from_tier(1,
        wrong<MaxPool2d>("max_pool2d.wide_windows", "BOUNDS",
            "windows wider than a vector of eight are read by whole vectors only",
            [](auto a, In in, auto& y, auto&) {
              const i64 m = MaxPool2d::at(a, in, y);
              if (a.pool_size[1] > 8) a.pool_size[1] -= a.pool_size[1] % 8;
              const i64 less = MaxPool2d::at(a, in, y);
              return less == -kIntMax ? m : less;
            })),

    resized("upsampling.half_pixel", "ROUNDING", "rounds to the nearest centre and not downward",
        [](i64 y, i64 scale, i64 n) { return min((y + scale / 2) / scale, n - 1); }),
    resized("upsampling.align_corners", "ROUNDING",
        "align_corners: the last element of Y meets the last of X",
        [](i64 y, i64 scale, i64 n) { return n == 1 ? 0 : y * (n - 1) / (n * scale - 1); }),
    resized("upsampling.tiles", "ORDER", "the image laid side by side with itself",
        [](i64 y, i64, i64 n) { return y % n; }),
    resized("upsampling.twice", "BOUNDS", "a kernel for a scale of 2, the one that models have",
        [](i64 y, i64, i64 n) { return min(y / 2, n - 1); }),
    wrong<Upsampling>("upsampling.one_table", "ORDER",
        "vpermd by one table for all vectors of eight: right where the scale divides 8",
        [](auto& a, In in, auto& y, auto&) {
          const i64 lane = y[3] % 8;
          return i64{in[0](y[0], y[1], y[2] / a.scale, (y[3] - lane) / a.scale + lane / a.scale)};
        }),
    wrong<Upsampling>("upsampling.bilinear", "ROUNDING",
        "the mean of two columns halfway between them, another method's result",
        [](auto& a, In in, auto& y, auto&) {
          const CheckedView& x = in[0];
          const i64 row = y[2] / a.scale, column = y[3] / a.scale;
          const i64 next = min(column + 1, x.dim(3) - 1);
          const i64 left = x(y[0], y[1], row, column);
          const bool between = 2 * (y[3] % a.scale) >= a.scale && a.scale > 1;
          return between ? (left + x(y[0], y[1], row, next)) / 2 : left;
        }),
    wrong<Upsampling>("upsampling.channels_last", "LAYOUT", "X read as (N, H, W, C)",
        [](auto& a, In in, auto& y, auto&) {
          const CheckedView& x = in[0];
          const i64 row = y[2] / a.scale, column = y[3] / a.scale;
          return i64{x.element(((y[0] * x.dim(2) + row) * x.dim(3) + column) * x.dim(1) + y[1])};
        }),
    wrong<Upsampling>("upsampling.first_channel", "BOUNDS", "the image's channel stride is 0",
        [](auto& a, In in, auto& y, auto&) {
          return i64{in[0](y[0], 0, y[2] / a.scale, y[3] / a.scale)};
        }),
};

}  // namespace

Span<Mutant> nn_mutants() { return {kNnMutants, static_cast<int>(std::size(kNnMutants))}; }

}  // namespace lockstep::faulty
