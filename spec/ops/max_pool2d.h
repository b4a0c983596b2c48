/// @file
/// max_pool2d: the largest element of each window of an image.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct MaxPool2dAttrs {
  Tuple pool_size{}, strides{1, 1}, padding{0, 0};
  bool ceil_mode = false;
  Word layout{};
};

struct MaxPool2d {
  using Attrs = MaxPool2dAttrs;
  static constexpr string_view name = "max_pool2d";
  static constexpr string_view profile = "NN";
  static constexpr string_view summary =
      "Takes the largest element of each window, of the positions inside the image only. Under "
      "ceil_mode a last, partial window counts too; it must start inside the image.";
  static constexpr string_view formula =
      R"(Y[n,c,y,x] = \max_{r<KH, s<KW} X[n, c, y \cdot SH-PH+r, x \cdot SW-PW+s]
      \text{ inside the image})";
  static constexpr Exceeds exceeds = kShape;
  enum { X };
  static constexpr Port inputs[] = {{"X", {4, 4}, "(N, C, H, W)"}};
  static constexpr Port outputs[] = {{"Y", {4, 4}, "(N, C, OH, OW)"}};
  static constexpr std::tuple attrs{
      Field{"pool_size", &Attrs::pool_size, {1, kMaxExtent}, "(KH, KW)"}.length(2).required(),
      Field{"strides", &Attrs::strides, {1, 4096}, "(SH, SW)"}.length(2),
      Field{"padding", &Attrs::padding, {0, 4096}, "(PH, PW), or one for both"}.length(1, 2),
      Field{"ceil_mode", &Attrs::ceil_mode, "round the output extents up"},
      Field{"layout", &Attrs::layout, "of X"}.one_of("NCHW")};

  static constexpr i64 pad(const Attrs& a, int d) { return a.padding[a.padding.size == 1 ? 0 : d]; }
  /// How far the window can move along spatial axis d; negative if it does not fit.
  static constexpr i64 room(const Attrs& a, Types in, int d) {
    return in[X].dim(2 + d) + 2 * pad(a, d) - a.pool_size[d];
  }
  static constexpr i64 extent(const Attrs& a, Types in, int d) {
    const i64 n = room(a, in, d);
    return (a.ceil_mode ? ceil_div(n, a.strides[d]) : n / a.strides[d]) + 1;
  }
  static constexpr Rule<Attrs> rules[] = {
      {"pool", "the padding is less than the pool, which fits the padded image",
          [](const Attrs& a, Types in) {
            for (int d = 0; d < 2; ++d)
              if (pad(a, d) >= a.pool_size[d] || room(a, in, d) < 0) return false;
            return true;
          }},
      {"last_window", "the last window starts inside the image", [](const Attrs& a, Types in) {
         for (int d = 0; d < 2; ++d) {
           const i64 start = (extent(a, in, d) - 1) * a.strides[d] - pad(a, d);
           if (start >= in[X].dim(2 + d)) return false;
         }
         return true;
       }}};
  static constexpr Formula shape[] = {
      "[X[0], X[1], extent(0), extent(1)]; "
      "extent(d) = {ceil(room(d) / strides[d]) if ceil_mode, room(d) / strides[d]} + 1; "
      "room(d) = X[d + 2] + 2 * padding[min(d, #padding - 1)] - pool_size[d]"};
  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    const Type& x = in[X];
    return Type{{x.dim(0), x.dim(1), extent(a, in, 0), extent(a, in, 1)}, x.precision};
  }
  static constexpr Gas<Attrs> gas{
      "KH KW", [](const Attrs& a, Types) { return a.pool_size[0] * a.pool_size[1]; }};
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    Attrs& a = c.attrs;
    a.ceil_mode = draw.coin();
    a.pool_size = {draw(1, 4), draw(1, 4)};
    a.strides = {};
    if (draw.coin())
      a.padding = {draw(0, min(a.pool_size[0], a.pool_size[1]) - 1)};
    else
      a.padding = {draw(0, a.pool_size[0] - 1), draw(0, a.pool_size[1] - 1)};
    Shape x{draw(1, 2), draw(1, 4)};
    for (int d = 0; d < 2; ++d) {
      const i64 k = a.pool_size[d], p = pad(a, d), s = draw(1, 4);
      const i64 n = max(1, k - 2 * p) + draw.extent(d == 0 ? 9 : 33) - 1;
      // With ceil_mode a last window beyond the image is illegal; a stride of 1 never reaches it.
      const bool inside = ceil_div(n + 2 * p - k, s) * s - p < n;
      a.strides.push(!a.ceil_mode || inside ? s : 1);
      x.push(n);
    }
    c.add(x, draw.precision());
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    const auto& x = in[X];
    const auto window = [&](int d) {
      const i64 first = y[2 + d] * a.strides[d] - pad(a, d);
      return Interval{max(0, first), min(x.dim(2 + d), first + a.pool_size[d])};
    };
    return max_over(window(0), window(1), [&](i64 r, i64 s) { return i64{x(y[0], y[1], r, s)}; });
  }
  static constexpr Law<Attrs> laws[] = {law::batchwise<X>, law::monotone,
      {"separable", "op(X) = op along columns of op along rows",
          [](auto& t) {
            Attrs rows = t.attrs, columns = t.attrs;
            rows.pool_size[1] = rows.strides[1] = columns.pool_size[0] = columns.strides[0] = 1;
            rows.padding = {pad(t.attrs, 0), 0};
            columns.padding = {0, pad(t.attrs, 1)};
            return t.self(columns, {t.self(rows)}) == t.y();
          }},
      {"strided", "without ceil_mode: op(X) = every stride-th position of op(X) without strides",
          [](auto& t) {
            if (t.attrs.ceil_mode) return Claim();
            const Tuple steps{1, 1, t.attrs.strides[0], t.attrs.strides[1]};
            return t.y() == t.every(t.self(t.with(&Attrs::strides, {1, 1})), steps);
          }},
      {"turned", "without strides: op(X backwards) = op(X) backwards",
          [](auto& t) {
            const Attrs a = t.with(&Attrs::strides, {1, 1});
            return t.self(a, t.mirrored()) == t.mirror(t.self(a));
          }},
      {"as_max", "a pool as large as the image: max along both of its axes", [](auto& t) {
         const Shape x = t.shape(t[X]);
         return t.self({.pool_size = {x[2], x[3]}}) ==
             t.op("max", {t[X]}, {{"axis", {2, 3}}, {"keepdims", {1}}});
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"a partial last window, all of it negative",
          {.pool_size = {1, 2}, .strides = {1, 2}, .padding = {0}, .ceil_mode = true},
          {{{1, 1, 1, 3}, 8, {-5, -2, -9}}}, {{{1, 1, 1, 2}, 8, {-2, -9}}}},
      {"the same without ceil_mode", {.pool_size = {1, 2}, .strides = {1, 2}},
          {{{1, 1, 1, 3}, 8, {-5, -2, -9}}}, {{{1, 1, 1, 1}, 8, {-2}}}},
      {"padding never wins", {.pool_size = {2, 2}, .strides = {2, 2}, .padding = {1, 1}},
          {{{1, 1, 2, 2}, 8, {-1, -2, -3, -4}}}, {{{1, 1, 2, 2}, 8, {-1, -2, -3, -4}}}},
      {"overlapping windows", {.pool_size = {2, 2}},
          {{{1, 1, 3, 3}, 8, {1, 2, 3, 4, 5, 6, 9, 8, 7}}}, {{{1, 1, 2, 2}, 8, {5, 6, 9, 8}}}},
  };
};

}  // namespace lockstep
