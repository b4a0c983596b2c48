#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <set>
#include <utility>

#include "containers/byte_order.h"
#include "containers/logging.h"
#include "containers/params/params.h"
#include "containers/params/sinks.h"

namespace lockstep::params {
namespace {

/// A file in memory. The data it returns shares the memory.
class MemorySource {
 public:
  explicit MemorySource(Bytes file) : file_(std::move(file)) {}

  std::uint64_t offset() const { return offset_; }
  std::uint64_t remaining() const { return file_.size() - offset_; }

  void read(void* to, std::size_t size) {
    if (size != 0) std::memcpy(to, file_.data() + offset_, size);
    offset_ += size;
  }

  Bytes take(std::size_t size) {
    offset_ += size;
    return file_.part(offset_ - size, size);
  }

 private:
  Bytes file_;
  std::size_t offset_ = 0;
};

/// A regular file of known size. It reads the data it returns into memory of its own.
class FileSource {
 public:
  FileSource(std::FILE* file, std::uint64_t size, std::string_view path)
      : file_(file), size_(size), path_(path) {}

  std::uint64_t offset() const { return offset_; }
  std::uint64_t remaining() const { return size_ - offset_; }

  void read(void* to, std::size_t size) {
    CHECK_EQ(std::fread(to, 1, size, file_), size)
        << "reading " << path_ << " at offset " << offset_ << " failed: "
        << (std::ferror(file_) ? std::strerror(errno) : "the file became shorter meanwhile");
    offset_ += size;
  }

  Bytes take(std::size_t size) {
    if (size == 0) return {};
    const std::shared_ptr<std::byte> memory = tensor_memory(size);
    read(memory.get(), size);
    return {memory, size};
  }

 private:
  std::FILE* file_;
  std::uint64_t size_;
  std::string_view path_;
  std::uint64_t offset_ = 0;
};

/// One pass over a file, field by field in file order, so that the first fault is the error.
template <class Source> class ParamsReader {
 public:
  ParamsReader(Source source, std::string_view name) : source_(std::move(source)), name_(name) {}

  Params params(const ReadOptions& options) {
    header();
    names();
    require(field("value_count"), std::uint64_t{names_.size()}, reject("value_count"));
    Params params;
    for (std::string& name : names_) {
      tensor_ = &name;
      Tensor tensor = record();
      tensor_ = nullptr;
      params.tensors.push_back({std::move(name), std::move(tensor)});
      if (options.progress)
        options.progress(source_.offset(), source_.offset() + source_.remaining());
    }
    params.trailing_bytes = trailing(options);
    return params;
  }

  Tensor only_record(const ReadOptions& options) {
    Tensor tensor = record();
    trailing(options);
    return tensor;
  }

 private:
  std::uint64_t trailing(const ReadOptions& options) {
    const std::uint64_t bytes = source_.remaining();
    if (bytes != 0 && !options.lenient) {
      at_ = source_.offset();
      fail(reject("trailing"), std::to_string(bytes) + " bytes do");
    }
    return bytes;
  }

  void header() {
    magic(field("magic"), kFileMagic, reject("magic"), reject("magic_byte_swapped"));
    require(field("reserved"), std::uint64_t{0}, reject("reserved"));
  }

  void names() {
    const std::uint64_t count = number(field("name_count"));
    // Each name has a length of 8 bytes. Nothing is set aside for the count even then: the names
    // themselves may still turn out to be missing.
    if (count > source_.remaining() / 8) fail(reject("name_count"), declared(count, "names"));
    std::set<std::string_view> seen;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t length = number(field("name_length"));
      if (length > source_.remaining()) fail(reject("name_length"), declared(length, "bytes"));
      at_ = source_.offset();
      std::string& name = names_.emplace_back(static_cast<std::size_t>(length), '\0');
      source_.read(name.data(), name.size());
      if (const Reject* fault = name_fault(name))
        fail(*fault, "name " + std::to_string(i) + " is \"" + printable(name) + "\"");
      tensor_ = &name;
      if (!seen.insert(name).second) fail(reject("duplicate_name"), "");
      tensor_ = nullptr;
    }
  }

  Tensor record() {
    magic(field("record_magic"), kRecordMagic, reject("record_magic"),
        reject("record_magic_byte_swapped"));
    require(field("record_reserved"), std::uint64_t{0}, reject("record_reserved"));
    require(field("device_type"), std::int32_t{kDeviceType}, reject("device"));
    require(field("device_id"), std::int32_t{kDeviceId}, reject("device"));
    const auto rank = static_cast<std::int32_t>(number(field("ndim")));
    if (rank < 0 || rank > kMaxDimensions) fail(reject("ndim"), found(rank));

    Tensor tensor;
    tensor.dtype = dtype();
    const std::uint64_t first_extent = source_.offset();
    tensor.shape = shape(rank);
    const std::optional<std::int64_t> expected = byte_size(tensor.shape, tensor.dtype);
    if (!expected) {
      at_ = first_extent;
      fail(reject("shape_overflow"), "");
    }
    const auto size = static_cast<std::int64_t>(number(field("size")));
    if (size != *expected)
      fail(reject("size"), found(size) + " where " + std::to_string(*expected) + " is due");
    if (std::cmp_greater(size, source_.remaining()))
      fail(reject("data_beyond"), declared(static_cast<std::uint64_t>(size), "bytes"));
    CHECK(std::in_range<std::size_t>(size)) << size << " bytes exceed the address space";
    tensor.bytes = source_.take(static_cast<std::size_t>(size));
    return tensor;
  }

