/// @file
/// Mistakes in the inferred types of one operator.
#include <algorithm>

#include "backends/faulty/mutant.h"
#include "spec/ops/broadcast_div.h"
#include "spec/ops/broadcast_greater.h"
#include "spec/ops/broadcast_mul.h"
#include "spec/ops/clip.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/cvm_lut.h"
#include "spec/ops/cvm_precision.h"
#include "spec/ops/elemwise_sub.h"
#include "spec/ops/expand_dims.h"
#include "spec/ops/flatten.h"
#include "spec/ops/get_valid_counts.h"
#include "spec/ops/max_pool2d.h"
#include "spec/ops/repeat.h"
#include "spec/ops/slice_like.h"
#include "spec/ops/squeeze.h"
#include "spec/ops/strided_slice.h"
#include "spec/ops/sum.h"
#include "spec/ops/tile.h"
#include "spec/ops/transpose.h"
#include "spec/ops/upsampling.h"
#include "spec/ops/where.h"

namespace lockstep::faulty {
namespace {

template <class Op, class Change> struct Infers : Behaviour {
  std::vector<TensorType> infer(const Call& call) override {
    std::vector<TensorType> types = Behaviour::infer(call);
    if (call.op != Op::name) return types;
    const OpInfo* op = nullptr;
    std::vector<Attr> values;
    Inferred y = backend::checked_types(call, op, values);
    std::vector<Type> in;
    for (const ls_tensor& t : call.in) in.push_back(backend::type_of(t));
    const auto a = from_attributes<Op>({values.data(), op->attrs.size()});
    Change{}(a, Types{in.data(), static_cast<int>(in.size())}, y.type);
    for (int k = 0; k < y.count; ++k)
      types[static_cast<std::size_t>(k)] = {{y[k].shape.begin(), y[k].shape.end()}, y[k].precision};
    return types;
  }
};

// A mistake in inferred types: a function of (attributes, types of the inputs, types of the
// outputs), which changes the last.
template <class Op, Captureless Change>
constexpr Mutant infers(string_view name, string_view provenance, Change) {
  return {name, Op::name, "INFER", provenance, nullptr, made<Infers<Op, Change>>};
}

// A negative axis resolved as if there were one axis fewer.
i64 one_short(i64 axis, int rank) { return axis < 0 ? max(axis + rank - 1, 0) : axis; }

constexpr Mutant kInferMutants[] = {
    infers<Sum>("sum.infers_identity", "nothing reduced taken for nothing to infer",
        [](auto&, Types in, Type* y) {
          if (volume(in[0].shape) == volume(y->shape)) y->precision = in[0].precision;
        }),
    infers<Conv2d>("conv2d.infers_without_bias", "the bit that adding a bias needs is missing",
        [](auto& a, Types, Type* y) { y->precision -= a.use_bias; }),
    infers<GetValidCounts>("get_valid_counts.infers_input",
        "the deployed runtime: rows have the input's precision, too narrow for -1",
        [](auto&, Types in, Type* y) { y[1].precision = in[0].precision; }),
    infers<MaxPool2d>("max_pool2d.infers_floor", "ceil_mode read by the kernel only",
        [](auto& a, Types in, Type* y) {
          for (int d = 0; a.ceil_mode && d < 2; ++d) {
            const i64 room = in[0].dim(2 + d) + 2 * MaxPool2d::pad(a, d);
            y->shape[2 + d] = (room - a.pool_size[d]) / a.strides[d] + 1;
          }
        }),
    infers<Upsampling>("upsampling.infers_height", "scale multiplies the height only",
        [](auto&, Types in, Type* y) { y->shape[3] = in[0].dim(3); }),

    infers<BroadcastMul>("broadcast_mul.infers_sum", "the precision of broadcast_add: one bit more",
        [](auto&, Types in, Type* y) {
          y->precision = std::max(in[0].precision, in[1].precision) + 1;
        }),
    infers<BroadcastDiv>("broadcast_div.infers_wider", "the wider operand, as for broadcast_max",
        [](auto&, Types in, Type* y) {
          y->precision = std::max(in[0].precision, in[1].precision);
        }),
    infers<BroadcastGreater>("broadcast_greater.infers_a",
        "the deployed runtime: the precision of A, where 1 bit holds no 1",
        [](auto&, Types in, Type* y) { y->precision = in[0].precision; }),
    infers<ElemwiseSub>("elemwise_sub.infers_wider",
        "a difference taken to be no wider than A and B",
        [](auto&, Types, Type* y) { --y->precision; }),
    infers<Clip>("clip.infers_without_carry", "bl(m) + 1: the + 1 inside bl forgotten",
        [](auto& a, Types, Type* y) {
          y->precision = bit_length(max(magnitude(a.a_min), magnitude(a.a_max))) + 1;
        }),
    infers<Clip>("clip.infers_upper", "only a_max decides the precision",
        [](auto& a, Types, Type* y) { y->precision = bit_length(magnitude(a.a_max) + 1) + 1; }),
    infers<CvmPrecision>("cvm_precision.infers_5", "31 is at most 5 bits: the sign forgotten",
        [](auto&, Types, Type* y) { y->precision = 5; }),
    infers<CvmLut>("cvm_lut.infers_data", "the precision of the indices",
        [](auto&, Types in, Type* y) { y->precision = in[CvmLut::D].precision; }),
    infers<Where>("where.infers_condition", "the deployed runtime: the condition's precision",
        [](auto&, Types in, Type* y) { y->precision = in[Where::Condition].precision; }),

    infers<Flatten>("flatten.vector_is_row", "a vector flattened to one row, (1, n)",
        [](auto&, Types in, Type* y) {
          if (in[0].rank() == 1) std::swap(y->shape[0], y->shape[1]);
        }),
    infers<StridedSlice>("strided_slice.extent_floors",
        "the quotient of length and stride rounded down",
        [](auto& a, Types in, Type* y) {
          for (int d = 0; d < y->rank(); ++d) {
            const auto c = StridedSlice::cut(a, d, in[0].dim(d));
            y->shape[d] = max(1, magnitude(c.end - c.begin) / magnitude(c.step));
          }
        }),
    infers<SliceLike>("slice_like.infers_like_rank",
        "a negative axis counted from the back of like, not of X",
        [](auto& a, Types in, Type* y) {
          if (a.axis.size == 0) return;
          const int n = in[SliceLike::Like].rank();
          *y = in[SliceLike::X];
          for (i64 axis : a.axis) {
            const int d = wrap(max(axis, -n), n);
            if (d < y->rank()) y->shape[d] = in[SliceLike::Like].dim(d);
          }
        }),
    infers<SliceLike>("slice_like.infers_like", "the whole shape of like where the ranks are equal",
        [](auto&, Types in, Type* y) {
          if (in[1].rank() == in[0].rank()) y->shape = in[1].shape;
        }),
    infers<Repeat>("repeat.infers_negative_axis", "a negative axis counted from N-1 instead of N",
        [](auto a, Types in, Type* y) {
          a.axis = one_short(a.axis, in[0].rank());
          y->shape = Repeat::infer(a, in)[0].shape;
        }),
    infers<Tile>("tile.infers_left", "fewer reps than axes serve the first axes",
        [](auto& a, Types in, Type* y) {
          if (a.reps.size >= in[0].rank()) return;
          *y = in[0];
          for (int d = 0; d < a.reps.size; ++d) y->shape[d] *= a.reps[d];
        }),
    infers<Transpose>("transpose.infers_inverse", "axes say where each axis goes",
        [](auto& a, Types in, Type* y) {
          for (int j = 0, n = y->rank(); j < n; ++j)
            y->shape[Transpose::source(a, j, n)] = in[0].dim(j);
        }),
    infers<ExpandDims>("expand_dims.infers_before_last",
        "a negative axis counted from N instead of N + 1",
        [](auto a, Types in, Type* y) {
          a.axis = one_short(a.axis, in[0].rank() + 1);
          y->shape = ExpandDims::infer(a, in)[0].shape;
        }),
    infers<ExpandDims>("expand_dims.infers_one", "num_newaxis came later: one axis is added",
        [](auto a, Types in, Type* y) {
          a.num_newaxis = 1;
          y->shape = ExpandDims::infer(a, in)[0].shape;
        }),
    infers<Squeeze>("squeeze.infers_all", "every axis of extent 1 is dropped, whatever is listed",
        [](auto&, Types in, Type* y) { y->shape = Squeeze::infer({}, in)[0].shape; }),
    infers<Squeeze>("squeeze.infers_first", "only the first of several axes is dropped",
        [](auto& a, Types in, Type* y) {
          if (a.axis.size > 0) y->shape = Squeeze::infer({{a.axis[0]}}, in)[0].shape;
        }),
};

}  // namespace

Span<Mutant> infer_mutants() { return {kInferMutants, static_cast<int>(std::size(kInferMutants))}; }

}  // namespace lockstep::faulty
