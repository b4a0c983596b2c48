#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "conformance/cli/model.h"
#include "conformance/cli/picture.h"
#include "containers/params/inspect.h"
#include "containers/params/npz.h"
#include "reference/graph/bytes.h"
#include "reference/graph/error.h"
#include "spec/text.h"

namespace lockstep::judge {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 30;

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw graph::Error("model.input", printable(file) + ": " + why);
}

// How many inputs of the declared shape an array of another shape holds; 0: none.
i64 count_of(const Shape& declared, std::span<const i64> shape) {
  const std::span<const i64> whole(declared.begin(), declared.end());
  const std::span<const i64> part = whole.size() > 1 && whole[0] == 1 ? whole.subspan(1) : whole;
  for (const auto& one : {whole, part}) {
    if (std::ranges::equal(shape, one)) return 1;
    if (shape.size() == one.size() + 1 && std::ranges::equal(shape.subspan(1), one))
      return shape[0];
  }
  return 0;
}

// An element within a precision.
std::optional<i32> within(const params::ElementValue& value, int precision) {
  const i64 most = max_of(precision);
  if (const auto* number = std::get_if<std::int64_t>(&value))
    if (*number >= -most && *number <= most) return static_cast<i32>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value))
    if (std::cmp_less_equal(*number, most)) return static_cast<i32>(*number);
  return std::nullopt;
}

// Input number `n` of those that follow each other in an array.
Tensor input_in(const params::Tensor& array, const Type& type, const std::string& name, i64 n) {
  const i64 size = volume(type.shape);
  Tensor input{type, {}};
  input.data.reserve(static_cast<std::size_t>(size));
  for (i64 k = 0; k < size; ++k) {
    const params::ElementValue value =
        params::element(array, static_cast<std::uint64_t>(n * size + k));
    if (const std::optional<i32> v = within(value, type.precision)) {
      input.data.push_back(*v);
      continue;
    }
    const std::string where = graph::element_path(name, type.shape, k);
    throw graph::Error("input.value",
        where + ": " + params::element_text(value) + " is outside the precision " +
            std::to_string(type.precision),
        where);
  }
  return input;
}

params::Tensor array_of(const std::string& file) {
  const std::string bytes = read_file(file, kMostBytes);
  return params::npz::read_npy(std::as_bytes(std::span(bytes)), file);
}

params::Tensor only_array_of(const std::string& file) {
  params::Params archive = params::npz::read_file(file);
  if (archive.tensors.size() != 1)
    refuse(file, fmt::format("the archive holds {} arrays, not one", archive.tensors.size()));
  return std::move(archive.tensors[0].tensor);
}

Inputs inputs_in(const params::Tensor& array, const std::string& file, const Type& type) {
  constexpr std::uint8_t kFloat = 2;
  if (array.dtype.code == kFloat)
    refuse(
        file, fmt::format("an input is made of integers, not {}", params::dtype_name(array.dtype)));
  const i64 count = count_of(type.shape, array.shape);
  if (count == 0)
    refuse(file,
        fmt::format("the array has the shape {}, \"data\" is {}", shape_text(array.shape),
            shape_text(type.shape)));
  return {count,
      [=](i64 n) { return input_in(array, type, count == 1 ? "data" : graph::at("data", n), n); }};
}

Picture read_picture(const std::string& file, const Shape& shape) {
  try {
    return read_png(read_file(file, kMostBytes), shape[3], shape[2]);
  } catch (const PictureError& e) {
    refuse(file, e.what());
  }
}

bool is_opaque(const Picture& p) {
  const auto channels = static_cast<std::size_t>(p.channels);
  for (std::size_t at = channels - 1; at < p.samples.size(); at += channels)
    if (p.samples[at] != 255) return false;
  return true;
}

Inputs read_pixels(const InputFile& file, const Type& type) {
  const Shape& shape = type.shape;
  if (shape.size != 4 || shape[0] != 1)
    refuse(file.path,
        "a picture fits the shape (1, channels, height, width), \"data\" is " + shape_text(shape));
  const Picture p = read_picture(file.path, shape);
  const i64 channels = shape[1], area = shape[2] * shape[3];
  const bool left_out = p.has_alpha() && channels == p.channels - 1;
  if (p.samples.empty() || (channels != p.channels && !left_out))
    refuse(file.path,
        fmt::format("the picture has {} channels, height {} and width {}, \"data\" is {}",
            p.channels, p.height, p.width, shape_text(shape)));
  if (left_out && !is_opaque(p))
    refuse(file.path, "the picture is transparent, for which \"data\" has no channel");
  Tensor input{type, {}};
  for (i64 c = 0; c < channels; ++c)
    for (i64 k = 0; k < area; ++k) {
      const i64 sample = p.samples[static_cast<std::size_t>(k * p.channels + c)];
      input.data.push_back(static_cast<i32>(saturate(sample + file.png_offset, type.precision)));
    }
  return {1, [=](i64) { return input; }};
}

Inputs read_raw(const std::string& file, const graph::Graph& graph) {
  std::string bytes = read_file(file, kMostBytes);
  const auto size = static_cast<std::size_t>(graph::input_length(graph));
  if (bytes.empty() || bytes.size() % size != 0)
    refuse(file,
        fmt::format(
            "{} bytes are not inputs of {} bytes, which \"data\" needs", bytes.size(), size));
  const auto count = static_cast<i64>(bytes.size() / size);
  const Type& type = graph.entry(graph.data()).type;
  return {count, [type, bytes = std::move(bytes), size](i64 n) {
            return graph::decode_input(type,
                std::as_bytes(std::span(bytes)).subspan(static_cast<std::size_t>(n) * size, size));
          }};
}

}  // namespace

void add_png_offset(CLI::App& verb, i64& offset) {
  verb.add_option("--png-offset", offset,
          "what is added to a sample of a .png, 0..255, before it is clamped to the precision")
      ->check(CLI::Range(i64{-1} << 31, i64{1} << 31))
      ->capture_default_str();
}

bool is_named(const std::string& file, std::string_view ending) {
  const std::size_t size = std::min(file.size(), ending.size());
  return std::equal(file.end() - static_cast<std::ptrdiff_t>(size), file.end(), ending.begin(),
      ending.end(), [](char a, char b) { return a == b || ('A' <= a && a <= 'Z' && a + 32 == b); });
}

Inputs read_inputs(const graph::Graph& graph, const InputFile& file) {
  const Type& type = graph.entry(graph.data()).type;
  if (is_named(file.path, ".npy")) return inputs_in(array_of(file.path), file.path, type);
  if (is_named(file.path, ".npz")) return inputs_in(only_array_of(file.path), file.path, type);
  if (is_named(file.path, ".png")) return read_pixels(file, type);
  return read_raw(file.path, graph);
}

}  // namespace lockstep::judge
