/// @file
/// Mistakes in reductions.
#include "backends/faulty/mutant.h"
#include "spec/ops/max.h"
#include "spec/ops/sum.h"

namespace lockstep::faulty {
namespace {

// Calls f(position, number) over a box.
template <class F> void each(const Box& box, F f) {
  Index i = box.first;
  i64 k = 0;
  do f(i, k++);
  while (box.next(i));
}

// Reduces axes one after another, each counted among the axes that are left.
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

constexpr Mutant kReduceMutants[] = {
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
    wrong<Sum>("sum.three_accumulators", "TAIL",
        "four vectors of 16 accumulate, and the last of them is not added to the others",
        [](auto& a, In in, auto& y, auto&) {
          const Box box = Reduce::window(a, in[0], y);
          i64 total = 0;
          each(box, [&](auto& x, i64 k) {
            const bool lost = k / 16 % 4 == 3 && !in_tail(k, volume(box.extent), 64);
            total += lost ? 0 : i64{in[0](x)};
          });
          return total;
        }),
    wrong<Sum>("sum.saturating_pairs", "SATURATION",
        "vpackssdw, then vpmaddwd by ones adds pairs: elements saturate at int16",
        [](auto& a, In in, auto& y, auto&) {
          return sum_over(
              Reduce::window(a, in[0], y), [&](auto& x) { return saturate_int16(in[0](x)); });
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
    wrong<Max>("max.tail_from_zero", "TAIL",
        "what is left of a run joins a cleared vector of eight, whose other lanes are 0",
        [](auto& a, In in, auto& y, auto&) {
          const i64 m = Max::at(a, in, y);
          return volume(Reduce::window(a, in[0], y).extent) % 8 == 0 ? m : max(m, 0);
        }),
    misplaced<Max>("max.stale_columns", "TAIL",
        "where the last axis is kept, its last elements get the vector of 16 before them again",
        [](auto& a, In in, auto& y, auto& t) {
          const int last = y.size - 1;
          const bool kept = !(Reduce::reduced_axes(a, in[0]) >> (in[0].rank() - 1) & 1);
          if (kept) y[last] = repeat_vector(y[last], t.dim(last), 16);
        }),
    misread<Max>("max.axes_one_by_one", "AXIS",
        "reduced axis after axis, later ones not renumbered when one is dropped",
        [](auto& a, In in) { reduce_one_by_one(a, in); }),
};

}  // namespace

Span<Mutant> reduce_mutants() {
  return {kReduceMutants, static_cast<int>(std::size(kReduceMutants))};
}

}  // namespace lockstep::faulty
