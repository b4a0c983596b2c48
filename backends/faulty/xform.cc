/// @file
/// Mistakes in operators that move elements.
#include <algorithm>

#include "backends/faulty/mutant.h"
#include "spec/ops/concatenate.h"
#include "spec/ops/flatten.h"
#include "spec/ops/reshape.h"
#include "spec/ops/strided_slice.h"
#include "spec/ops/take.h"

namespace lockstep::faulty {
namespace {

// Element number k of x when its first axis runs fastest.
i64 column_major(const CheckedView& x, i64 k) {
  Index i = x.shape;
  for (int d = 0; d < x.rank(); ++d) {
    i[d] = k % x.dim(d);
    k /= x.dim(d);
  }
  return x(i);
}

// concatenate whose inputs follow one another in the order `pick`.
template <class Pick>
i64 joined(const ConcatenateAttrs& a, In in, Index y, Pick pick) {
  const int along = wrap(a.axis, y.size);
  int k = 0;
  for (; y[along] >= in[pick(k)].dim(along); ++k) y[along] -= in[pick(k)].dim(along);
  return in[pick(k)](y);
}

// take whose index is settled by `settle(index, extent)`; an address outside X stays at its ends.
template <class Settle>
i64 taken(const TakeAttrs& a, In in, const Index& y, Settle settle) {
  const CheckedView &x = in[0], &indices = in[1];
  const i64 n = volume(x.shape);
  if (!a.axis) return x.element(clamp(settle(indices(y), n), 0, n - 1));
  const int along = wrap(*a.axis, x.rank());
  Index i = indices.shape;
  for (int d = 0; d < i.size; ++d) i[d] = y[along + d];
  i64 k = 0;
  for (int d = 0; d < x.rank(); ++d) {
    const i64 at = d < along ? y[d] : d == along ? settle(indices(i), x.dim(d)) : y[d + i.size - 1];
    k = k * x.dim(d) + at;
  }
  return x.element(clamp(k, 0, n - 1));
}

// strided_slice with each axis's first index and step settled by `settle`.
template <class Settle>
i64 sliced(const StridedSliceAttrs& a, In in, const Index& y, Settle settle) {
  Index i = y;
  for (int d = 0; d < y.size; ++d) {
    const i64 n = in[0].dim(d);
    StridedSlice::Cut c = StridedSlice::cut(a, d, n);
    settle(c, d, n);
    i[d] = clamp(c.begin + c.step * y[d], 0, n - 1);
  }
  return in[0](i);
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

struct FlattenRow : Behaviour {
  std::vector<TensorType> infer(const Call& call) override {
    auto y = Behaviour::infer(call);
    if (call.op == Flatten::name && call.in[0].dl.ndim == 1)
      std::swap(y[0].shape[0], y[0].shape[1]);
    return y;
  }
};

struct SliceFloors : Behaviour {
  std::vector<TensorType> infer(const Call& call) override {
    auto y = Behaviour::infer(call);
    if (call.op != StridedSlice::name) return y;
    StridedSliceAttrs a{{}, {}, {}};
    for (i64 v : call.tuple("begin")) a.begin.push(v);
    for (i64 v : call.tuple("end")) a.end.push(v);
    for (i64 v : call.tuple("stride")) a.stride.push(v);
    for (int d = 0; d < call.in[0].dl.ndim; ++d) {
      const auto c = StridedSlice::cut(a, d, call.in[0].dl.shape[d]);
      y[0].shape[static_cast<std::size_t>(d)] =
          max(1, magnitude(c.end - c.begin) / magnitude(c.step));
    }
    return y;
  }
};

constexpr Mutant kXformMutants[] = {
    wrong<Flatten>(
        "flatten.column_major", "ORDER", "reshape of a Fortran-ordered array",
        [](auto&, In in, auto& y, auto& t) { return column_major(in[0], y[1] * t.dim(0) + y[0]); }),
    wrong<Flatten>("flatten.tail_16", "TAIL", "copied in 64-byte blocks; what is left stays 0",
                   [](auto& a, In in, auto& y, auto& t) {
                     return in_tail(y, t, 16) ? 0 : Flatten::at(a, in, y, t);
                   }),
    {"flatten.vector_is_row", Flatten::name, "INFER", "a vector flattened to one row, (1, n)",
     nullptr, made<FlattenRow>},

    wrong<Concatenate>("concatenate.ignores_axis", "AXIS",
                       "one memcpy per input: right along the first axis only",
                       [](auto&, In in, auto& y, auto& t) {
                         i64 k = ravel(y, t.shape);
                         int from = 0;
                         for (; k >= volume(in[from].shape); ++from) k -= volume(in[from].shape);
                         return i64{in[from].element(k)};
                       }),
    wrong<Concatenate>(
        "concatenate.third_first", "ORDER", "folded from the right: a, then c, then b",
        [](auto& a, In in, auto& y, auto&) {
          return joined(a, in, y,
                        [&](int k) { return in.size() > 2 && (k == 1 || k == 2) ? 3 - k : k; });
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

    wrong<Take>("take.wraps_negative", "BOUNDS", "Python: index -1 is the last element",
                [](auto& a, In in, auto& y, auto&) {
                  return taken(a, in, y,
                               [](i64 i, i64 n) { return clamp(i < 0 ? i + n : i, 0, n - 1); });
                }),
    wrong<Take>("take.modulo", "BOUNDS", "mode=wrap, another default of the same operator",
                [](auto& a, In in, auto& y, auto&) {
                  return taken(a, in, y, [](i64 i, i64 n) { return (i % n + n) % n; });
                }),
    wrong<Take>("take.clamps_above_only", "SIGN",
                "indices assumed unsigned: a negative one reads the slice before",
                [](auto& a, In in, auto& y, auto&) {
                  return taken(a, in, y, [](i64 i, i64 n) { return min(i, n - 1); });
                }),
    wrong<Take>("take.clamps_to_extent", "BOUNDS", "clamped to n instead of n - 1",
                [](auto& a, In in, auto& y, auto&) {
                  return taken(a, in, y, [](i64 i, i64 n) { return clamp(i, 0, n); });
                }),
    wrong<Take>("take.none_is_axis_0", "AXIS", "None reads as 0: the index picks a row",
                [](auto& a, In in, auto& y, auto&) {
                  if (a.axis) return Take::at(a, in, y);
                  const CheckedView& x = in[0];
                  const i64 rows = x.dim(0), row = clamp(in[1](y), 0, rows - 1);
                  return i64{x.element(row * (volume(x.shape) / rows))};
                }),
    wrong<Take>("take.int8_index", "ACC_WIDTH", "indices narrowed with the rest of the tensors",
                [](auto& a, In in, auto& y, auto&) {
                  return taken(a, in, y, [](i64 i, i64 n) { return clamp(to_int8(i), 0, n - 1); });
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
    wrong<Reshape>(
        "reshape.aliases_storage", "LAYOUT",
        "only the header changes: the bytes of a strided input are taken as they lie",
        [](auto&, In in, auto& y, auto& t) { return i64{in[0].data[ravel(y, t.shape)]}; }),
    wrong<Reshape>("reshape.last_element", "BOUNDS", "copies n - 1 elements; the last repeats",
                   [](auto&, In in, auto& y, auto& t) {
                     const i64 n = volume(t.shape);
                     return i64{in[0].element(max(0, min(ravel(y, t.shape), n - 2)))};
                   }),

    wrong<StridedSlice>("strided_slice.negative_begin", "BOUNDS",
                        "begin clamps at 0 before adding n",
                        [](auto& a, In in, auto& y, auto&) {
                          return sliced(a, in, y, [&](auto& c, int d, i64) {
                            if (d < a.begin.size && a.begin[d] < 0) c.begin = 0;
                          });
                        }),
    wrong<StridedSlice>("strided_slice.backward_begin", "BOUNDS",
                        "begin clamps to n, one past the end, whatever the sign of the stride",
                        [](auto& a, In in, auto& y, auto&) {
                          return sliced(a, in, y, [&](auto& c, int d, i64 n) {
                            if (c.step < 0 && d < a.begin.size && a.begin[d] >= n) c.begin = n;
                          });
                        }),
    wrong<StridedSlice>("strided_slice.forward_only", "SIGN", "the magnitude of a stride is used",
                        [](auto& a, In in, auto& y, auto&) {
                          return sliced(a, in, y,
                                        [](auto& c, int, i64) { c.step = magnitude(c.step); });
                        }),
    wrong<StridedSlice>("strided_slice.repeats_stride", "BROADCAST",
                        "a short stride list goes on with its last entry",
                        [](auto& a, In in, auto& y, auto&) {
                          return sliced(a, in, y, [&](auto& c, int d, i64) {
                            const int n = a.stride.size;
                            if (n > 0 && d >= n) c.step = a.stride[n - 1];
                          });
                        }),
    wrong<StridedSlice>("strided_slice.ignores_stride", "BOUNDS", "a run of neighbours is copied",
                        [](auto& a, In in, auto& y, auto&) {
                          return sliced(a, in, y,
                                        [](auto& c, int, i64) { c.step = c.step < 0 ? -1 : 1; });
                        }),
    {"strided_slice.extent_floors", StridedSlice::name, "INFER",
     "the quotient of length and stride rounded down", nullptr, made<SliceFloors>},
};

}  // namespace

Span<Mutant> xform_mutants() { return {kXformMutants, static_cast<int>(std::size(kXformMutants))}; }

}  // namespace lockstep::faulty
