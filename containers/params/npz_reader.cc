#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "containers/logging.h"
#include "containers/params/npy_reader.h"
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
    params.tensors.push_back({std::move(name), read_array(MemberStream(archive, member))});
    done += member.compressed;
    if (progress) progress(done, all);
  }
  return params;
}

}  // namespace

Params read(std::span<const std::byte> archive) { return read_archive(MemoryArchive(archive), {}); }

Params read_file(const std::string& path, const Progress& progress) {
  return utils::naming_out_of_memory("reading", path, [&] {
    const Descriptor file(path);
    return read_archive(FileArchive(file, path), progress);
  });
}

}  // namespace lockstep::params::npz
