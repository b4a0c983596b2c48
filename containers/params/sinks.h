/// @file
/// Where readers and writers put bytes: into memory, into a stream, or nowhere but a count.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "containers/byte_order.h"
#include "containers/logging.h"
#include "containers/memory/pool.h"

namespace lockstep::params {

/// Memory of the pool that its last owner gives back; null for no bytes.
inline std::shared_ptr<std::byte> tensor_memory(std::size_t size) {
  if (size == 0) return {};
  return {ndarray::pool().allocate(size),
      [size](std::byte* memory) { ndarray::pool().release(memory, size); }};
}

/// Closes a file of the C library.
struct CloseFile {
  /// Closes it, whatever that returns.
  void operator()(std::FILE* file) const { std::fclose(file); }
};
/// A file that is closed when nobody needs it.
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

/// Appends to memory set aside beforehand.
class MemorySink {
 public:
  /// Sets `size` bytes aside.
  explicit MemorySink(std::uint64_t size) { bytes_.reserve(static_cast<std::size_t>(size)); }

  /// Adds bytes behind the last.
  void append(const void* from, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  /// Hands over what was appended.
  std::vector<std::byte> bytes() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Fills memory that has room for all that comes.
class SpanSink {
 public:
  /// Begins at the first byte of `memory`.
  explicit SpanSink(std::span<std::byte> memory) : next_(memory.data()) {}

  /// Adds bytes behind the last, for which there must be room.
  void append(const void* from, std::size_t size) {
    std::memcpy(next_, from, size);
    next_ += size;
  }

 private:
  std::byte* next_;
};

/// Appends to a file of the C library.
class FileSink {
 public:
  /// `name` stands for the file in errors.
  FileSink(std::FILE* stream, std::string_view name) : stream_(stream), name_(name) {}

  /// Writes bytes. @throws utils::LogMessageFatal when that fails.
  void append(const void* from, std::size_t size) {
    CHECK_EQ(std::fwrite(from, 1, size, stream_), size)
        << "writing " << name_ << " failed: " << std::strerror(errno);
  }

 private:
  std::FILE* stream_;
  std::string_view name_;
};

/// Counts, which is how the size of a file and the offset of a fault in tensors never written are
/// known.
class CountingSink {
 public:
  /// Adds to the count.
  void append(const void*, std::size_t size) { size_ += size; }
  /// How many bytes were appended.
  std::uint64_t size() const { return size_; }

 private:
  std::uint64_t size_ = 0;
};

/// Hands bytes on and counts them.
template <class Sink> class CountedSink {
 public:
  /// Hands on to `sink`, which outlives this.
  explicit CountedSink(Sink& sink) : sink_(sink) {}

  /// Adds to the count and hands on.
  void append(const void* from, std::size_t size) {
    sink_.append(from, size);
    size_ += size;
  }
  /// How many bytes were appended.
  std::uint64_t size() const { return size_; }

 private:
  Sink& sink_;
  std::uint64_t size_ = 0;
};

/// Appends the lowest `width` bytes of a number, at most 8.
template <class Sink> void put_number(Sink& sink, std::uint64_t value, std::size_t width) {
  std::byte bytes[8] = {};
  store_little_endian(bytes, value, width);
  sink.append(bytes, width);
}

/// Makes a file, has `put(sink)` fill it and closes it.
/// @throws utils::ValueVerifyFatal when the file cannot be created, utils::LogMessageFatal when
///         writing it fails.
template <class Put> void fill_file(const std::string& path, Put put) {
  OpenFile file(std::fopen(path.c_str(), "wb"));
  if (!file) throw utils::ValueVerifyFatal("cannot create " + path + ": " + std::strerror(errno));
  FileSink sink(file.get(), path);
  put(sink);
  CHECK_EQ(std::fclose(file.release()), 0)
      << "writing " << path << " failed: " << std::strerror(errno);
}

}  // namespace lockstep::params
