/// @file
/// A file that exists as long as its object does.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>

namespace lockstep::params {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::span<const std::byte> content = {}) {
    const int descriptor = ::mkstemp(path_.data());
    const auto written = ::write(descriptor, content.data(), content.size());
    ::close(descriptor);
    if (written != static_cast<ssize_t>(content.size())) throw std::runtime_error("disk full");
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "lockstep_params_XXXXXX";
};

}  // namespace lockstep::params
