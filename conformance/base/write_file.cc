#include "conformance/base/write_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace lockstep::judge {

void write_file(const std::string& path, const std::string& text) {
  const bool existed = std::filesystem::exists(path);
  const auto expect = [&](bool done) {
    if (done) return;
    const std::string why = std::strerror(errno);
    if (!existed) std::remove(path.c_str());
    throw std::runtime_error("cannot write '" + path + "': " + why);
  };
  FILE* const file = std::fopen(path.c_str(), "wb");
  expect(file != nullptr);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int why = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written) errno = why;
  expect(written && closed);
}

}  // namespace lockstep::judge