  DType dtype() {
    DType dtype{};
    dtype.code = static_cast<std::uint8_t>(number(field("dtype_code")));
    if (!dtype_code_known(dtype.code)) fail(reject("dtype_code"), found(dtype.code));
    dtype.bits = static_cast<std::uint8_t>(number(field("dtype_bits")));
    if (const Reject* fault = dtype_bits_fault(dtype)) fail(*fault, found(dtype.bits));
    require(field("dtype_lanes"), std::uint16_t{kLanes}, reject("dtype_lanes"));
    return dtype;
  }

  std::vector<std::int64_t> shape(std::int32_t rank) {
    at_ = source_.offset();
    const auto count = static_cast<std::size_t>(rank);
    if (count > source_.remaining() / 8) fail(reject("shape_beyond"), declared(count, "extents"));
    std::vector<std::int64_t> shape(count);
    for (std::int64_t& extent : shape) {
      extent = static_cast<std::int64_t>(number(field("extent")));
      if (extent < 0) fail(reject("negative_extent"), found(extent));
    }
    return shape;
  }

  void magic(
      const Field& where, std::uint64_t expected, const Reject& wrong, const Reject& swapped) {
    const std::uint64_t value = number(where);
    if (value == expected) return;
    std::array<std::byte, 8> reversed{};
    store_little_endian(reversed.data(), expected);
    std::ranges::reverse(reversed);
    fail(load_little_endian<std::uint64_t>(reversed.data()) == value ? swapped : wrong, "");
  }

  /// Reads the next number; a fault that is found in it names this field.
  std::uint64_t number(const Field& where) {
    at_ = source_.offset();
    const auto width = static_cast<std::size_t>(where.width());
    if (width > source_.remaining())
      fail(reject("too_short"),
          std::string(where.name) + " takes " + std::to_string(width) + " bytes, " +
              std::to_string(source_.remaining()) + " remain");
    std::array<std::byte, 8> bytes{};
    source_.read(bytes.data(), width);
    return load_little_endian(bytes.data(), width);
  }

  /// Reads a number that must be this one.
  template <class T> void require(const Field& where, T due, const Reject& wrong) {
    const T value = static_cast<T>(number(where));
    if (value != due) fail(wrong, found(value));
  }

  template <class T> static std::string found(T value) { return "found " + std::to_string(value); }

  std::string declared(std::uint64_t count, std::string_view what) const {
    return std::to_string(count) + " " + std::string(what) + " declared, " +
        std::to_string(source_.remaining()) + " bytes remain";
  }

  [[noreturn]] void fail(const Reject& reject, const std::string& detail) const {
    throw Error(reject, at_, tensor_ ? std::optional(*tensor_) : std::nullopt, detail, name_);
  }

  Source source_;
  std::string_view name_;
  std::uint64_t at_ = 0;
  const std::string* tensor_ = nullptr;
  std::deque<std::string> names_;  // a deque, because views of its elements must stay valid
};

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

/// Whatever a stream still holds. The block grows by realloc, which moves pages and not bytes.
Bytes collect(std::FILE* stream, std::string_view path) {
  constexpr std::size_t kFirstCapacity = std::size_t{64} << 10;
  std::unique_ptr<std::byte, Free> block;
  std::size_t size = 0;
  for (std::size_t capacity = kFirstCapacity;; capacity += capacity / 2) {
    auto* grown = static_cast<std::byte*>(std::realloc(block.get(), capacity));
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(block.release());
    block.reset(grown);
    size += std::fread(grown + size, 1, capacity - size, stream);
    CHECK(!std::ferror(stream)) << "reading " << path << " failed: " << std::strerror(errno);
    if (size < capacity) break;
    // A stream that never ends must not be waited for when its start is already wrong.
    if (load_little_endian<std::uint64_t>(grown) != kFileMagic) break;
  }
  return {std::shared_ptr<const std::byte>(block.release(), Free()), size};
}

Params read_opened(const std::string& path, const ReadOptions& options) {
  const OpenFile file(std::fopen(path.c_str(), "rb"));
  if (!file) throw utils::ValueVerifyFatal("cannot open " + path + ": " + std::strerror(errno));
  struct stat status {};
  CHECK_EQ(::fstat(::fileno(file.get()), &status), 0) << path << ": " << std::strerror(errno);
  if (S_ISDIR(status.st_mode)) throw utils::ValueVerifyFatal(path + " is a directory");
  // The kernel's own files are regular and claim to be empty.
  if (!S_ISREG(status.st_mode) || status.st_size == 0)
    return ParamsReader(MemorySource(collect(file.get(), path)), path).params(options);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  return ParamsReader(FileSource(file.get(), size, path), path).params(options);
}

}  // namespace

Params read(std::span<const std::byte> file, const ReadOptions& options) {
  return read(Bytes::borrow(file), options);
}

Params read(std::vector<std::byte>&& file, const ReadOptions& options) {
  return read(Bytes::own(std::move(file)), options);
}

Params read(Bytes file, const ReadOptions& options) {
  return ParamsReader(MemorySource(std::move(file)), "").params(options);
}

Tensor read_record(Bytes record, const ReadOptions& options) {
  return ParamsReader(MemorySource(std::move(record)), "").only_record(options);
}

Params read_file(const std::string& path, const ReadOptions& options) {
  return utils::naming_out_of_memory("reading", path, [&] { return read_opened(path, options); });
}

}  // namespace lockstep::params
