/// @file
/// Mistakes that show only at scale: in large tensors, in deep sums, and in late runs of a plan.
#include "backends/faulty/mutant.h"
#include "spec/ops/abs.h"
#include "spec/ops/clip.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/dense.h"
#include "spec/ops/elemwise_add.h"
#include "spec/ops/negative.h"
#include "spec/ops/sum.h"

namespace lockstep::faulty {
namespace {

constexpr i64 kCache = i64{1} << 20;   // elements beyond which a kernel streams or shares its work
constexpr i64 kShared = i64{1} << 15;  // elements beyond which threads share a range
constexpr i64 kBlock = 4096, kLongBlock = 65536;  // terms that are added at a time

// A right execution of an operator, which a function of (threads, run, output) then makes wrong.
template <class Op, Captureless F> struct Spoils : Behaviour {
  void execute_run(
      const LegalCall& call, const i32* const* in, i32* const* out, i64 run) const override {
    execute(call, in, out);
    if (call.op->name == Op::name) F{}(threads, run, backend::bound(call.out, out)[0]);
  }
};

template <class Op, Captureless F>
constexpr Mutant spoils(string_view name, string_view provenance, F) {
  return {name, Op::name, "SCALE", provenance, nullptr, made<Spoils<Op, F>>};
}

constexpr Mutant kScaleMutants[] = {
    from_tier(1,
        wrong<Abs>("abs.streams_whole_vectors", "SCALE",
            "beyond the cache whole vectors are stored past it, and the rest is forgotten",
            [](auto& a, In in, auto& y, auto& t) {
              const bool lost = volume(t.shape) > kCache && in_tail(y, t, 8);
              return lost ? 0 : value_at<Abs>(a, in, y, t);
            })),
    from_tier(1,
        spoils<ElemwiseAdd>("elemwise_add.chunks_start_late",
            "a large range split among threads, each after the first one element late",
            [](int threads, i64, const Out& y) {
              const i64 n = volume(y.shape);
              for (int k = 1; n > kCache && k < threads; ++k) y.element(k * (n / threads)) = 0;
            })),
    from_tier(1,
        wrong<Sum>("sum.whole_blocks", "SCALE", "sums beyond a block end with the last whole block",
            [](auto& a, In in, auto& y, auto&) {
              const Box box = Reduce::window(a, in[0], y);
              i64 left = volume(box.extent);
              if (left > kLongBlock) left -= left % kLongBlock;
              return sum_over(box, [&](auto& x) { return left-- > 0 ? i64{in[0](x)} : 0; });
            })),
    from_tier(1,
        wrong<Dense>("dense.whole_blocks", "SCALE", "the last block of a deep product is not whole",
            [](auto& a, In in, auto& y, auto&) {
              const i64 depth = in[0].dim(1), rest = depth > kBlock ? depth % kBlock : 0;
              return (a.use_bias ? in[2](y[1]) : 0) +
                  sum(depth - rest, [&](i64 k) { return i64{in[0](y[0], k)} * in[1](y[1], k); });
            })),
    from_tier(1,
        wrong<Conv2d>("conv2d.depth_of_16_bits", "SCALE", "65,536 products are counted in 16 bits",
            [](auto& a, In in, auto& y, auto&) {
              const auto& w = in[1];
              i64 left = volume(w.shape) / w.dim(0) & UINT16_MAX;
              const i64 first = y[1] / (a.channels / a.groups) * w.dim(1);
              const i64 top = y[2] * a.strides[0] - a.padding[0];
              const i64 start = y[3] * a.strides[1] - a.padding[1];
              return (a.use_bias ? in[2](y[1]) : 0) +
                  sum(w.dim(1), w.dim(2), w.dim(3), [&](i64 i, i64 r, i64 s) {
                    if (left-- <= 0) return i64{0};
                    return w(y[1], i, r, s) *
                        in[0].padded(
                            y[0], first + i, top + r * a.dilation[0], start + s * a.dilation[1]);
                  });
            })),
    from_tier(1,
        spoils<ElemwiseAdd>("elemwise_add.late_large_run",
            "threads that share a large range count its runs in two digits",
            [](int, i64 run, const Out& y) {
              if (run > 100 && volume(y.shape) > kShared) y.element(0) ^= 1;
            })),
    spoils<Clip>("clip.thirteenth_run", "a ring of twelve buffers, and the thirteenth is not there",
        [](int, i64 run, const Out& y) {
          if (run >= 13) y.element(0) ^= 1;
        }),
    spoils<Negative>("negative.hundredth_run", "a counter of two digits",
        [](int, i64 run, const Out& y) {
          if (run >= 100) y.element(0) ^= 1;
        }),
};

}  // namespace

Span<Mutant> scale_mutants() { return {kScaleMutants, static_cast<int>(std::size(kScaleMutants))}; }

}  // namespace lockstep::faulty
