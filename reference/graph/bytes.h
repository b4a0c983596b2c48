/// @file
/// The input and the output of a model as bytes.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "reference/evaluate.h"
#include "reference/graph/graph.h"

namespace lockstep::graph {

/// Whether the output is the index of each row's largest value.
bool has_argmax(const Graph& graph);
/// Whether the output is the rows of a detector.
bool has_detection(const Graph& graph);

/// 1 (int8) where "data" has at most 8 bits, else 4 (little-endian int32).
i64 input_element_size(const Graph& graph);
/// In bytes.
i64 input_length(const Graph& graph);

/// 1 where every head has at most 8 bits and no postprocess asks for more, else 4.
i64 output_element_size(const Graph& graph);
/// In bytes.
i64 output_length(const Graph& graph);

/// The tensor "data", each value clamped into its precision.
/// @throws Error model.input where the length is not input_length.
reference::Tensor decode_input(const Graph& graph, std::span<const std::byte> input);
/// The same, where "data" has this type.
reference::Tensor decode_input(const Type& type, std::span<const std::byte> input);

/// The output of a model from the values of its heads: the elements of one head in order; the
/// index of the first maximum of each row for "argmax"; the rows of several heads, and of
/// "detection", interleaved.
std::vector<std::byte> encode_output(
    const Graph& graph, std::span<const std::span<const i32>> heads);

}  // namespace lockstep::graph
