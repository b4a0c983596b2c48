#include "conformance/base/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

// The file that is meant by a path, at the end of its links; empty if it is no file of a directory
// but a device, a pipe or an open file of a process (/dev/stdout).
fs::path replaceable(fs::path path) {
  std::error_code none;
  for (int links = 0; fs::is_symlink(path, none); ++links) {
    const fs::path to = fs::read_symlink(path, none);
    if (links == 16 || none) return {};
    path = path.parent_path() / to;
    const std::string text = path.lexically_normal().string();
    if (text.starts_with("/proc/") || text.starts_with("/dev/")) return {};
  }
  if (path.string().starts_with("/proc/") || path.string().starts_with("/dev/")) return {};
  const fs::file_status is = fs::status(path, none);
  return fs::exists(is) && !fs::is_regular_file(is) ? fs::path() : path;
}

// Writes and closes a file. @return whether all arrived; else errno says why not
bool written(int file, const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = write(file, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    at += static_cast<std::size_t>(n);
  }
  const int why = errno;
  const bool closed = close(file) == 0;
  if (at < text.size()) errno = why;
  return closed && at == text.size();
}

// Writes beside a file and then takes its place.
bool replaced(const fs::path& path, const std::string& text, bool& began) {
  const std::string beside = path.string() + ".part" + std::to_string(getpid());
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  began = file >= 0;
  if (!began) return false;
  struct stat before {};
  if (stat(path.c_str(), &before) == 0) fchmod(file, before.st_mode & 07777);
  if (written(file, text) && std::rename(beside.c_str(), path.c_str()) == 0) return true;
  const int why = errno;
  std::remove(beside.c_str());
  errno = why;
  return false;
}

}  // namespace

void write_file(const std::string& path, const std::string& text) {
  const fs::path file = replaceable(path);
  bool done = false, began = false;
  if (!file.empty()) done = replaced(file, text, began);
  if (!done && !began) {
    // No other file can be made there, but this one may be open to writers.
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    done = fd >= 0 && written(fd, text);
  }
  if (!done) throw std::runtime_error("cannot write '" + path + "': " + std::strerror(errno));
}

}  // namespace lockstep::judge
