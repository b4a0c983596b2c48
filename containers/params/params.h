/// @file
/// Reads and writes the parameter file of spec/params.h.
///
/// The reader is strict. It compares every declared count, length and size with the bytes that
/// remain before it allocates anything for it, it reports the first fault in file order, and it
/// returns everything or throws. The writer refuses what the reader would reject, so what was
/// written can be read, and reading and writing again gives the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "containers/exceptions.h"
#include "spec/params.h"

namespace lockstep::params {

/// A file that a strict reader rejects, or a list of tensors that cannot become one.
class Error : public utils::ValueVerifyFatal {
 public:
  /// `detail` says what was found; `source` names the file, if there is one.
  Error(const Reject& reject, std::uint64_t offset, std::optional<std::string> tensor,
      std::string_view detail, std::string_view source);

  /// The id of the reason, such as "data_beyond": one of kRejects, or of npz::kRejects.
  std::string_view label() const { return reject_->id; }
  /// The first byte of the faulty field. From the writer: where that field would have stood.
  std::uint64_t offset() const { return offset_; }
  /// The name of the tensor at fault, where there is one.
  const std::optional<std::string>& tensor() const { return tensor_; }

 private:
  const Reject* reject_;
  std::uint64_t offset_;
  std::optional<std::string> tensor_;
};

/// Immutable bytes, owned together with other holders or borrowed from the caller.
class Bytes {
 public:
  Bytes() = default;
  /// `data` keeps the memory alive; one that owns nothing merely borrows it.
  Bytes(std::shared_ptr<const std::byte> data, std::size_t size)
      : data_(std::move(data)), size_(size) {}

  /// Bytes that their lender keeps alive.
  static Bytes borrow(std::span<const std::byte> bytes);
  /// A copy in memory of its own.
  static Bytes copy(std::span<const std::byte> bytes);
  /// Bytes that were the caller's.
  static Bytes own(std::vector<std::byte> bytes);

  /// The first byte; null where there is none.
  const std::byte* data() const { return data_.get(); }
  /// How many there are.
  std::size_t size() const { return size_; }
  /// All of them.
  std::span<const std::byte> span() const { return {data_.get(), size_}; }

  /// Some of the bytes, with the same owners.
  Bytes part(std::size_t first, std::size_t size) const {
    return {std::shared_ptr<const std::byte>(data_, data_.get() + first), size};
  }

 private:
  std::shared_ptr<const std::byte> data_;
  std::size_t size_ = 0;
};

/// A tensor as a file holds it: row-major, compact, and little-endian on every host.
struct Tensor {
  DType dtype{0, 32};               ///< the type of an element
  std::vector<std::int64_t> shape;  ///< extents, the outermost axis first; empty for a scalar
  Bytes bytes;                      ///< of all elements
};
/// Whether types, shapes and all bytes are equal.
bool operator==(const Tensor& a, const Tensor& b);

/// An entry of a file.
struct NamedTensor {
  std::string name;  ///< as a file spells it
  Tensor tensor;     ///< with its type, shape and data

  /// Whether names and tensors are equal.
  bool operator==(const NamedTensor&) const = default;
};

/// What a file holds.
struct Params {
  std::vector<NamedTensor> tensors;  ///< in file order
  std::uint64_t trailing_bytes = 0;  ///< how many bytes a lenient reader ignored

  /// The tensor of this name, or null.
  const Tensor* find(std::string_view name) const;
};

/// Told after each tensor how many bytes are done, of how many.
using Progress = std::function<void(std::uint64_t done, std::uint64_t all)>;

/// How a file is read.
struct ReadOptions {
  /// Ignore bytes after the last tensor and count them: deployed runtimes left some behind.
  bool lenient = false;
  Progress progress = {};  ///< called in the reading thread; may be empty
};

/// Reads a file held in memory. The tensors borrow their data from `file`, which must outlive them.
/// @throws Error when the file is faulty.
Params read(std::span<const std::byte> file, const ReadOptions& options = {});

/// Reads a file held in memory; the tensors share `file` and keep it alive.
Params read(Bytes file, const ReadOptions& options = {});
/// Reads a file held in memory, which the tensors share.
Params read(std::vector<std::byte>&& file, const ReadOptions& options = {});

/// Reads a file, each tensor's data straight into a block of the pool, 64-byte-aligned: no more is
/// allocated than those blocks and what the names and shapes need. A pipe is collected first, for
/// its length decides what a declared number may be.
/// @throws Error when the file is faulty, utils::ValueVerifyFatal when it cannot be opened,
///         utils::LogMessageFatal when reading it fails, and of these utils::OutOfMemory with the
///         path where memory runs out.
Params read_file(const std::string& path, const ReadOptions& options = {});

/// Refuses tensors that cannot be written, which writing them does too.
/// @throws Error when a name, a type or a shape is illegal or the data does not fit them.
void verify(std::span<const NamedTensor> tensors);

/// The bytes of the file that holds these tensors in this order.
/// @throws Error as verify() does.
std::vector<std::byte> write(std::span<const NamedTensor> tensors);

/// Writes the file into memory if it has room, and answers with the size of the file in any case.
/// @throws Error as verify() does.
std::size_t write(std::span<std::byte> memory, std::span<const NamedTensor> tensors);

/// The record of one tensor alone: what a file holds of it, without a name.
/// @throws Error as verify() does, with offsets in the record.
std::vector<std::byte> write_record(const Tensor& tensor);

/// Reads such a record. The tensor shares `record` and keeps it alive.
/// @throws Error when the record is faulty.
Tensor read_record(Bytes record, const ReadOptions& options = {});

/// Writes a file, replacing one that exists. Nothing is touched when the tensors are at fault.
/// @throws utils::ValueVerifyFatal when the file cannot be created, utils::LogMessageFatal when
///         writing it fails; what was written by then stays, and no reader accepts it.
void write_file(
    const std::string& path, std::span<const NamedTensor> tensors, const Progress& progress = {});

/// How many bytes the file that holds these tensors has; the tensors must be legal.
std::uint64_t file_size(std::span<const NamedTensor> tensors);

/// How many bytes of data the tensors have.
std::uint64_t data_size(std::span<const NamedTensor> tensors);

/// The elements of an integer tensor, in row-major order.
/// @throws utils::ValueVerifyFatal for another type, for an element outside int32, and for data
///         whose length is not what type and shape ask for.
std::vector<std::int32_t> to_int32(const Tensor& tensor);
/// The same into memory of the caller, also refused where it has room for more or fewer.
void to_int32(const Tensor& tensor, std::span<std::int32_t> to);

/// A tensor of type int32.
/// @throws utils::ValueVerifyFatal when `values` is not as long as the shape asks for.
Tensor from_int32(std::vector<std::int64_t> shape, std::span<const std::int32_t> values);

/// Text from a file, fit for a terminal: what controls it or reorders text is escaped, bytes that
/// are not UTF-8 are spelt in hexadecimal, and what is longer than `limit` bytes is cut.
std::string printable(std::string_view text, std::size_t limit = 80);

}  // namespace lockstep::params
