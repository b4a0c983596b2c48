#include "conformance/base/progress.h"

#include <fmt/format.h>

namespace lockstep::judge {

std::string progress_text(const std::string& what, i64 done, i64 all, i64 failed, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  const double left = rate > 0 ? static_cast<double>(all - done) / rate : 0;
  return fmt::format("{}: {} of {} cases, {} failed, {:.0f}/s, {:.0f} s left", what, done, all,
      failed, rate, left);
}

}  // namespace lockstep::judge
