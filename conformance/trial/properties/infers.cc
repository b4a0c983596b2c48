#include "conformance/trial/properties/infers.h"

#include <fmt/format.h>

#include "spec/text.h"

namespace lockstep::judge {
namespace {

std::string text(const TensorType& t) {
  return fmt::format("{} of precision {}", shape_text(t.shape), t.precision);
}

std::optional<Finding> refused(const Trial& t, const Answer& a) {
  if (t.manifest->errors == Errors::none) return std::nullopt;
  if (a.kind == AnswerKind::logic_error &&
      (t.manifest->errors == Errors::cls || a.label == t.item->label))
    return std::nullopt;
  return Finding{"infer() of an illegal call: expected " + t.item->label + ", answered " +
          std::string(name_of(a.kind)) + " " + a.label,
      a.kind};
}

}  // namespace

std::optional<Finding> inspect_infers(const Trial& t, Observations) {
  const Answer& a = t.inferred ? *t.inferred : t.base;
  if (t.refusal) return refused(t, a);
  if (!a.ok())
    return Finding{"infer() answered " + std::string(name_of(a.kind)) + ": " + a.message, a.kind};
  if (static_cast<int>(a.types.size()) != t.types.count)
    return Finding{
        fmt::format("{} outputs inferred, {} expected", a.types.size(), t.types.count), {}};
  for (int k = 0; k < t.types.count; ++k) {
    const TensorType want{{t.types[k].shape.begin(), t.types[k].shape.end()}, t.types[k].precision};
    const TensorType& got = a.types[static_cast<std::size_t>(k)];
    if (!(got == want))
      return Finding{fmt::format("output {}: expected {}, got {}", k, text(want), text(got)), {}};
  }
  return std::nullopt;
}

}  // namespace lockstep::judge
