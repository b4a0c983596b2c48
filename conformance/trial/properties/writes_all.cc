#include "conformance/trial/properties/writes_all.h"

#include <fmt/format.h>

namespace lockstep::judge {

std::optional<Finding> inspect_writes_all(const Trial& t, Observations seen) {
  const Answer& repeat = *seen[0].answer;
  i64 unwritten = 0;
  std::size_t output = 0, first = 0;
  for (std::size_t k = 0; k < t.base.out.size() && k < repeat.out.size(); ++k)
    for (std::size_t i = 0; i < t.base.out[k].size(); ++i)
      if (t.base.out[k][i] == kPoison && repeat.out[k][i] == kOtherPoison) {
        if (unwritten++ == 0) output = k, first = i;
      }
  if (unwritten == 0) return std::nullopt;
  return Finding{fmt::format("{} elements were never written, the first is element {} of output {}",
                     unwritten, first, output),
      {}};
}

}  // namespace lockstep::judge
