#include "reference/graph/zoo/builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "reference/graph/plan.h"
#include "spec/attributes.h"
#include "spec/explain.h"
#include "spec/operators.h"

namespace lockstep::graph::zoo {
namespace {

constexpr i64 kBits = 8;
constexpr i64 kVariance = kDeviation * kDeviation;
// A bias moves its channel by up to a quarter of the deviation, besides taking the mean away.
constexpr i64 kBiasRange = kDeviation / 4;

constexpr i64 square_root(i64 n) {
  i64 root = 0;
  for (i64 bit = i64{1} << 30; bit > 0; bit /= 2)
    if ((root + bit) * (root + bit) <= n) root += bit;
  return root;
}

/// Weights of -amplitude..amplitude, and the shift of their sums.
struct Scale {
  i64 amplitude, shift;
};

// A sum over `fan_in` weights, which have the variance A^2 / 3, times elements of the variance
// `variance`, over 2^shift, has the variance kVariance. The shift is the largest that 8 bits allow.
constexpr Scale scale_of(i64 fan_in, i64 variance) {
  const auto squared = [&](i64 shift) {
    return ((3 * kVariance) << (2 * shift)) / (fan_in * max(1, variance));
  };
  i64 shift = 1;
  while (squared(shift + 1) <= max_of(kBits) * max_of(kBits)) ++shift;
  return {min(square_root(squared(shift)), max_of(kBits)), shift};
}

std::vector<i64> extents(const Shape& shape) { return {shape.begin(), shape.end()}; }

params::Tensor int8_tensor(const Shape& shape, const std::vector<std::int8_t>& elements) {
  std::vector<std::byte> bytes(elements.size());
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return {{0, 8}, extents(shape), params::Bytes::own(std::move(bytes))};
}

}  // namespace

std::string tuple(const std::vector<i64>& entries) {
  return fmt::format("({})", fmt::join(entries, ","));
}

Builder::Builder(u64 seed, const Shape& data) : seed_(seed) {
  net_.symbol.precision.emplace();
  const i64 most = max_of(kBits);
  variable("data", {data, kBits}, {0, most * most / 3});
}

Value Builder::product(std::string_view op, const Value& x, const Shape& weights,
    const TextAttributes& attrs, bool shifted) {
  const i64 units = weights[0], fan_in = volume(weights) / units;
  const Scale scale = scale_of(fan_in, x.expected.variance);
  const auto number = static_cast<u64>(values_.size());
  const i64 offset = kBiasRange << scale.shift;
  std::vector<std::int8_t> w(static_cast<std::size_t>(volume(weights)));
  std::vector<i32> bias;
  for (i64 u = 0; u < units; ++u) {
    i64 sum = 0;
    for (i64 k = u * fan_in; k < (u + 1) * fan_in; ++k) {
      const i64 v =
          within(word(seed_, number, static_cast<u64>(k)), -scale.amplitude, scale.amplitude);
      sum += v;
      w[static_cast<std::size_t>(k)] = static_cast<std::int8_t>(v);
    }
    const i64 moved = within(word(seed_, number + 1, static_cast<u64>(u)), -offset, offset);
    bias.push_back(static_cast<i32>(moved - x.expected.mean * sum));
  }
  const std::string name = fmt::format("{}_{}", op, calls_[std::string(op)]);
  const int bias_bits =
      bit_length(magnitude(x.expected.mean) * fan_in * scale.amplitude + offset) + 1;
  const Value filters = parameter(name + "_weight", {weights, kBits}, int8_tensor(weights, w));
  const Value biases =
      parameter(name + "_bias", {{units}, bias_bits}, params::from_int32({units}, bias));
  const Value sums = call(op, {x, filters, biases}, attrs);
  if (!shifted) return sums;
  return call("cvm_right_shift", {sums},
      {{"precision", std::to_string(kBits)}, {"shift_bit", std::to_string(scale.shift)}},
      {0, kVariance});
}

Value Builder::conv(const Value& x, i64 channels, i64 kernel, const Window& window) {
  const i64 padding = window.padding < 0 ? kernel / 2 : window.padding;
  return product("conv2d", x, {channels, x.dim(1) / window.groups, kernel, kernel},
      {{"channels", std::to_string(channels)}, {"kernel_size", tuple({kernel, kernel})},
          {"strides", tuple({window.stride, window.stride})},
          {"padding", tuple({padding, padding})}, {"groups", std::to_string(window.groups)}},
      true);
}

Value Builder::depthwise(const Value& x, i64 kernel, i64 stride) {
  return conv(x, x.dim(1), kernel, {.stride = stride, .groups = x.dim(1)});
}

Value Builder::dense(const Value& x, i64 units) {
  return product("dense", x, {units, x.dim(1)}, {{"units", std::to_string(units)}}, true);
}

Value Builder::logits(const Value& x, i64 units) {
  return product("dense", x, {units, x.dim(1)}, {{"units", std::to_string(units)}}, false);
}

// Of a normal distribution around 0, the positive half has the mean 0.4 deviations and a third of
// the variance; the further the mean lies above 0, the less is cut off.
Value Builder::relu(const Value& x) {
  const auto [m, v] = x.expected;
  return call("relu", {x}, {}, {(m + square_root(m * m + 2 * v / 3)) / 2, m > 0 ? v / 2 : v / 3});
}

Value Builder::relu6(const Value& x) {
  const auto [m, v] = x.expected;
  return call("clip", {x}, {{"a_min", "0"}, {"a_max", std::to_string(3 * kDeviation)}},
      {(m + square_root(m * m + 2 * v / 3)) / 2, m > 0 ? v / 2 : v / 3});
}

Value Builder::leaky(const Value& x) {
  const Value eighth =
      call("cvm_right_shift", {x}, {{"precision", std::to_string(kBits)}, {"shift_bit", "3"}});
  const i64 v = x.expected.variance;
  return call("broadcast_max", {x, eighth}, {}, {square_root(v / 8), 3 * v / 8});
}

Value Builder::max_pool(const Value& x, i64 size, i64 stride, i64 padding, bool whole) {
  const auto [m, v] = x.expected;
  return call("max_pool2d", {x},
      {{"pool_size", tuple({size, size})}, {"strides", tuple({stride, stride})},
          {"padding", tuple({padding, padding})}, {"ceil_mode", whole ? "true" : "false"}},
      {m + size * square_root(v) / 3, 3 * v / 2});
}

Value Builder::sum_pool(const Value& x) { return call("sum", {x}, {{"axis", "(2,3)"}}); }

Value Builder::mean_pool(const Value& x) {
  const i64 bits = max(1, bit_length(x.dim(2) * x.dim(3)) - 1);
  return call("cvm_right_shift", {sum_pool(x)},
      {{"precision", std::to_string(kBits)}, {"shift_bit", std::to_string(bits)}}, x.expected);
}

Value Builder::add(const Value& x, const Value& y) {
  const Statistics both{
      x.expected.mean + y.expected.mean, x.expected.variance + y.expected.variance};
  return call(
      "cvm_clip", {call("elemwise_add", {x, y}, {})}, {{"precision", std::to_string(kBits)}}, both);
}

Value Builder::concat(const std::vector<Value>& parts, i64 axis) {
  return call("concatenate", parts, {{"axis", std::to_string(axis)}}, parts.front().expected);
}

Value Builder::upsample(const Value& x, i64 scale) {
  return call("upsampling", {x}, {{"scale", std::to_string(scale)}}, x.expected);
}

Value Builder::call(std::string_view op, const std::vector<Value>& inputs,
    const TextAttributes& attrs, const Statistics& expected) {
  const OpInfo* info = find_operator(op);
  if (!info) throw std::logic_error(fmt::format("no operator is called '{}'", op));
  const ReadAttributes read = read_attributes(*info, {attrs.begin(), attrs.end()});
  if (!read.label.empty()) throw std::logic_error(fmt::format("{}: {}", op, read.message));
  std::vector<Type> in;
  SymbolNode node;
  for (const Value& v : inputs) {
    in.push_back(v.type);
    node.inputs.push_back({v.node, v.output});
  }
  const Attributes values{read.values.data(), static_cast<int>(read.values.size())};
  const Types types{in.data(), static_cast<int>(in.size())};
  if (const Refusal r = check(*info, values, types); r.refused())
    throw std::logic_error(fmt::format("{}: {}", op, explain(*info, r, values, types)));
  const Inferred y = info->infer(values, types);
  node.op = "cvm_op";
  node.name = fmt::format("{}_{}", op, calls_[std::string(op)]++);
  node.func_name = node.name;
  node.num_inputs = std::to_string(inputs.size());
  node.num_outputs = std::to_string(y.count);
  std::vector<Value> outputs;
  for (int k = 0; k < y.count; ++k)
    outputs.push_back({static_cast<int>(values_.size()), k, y[k], expected});
  net_.symbol.nodes.push_back(std::move(node));
  net_.symbol.op_attrs.push_back(attrs);
  add_entries(outputs);
  return outputs.front();
}

Value Builder::output(const Value& first, std::size_t number) const {
  return values_.at(static_cast<std::size_t>(first.node)).at(number);
}

Value Builder::constant(
    std::string_view name, const Shape& shape, const std::vector<i32>& elements) {
  i64 most = 0;
  for (const i32 v : elements) most = max(most, magnitude(v));
  return parameter(std::string(name), {shape, bit_length(most) + 1},
      params::from_int32(extents(shape), elements));
}

Value Builder::parameter(const std::string& name, const Type& type, params::Tensor tensor) {
  net_.parameters.push_back({name, std::move(tensor)});
  return variable(name, type, {});
}

Value Builder::variable(const std::string& name, const Type& type, const Statistics& expected) {
  const Value v{static_cast<int>(values_.size()), 0, type, expected};
  SymbolNode node;
  node.op = "null";
  node.name = name;
  net_.symbol.nodes.push_back(std::move(node));
  net_.symbol.op_attrs.emplace_back();
  add_entries({v});
  return v;
}

void Builder::add_entries(const std::vector<Value>& values) {
  for (const Value& v : values) {
    net_.symbol.storage_id.push_back(std::ssize(net_.symbol.storage_id));
    net_.symbol.shape.push_back(extents(v.type.shape));
    net_.symbol.precision->push_back(v.type.precision);
  }
  values_.push_back(values);
}

Network Builder::finish(const std::vector<Value>& heads, std::string postprocess) && {
  for (const Value& v : heads) net_.symbol.heads.push_back({v.node, v.output});
  net_.symbol.postprocess = std::move(postprocess);
  net_.symbol.storage_id = plan_storage(Graph(write_symbol(net_.symbol)), Reuse::in_place);
  return std::move(net_);
}

}  // namespace lockstep::graph::zoo
