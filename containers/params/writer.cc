#include <set>
#include <utility>

#include "containers/params/params.h"
#include "containers/params/sinks.h"

namespace lockstep::params {
namespace {

template <class Sink, class T> void put(Sink& sink, const Field& where, T value) {
  put_number(sink, static_cast<std::uint64_t>(value), static_cast<std::size_t>(where.width()));
}

template <class Sink> void put_names(Sink& sink, std::span<const NamedTensor> tensors) {
  put(sink, field("magic"), kFileMagic);
  put(sink, field("reserved"), 0);
  put(sink, field("name_count"), tensors.size());
  for (const NamedTensor& entry : tensors) {
    put(sink, field("name_length"), entry.name.size());
    sink.append(entry.name.data(), entry.name.size());
  }
  put(sink, field("value_count"), tensors.size());
}

template <class Sink> void put_record(Sink& sink, const Tensor& tensor) {
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
void put_file(Sink& sink, std::span<const NamedTensor> tensors, const Progress& progress = {}) {
  const std::uint64_t all = progress ? file_size(tensors) : 0;
  CountedSink counted(sink);
  put_names(counted, tensors);
  for (const NamedTensor& entry : tensors) {
    put_record(counted, entry.tensor);
    if (progress) progress(counted.size(), all);
  }
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

template <class T> std::string found(T value) { return "found " + std::to_string(value); }

/// Refuses the names that a reader would reject.
void verify_names(std::span<const NamedTensor> tensors) {
  std::set<std::string_view> seen;
  std::uint64_t offset = distance("magic", "name_length");
  for (const NamedTensor& entry : tensors) {
    offset += static_cast<std::uint64_t>(field("name_length").width());
    const std::string& name = entry.name;
    if (const Reject* fault = name_fault(name))
      throw Error(*fault, offset, std::nullopt, "found \"" + printable(name) + "\"", "");
    if (!seen.insert(name).second) throw Error(reject("duplicate_name"), offset, name, "", "");
    offset += name.size();
  }
}

/// Refuses a tensor whose record, at `offset`, a reader would reject.
void verify_record(
    const Tensor& tensor, const std::optional<std::string>& name, std::uint64_t offset) {
  const auto fail = [&](const Reject& reject, std::uint64_t at, const std::string& detail) {
    throw Error(reject, offset + at, name, detail, "");
  };
  const DType dtype = tensor.dtype;
  const std::vector<std::int64_t>& shape = tensor.shape;
  const std::size_t size = tensor.bytes.size();
  const std::uint64_t extents = distance("record_magic", "extent");

  if (shape.size() > kMaxDimensions)
    fail(reject("ndim"), distance("record_magic", "ndim"), found(shape.size()));
  if (!dtype_code_known(dtype.code))
    fail(reject("dtype_code"), distance("record_magic", "dtype_code"), found(dtype.code));
  if (const Reject* fault = dtype_bits_fault(dtype))
    fail(*fault, distance("record_magic", "dtype_bits"), found(dtype.bits));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) fail(reject("negative_extent"), extents + 8 * i, found(shape[i]));
  }
  const std::optional<std::int64_t> expected = byte_size(shape, dtype);
  if (!expected) fail(reject("shape_overflow"), extents, "");
  if (std::cmp_not_equal(size, *expected))
    fail(reject("size"), extents + 8 * shape.size(),
        found(size) + " where " + std::to_string(*expected) + " is due");
}

}  // namespace

void verify(std::span<const NamedTensor> tensors) {
  verify_names(tensors);
  CountingSink counter;
  put_names(counter, tensors);
  for (const NamedTensor& entry : tensors) {
    verify_record(entry.tensor, entry.name, counter.size());
    put_record(counter, entry.tensor);
  }
}

std::uint64_t file_size(std::span<const NamedTensor> tensors) {
  CountingSink counter;
  put_file(counter, tensors);
  return counter.size();
}

std::uint64_t data_size(std::span<const NamedTensor> tensors) {
  std::uint64_t size = 0;
  for (const NamedTensor& entry : tensors) size += entry.tensor.bytes.size();
  return size;
}

std::vector<std::byte> write(std::span<const NamedTensor> tensors) {
  verify(tensors);
  MemorySink sink(file_size(tensors));
  put_file(sink, tensors);
  return std::move(sink).bytes();
}

std::size_t write(std::span<std::byte> memory, std::span<const NamedTensor> tensors) {
  verify(tensors);
  const std::uint64_t size = file_size(tensors);
  if (size > memory.size()) return size;
  SpanSink sink(memory);
  put_file(sink, tensors);
  return size;
}

std::vector<std::byte> write_record(const Tensor& tensor) {
  verify_record(tensor, std::nullopt, 0);
  CountingSink counter;
  put_record(counter, tensor);
  MemorySink sink(counter.size());
  put_record(sink, tensor);
  return std::move(sink).bytes();
}

void write_file(
    const std::string& path, std::span<const NamedTensor> tensors, const Progress& progress) {
  verify(tensors);
  fill_file(path, [&](FileSink& sink) { put_file(sink, tensors, progress); });
}

}  // namespace lockstep::params
