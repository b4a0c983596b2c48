#include "reference/graph/bytes.h"

#include <algorithm>
#include <bit>

#include "reference/graph/error.h"

namespace lockstep::graph {
namespace {

constexpr int kByteBits = 8;

const Type& data_of(const Graph& graph) { return graph.entry(graph.data()).type; }

i64 element_size(const Type& type) { return type.precision <= kByteBits ? 1 : 4; }

i32 read_element(const std::byte* at, i64 size) {
  if (size == 1) return static_cast<std::int8_t>(*at);
  std::uint32_t v = 0;
  for (int b = 0; b < 4; ++b) v |= std::to_integer<std::uint32_t>(at[b]) << (kByteBits * b);
  return std::bit_cast<i32>(v);
}

void append(std::vector<std::byte>& out, i64 value, i64 size) {
  for (i64 b = 0; b < size; ++b)
    out.push_back(static_cast<std::byte>(floor_shift(value, kByteBits * b) & 0xFF));
}

}  // namespace

bool has_argmax(const Graph& graph) { return graph.postprocess() == "argmax"; }
bool has_detection(const Graph& graph) { return graph.postprocess() == "detection"; }

i64 input_element_size(const Graph& graph) { return element_size(data_of(graph)); }

i64 input_length(const Graph& graph) {
  return input_element_size(graph) * volume(data_of(graph).shape);
}

i64 output_element_size(const Graph& graph) {
  if (has_argmax(graph) || has_detection(graph)) return 4;
  const auto fits = [&](int e) { return graph.entry(e).type.precision <= kByteBits; };
  return std::all_of(graph.heads().begin(), graph.heads().end(), fits) ? 1 : 4;
}

i64 output_length(const Graph& graph) {
  i64 elements = 0;
  for (int e : graph.heads()) {
    const Type& head = graph.entry(e).type;
    elements += has_argmax(graph) ? row_count(head) : volume(head.shape);
  }
  return elements * output_element_size(graph);
}

reference::Tensor decode_input(const Graph& graph, std::span<const std::byte> input) {
  return decode_input(data_of(graph), input);
}

reference::Tensor decode_input(const Type& type, std::span<const std::byte> input) {
  const i64 size = element_size(type), length = size * volume(type.shape);
  if (std::ssize(input) != length)
    throw Error("model.input",
        "the input has " + std::to_string(input.size()) + " bytes where \"" + "data\" needs " +
            std::to_string(length));
  reference::Tensor data{type, {}};
  data.data.reserve(static_cast<std::size_t>(length / size));
  for (i64 k = 0; k < length; k += size)
    data.data.push_back(
        static_cast<i32>(saturate(read_element(input.data() + k, size), type.precision)));
  return data;
}

std::vector<std::byte> encode_output(
    const Graph& graph, std::span<const std::span<const i32>> heads) {
  const i64 size = output_element_size(graph);
  std::vector<std::byte> out;
  out.reserve(static_cast<std::size_t>(output_length(graph)));
  // A single head is interleaved with no other: its elements come in order.
  const i64 rows = row_count(graph.entry(graph.heads()[0]).type);
  for (i64 row = 0; row < rows; ++row) {
    for (const std::span<const i32> head : heads) {
      const i64 columns = std::ssize(head) / rows;
      const auto first = head.begin() + row * columns, last = first + columns;
      if (has_argmax(graph))
        append(out, std::max_element(first, last) - first, size);
      else
        std::for_each(first, last, [&](i32 v) { append(out, v, size); });
    }
  }
  return out;
}

}  // namespace lockstep::graph
