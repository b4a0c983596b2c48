#include "runtime/capi/status.h"

#include <algorithm>
#include <array>

namespace lockstep::capi {
namespace {

// Of fixed size, so that a lack of memory can be reported too.
using Text = std::array<char, 1024>;
thread_local struct { Text text, label, path; } last{};

void keep(std::string_view text, Text& to) noexcept {
  const std::size_t length = std::min(text.size(), to.size() - 1);
  std::copy_n(text.data(), length, to.data());
  to[length] = '\0';
}

}  // namespace

int failed(
    int status, std::string_view text, std::string_view label, std::string_view path) noexcept {
  keep(text, last.text);
  keep(label, last.label);
  keep(path, last.path);
  return status;
}

}  // namespace lockstep::capi

const char* CVMGetLastError(void) { return lockstep::capi::last.text.data(); }

const char* CVMGetLastErrorLabel(void) { return lockstep::capi::last.label.data(); }

const char* CVMGetLastErrorPath(void) { return lockstep::capi::last.path.data(); }
