/// @file
/// The members of an attribute's table as a document names them (conformance/base/form.h).
#pragma once
#include "conformance/base/form.h"
#include "spec/attributes.h"

namespace lockstep {
namespace forms {

using judge::form::Rule;

inline const Rule kName{.pattern = "^[a-z][a-z0-9_]*$"};
inline const Rule kProse{.filled = true};
inline const Rule kAnyInteger{.min = INT64_MIN, .max = INT64_MAX};

/// Both ends, included.
inline std::array<i64, 2> ends(const Range& r) { return {r.min, r.max}; }

}  // namespace forms

namespace judge {

/// The name of a kind of attribute values.
constexpr string_view name_of(AttrKind k) {
  constexpr string_view kNames[] = {"int", "bool", "tuple", "int or None", "word"};
  return kNames[static_cast<int>(k)];
}

}  // namespace judge

template <class F> void fields(F& form, const AttrInfo& a) {
  using enum AttrKind;
  const bool bounded = a.kind != word && (a.kind != boolean || a.range.min == a.range.max);
  form("name", a.name, forms::kName);
  form("type", judge::name_of(a.kind), {.words = {"int", "bool", "tuple", "int or None", "word"}});
  form("required", a.required);
  form.when(!a.required, "default", a.required ? "" : attribute_text(a, a.fallback));
  form.optional("alias", a.alias, forms::kName);
  form.when(a.kind == word, "words", a.words, {.text = "Separated by |."});
  form.when(bounded, "range", forms::ends(a.range), forms::kAnyInteger);
  form.when(a.kind == tuple, "entries", forms::ends(a.entries));
  form.when(a.ignored, "effect", false, {.text = "Absent where it has one."});
  form("text", a.text, forms::kProse);
}

}  // namespace lockstep
