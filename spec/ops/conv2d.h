/// @file
/// conv2d: two-dimensional convolution with groups, dilation and an optional bias.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct Conv2dAttrs {
  i64 channels = 0;
  Tuple kernel_size{}, strides{1, 1}, padding{0, 0}, dilation{1, 1};
  i64 groups = 1;
  bool use_bias = true;
  Word layout{}, kernel_layout{}, out_dtype{}, out_layout{};
};

struct Conv2d {
  using Attrs = Conv2dAttrs;
  static constexpr string_view name = "conv2d";
  static constexpr string_view profile = "NN";
  static constexpr string_view summary =
      "Convolves images with kernels: the sum of products over the input channels of the output's "
      "group and the positions of the kernel, and the bias where there is one. X_0 is X, and zero "
      "outside of it.";
  static constexpr string_view formula =
      R"(Y[n,o,y,x] = B[o] + \sum_{i<IC} \sum_{r<KH} \sum_{s<KW}
      X_0[n, g \cdot IC+i, y \cdot SH-PH+r \cdot DH, x \cdot SW-PW+s \cdot DW] \cdot W[o,i,r,s],
      \quad g = \lfloor o / (channels / groups) \rfloor, \; IC = C / groups)";
  static constexpr Exceeds exceeds = kShapeAndPrecision;
  static constexpr Erratum errata[] = {
      {.text =
              "Every shape that the attributes imply is checked; the deployed runtime trusts them.",
          .reason = "Reading beyond a tensor has no outcome that all machines share.",
          .label = "weight",
          .deployed = {Deployed::accepts, "weights"}},
      {.text = "The sums over the rows and columns of a kernel end before KH and KW; those of the "
               "older text run one term too far. (Its sum over IC does not.)",
          .reason = "W has no element at those places.",
          .example = "the sum of a diagonal"},
      {.text = "channels and kernel_size are required; the older text lacks these attributes.",
          .reason = "Model files carry them, and a weight that contradicts them is refused.",
          .label = "attr.missing"},
      {.text = "padding, strides and dilation may be 4096. In the older text their ranges exclude "
               "the upper end.",
          .reason = "The bounds of every attribute belong to its range.",
          .example = "the largest strides and dilation"},
      {.text = "X and W have at most 8 bits; the older text sets no bound.",
          .reason = "Kernels multiply 8-bit integers.",
          .label = "bits"}};
  enum { X, W, B };
  static constexpr Port inputs[] = {{"X", {4, 4}, "(N, C, H, W)"},
      {"W", {4, 4}, "(channels, C / groups, KH, KW)"},
      {"B", {1, 1}, "(channels), exactly when use_bias", Hint::any, Arity::optional}};
  static constexpr Port outputs[] = {{"Y", {4, 4}, "(N, channels, OH, OW)"}};
  static constexpr std::tuple attrs{
      Field{"channels", &Attrs::channels, {1, kMaxExtent}, "output channels"}.required(),
      Field{"kernel_size", &Attrs::kernel_size, {1, kMaxExtent}, "(KH, KW)"}.length(2).required(),
      Field{"strides", &Attrs::strides, {1, 4096}, "(SH, SW)"}.length(2).also("stride"),
      Field{"padding", &Attrs::padding, {0, 4096}, "(PH, PW), zeros on both sides"}.length(2),
      Field{"dilation", &Attrs::dilation, {1, 4096}, "(DH, DW)"}.length(2),
      Field{"groups", &Attrs::groups, {1, kMaxExtent}, "independent groups of channels"},
      Field{"use_bias", &Attrs::use_bias, "whether B is given"},
      Field{"layout", &Attrs::layout, "of X"}.one_of("NCHW"),
      Field{"kernel_layout", &Attrs::kernel_layout, "of W"}.one_of("OIHW"),
      Field{"out_dtype", &Attrs::out_dtype, "accepted without effect"}
          .one_of("int32|same")
          .ignored(),
      Field{"out_layout", &Attrs::out_layout, "accepted without effect"}
          .one_of("__undef__|NCHW")
          .ignored()};
  static constexpr int inputs_needed(const Attrs& a) { return a.use_bias ? 3 : 2; }

  /// How far the window can move along spatial axis d; negative if it does not fit.
  static constexpr i64 room(const Attrs& a, Types in, int d) {
    return in[X].dim(2 + d) + 2 * a.padding[d] - a.dilation[d] * (a.kernel_size[d] - 1) - 1;
  }
  static constexpr Rule<Attrs> rules[] = {{"groups", "groups divides C and channels",
                                              [](const Attrs& a, Types in) {
                                                return in[X].dim(1) % a.groups == 0 &&
                                                    a.channels % a.groups == 0;
                                              }},
      {"weight", "W has the shape (channels, C / groups, KH, KW)",
          [](const Attrs& a, Types in) {
            const i64 group = in[X].dim(1) / a.groups;
            return in[W].shape == Shape{a.channels, group, a.kernel_size[0], a.kernel_size[1]};
          }},
      {"bias", "B has the shape (channels)",
          [](const Attrs& a, Types in) { return !a.use_bias || in[B].dim(0) == a.channels; }},
      {"window", "the dilated kernel fits the padded image",
          [](const Attrs& a, Types in) { return room(a, in, 0) >= 0 && room(a, in, 1) >= 0; }},
      {"bits", "X and W have at most 8 bits",
          [](const Attrs&, Types in) { return in[X].precision <= 8 && in[W].precision <= 8; }}};
  static constexpr Formula shape[] = {
      "[X[0], channels, extent(0), extent(1)]; "
      "extent(d) = (X[d + 2] + 2 * padding[d] - dilation[d] * (kernel_size[d] - 1) - 1) / "
      "strides[d] + 1"};
  static constexpr Formula precision[] = {"max(p0 + p1 + bl(|W| / channels), p2) + use_bias"};
  static constexpr Formula accumulator =
      "bl(|W| / channels * a(p0) * a(p1) + {a(p2) if use_bias, 0}) + 1";
  static constexpr Inferred infer(const Attrs& a, Types in) {
    const i64 terms = volume(in[W].shape) / a.channels;
    const i64 products = in[X].precision + in[W].precision + bit_length(terms);
    const i64 p = a.use_bias ? max(products, in[B].precision) + 1 : products;
    const i64 height = room(a, in, 0) / a.strides[0] + 1, width = room(a, in, 1) / a.strides[1] + 1;
    return Type{{in[X].dim(0), a.channels, height, width}, static_cast<int>(p)};
  }
  static constexpr Gas<Attrs> gas{
      "3 (C / groups) KH KW, and 1 more with a bias", [](const Attrs& a, Types in) {
        return 3 * (volume(in[W].shape) / a.channels) + (a.use_bias ? 1 : 0);
      }};
  static constexpr Case<Attrs> domain(Draw& draw) {
    enum { kPlain, kDepthwise, kGrouped, kDeep };  // deep: 1x1, so that depth() is affordable
    const i64 kind = draw(0, 3);
    Case<Attrs> c;
    Attrs& a = c.attrs;
    a.groups = kind == kDepthwise ? draw.extent(9) : kind == kGrouped ? draw(2, 3) : 1;
    const i64 group = kind == kDepthwise ? 1 : kind == kDeep ? draw.depth() : draw(1, 4);
    a.channels = a.groups * draw(1, kind == kPlain ? 4 : 2);
    a.use_bias = draw.coin();
    a.strides = a.padding = a.dilation = {};
    const i64 batch = kind == kDeep ? 1 : draw(1, 2);
    Shape x{batch, a.groups * group};
    for (int d = 0; d < 2; ++d) {
      const i64 k = kind == kDeep ? 1 : draw(1, 3), dilation = draw(1, 3), padding = draw(0, 2);
      a.kernel_size.push(k);
      a.dilation.push(dilation);
      a.padding.push(padding);
      a.strides.push(draw(1, 3));
      const i64 most = kind == kDeep ? 1 + d : d == 0 ? 5 : clamp(300 / volume(x), 5, 33);
      x.push(max(1, (k - 1) * dilation + 1 - 2 * padding) + draw.extent(most) - 1);
    }
    const int p = draw.precision(8), q = draw.precision(8);
    c.add(x, p);
    c.add({a.channels, group, a.kernel_size[0], a.kernel_size[1]}, q);
    if (a.use_bias) c.add({a.channels}, draw.precision(31));
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    const auto &x = in[X], &w = in[W];
    const i64 n = y[0], o = y[1], first = o / (a.channels / a.groups) * w.dim(1);
    const i64 top = y[2] * a.strides[0] - a.padding[0], left = y[3] * a.strides[1] - a.padding[1];
    return (a.use_bias ? in[B](o) : 0) +
        sum(w.dim(1), w.dim(2), w.dim(3), [&](i64 i, i64 r, i64 s) {
          return w(o, i, r, s) *
              x.padded(n, first + i, top + r * a.dilation[0], left + s * a.dilation[1]);
        });
  }
  static constexpr Law<Attrs> laws[] = {law::batchwise<X>, law::additive<X, B>,
      law::additive<W, B>.named("additive_weights"),
      {"biased", "op(X, W, B) = op(X, W) + B as (channels, 1, 1)",
          [](auto& t) {
            if (!t.attrs.use_bias) return Claim();
            const Term bias = t.reshaped(t[B], {t.attrs.channels, 1, 1});
            return t.y() == t.sum(t.self(t.with(&Attrs::use_bias, false), {t[X], t[W]}), bias);
          }},
      {"grouped", "the channels of one group are op of that group alone",
          [](auto& t) {
            const i64 groups = t.attrs.groups, g = t.draw(0, groups - 1);
            const auto part = [&](Term x, int axis) {
              const i64 n = t.shape(x)[axis] / groups;
              return t.slice(x, axis, g * n, n);
            };
            Attrs a = t.with(&Attrs::groups, 1);
            a.channels /= groups;
            Terms in{part(t[X], 1), part(t[W], 0)};
            if (a.use_bias) in.add(part(t[B], 0));
            return t.self(a, in) == part(t.y(), 1);
          }},
      {"strided", "op(X, W, B) = every stride-th position of op(X, W, B) without strides",
          [](auto& t) {
            const Tuple steps{1, 1, t.attrs.strides[0], t.attrs.strides[1]};
            return t.y() == t.every(t.self(t.with(&Attrs::strides, {1, 1})), steps);
          }},
      {"turned", "without strides: op of all inputs backwards = op(...) backwards",
          [](auto& t) {
            const Attrs a = t.with(&Attrs::strides, {1, 1});
            return t.self(a, t.mirrored()) == t.mirror(t.self(a));
          }},
      {"as_dense", "images of the size of the window: dense of both flattened", [](auto& t) {
         const i64 n = t.attrs.channels;
         const Term x = t.other(W),
                    y = t.self(
                        {.channels = n, .kernel_size = t.attrs.kernel_size, .use_bias = false},
                        {x, t[W]});
         const Terms flat{t.op("flatten", {x}), t.op("flatten", {t[W]})};
         return t.op("flatten", {y}) == t.op("dense", flat, {{"units", {n}}, {"use_bias", {0}}});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"the sum of a diagonal", {.channels = 1, .kernel_size = {2, 2}, .use_bias = false},
          {{{1, 1, 3, 3}, 8, {1, 2, 3, 4, 5, 6, 7, 8, 9}}, {{1, 1, 2, 2}, 8, {1, 0, 0, 1}}},
          {{{1, 1, 2, 2}, 19, {6, 8, 12, 14}}}},
      {"padding, stride and dilation, with a bias",
          {.channels = 1,
              .kernel_size = {1, 2},
              .strides = {1, 2},
              .padding = {0, 1},
              .dilation = {1, 2}},
          {{{1, 1, 1, 4}, 8, {1, 2, 3, 4}}, {{1, 1, 1, 2}, 8, {10, 1}}, {{1}, 8, {100}}},
          {{{1, 1, 1, 2}, 19, {102, 124}}}},
      {"depthwise, two groups",
          {.channels = 2, .kernel_size = {1, 1}, .groups = 2, .use_bias = false},
          {{{1, 2, 1, 2}, 8, {1, 2, 3, 4}}, {{2, 1, 1, 1}, 8, {10, -10}}},
          {{{1, 2, 1, 2}, 17, {10, 20, -30, -40}}}},
      {"a bias of 31 bits", {.channels = 1, .kernel_size = {1, 1}},
          {{{1, 1, 1, 1}, 8, {127}}, {{1, 1, 1, 1}, 8, {-127}}, {{1}, 31, {-1073741823}}},
          {{{1, 1, 1, 1}, 32, {-1073757952}}}},
      {"the largest strides and dilation",
          {.channels = 1,
              .kernel_size = {1, 1},
              .strides = {4096, 4096},
              .dilation = {4096, 4096},
              .use_bias = false},
          {{{1, 1, 1, 2}, 8, {5, 6}}, {{1, 1, 1, 1}, 8, {7}}}, {{{1, 1, 1, 1}, 17, {35}}}},
  };
};

}  // namespace lockstep
