#include "runtime/capi/status.h"

#include <algorithm>
#include <array>

namespace lockstep::capi {
namespace {

// Of fixed size, so that a lack of memory can be reported too.
thread_local std::array<char, 1024> last_error{};

}  // namespace

int failed(int status, std::string_view text) noexcept {
  const std::size_t length = std::min(text.size(), last_error.size() - 1);
  std::copy_n(text.data(), length, last_error.data());
  last_error[length] = '\0';
  return status;
}

}  // namespace lockstep::capi

const char* CVMGetLastError(void) { return lockstep::capi::last_error.data(); }
