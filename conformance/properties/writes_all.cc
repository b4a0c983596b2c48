#include <fmt/format.h>

#include "conformance/property.h"

namespace lockstep::judge {
namespace {

std::optional<Finding> inspect_writes_all(const Trial& t) {
  i64 unwritten = 0;
  std::size_t output = 0, first = 0;
  for (std::size_t k = 0; k < t.base.out.size() && k < t.repeat.out.size(); ++k)
    for (std::size_t i = 0; i < t.base.out[k].size(); ++i)
      if (t.base.out[k][i] == kPoison && t.repeat.out[k][i] == kOtherPoison) {
        if (unwritten++ == 0) output = k, first = i;
      }
  if (unwritten == 0) return std::nullopt;
  return Finding{fmt::format("{} elements were never written, the first is element {} of output {}",
                             unwritten, first, output),
                 {}};
}

}  // namespace

const Property kWritesAll{
    "writes_all", "every element of every output is written",
    [](const Trial& t) { return t.watched && t.repeated && t.base.ok() && t.repeat.ok(); },
    inspect_writes_all};

}  // namespace lockstep::judge
