#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "containers/byte_order.h"
#include "containers/logging.h"
#include "containers/params/npy.h"
#include "containers/params/sinks.h"
#include "containers/params/zip.h"

namespace lockstep::params::npz {
namespace {

class MemoryArchive : public Archive {
 public:
  explicit MemoryArchive(std::span<const std::byte> bytes)
      : Archive(bytes.size(), {}), bytes_(bytes) {}
  void read(std::uint64_t offset, std::span<std::byte> to) const override {
    std::ranges::copy(bytes_.subspan(static_cast<std::size_t>(offset), to.size()), to.begin());
  }

 private:
  std::span<const std::byte> bytes_;
};

/// An open file, closed with the object.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw utils::ValueVerifyFatal("cannot open " + path + ": " + std::strerror(errno));
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::uint64_t size_of(const Descriptor& file, const std::string& path) {
  struct stat status {};
  CHECK_EQ(::fstat(file.get(), &status), 0) << path << ": " << std::strerror(errno);
  if (!S_ISREG(status.st_mode)) {
    throw utils::ValueVerifyFatal(path + " is no regular file; an archive is read from its end");
  }
  return static_cast<std::uint64_t>(status.st_size);
}

class FileArchive : public Archive {
 public:
  FileArchive(const Descriptor& file, const std::string& path)
      : Archive(size_of(file, path), path), fd_(file.get()), path_(path) {}
  void read(std::uint64_t offset, std::span<std::byte> to) const override {
    while (!to.empty()) {
      const ssize_t got = ::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      CHECK_GT(got, 0) << "reading " << path_ << " at offset " << offset << " failed: "
                       << (got < 0 ? std::strerror(errno) : "the file became shorter meanwhile");
      to = to.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
  }

 private:
  int fd_;
  std::string path_;
};

/// The name of the tensor that a member holds.
std::string tensor_name(const Archive& archive, const Member& member) {
  const auto fail = [&](const Reject& reject, const Member* named) {
    archive.fail(reject, member.header, named, "found \"" + printable(member.name) + "\"");
  };
  if (const Reject* fault = name_fault(member.name)) fail(*fault, nullptr);
  if (!member.name.ends_with(kSuffix)) fail(reject("npz_member"), &member);
  return member.name.substr(0, member.name.size() - kSuffix.size());
}

/// The text of an array's header; the stream is left where the data begins.
std::string header_text(MemberStream& stream) {
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

NpyHeader header_of(MemberStream& stream) {
  const std::string text = header_text(stream);
  try {
    return parse_npy_header(text);
  } catch (const MalformedNpy& found) {
    stream.fail(*found.fault, found.detail);
  }
}

void swap_bytes(std::byte* data, std::size_t size, std::size_t width) {
  for (std::size_t i = 0; i < size; i += width) std::reverse(data + i, data + i + width);
}

/// Copies an array whose first index varies fastest into one whose last index does.
void to_row_major(const std::byte* from, std::byte* to, std::span<const std::int64_t> shape,
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

Tensor read_tensor(MemberStream stream) {
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

Params read_archive(const Archive& archive, const Progress& progress) {
  const std::vector<Member> members = members_of(archive);
  std::uint64_t done = 0, all = 0;
  for (const Member& member : members) all += member.compressed;
  std::set<std::string> seen;
  Params params;
  for (const Member& member : members) {
    std::string name = tensor_name(archive, member);
    if (!seen.insert(name).second)
      archive.fail(params::reject("duplicate_name"), member.header, &member, "");
    params.tensors.push_back({std::move(name), read_tensor({archive, member})});
    done += member.compressed;
    if (progress) progress(done, all);
  }
  return params;
}

}  // namespace

Params read(std::span<const std::byte> archive) { return read_archive(MemoryArchive(archive), {}); }

Params read_file(const std::string& path, const Progress& progress) {
  const Descriptor file(path);
  return read_archive(FileArchive(file, path), progress);
}

}  // namespace lockstep::params::npz
