/// @file
/// Mistakes in elementwise operators and reductions.
#include "backends/faulty/mutant.h"
#include "spec/ops/broadcast_add.h"
#include "spec/ops/cvm_clip.h"
#include "spec/ops/cvm_right_shift.h"
#include "spec/ops/max.h"
#include "spec/ops/relu.h"
#include "spec/ops/sum.h"

namespace lockstep::faulty {
namespace {

// Calls f(position, number) over a box.
template <class F>
void each(const Box& box, F f) {
  Index i = box.first;
  i64 k = 0;
  do f(i, k++);
  while (box.next(i));
}

// The element that meets y when shapes are aligned from the left.
i64 read_left(const CheckedView& x, const Index& y) {
  Index i = x.shape;
  for (int d = 0; d < x.rank(); ++d) i[d] = min(y[d], x.dim(d) - 1);
  return x(i);
}

// The element that meets y when an extent of 1 keeps its stride.
i64 read_unbroadcast(const CheckedView& x, const Index& y) {
  i64 k = 0;
  for (int d = 0; d < x.rank(); ++d) k = k * x.dim(d) + y[d + y.size - x.rank()];
  return x.element(min(k, volume(x.shape) - 1));
}

// Axes reduced one after another, each counted in what the ones before have left.
void reduce_one_by_one(ReduceAttrs& a, In in) {
  const int n = in[0].rank();
  std::vector<i64> left;
  for (int d = 0; d < n; ++d) left.push_back(d);
  for (int k = 0; k < a.axis.size; ++k) {
    const i64 at = min(wrap(a.axis[k], n), static_cast<i64>(left.size()) - 1);
    a.axis[k] = left[static_cast<std::size_t>(at)];
    left.erase(left.begin() + at);
  }
}

void negative_axis_short(ReduceAttrs& a, In in) {
  for (int k = 0; k < a.axis.size; ++k)
    if (a.axis[k] < 0) a.axis[k] += in[0].rank() - 1;
}

constexpr Mutant kArithMutants[] = {
    wrong<BroadcastAdd>(
        "broadcast_add.left_aligned", "BROADCAST",
        "the older text's formula aligns shapes from the left",
        [](auto&, In in, auto& y, auto&) { return read_left(in[0], y) + read_left(in[1], y); }),
    wrong<BroadcastAdd>("broadcast_add.flat_modulo", "BROADCAST",
                        "a bias fast path, index modulo the size of B, taken for every shape",
                        [](auto&, In in, auto& y, auto& t) {
                          const i64 k = ravel(y, t.shape) % volume(in[1].shape);
                          return Broadcast::read(in[0], y) + in[1].element(k);
                        }),
    wrong<BroadcastAdd>("broadcast_add.extent_1_keeps_stride", "BROADCAST",
                        "strides copied from the input without zeroing those of repeated axes",
                        [](auto&, In in, auto& y, auto&) {
                          return read_unbroadcast(in[0], y) + read_unbroadcast(in[1], y);
                        }),
    then_wrong<BroadcastAdd>("broadcast_add.int16", "ACC_WIDTH",
                             "paddw: eight 16-bit lanes chosen because models are 8-bit",
                             [](i64 v, auto&) { return to_int16(v); }),
    wrong<BroadcastAdd>("broadcast_add.saturates", "SATURATION",
                        "vqadd, paddsb: saturates at the inputs' precision",
                        [](auto& a, In in, auto& y, auto&) {
                          return saturate(BroadcastAdd::at(a, in, y),
                                          max(in[0].precision, in[1].precision));
                        }),
    then_wrong<BroadcastAdd>("broadcast_add.float32", "ACC_WIDTH",
                             "oneDNN's binary primitive computes int32 through float",
                             [](i64 v, auto&) { return to_float(v); }),
    wrong<BroadcastAdd>("broadcast_add.tail_8_copies_a", "TAIL",
                        "a loop over whole 8-lane vectors without its remainder, done in place",
                        [](auto& a, In in, auto& y, auto& t) {
                          return in_tail(y, t, 8) ? Broadcast::read(in[0], y)
                                                  : BroadcastAdd::at(a, in, y);
                        }),

    wrong<Relu>("relu.unsigned", "SIGN", "max of unsigned words: every negative value wins over 0",
                [](auto&, In in, auto& y, auto&) { return i64{in[0](y)}; }),
    then_wrong<Relu>("relu.int8", "ACC_WIDTH", "narrowed to int8, the type of activations",
                     [](i64 v, auto&) { return to_int8(v); }),
    wrong<Relu>("relu.tail_4", "TAIL", "in place, the last n mod 4 elements are not visited",
                [](auto& a, In in, auto& y, auto& t) {
                  return in_tail(y, t, 4) ? i64{in[0](y)} : Relu::at(a, in, y);
                }),

    wrong<Sum>("sum.float32", "ACC_WIDTH", "float accumulator: exact to 2^24 only",
               [](auto& a, In in, auto& y, auto&) {
                 float total = 0;
                 each(Reduce::window(a, in[0], y),
                      [&](auto& x, i64) { total += static_cast<float>(in[0](x)); });
                 return static_cast<i64>(total);
               }),
    then_wrong<Sum>("sum.int16", "ACC_WIDTH", "16-bit accumulators: enough for 8-bit rows of 256",
                    [](i64 v, auto&) { return to_int16(v); }),
    wrong<Sum>("sum.tail_8_twice", "TAIL",
               "a last vector moved back to end with the data: right for max, adds twice here",
               [](auto& a, In in, auto& y, auto&) {
                 const Box box = Reduce::window(a, in[0], y);
                 const i64 n = volume(box.extent), again = n > 8 && n % 8 ? 8 - n % 8 : 0;
                 i64 total = 0;
                 each(box, [&](auto& x, i64 k) {
                   const i64 from = n - n % 8 - again;
                   total += (from <= k && k < from + again ? 2 : 1) * i64{in[0](x)};
                 });
                 return total;
               }),
    misread<Sum>("sum.negative_axis", "AXIS", "a negative axis counted from N-1 instead of N",
                 [](auto& a, In in) { negative_axis_short(a, in); }),
    misread<Sum>("sum.ignores_exclude", "AXIS", "exclude was added to the schema later",
                 [](auto& a, In) { a.exclude = false; }),
    misread<Sum>("sum.no_axis_excluded", "AXIS",
                 "an empty list complemented: no axis given and exclude reduces nothing",
                 [](auto& a, In in) {
                   if (a.exclude && a.axis.size == 0)
                     for (int d = 0; d < in[0].rank(); ++d) a.axis.push(d);
                 }),
    wrong<Sum>("sum.keepdims_strides", "AXIS",
               "output strides computed before the reduced axes are put back as 1",
               [](auto a, In in, auto& y, auto&) {
                 a.keepdims = false;
                 Box box = Reduce::window(a, in[0], y);
                 for (int d = 0; d < box.first.size; ++d)
                   box.first[d] = min(box.first[d], in[0].dim(d) - 1);
                 return sum_over(box, [&](auto& x) { return i64{in[0](x)}; });
               }),

    wrong<Max>("max.all_axes_from_zero", "SIGN",
               "the deployed runtime: max over all axes starts at 0",
               [](auto& a, In in, auto& y, auto&) {
                 const i64 m = Max::at(a, in, y);
                 const unsigned all = (1u << in[0].rank()) - 1;
                 return Reduce::reduced_axes(a, in[0]) == all ? max(m, 0) : m;
               }),
    wrong<Max>("max.unsigned", "SIGN", "pmaxud for pmaxsd: every negative value wins",
               [](auto& a, In in, auto& y, auto&) {
                 std::uint32_t m = 0;
                 each(Reduce::window(a, in[0], y),
                      [&](auto& x, i64) { m = std::max(m, to_unsigned(in[0](x))); });
                 return to_int32(m);
               }),
    then_wrong<Max>("max.float32", "ACC_WIDTH", "numeric libraries reduce through float",
                    [](i64 v, auto&) { return clamp(to_float(v), -kIntMax, kIntMax); }),
    wrong<Max>("max.last_element", "BOUNDS",
               "the loop starts from the first element and ends early",
               [](auto& a, In in, auto& y, auto&) {
                 const Box box = Reduce::window(a, in[0], y);
                 i64 m = in[0](box.first);
                 each(box, [&](auto& x, i64 k) {
                   if (k + 1 < volume(box.extent)) m = max(m, in[0](x));
                 });
                 return m;
               }),
    misread<Max>("max.axes_one_by_one", "AXIS",
                 "reduced axis after axis, later ones not renumbered when one is dropped",
                 [](auto& a, In in) { reduce_one_by_one(a, in); }),

    wrong<CvmClip>("cvm_clip.two_complement", "SATURATION",
                   "packssdw and ssat keep -2^(p-1), which is no value here",
                   [](auto& a, In in, auto& y, auto&) {
                     return clamp(in[0](y), -max_of(a.precision) - 1, max_of(a.precision));
                   }),
    then_wrong<CvmClip>("cvm_clip.packs_int16", "SATURATION",
                        "packssdw on the way: everything saturates at 16 bits as well",
                        [](i64 v, auto&) { return saturate_int16(v); }),
    wrong<CvmClip>("cvm_clip.forgets_sign_bit", "BOUNDS", "2^p - 1 for 2^(p-1) - 1",
                   [](auto& a, In in, auto& y, auto&) {
                     return saturate(in[0](y), min(a.precision + 1, kMaxPrecision));
                   }),
    then_wrong<CvmClip>("cvm_clip.is_sign_obeyed", "SIGN",
                        "is_sign=false taken at its word: clamps at 0 from below",
                        [](i64 v, auto& a) { return a.is_sign ? v : max(v, 0); }),
    wrong<CvmClip>(
        "cvm_clip.one_sided", "SATURATION", "only the upper bound is clamped",
        [](auto& a, In in, auto& y, auto&) { return min(in[0](y), max_of(a.precision)); }),

    wrong<CvmRightShift>("cvm_right_shift.floor", "ROUNDING", "a plain arithmetic shift",
                         [](auto& a, In in, auto& y, auto&) {
                           return saturate(floor_shift(in[0](y), a.shift_bit), a.precision);
                         }),
    wrong<CvmRightShift>("cvm_right_shift.toward_zero", "ROUNDING", "division for shift, as in C",
                         [](auto& a, In in, auto& y, auto&) {
                           return saturate(in[0](y) / (i64{1} << a.shift_bit), a.precision);
                         }),
    wrong<CvmRightShift>("cvm_right_shift.ties_away", "ROUNDING",
                         "gemmlowp's RoundingDivideByPOT: ties away from zero",
                         [](auto& a, In in, auto& y, auto&) {
                           const i64 x = in[0](y), half = i64{1} << (a.shift_bit - 1);
                           const i64 t = (magnitude(x) + half) >> a.shift_bit;
                           return saturate(x < 0 ? -t : t, a.precision);
                         }),
    wrong<CvmRightShift>("cvm_right_shift.ties_even", "ROUNDING", "through lrint: ties to even",
                         [](auto& a, In in, auto& y, auto&) {
                           const i64 x = in[0](y), unit = i64{1} << a.shift_bit;
                           const i64 down = floor_shift(x, a.shift_bit);
                           const i64 twice = 2 * (x - down * unit);
                           const bool up = twice > unit || (twice == unit && down % 2 != 0);
                           return saturate(down + up, a.precision);
                         }),
    wrong<CvmRightShift>("cvm_right_shift.ties_down", "ROUNDING",
                         "adds half minus one before the shift",
                         [](auto& a, In in, auto& y, auto&) {
                           const i64 below = (i64{1} << (a.shift_bit - 1)) - 1;
                           const i64 t = floor_shift(in[0](y) + below, a.shift_bit);
                           return saturate(t, a.precision);
                         }),
    wrong<CvmRightShift>("cvm_right_shift.wraps", "ACC_WIDTH",
                         "the deployed runtime: the rounding bit is added in 32 bits",
                         [](auto& a, In in, auto& y, auto&) {
                           const i64 halves = floor_shift(in[0](y), a.shift_bit - 1);
                           return saturate(floor_shift(to_int32(halves + 1), 1), a.precision);
                         }),
    wrong<CvmRightShift>(
        "cvm_right_shift.count_modulo_32", "BOUNDS", "x86 and CUDA take the shift count modulo 32",
        [](auto& a, In in, auto& y, auto&) {
          return a.shift_bit == 32 ? saturate(in[0](y), a.precision) : CvmRightShift::at(a, in, y);
        }),
    wrong<CvmRightShift>("cvm_right_shift.logical", "SIGN", "psrld for psrad",
                         [](auto& a, In in, auto& y, auto&) {
                           const i64 halves = to_unsigned(in[0](y)) >> (a.shift_bit - 1);
                           return saturate(floor_shift(halves + 1, 1), a.precision);
                         }),
    wrong<CvmRightShift>("cvm_right_shift.two_complement", "SATURATION",
                         "narrowing instructions saturate at -2^(p-1)",
                         [](auto& a, In in, auto& y, auto&) {
                           const i64 halves = floor_shift(in[0](y), a.shift_bit - 1),
                                     m = max_of(a.precision);
                           return clamp(floor_shift(halves + 1, 1), -m - 1, m);
                         }),
    wrong<CvmRightShift>("cvm_right_shift.tail_16_truncates", "TAIL",
                         "a scalar remainder written without the rounding of the vector loop",
                         [](auto& a, In in, auto& y, auto& t) {
                           return in_tail(y, t, 16)
                                      ? saturate(floor_shift(in[0](y), a.shift_bit), a.precision)
                                      : CvmRightShift::at(a, in, y);
                         }),
};

}  // namespace

Span<Mutant> arith_mutants() { return {kArithMutants, static_cast<int>(std::size(kArithMutants))}; }

}  // namespace lockstep::faulty
