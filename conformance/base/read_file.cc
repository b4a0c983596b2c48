#include "conformance/base/read_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "conformance/base/usage_error.h"
#include "containers/exceptions.h"

namespace lockstep::judge {

namespace {

std::string content_of(const std::string& path, std::size_t most) {
  std::ifstream in(path, std::ios::binary);
  std::array<char, 65536> piece;
  std::string text;
  while (in.read(piece.data(), piece.size()), in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > most)
      throw UsageError("'" + path + "' has more than " + std::to_string(most) + " bytes");
  }
  if (!in.is_open() || in.bad())
    throw UsageError("cannot read '" + path + "': " + std::strerror(errno));
  return text;
}

}  // namespace

std::string read_file(const std::string& path, std::size_t most) {
  return utils::naming_out_of_memory("reading", path, [&] { return content_of(path, most); });
}

}  // namespace lockstep::judge
