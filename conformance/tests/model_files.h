/// @file
/// Models and their inputs as files, made for tests.
#pragma once
#include <zlib.h>

#include "conformance/base/base64.h"
#include "conformance/base/sha256.h"
#include "conformance/tests/verbs.h"
#include "containers/params/npz.h"
#include "reference/graph/tests/draft.h"

namespace lockstep::judge {

inline const std::string kDigits = "conformance/models/digits";

inline std::string text_of_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Writes a model without parameters into a directory, and returns that.
inline std::string write_model(const Scratch& scratch, const graph::Draft& draft) {
  std::filesystem::create_directory(scratch.path("model"));
  scratch.write("model/symbol.json", draft.text());
  scratch.write("model/params", text_of_bytes(params::write({})));
  return scratch.path("model");
}

/// A model that only has its input: data -> relu.
inline graph::Draft relu_of(const graph::Json& shape, int precision) {
  graph::Draft d;
  d.variable("data", shape, precision);
  d.call("relu", {{0, 0, 0}}, {shape});
  d.head(1);
  return d;
}

/// The text of NumPy's array with elements of type T.
template <class T>
std::string npy(const std::vector<std::int64_t>& shape, const std::vector<T>& values) {
  const params::DType dtype{std::is_floating_point_v<T> ? std::uint8_t{2}
          : std::is_unsigned_v<T>                       ? std::uint8_t{1}
                                                        : std::uint8_t{0},
      8 * sizeof(T)};
  return text_of_bytes(params::npz::write_npy(
      {dtype, shape, params::Bytes::copy(std::as_bytes(std::span(values)))}));
}

/// A PNG in its parts.
struct Png {
  std::uint32_t width = 0, height = 0;
  int colour = 0;    ///< 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGBA
  std::string rows;  ///< each begins with its filter, 0
  int depth = 8;
  std::string palette = {}, transparency = {};
};

inline std::string big_endian(std::uint32_t value) {
  std::string s;
  for (int shift = 24; shift >= 0; shift -= 8) s += static_cast<char>(value >> shift);
  return s;
}

inline std::string png(const Png& p) {
  const auto chunk = [](const std::string& type, const std::string& data) {
    const std::string checked = type + data;
    const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(checked.data()), checked.size());
    return big_endian(static_cast<std::uint32_t>(data.size())) + checked +
        big_endian(static_cast<std::uint32_t>(sum));
  };
  std::string packed(compressBound(p.rows.size()), '\0');
  uLongf size = packed.size();
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(p.rows.data()), p.rows.size()),
      Z_OK);
  packed.resize(size);
  std::string header = big_endian(p.width) + big_endian(p.height);
  header += {static_cast<char>(p.depth), static_cast<char>(p.colour), 0, 0, 0};
  std::string file = "\x89PNG\r\n\x1a\n" + chunk("IHDR", header);
  if (!p.palette.empty()) file += chunk("PLTE", p.palette);
  if (!p.transparency.empty()) file += chunk("tRNS", p.transparency);
  return file + chunk("IDAT", packed) + chunk("IEND", "");
}

inline std::string hash_of(const std::vector<i32>& values) { return sha256(little_endian(values)); }

}  // namespace lockstep::judge
