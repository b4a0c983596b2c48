#pragma once
#include <fmt/format.h>

#include "conformance/trial/property.h"

namespace lockstep::judge {

inline std::optional<Finding> inspect_refused_types(const Trial& t, const Answer& a) {
  if (a.kind == AnswerKind::logic_error &&
      (t.manifest->errors == Errors::cls || a.label == t.item->label))
    return std::nullopt;
  return Finding{
      "infer() of an illegal call: expected " + t.item->label + ", " + deed(a.kind) + " " + a.label,
      a.kind, {}, {}, a.label};
}

inline std::optional<Finding> inspect_infers(const Trial& t, Observations) {
  const Answer& a = t.inferred ? *t.inferred : t.base;
  if (t.refusal) return inspect_refused_types(t, a);
  if (!a.ok())
    return Finding{"infer() " + deed(a.kind) + ": " + a.message, a.kind, {}, {}, a.label};
  if (static_cast<int>(a.types.size()) != t.types.count)
    return Finding{
        fmt::format("{} outputs inferred, {} expected", a.types.size(), t.types.count), {}};
  for (int k = 0; k < t.types.count; ++k) {
    const TensorType want{{t.types[k].shape.begin(), t.types[k].shape.end()}, t.types[k].precision};
    const TensorType& got = a.types[static_cast<std::size_t>(k)];
    if (!(got == want))
      return Finding{
          fmt::format("output {}: expected {}, got {}", k, type_text(want), type_text(got)), {}};
  }
  return std::nullopt;
}

/// Infers another precision or, for an illegal call, has another label or infers.
inline bool infer_other_type(Trial& t, std::span<Observation>, u64 draw) {
  Answer& a = t.inferred ? *t.inferred : t.base;
  if (t.refusal && t.manifest->errors == Errors::label && draw % 2 == 0)
    a.label += "other";
  else if (t.refusal)
    a = {};
  else
    ++a.types[draw % a.types.size()].precision;
  return true;
}

/// If an adapter's answers carry types, the types of the plain answer are judged.
inline constexpr Property kInfers{.name = "infers",
    .text = "shapes and precisions of the outputs are inferred as specified",
    .about = kLegal | kIllegal | kVectors | kTyped,
    .ask = [](Probe& p) { p.infer(); },
    .applies =
        [](const Trial& t) {
          const std::vector<TensorType>& stated = t.base.types;
          if (t.refusal) return t.inferred && t.manifest->errors != Errors::none;
          return t.inferred || (t.base.ok() && !stated.empty() && stated[0].precision != 0);
        },
    .inspect = inspect_infers,
    .plant = infer_other_type};

}  // namespace lockstep::judge
