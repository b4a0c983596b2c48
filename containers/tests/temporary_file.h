/// @file
/// A file that exists as long as its object does.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep::params {

/// What a file holds.
inline std::vector<std::byte> content(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.is_open()) << path;
  std::vector<std::byte> bytes;
  for (std::istreambuf_iterator<char> next(stream), end; next != end; ++next)
    bytes.push_back(static_cast<std::byte>(*next));
  return bytes;
}

class TemporaryFile {
 public:
  /// `suffix` ends the name, for code that goes by the suffix.
  explicit TemporaryFile(std::span<const std::byte> content = {}, const std::string& suffix = "")
      : path_(::testing::TempDir() + "lockstep_params_XXXXXX" + suffix) {
    const int descriptor = ::mkstemps(path_.data(), static_cast<int>(suffix.size()));
    const auto written = ::write(descriptor, content.data(), content.size());
    ::close(descriptor);
    if (written != static_cast<ssize_t>(content.size())) throw std::runtime_error("disk full");
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace lockstep::params
