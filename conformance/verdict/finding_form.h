/// @file
/// Findings as JSON.
#pragma once
#include "conformance/base/form.h"
#include "conformance/trial/finding.h"

namespace lockstep::judge {

void fields(auto& f, form::Like<Element> auto& e) {
  const form::Rule value{.min = INT32_MIN, .max = INT32_MAX};
  f("output", e.output);
  f("index", e.index);
  f("expected", e.expected, value);
  f("got", e.got, value);
}

void fields(auto& f, form::Like<Finding> auto& x) {
  f("text", x.text);
  f("kind", x.kind, {.max = static_cast<i64>(AnswerKind::broken_channel)});
  f("label", x.label);
  f("hint", x.hint);
  f("elements", x.elements);
}

}  // namespace lockstep::judge
