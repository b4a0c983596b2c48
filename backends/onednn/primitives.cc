#include <algorithm>

#include "backends/onednn/job.h"

namespace lockstep::onednn {
namespace {

using backend::Call;
using backend::Plan;
using dnnl::algorithm;
using dnnl::prop_kind;
using Type = memory::data_type;

constexpr auto kInference = prop_kind::forward_inference;

memory::dims tuple(const Call& call, std::string_view name, int64_t less = 0) {
  memory::dims d;
  for (const int64_t v : call.tuple(name)) d.push_back(v - less);
  return d;
}

// A tensor in the caller's shape and order, in the type that the primitive has for it.
Carried carried(int argument, const memory::dims& dims, const memory::desc& own) {
  return {argument, dims, rows(dims, own.data_type()), own};
}

// The tensors X, W, Y and, if present, B of a convolution or an inner product.
template <class Primitive, class PrimitiveDesc> std::unique_ptr<Plan> weighted(const Device& device,
    const Adaptation& row, const Call& call, const PrimitiveDesc& pd, const memory::dims& w) {
  std::vector<Carried> in = {carried(DNNL_ARG_SRC, dims_of(call.in[0]), pd.src_desc()),
      carried(DNNL_ARG_WEIGHTS, w, pd.weights_desc())};
  if (call.in.size() > 2) in.push_back(carried(DNNL_ARG_BIAS, dims_of(call.in[2]), pd.bias_desc()));
  return std::make_unique<Job>(device, row.primitive, Primitive(pd), pd.scratchpad_desc(),
      std::move(in), carried(DNNL_ARG_DST, dims_of(call.out[0]), pd.dst_desc()));
}

memory::desc bias_of(const Call& call) {
  return call.in.size() > 2 ? any(dims_of(call.in[2]), Type::s32) : memory::desc();
}

std::unique_ptr<Plan> conv2d(const Device& device, const Call& call, const Adaptation& row) {
  memory::dims w = dims_of(call.in[1]);
  if (const int64_t groups = call.integer("groups"); groups > 1) {
    w[0] /= groups;
    w.insert(w.begin(), groups);
  }
  const memory::dims padding = tuple(call, "padding");
  const dnnl::convolution_forward::primitive_desc pd(
      {kInference, algorithm::convolution_direct, any(dims_of(call.in[0]), Type::s8),
          any(w, Type::s8), bias_of(call), any(dims_of(call.out[0]), Type::s32),
          tuple(call, "strides"), tuple(call, "dilation", 1), padding, padding},
      device.attributes, device.engine);
  return weighted<dnnl::convolution_forward>(device, row, call, pd, w);
}

std::unique_ptr<Plan> dense(const Device& device, const Call& call, const Adaptation& row) {
  const memory::dims w = dims_of(call.in[1]);
  const dnnl::inner_product_forward::primitive_desc pd(
      {kInference, any(dims_of(call.in[0]), Type::s8), any(w, Type::s8), bias_of(call),
          any(dims_of(call.out[0]), Type::s32)},
      device.attributes, device.engine);
  return weighted<dnnl::inner_product_forward>(device, row, call, pd, w);
}

std::unique_ptr<Plan> eltwise(
    const Device& device, const Call& call, const Adaptation& row, algorithm what, float alpha) {
  const memory::desc x = rows(dims_of(call.in[0]), Type::s32);
  const dnnl::eltwise_forward::primitive_desc pd(
      {kInference, what, x, alpha, 0}, device.attributes, device.engine);
  return std::make_unique<Job>(device, row.primitive, dnnl::eltwise_forward(pd),
      pd.scratchpad_desc(), std::vector{carried(DNNL_ARG_SRC, x.dims(), x)},
      carried(DNNL_ARG_DST, x.dims(), x));
}

std::unique_ptr<Plan> relu(const Device& device, const Call& call, const Adaptation& row) {
  return eltwise(device, call, row, algorithm::eltwise_relu, 0);
}

std::unique_ptr<Plan> negative(const Device& device, const Call& call, const Adaptation& row) {
  return eltwise(device, call, row, algorithm::eltwise_linear, -1);
}

// A plus or minus B, of one shape.
template <int kSign>
std::unique_ptr<Plan> total(const Device& device, const Call& call, const Adaptation& row) {
  const memory::desc x = rows(dims_of(call.in[0]), Type::s32);
  const dnnl::sum::primitive_desc pd(x, {1, kSign}, {x, x}, device.engine, device.attributes);
  return std::make_unique<Job>(device, row.primitive, dnnl::sum(pd), pd.scratchpad_desc(),
      std::vector{carried(DNNL_ARG_MULTIPLE_SRC, x.dims(), x),
          carried(DNNL_ARG_MULTIPLE_SRC + 1, x.dims(), x)},
      carried(DNNL_ARG_DST, x.dims(), x));
}

// Both operands have 8 bits, and float32 holds every result.
template <algorithm kWhat>
std::unique_ptr<Plan> binary(const Device& device, const Call& call, const Adaptation& row) {
  const memory::dims y = dims_of(call.out[0]);
  const auto aligned = [&](const ls_tensor& t) {
    memory::dims d = dims_of(t);
    d.insert(d.begin(), y.size() - d.size(), 1);
    return d;
  };
  // oneDNN broadcasts its second operand only; the adapter copies the first one in full.
  const memory::dims a = aligned(call.in[0]), b = aligned(call.in[1]);
  const memory::desc first = rows(y, Type::s8), second = rows(b, Type::s8);
  const dnnl::binary::primitive_desc pd(
      {kWhat, first, second, rows(y, Type::f32)}, device.attributes, device.engine);
  return std::make_unique<Job>(device, row.primitive, dnnl::binary(pd), pd.scratchpad_desc(),
      std::vector{Carried{DNNL_ARG_SRC_0, a, first, first}, carried(DNNL_ARG_SRC_1, b, second)},
      carried(DNNL_ARG_DST, y, pd.dst_desc()));
}

// X with extent 1 along the axes that are reduced.
memory::dims reduced(const Call& call) {
  memory::dims y = dims_of(call.in[0]);
  const auto rank = static_cast<int64_t>(y.size());
  std::vector<bool> listed(y.size(), false);
  for (const int64_t axis : call.tuple("axis"))
    listed[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
  const bool all = call.tuple("axis").empty();
  for (std::size_t d = 0; d < y.size(); ++d)
    if (all || listed[d] != (call.integer("exclude") != 0)) y[d] = 1;
  return y;
}

template <algorithm kWhat>
std::unique_ptr<Plan> reduction(const Device& device, const Call& call, const Adaptation& row) {
  const memory::dims y = reduced(call);
  const memory::desc from = rows(dims_of(call.in[0]), Type::s8), to = rows(y, Type::s32);
  std::vector<Carried> in = {carried(DNNL_ARG_SRC, from.dims(), from)};
  Carried out = carried(DNNL_ARG_DST, y, to);
  if (y == from.dims()) {
    // oneDNN has no reduction over no axes, so this case only converts the type.
    const dnnl::reorder::primitive_desc pd(
        device.engine, from, device.engine, to, device.attributes);
    in[0].argument = DNNL_ARG_FROM;
    out.argument = DNNL_ARG_TO;
    return std::make_unique<Job>(device, row.primitive, dnnl::reorder(pd), pd.scratchpad_desc(),
        std::move(in), std::move(out));
  }
  const dnnl::reduction::primitive_desc pd(
      {kWhat, from, to, 0, 0}, device.attributes, device.engine);
  return std::make_unique<Job>(device, row.primitive, dnnl::reduction(pd), pd.scratchpad_desc(),
      std::move(in), std::move(out));
}

std::unique_ptr<Plan> max_pool2d(const Device& device, const Call& call, const Adaptation& row) {
  const memory::dims x = dims_of(call.in[0]), y = dims_of(call.out[0]);
  const memory::dims pool = tuple(call, "pool_size"), strides = tuple(call, "strides");
  memory::dims padding = tuple(call, "padding");
  padding.resize(2, padding[0]);
  // Where extents are rounded up, the last window needs more padding below and to the right.
  memory::dims after = padding;
  for (std::size_t d = 0; d < 2; ++d)
    after[d] = std::max(after[d], (y[2 + d] - 1) * strides[d] + pool[d] - x[2 + d] - padding[d]);
  const dnnl::pooling_forward::primitive_desc pd(
      {kInference, algorithm::pooling_max, rows(x, Type::s32), rows(y, Type::s32), strides, pool,
          padding, after},
      device.attributes, device.engine);
  return std::make_unique<Job>(device, row.primitive, dnnl::pooling_forward(pd),
      pd.scratchpad_desc(), std::vector{carried(DNNL_ARG_SRC, x, pd.src_desc())},
      carried(DNNL_ARG_DST, y, pd.dst_desc()));
}

constexpr std::string_view kEverything = "{}", kBytes = R"({"precision": [1, 8]})";

constexpr Adaptation kRows[] = {
    {"conv2d", "convolution", kEverything, conv2d},
    {"dense", "inner_product", kEverything, dense},
    {"relu", "eltwise", kEverything, relu},
    {"negative", "eltwise", kEverything, negative},
    {"elemwise_add", "sum", kEverything, total<1>},
    {"elemwise_sub", "sum", kEverything, total<-1>},
    {"broadcast_add", "binary", kBytes, binary<algorithm::binary_add>},
    {"broadcast_sub", "binary", kBytes, binary<algorithm::binary_sub>},
    {"broadcast_mul", "binary", kBytes, binary<algorithm::binary_mul>},
    {"broadcast_max", "binary", kBytes, binary<algorithm::binary_max>},
    {"broadcast_greater", "binary", kBytes, binary<algorithm::binary_gt>},
    {"sum", "reduction", kBytes, reduction<algorithm::reduction_sum>},
    {"max", "reduction", kBytes, reduction<algorithm::reduction_max>},
    {"max_pool2d", "pooling", kEverything, max_pool2d},
};

}  // namespace

std::span<const Adaptation> rows_of_operators() { return kRows; }

}  // namespace lockstep::onednn
