/// @file
/// Reads one array of NumPy's .npy format from a stream of bytes, such as a member of an archive.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "containers/byte_order.h"
#include "containers/params/npy.h"
#include "containers/params/sinks.h"

namespace lockstep::params::npz {

/// The text of an array's header; the stream is left where the data begins.
template <class Stream> std::string header_text(Stream& stream) {
  std::byte start[kNpyStart] = {};
  const std::size_t first = std::min<std::size_t>(stream.remaining(), kNpyStart);
  stream.read(std::span(start).first(first));
  constexpr std::byte kPickle{0x80};  // its first byte says "protocol"
  if (first != 0 && start[0] == kPickle) stream.fail(reject("npy_pickle"), "");
  if (first < kNpyStart || std::memcmp(start, kNpyMagic.data(), kNpyMagic.size()) != 0)
    stream.fail(reject("npy_magic"), "");
  const int major = std::to_integer<int>(start[6]), minor = std::to_integer<int>(start[7]);
  if (major < 1 || major > 3 || minor != 0)
    stream.fail(
        reject("npy_version"), "found " + std::to_string(major) + "." + std::to_string(minor));
  const std::size_t width = major == 1 ? 2 : 4;
  std::byte length[4] = {};
  if (stream.remaining() < width) stream.fail(reject("npy_header_size"), "");
  stream.read(std::span(length).first(width));
  const std::uint64_t size = load_little_endian(length, width);
  if (size > stream.remaining() || size > kNpyHeaderMost)
    stream.fail(reject("npy_header_size"), "found " + std::to_string(size));
  std::string text(static_cast<std::size_t>(size), '\0');
  stream.read(std::as_writable_bytes(std::span(text)));
  return text;
}

/// The header of the array that the stream holds. @throws Error when it is faulty.
template <class Stream> NpyHeader header_of(Stream& stream) {
  const std::string text = header_text(stream);
  try {
    return parse_npy_header(text);
  } catch (const MalformedNpy& found) {
    stream.fail(*found.fault, found.detail);
  }
}

/// Reverses the bytes of each element; `size` is a multiple of `width`.
inline void swap_bytes(std::byte* data, std::size_t size, std::size_t width) {
  for (std::size_t i = 0; i < size; i += width) std::reverse(data + i, data + i + width);
}

/// Copies an array whose first index varies fastest into one whose last index does.
inline void to_row_major(const std::byte* from, std::byte* to, std::span<const std::int64_t> shape,
    std::size_t count, std::size_t width) {
  std::vector<std::size_t> index(shape.size()), stride(shape.size());
  std::size_t step = width;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    stride[axis] = step;
    step *= static_cast<std::size_t>(shape[axis]);
  }
  for (std::size_t offset = 0; count != 0; --count, to += width) {
    std::memcpy(to, from + offset, width);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      offset += stride[axis];
      if (std::cmp_less(++index[axis], shape[axis])) break;
      offset -= stride[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

/// The array that fills a stream. What it declares is compared with the bytes that remain before
/// anything is allocated for it. The stream has remaining(), read(), finish() after the last byte,
/// and fail(reject, detail), which throws.
template <class Stream> Tensor read_array(Stream stream) {
  const NpyHeader header = header_of(stream);
  const std::optional<std::int64_t> due = byte_size(header.shape, header.dtype);
  if (!due) stream.fail(params::reject("shape_overflow"), "");
  if (std::cmp_not_equal(*due, stream.remaining()))
    stream.fail(reject("npy_size"),
        "found " + std::to_string(stream.remaining()) + " where " + std::to_string(*due) +
            " are due");
  const auto size = static_cast<std::size_t>(*due);
  const auto width = static_cast<std::size_t>(header.dtype.bytes());
  std::shared_ptr<std::byte> data = tensor_memory(size);
  stream.read({data.get(), size});
  stream.finish();
  if (header.big_endian) swap_bytes(data.get(), size, width);
  if (header.fortran_order && header.shape.size() > 1 && size != 0) {
    const std::shared_ptr<std::byte> rows = tensor_memory(size);
    to_row_major(data.get(), rows.get(), header.shape, size / width, width);
    data = rows;
  }
  return {header.dtype, header.shape, {data, size}};
}

}  // namespace lockstep::params::npz
