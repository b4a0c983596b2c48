/// @file
/// Compares an answer with that to the plain call, which matches_reference judges: values that are
/// wrong in the same way however the call is put violate no other property.
#pragma once
#include <fmt/format.h>

#include "conformance/trial/canary.h"

namespace lockstep::judge {

/// How an answer to the same call differs from the plain one; nothing if it does not.
inline std::optional<Finding> other_result(const Trial& t, const Answer& a) {
  const Answer& plain = t.base;
  if (!plain.ok() || !difference(t.expected, plain)) return difference(t.expected, a);
  if (a.out == plain.out && a.types == plain.types) return std::nullopt;
  std::vector<Tensor> first;
  for (std::size_t k = 0; k < plain.out.size(); ++k)
    first.push_back({t.types[static_cast<int>(k)], plain.out[k]});
  std::optional<Finding> f = difference(first, a);
  if (f) f->text = "unlike the plain call, which is wrong as well: " + f->text;
  return f;
}

/// How one of several callers' answers is wrong; nothing if none is. Wrong values that
/// matches_reference finds, too, violate nothing else.
inline std::optional<Finding> wrong_among(const Trial& t, Observations seen) {
  const bool wrong = difference(t.expected, t.base).has_value();
  for (const Observation& o : seen)
    if (std::optional<Finding> f = !o.right ? other_result(t, *o.answer)
            : wrong                         ? std::nullopt
                                            : difference(t.*o.right, *o.answer)) {
      f->text = o.when + ": " + f->text;
      return f;
    }
  return std::nullopt;
}

/// The same for a plan that ran many times, all runs of which must write the same.
inline std::optional<Finding> inspect_runs(const Trial& t, Observations seen) {
  const Answer& a = *seen[0].answer;
  std::optional<Finding> f = wrong_among(t, seen);
  if (a.changed_run == 0) return f;
  if (!f) f = Finding{"it is right, and an earlier run was not", a.kind};
  f->text = fmt::format(
      "run {} of one plan wrote something else for the same values: {}", a.changed_run, f->text);
  return f;
}

}  // namespace lockstep::judge
