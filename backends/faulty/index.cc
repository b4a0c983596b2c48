/// @file
/// Mistakes in operators that choose some elements of an input.
#include "backends/faulty/mutant.h"
#include "spec/ops/cvm_lut.h"
#include "spec/ops/slice_like.h"
#include "spec/ops/strided_slice.h"
#include "spec/ops/take.h"
#include "spec/ops/where.h"

namespace lockstep::faulty {
namespace {

// take with indices changed by `settle(index, extent)`; an address outside X is clamped to X.
template <Captureless Settle>
constexpr Mutant taken(string_view name, string_view kind, string_view provenance, Settle) {
  return wrong<Take>(name, kind, provenance, [](auto& a, In in, auto& y, auto&) {
    const CheckedView &x = in[0], &indices = in[1];
    const i64 n = volume(x.shape);
    if (!a.axis) return i64{x.element(clamp(Settle{}(i64{indices(y)}, n), 0, n - 1))};
    const int along = wrap(*a.axis, x.rank());
    Index i = indices.shape;
    for (int d = 0; d < i.size; ++d) i[d] = y[along + d];
    const i64 chosen = Settle{}(i64{indices(i)}, x.dim(along));
    i64 k = 0;
    for (int d = 0; d < x.rank(); ++d)
      k = k * x.dim(d) + (d < along ? y[d] : d == along ? chosen : y[d + i.size - 1]);
    return i64{x.element(clamp(k, 0, n - 1))};
  });
}

// strided_slice with `settle(attributes, cut, axis, extent)` changing where an axis is cut.
template <Captureless Settle>
constexpr Mutant sliced(string_view name, string_view kind, string_view provenance, Settle) {
  return wrong<StridedSlice>(name, kind, provenance, [](auto& a, In in, auto& y, auto&) {
    Index i = y;
    for (int d = 0; d < y.size; ++d) {
      const i64 n = in[0].dim(d);
      StridedSlice::Cut c = StridedSlice::cut(a, d, n);
      Settle{}(a, c, d, n);
      i[d] = clamp(c.begin + c.step * y[d], 0, n - 1);
    }
    return i64{in[0](i)};
  });
}

// cvm_lut with indices changed by `settle(index, entries)`; the memory past the table is zero.
template <Captureless Settle>
constexpr Mutant looked_up(string_view name, string_view kind, string_view provenance, Settle) {
  return wrong<CvmLut>(name, kind, provenance, [](auto&, In in, auto& y, auto&) {
    const i64 n = volume(in[1].shape), i = Settle{}(i64{in[0](y)}, n);
    return 0 <= i && i < n ? i64{in[1].element(i)} : 0;
  });
}

// where with `holds` deciding whether the condition is true.
template <Captureless Holds>
constexpr Mutant chosen_if(string_view name, string_view kind, string_view provenance, Holds) {
  return wrong<Where>(name, kind, provenance, [](auto&, In in, auto& y, auto&) {
    const CheckedView& c = in[Where::Condition];
    const i64 condition = c.rank() < y.size ? c(y[0]) : c(y);
    return i64{in[Holds{}(condition) ? Where::X : Where::Y](y)};
  });
}

constexpr Mutant kIndexMutants[] = {
    taken("take.wraps_negative", "BOUNDS", "Python: index -1 is the last element",
        [](i64 i, i64 n) { return clamp(i < 0 ? i + n : i, 0, n - 1); }),
    taken("take.modulo", "BOUNDS", "mode=wrap, another default of the same operator",
        [](i64 i, i64 n) { return (i % n + n) % n; }),
    taken("take.clamps_above_only", "SIGN",
        "indices assumed unsigned: a negative one reads the slice before",
        [](i64 i, i64 n) { return min(i, n - 1); }),
    taken("take.clamps_to_extent", "BOUNDS", "clamped to n instead of n - 1",
        [](i64 i, i64 n) { return clamp(i, 0, n); }),
    wrong<Take>("take.none_is_axis_0", "AXIS", "None reads as 0: the index picks a row",
        [](auto& a, In in, auto& y, auto&) {
          if (a.axis) return Take::at(a, in, y);
          const CheckedView& x = in[0];
          const i64 rows = x.dim(0), row = clamp(in[1](y), 0, rows - 1);
          return i64{x.element(row * (volume(x.shape) / rows))};
        }),
    taken("take.int8_index", "ACC_WIDTH", "indices narrowed with the rest of the tensors",
        [](i64 i, i64 n) { return clamp(to_int8(i), 0, n - 1); }),
    wrong<Take>("take.first_lane", "BOUNDS",
        "one test for eight indices: where the first is outside, it is clamped and serves all",
        [](auto& a, In in, auto& y, auto& t) {
          if (a.axis) return i64{Take::at(a, in, y)};
          const i64 n = volume(in[0].shape), k = ravel(y, t.shape);
          const i64 first = in[1].element(k - k % 8), i = in[1](y);
          return i64{in[0].element(clamp(first < 0 || first >= n ? first : i, 0, n - 1))};
        }),

    sliced("strided_slice.negative_begin", "BOUNDS", "begin clamps at 0 before adding n",
        [](auto& a, auto& c, int d, i64) {
          if (d < a.begin.size && a.begin[d] < 0) c.begin = 0;
        }),
    sliced("strided_slice.backward_begin", "BOUNDS",
        "begin clamps to n, one past the end, whatever the sign of the stride",
        [](auto& a, auto& c, int d, i64 n) {
          if (c.step < 0 && d < a.begin.size && a.begin[d] >= n) c.begin = n;
        }),
    sliced("strided_slice.forward_only", "SIGN", "the magnitude of a stride is used",
        [](auto&, auto& c, int, i64) { c.step = magnitude(c.step); }),
    sliced("strided_slice.repeats_stride", "BROADCAST",
        "a short stride list goes on with its last entry",
        [](auto& a, auto& c, int d, i64) {
          const int n = a.stride.size;
          if (n > 0 && d >= n) c.step = a.stride[n - 1];
        }),
    sliced("strided_slice.ignores_stride", "BOUNDS", "a run of neighbours is copied",
        [](auto&, auto& c, int, i64) { c.step = c.step < 0 ? -1 : 1; }),
    wrong<StridedSlice>("strided_slice.odd_lanes", "TAIL",
        "stride 2 takes the even lanes; the last vector of a row takes the odd ones",
        [](auto& a, In in, auto& y, auto& t) {
          const int row = y.size - 1;
          Index i = y;
          for (int d = 0; d <= row; ++d) {
            const StridedSlice::Cut c = StridedSlice::cut(a, d, in[0].dim(d));
            const bool odd = d == row && c.step == 2 && in_tail(y[d], t.dim(d), 8);
            i[d] = min(c.begin + c.step * y[d] + odd, in[0].dim(d) - 1);
          }
          return i64{in[0](i)};
        }),
    from_tier(1,
        misplaced<StridedSlice>("strided_slice.stale_of_four", "TAIL",
            "stride 4 on its own path: the last vector of a row stores the one before it again",
            [](auto& a, In in, auto& y, auto& t) {
              const int row = y.size - 1;
              if (StridedSlice::cut(a, row, in[0].dim(row)).step == 4)
                y[row] = repeat_vector(y[row], t.dim(row), 8);
            })),

    wrong<SliceLike>("slice_like.last_elements", "BOUNDS",
        "keeps the end of each axis: an index counted from the back",
        [](auto&, In in, auto y, auto& t) {
          for (int d = 0; d < y.size; ++d) y[d] += in[0].dim(d) - t.dim(d);
          return i64{in[0](y)};
        }),
    wrong<SliceLike>("slice_like.centre", "BOUNDS",
        "a crop, as of images, is taken from the middle",
        [](auto&, In in, auto y, auto& t) {
          for (int d = 0; d < y.size; ++d) y[d] += (in[0].dim(d) - t.dim(d)) / 2;
          return i64{in[0](y)};
        }),
    wrong<SliceLike>("slice_like.first_bytes", "LAYOUT",
        "the buffer is cut: the strides of X are replaced by those of the result",
        [](auto&, In in, auto& y, auto& t) { return i64{in[0].element(ravel(y, t.shape))}; }),
    looked_up("cvm_lut.wraps_negative", "BOUNDS", "Python: index -1 is the last entry",
        [](i64 i, i64 n) { return clamp(i < 0 ? i + n : i, 0, n - 1); }),
    looked_up("cvm_lut.unsigned_index", "SIGN",
        "indices assumed unsigned: a negative one is clamped to the last entry",
        [](i64 i, i64 n) { return min(to_unsigned(i), n - 1); }),
    looked_up("cvm_lut.modulo", "BOUNDS", "take's mode=wrap, on the table",
        [](i64 i, i64 n) { return (i % n + n) % n; }),
    looked_up("cvm_lut.clamps_to_size", "BOUNDS",
        "clamped to n instead of n - 1: one entry too far",
        [](i64 i, i64 n) { return clamp(i, 0, n); }),
    looked_up("cvm_lut.unclamped", "BOUNDS", "a gather with a mask: entries outside are 0",
        [](i64 i, i64) { return i; }),
    looked_up("cvm_lut.byte_index", "ACC_WIDTH", "a table of 256 entries, indexed by a byte",
        [](i64 i, i64 n) { return clamp(i & 255, 0, n - 1); }),
    wrong<CvmLut>("cvm_lut.packed_indices", "SATURATION",
        "vpackusdw, vpackuswb: whole vectors of eight indices saturate at 255, not at the table",
        [](auto&, In in, auto& y, auto& t) {
          const i64 last = volume(in[1].shape) - 1, most = in_tail(y, t, 8) ? last : 255;
          const i64 i = clamp(in[0](y), 0, most);
          return i <= last ? i64{in[1].element(i)} : 0;
        }),

    chosen_if("where.equals_1", "BOUNDS", "a condition is 0 or 1: compared with 1",
        [](i64 c) { return c == 1; }),
    chosen_if("where.positive", "SIGN", "a condition is a score: taken if above 0",
        [](i64 c) { return c > 0; }),
    chosen_if("where.lowest_bit", "ACC_WIDTH", "a mask of bits: the lowest decides",
        [](i64 c) { return (c & 1) != 0; }),
    chosen_if("where.lowest_byte", "ACC_WIDTH", "a condition narrowed to a bool's byte",
        [](i64 c) { return (c & 255) != 0; }),
    chosen_if("where.swapped", "ORDER", "blendvps takes its second operand where the mask is set",
        [](i64 c) { return c == 0; }),
    wrong<Where>("where.last_axis", "BROADCAST",
        "a short condition broadcasts from the right, along the last axis",
        [](auto&, In in, auto& y, auto&) {
          const CheckedView& c = in[Where::Condition];
          const i64 last = min(y[y.size - 1], c.dim(0) - 1);
          const i64 condition = c.rank() < y.size ? c(last) : c(y);
          return i64{in[condition != 0 ? Where::X : Where::Y](y)};
        }),
    wrong<Where>("where.first_lane", "BROADCAST",
        "the branch for a condition of rows: the first of eight conditions decides for all",
        [](auto& a, In in, auto& y, auto& t) {
          const CheckedView& c = in[Where::Condition];
          const i64 k = ravel(y, t.shape);
          if (c.rank() < y.size || in_tail(y, t, 8)) return i64{Where::at(a, in, y)};
          return i64{in[c.element(k - k % 8) != 0 ? Where::X : Where::Y](y)};
        }),
    wrong<Where>("where.quarter_rows", "BOUNDS",
        "the deployed runtime: rows are copied by their count of words as bytes",
        [](auto& a, In in, auto& y, auto& t) {
          if (in[Where::Condition].rank() == y.size) return Where::at(a, in, y);
          const i64 row = volume(t.shape) / t.dim(0);
          return ravel(y, t.shape) % row < (row + 3) / 4 ? Where::at(a, in, y) : 0;
        }),
};

}  // namespace

Span<Mutant> index_mutants() { return {kIndexMutants, static_cast<int>(std::size(kIndexMutants))}; }

}  // namespace lockstep::faulty
