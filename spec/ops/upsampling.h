/// @file
/// upsampling: an image enlarged by repeating its elements.
#pragma once
#include "spec/laws.h"

namespace lockstep {

struct UpsamplingAttrs {
  i64 scale = 0;
  Word layout{}, method{};
};

struct Upsampling {
  using Attrs = UpsamplingAttrs;
  static constexpr string_view name = "upsampling";
  static constexpr string_view profile = "NN";
  static constexpr string_view summary =
      "Enlarges an image: every element becomes a square of scale times scale copies.";
  static constexpr string_view formula =
      R"(Y[n,c,y,x] = X[n, c, \lfloor y / scale \rfloor, \lfloor x / scale \rfloor])";
  static constexpr Exceeds exceeds = kShape;
  enum { X };
  static constexpr Port inputs[] = {{"X", {4, 4}, "(N, C, H, W)"}};
  static constexpr Port outputs[] = {{"Y", {4, 4}, "(N, C, H scale, W scale)"}};
  static constexpr std::tuple attrs{
      Field{"scale", &Attrs::scale, {1, 4096}, "copies along each spatial axis"}.required(),
      Field{"layout", &Attrs::layout, "of X"}.one_of("NCHW"),
      Field{"method", &Attrs::method, "which element is copied"}.one_of("NEAREST_NEIGHBOR")};
  static constexpr std::array<Rule<Attrs>, 0> rules{};

  static constexpr Formula shape[] = {"[X[0], X[1], scale * X[2], scale * X[3]]"};
  static constexpr Formula precision[] = {"p0"};
  static constexpr Inferred infer(const Attrs& a, Types in) {
    const Type& x = in[X];
    return Type{{x.dim(0), x.dim(1), x.dim(2) * a.scale, x.dim(3) * a.scale}, x.precision};
  }
  static constexpr Case<Attrs> domain(Draw& draw) {
    Case<Attrs> c;
    c.attrs.scale = draw(0, 5) == 5 ? draw(4, 9) : draw(1, 3);
    const i64 batch = draw(1, 2), channels = draw(1, 3);
    const i64 height = draw.extent(12 / c.attrs.scale), width = draw.extent(66 / c.attrs.scale);
    c.add({batch, channels, height, width}, draw.precision());
    return c;
  }
  static constexpr i64 at(const Attrs& a, const auto& in, const Index& y) {
    return in[X](y[0], y[1], y[2] / a.scale, y[3] / a.scale);
  }
  static constexpr Law<Attrs> laws[] = {law::selects, law::mirrored, law::batchwise<X>,
      {"as_repeat", "op(X) = repeat along both axes of the image",
          [](auto& t) {
            const auto repeated = [&](Term x, int axis) {
              return t.op("repeat", {x}, {{"repeats", {t.attrs.scale}}, {"axis", {axis}}});
            };
            return t.y() == repeated(repeated(t[X], 2), 3);
          }},
      {"undone", "max_pool2d(op(X)) of squares of scale = X", [](auto& t) {
         const Tuple square{t.attrs.scale, t.attrs.scale};
         return t.op("max_pool2d", {t.y()}, {{"pool_size", square}, {"strides", square}}) == t[X];
       }}};
  static constexpr Example<Attrs> examples[] = {
      {"twice as large", {.scale = 2}, {{{1, 1, 2, 2}, 8, {1, 2, 3, -4}}},
          {{{1, 1, 4, 4}, 8, {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, -4, -4, 3, 3, -4, -4}}}},
      {"channels stay apart", {.scale = 3}, {{{1, 2, 1, 1}, 32, {2147483647, -2147483647}}},
          {{{1, 2, 3, 3}, 32,
              {2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647,
                  2147483647, 2147483647, -2147483647, -2147483647, -2147483647, -2147483647,
                  -2147483647, -2147483647, -2147483647, -2147483647, -2147483647}}}},
      {"a scale of 1 changes nothing", {.scale = 1}, {{{1, 1, 1, 3}, 4, {7, 0, -7}}},
          {{{1, 1, 1, 3}, 4, {7, 0, -7}}}},
  };
};

}  // namespace lockstep
