/// @file
/// Mistakes in operators that keep every element of an input and put it elsewhere.
#include <algorithm>

#include "backends/faulty/mutant.h"
#include "spec/ops/concatenate.h"
#include "spec/ops/expand_dims.h"
#include "spec/ops/flatten.h"
#include "spec/ops/repeat.h"
#include "spec/ops/reshape.h"
#include "spec/ops/squeeze.h"
#include "spec/ops/tile.h"
#include "spec/ops/transpose.h"

namespace lockstep::faulty {
namespace {

// Element number k of x in column-major order.
i64 column_major(const CheckedView& x, i64 k) {
  Index i = x.shape;
  for (int d = 0; d < x.rank(); ++d) {
    i[d] = k % x.dim(d);
    k /= x.dim(d);
  }
  return x(i);
}

// concatenate whose inputs follow one another in the order `pick`.
template <class Pick> i64 joined(const ConcatenateAttrs& a, In in, Index y, Pick pick) {
  const int along = wrap(a.axis, y.size);
  int k = 0;
  for (; y[along] >= in[pick(k)].dim(along); ++k) y[along] -= in[pick(k)].dim(along);
  return in[pick(k)](y);
}

// The output axis where the first -4 of a target puts its two extents, or -1.
int split_axis(const Tuple& target, int rank) {
  int axis = 0, cursor = 0;
  for (i64 code : target) {
    if (code == -4) return axis;
    axis += code == -2 ? std::max(rank - cursor, 0) : 1;
    cursor = code == -2 ? rank : cursor + (code == -3 ? 2 : 1);
  }
  return -1;
}

// Mistakes of operators that change only the shape and keep the row-major order of elements.
template <class Op> constexpr Mutant in_column_major(string_view name) {
  return wrong<Op>(name, "ORDER", "the order of a Fortran array, kept by the library underneath",
      [](auto&, In in, auto& y, auto& t) { return column_major(in[0], ravel(y, t.shape)); });
}
template <class Op> constexpr Mutant aliases_storage(string_view name) {
  return wrong<Op>(name, "LAYOUT",
      "only the header changes: the bytes of a strided input are taken as they lie",
      [](auto&, In in, auto& y, auto& t) { return i64{in[0].data[ravel(y, t.shape)]}; });
}
template <class Op> constexpr Mutant drops_tail(string_view name) {
  return wrong<Op>(name, "TAIL", "copied in 64-byte blocks; what is left stays 0",
      [](auto& a, In in, auto& y, auto& t) {
        return in_tail(y, t, 16) ? 0 : value_at<Op>(a, in, y, t);
      });
}

// The inverse permutation.
Tuple inverse(const Tuple& axes, int rank) {
  Tuple back = axes;
  for (int j = 0; j < axes.size; ++j) back[wrap(axes[j], rank)] = j;
  return back;
}

constexpr Mutant kXformMutants[] = {
    wrong<Flatten>("flatten.column_major", "ORDER", "reshape of a Fortran-ordered array",
        [](auto&, In in, auto& y, auto& t) { return column_major(in[0], y[1] * t.dim(0) + y[0]); }),
    drops_tail<Flatten>("flatten.tail_16"),

    wrong<Concatenate>("concatenate.ignores_axis", "AXIS",
        "one memcpy per input: right along the first axis only",
        [](auto&, In in, auto& y, auto& t) {
          i64 k = ravel(y, t.shape);
          int from = 0;
          for (; k >= volume(in[from].shape); ++from) k -= volume(in[from].shape);
          return i64{in[from].element(k)};
        }),
    wrong<Concatenate>("concatenate.third_first", "ORDER",
        "folded from the right: a, then c, then b",
        [](auto& a, In in, auto& y, auto&) {
          return joined(
              a, in, y, [&](int k) { return in.size() > 2 && (k == 1 || k == 2) ? 3 - k : k; });
        }),
    wrong<Concatenate>("concatenate.equal_extents", "BOUNDS",
        "input k is looked for at k times the extent of input 0",
        [](auto& a, In in, auto y, auto&) {
          const int along = wrap(a.axis, y.size);
          const i64 n = in[0].dim(along), k = min(y[along] / n, in.size() - 1);
          const CheckedView& x = in[static_cast<int>(k)];
          y[along] = min(y[along] - k * n, x.dim(along) - 1);
          return i64{x(y)};
        }),
    wrong<Concatenate>("concatenate.first_precision", "SATURATION",
        "requantized to the precision of the first input",
        [](auto& a, In in, auto& y, auto&) {
          return saturate(Concatenate::at(a, in, y), in[0].precision);
        }),

    wrong<Reshape>("reshape.column_major", "ORDER", "reshape of a Fortran-ordered array",
        [](auto&, In in, auto& y, auto& t) {
          i64 k = 0;
          for (int d = y.size - 1; d >= 0; --d) k = k * t.dim(d) + y[d];
          return column_major(in[0], k);
        }),
    wrong<Reshape>("reshape.split_transposed", "ORDER",
        "-4 a b as depth-to-space does it: the second extent runs slower",
        [](auto& a, In in, auto y, auto t) {
          const int d = split_axis(a.shape, in[0].rank());
          if (d < 0) return Reshape::at(a, in, y, t);
          std::swap(y[d], y[d + 1]);
          std::swap(t.shape[d], t.shape[d + 1]);
          return Reshape::at(a, in, y, t);
        }),
    aliases_storage<Reshape>("reshape.aliases_storage"),
    wrong<Reshape>("reshape.last_element", "BOUNDS", "copies n - 1 elements; the last repeats",
        [](auto&, In in, auto& y, auto& t) {
          const i64 n = volume(t.shape);
          return i64{in[0].element(max(0, min(ravel(y, t.shape), n - 2)))};
        }),

    in_column_major<ExpandDims>("expand_dims.column_major"),
    aliases_storage<ExpandDims>("expand_dims.aliases_storage"),
    drops_tail<ExpandDims>("expand_dims.tail_16"),

    in_column_major<Squeeze>("squeeze.column_major"),
    aliases_storage<Squeeze>("squeeze.aliases_storage"),
    drops_tail<Squeeze>("squeeze.tail_16"),

    wrong<Repeat>("repeat.tiles", "ORDER", "the copies follow the whole axis, as tile's do",
        [](auto& a, In in, auto y, auto&) {
          const int along = wrap(a.axis, y.size);
          y[along] %= in[0].dim(along);
          return i64{in[0](y)};
        }),
    wrong<Repeat>("repeat.flat", "AXIS", "NumPy without an axis: every element is repeated",
        [](auto& a, In in, auto& y, auto& t) {
          return i64{in[0].element(ravel(y, t.shape) / a.repeats)};
        }),
    misread<Repeat>("repeat.first_axis", "AXIS", "the default axis, whatever was given",
        [](auto& a, In) { a.axis = 0; }),
    misread<Repeat>("repeat.negative_axis", "AXIS", "a negative axis counted from N-1 instead of N",
        [](auto& a, In in) {
          if (a.axis < 0) a.axis = max(a.axis + in[0].rank() - 1, 0);
        }),
    wrong<Repeat>("repeat.places_of_16", "BOUNDS",
        "a table of places for at most 16 copies serves more of them too",
        [](auto& a, In in, auto y, auto&) {
          const int along = wrap(a.axis, y.size);
          y[along] = min(y[along] / min(a.repeats, 16), in[0].dim(along) - 1);
          return i64{in[0](y)};
        }),

    wrong<Tile>("tile.repeats", "ORDER", "each slice follows its original, as repeat's do",
        [](auto&, In in, auto& y, auto& t) {
          const CheckedView& x = in[0];
          return i64{x.at([&](int d) {
            const int k = d + y.size - x.rank();
            return y[k] / (t.dim(k) / x.dim(d));
          })};
        }),
    wrong<Tile>("tile.flat", "AXIS", "the whole buffer copied again: right along the first axis",
        [](auto&, In in, auto& y, auto& t) {
          return i64{in[0].element(ravel(y, t.shape) % volume(in[0].shape))};
        }),
    misread<Tile>("tile.left_aligned", "BROADCAST", "fewer reps than axes serve the first axes",
        [](auto& a, In in) {
          while (a.reps.size < in[0].rank()) a.reps.push(1);
        }),
    misread<Tile>("tile.innermost_first", "ORDER", "reps read from the last axis on",
        [](auto& a, In) { std::reverse(a.reps.item, a.reps.item + a.reps.size); }),

    misread<Transpose>("transpose.inverse", "AXIS",
        "axes say where each axis goes: the same for swaps, not for rotations",
        [](auto& a, In in) { a.axes = inverse(a.axes, in[0].rank()); }),
    misread<Transpose>("transpose.always_reverses", "AXIS", "the default order, whatever was given",
        [](auto& a, In) { a.axes = {}; }),
    misread<Transpose>("transpose.last_two", "AXIS",
        "without axes only the last two are swapped, as in a batch of matrices",
        [](auto& a, In in) {
          const int n = in[0].rank();
          for (int d = 0; a.axes.size < n; ++d)
            a.axes.push(n > 1 && d >= n - 2 ? 2 * n - 3 - d : d);
        }),
    misread<Transpose>("transpose.negative_axes", "AXIS",
        "axes sorted by a key: negative ones come first, in the wrong place",
        [](auto& a, In in) {
          Tuple order;
          for (i64 d : a.axes)
            if (d < 0) order.push(wrap(d, in[0].rank()));
          for (i64 d : a.axes)
            if (d >= 0) order.push(d);
          a.axes = order;
        }),
    wrong<Transpose>("transpose.renames_shape", "LAYOUT",
        "a view whose strides stayed those of X: only the shape is transposed",
        [](auto&, In in, auto& y, auto& t) { return i64{in[0].element(ravel(y, t.shape))}; }),
    wrong<Transpose>("transpose.whole_tiles", "TAIL",
        "8 x 8 tiles; what is left over is copied as it lies",
        [](auto& a, In in, auto& y, auto& t) {
          return in_tail(y, t, 64) ? i64{in[0].element(ravel(y, t.shape))}
                                   : Transpose::at(a, in, y);
        }),
    misplaced<Transpose>("transpose.swaps_halves", "ORDER",
        "vinsertf128 joins rows 4..7 and 0..3 of an 8 x 4 block in the wrong order",
        [](auto& a, In in, auto& y, auto& t) {
          const int row = y.size - 1;
          int column = row;
          while (Transpose::source(a, column, y.size) != in[0].rank() - 1) --column;
          if (column != row && !in_tail(y[column], t.dim(column), 4))
            y[row] = swap_halves(y[row], t.dim(row), 8);
        }),
    misplaced<Transpose>("transpose.last_rows", "TAIL",
        "rows beyond whole blocks of eight repeat the last row of a block",
        [](auto& a, In in, auto& y, auto& t) {
          const int row = y.size - 1;
          const i64 whole = t.dim(row) - t.dim(row) % 8;
          const bool turned = Transpose::source(a, row, y.size) != in[0].rank() - 1;
          if (turned && whole > 0) y[row] = min(y[row], whole - 1);
        }),
};

}  // namespace

Span<Mutant> xform_mutants() { return {kXformMutants, static_cast<int>(std::size(kXformMutants))}; }

}  // namespace lockstep::faulty
