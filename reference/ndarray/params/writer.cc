#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "reference/ndarray/byte_order.h"
#include "reference/ndarray/logging.h"
#include "reference/ndarray/params/params.h"

namespace lockstep::params {
namespace {

/// Appends to memory set aside beforehand.
class MemorySink {
 public:
  explicit MemorySink(std::uint64_t size) { bytes_.reserve(static_cast<std::size_t>(size)); }

  void append(const void* from, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  std::vector<std::byte> bytes() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class FileSink {
 public:
  FileSink(std::FILE* stream, std::string_view name) : stream_(stream), name_(name) {}

  void append(const void* from, std::size_t size) {
    CHECK_EQ(std::fwrite(from, 1, size, stream_), size)
        << "writing " << name_ << " failed: " << std::strerror(errno);
  }

 private:
  std::FILE* stream_;
  std::string_view name_;
};

/// Counts, which is how the offset of a fault in tensors never written is known.
class Counter {
 public:
  void append(const void*, std::size_t size) { size_ += size; }
  std::uint64_t size() const { return size_; }

 private:
  std::uint64_t size_ = 0;
};

template <class Sink, class T>
void put(Sink& sink, const Field& where, T value) {
  std::array<std::byte, 8> bytes{};
  const auto width = static_cast<std::size_t>(where.width());
  store_little_endian(bytes.data(), static_cast<std::uint64_t>(value), width);
  sink.append(bytes.data(), width);
}

template <class Sink>
void put_names(Sink& sink, std::span<const NamedTensor> tensors) {
  put(sink, field("magic"), kFileMagic);
  put(sink, field("reserved"), 0);
  put(sink, field("name_count"), tensors.size());
  for (const NamedTensor& entry : tensors) {
    put(sink, field("name_length"), entry.name.size());
    sink.append(entry.name.data(), entry.name.size());
  }
  put(sink, field("value_count"), tensors.size());
}

template <class Sink>
void put_record(Sink& sink, const Tensor& tensor) {
  put(sink, field("record_magic"), kRecordMagic);
  put(sink, field("record_reserved"), 0);
  put(sink, field("device_type"), kDeviceType);
  put(sink, field("device_id"), kDeviceId);
  put(sink, field("ndim"), tensor.shape.size());
  put(sink, field("dtype_code"), tensor.dtype.code);
  put(sink, field("dtype_bits"), tensor.dtype.bits);
  put(sink, field("dtype_lanes"), kLanes);
  for (std::int64_t extent : tensor.shape) put(sink, field("extent"), extent);
  put(sink, field("size"), tensor.bytes.size());
  if (tensor.bytes.size() != 0) sink.append(tensor.bytes.data(), tensor.bytes.size());
}

template <class Sink>
void put_file(Sink& sink, std::span<const NamedTensor> tensors) {
  put_names(sink, tensors);
  for (const NamedTensor& entry : tensors) put_record(sink, entry.tensor);
}

/// The bytes from one field to a later one, when every field between them occurs once.
consteval std::uint64_t distance(std::string_view from, std::string_view to) {
  bool inside = false;
  std::uint64_t bytes = 0;
  for (const Field& row : kFields) {
    if (row.name == to) return bytes;
    inside |= row.name == from;
    if (inside) bytes += static_cast<std::uint64_t>(row.width());
  }
  throw "no such field";
}

template <class T>
std::string found(T value) {
  return "found " + std::to_string(value);
}

/// Refuses the names that a reader would reject.
void verify_names(std::span<const NamedTensor> tensors) {
  std::set<std::string_view> seen;
  std::uint64_t offset = distance("magic", "name_length");
  for (const NamedTensor& entry : tensors) {
    offset += static_cast<std::uint64_t>(field("name_length").width());
    const std::string& name = entry.name;
    if (const Reject* fault = name_fault(name)) {
      throw Error(*fault, offset, std::nullopt, "found \"" + printable(name) + "\"", "");
    }
    if (!seen.insert(name).second) throw Error(reject("duplicate_name"), offset, name, "", "");
    offset += name.size();
  }
}

/// Refuses a tensor whose record, at `offset`, a reader would reject.
void verify_record(const NamedTensor& entry, std::uint64_t offset) {
  const auto fail = [&](const Reject& reject, std::uint64_t at, const std::string& detail) {
    throw Error(reject, offset + at, entry.name, detail, "");
  };
  const DType dtype = entry.tensor.dtype;
  const std::vector<std::int64_t>& shape = entry.tensor.shape;
  const std::size_t size = entry.tensor.bytes.size();
  const std::uint64_t extents = distance("record_magic", "extent");

  if (shape.size() > kMaxDimensions) {
    fail(reject("ndim"), distance("record_magic", "ndim"), found(shape.size()));
  }
  if (!dtype_code_known(dtype.code)) {
    fail(reject("dtype_code"), distance("record_magic", "dtype_code"), found(dtype.code));
  }
  if (const Reject* fault = dtype_bits_fault(dtype)) {
    fail(*fault, distance("record_magic", "dtype_bits"), found(dtype.bits));
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) fail(reject("negative_extent"), extents + 8 * i, found(shape[i]));
  }
  const std::optional<std::int64_t> expected = byte_size(shape, dtype);
  if (!expected) fail(reject("shape_overflow"), extents, "");
  if (std::cmp_not_equal(size, *expected)) {
    fail(reject("size"), extents + 8 * shape.size(),
         found(size) + " where " + std::to_string(*expected) + " is due");
  }
}

void verify(std::span<const NamedTensor> tensors) {
  verify_names(tensors);
  Counter counter;
  put_names(counter, tensors);
  for (const NamedTensor& entry : tensors) {
    verify_record(entry, counter.size());
    put_record(counter, entry.tensor);
  }
}

}  // namespace

std::uint64_t file_size(std::span<const NamedTensor> tensors) {
  Counter counter;
  put_file(counter, tensors);
  return counter.size();
}

std::vector<std::byte> write(std::span<const NamedTensor> tensors) {
  verify(tensors);
  MemorySink sink(file_size(tensors));
  put_file(sink, tensors);
  return std::move(sink).bytes();
}

void write(std::FILE* stream, std::span<const NamedTensor> tensors) {
  verify(tensors);
  FileSink sink(stream, "to a stream");
  put_file(sink, tensors);
  CHECK_EQ(std::fflush(stream), 0) << "writing to a stream failed: " << std::strerror(errno);
}

void write_file(const std::string& path, std::span<const NamedTensor> tensors) {
  verify(tensors);
  std::FILE* stream = std::fopen(path.c_str(), "wb");
  if (!stream) throw utils::ValueVerifyFatal("cannot create " + path + ": " + std::strerror(errno));
  FileSink sink(stream, path);
  try {
    put_file(sink, tensors);
  } catch (...) {
    std::fclose(stream);
    throw;
  }
  CHECK_EQ(std::fclose(stream), 0) << "writing " << path << " failed: " << std::strerror(errno);
}

}  // namespace lockstep::params
