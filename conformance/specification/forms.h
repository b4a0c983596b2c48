/// @file
/// The members of an operator's parts as a document names them (conformance/base/form.h).
#pragma once
#include "conformance/base/form.h"
#include "conformance/cases/mutate.h"
#include "conformance/specification/describe.h"
#include "spec/attributes.h"
#include "spec/explain.h"

namespace lockstep {
namespace forms {

using judge::form::Rule;

inline const Rule kName{.pattern = "^[a-z][a-z0-9_]*$"};
inline const Rule kLabel{.pattern = "^[a-z][a-z0-9_]*\\.[a-z][a-z0-9_]*$"};
inline const Rule kAnyLabel{.pattern = "^([a-z][a-z0-9_]*\\.)?[a-z][a-z0-9_]*$"};
inline const Rule kProse{.filled = true};
inline const Rule kAnyInteger{.min = INT64_MIN, .max = INT64_MAX};

/// Both ends, included.
inline std::array<i64, 2> ends(const Range& r) { return {r.min, r.max}; }

}  // namespace forms

namespace judge {

/// An example: its call as a line of `eval`, its gas as a model of one call, and the outputs that
/// the header states.
struct DescribedExample {
  std::string text, id;
  form::json call;
  i64 gas = 1;
  std::vector<Literal> out;
  static std::vector<DescribedExample> all(const OpInfo& op);
};

template <class F> void fields(F& form, const DescribedExample& e) {
  form("text", e.text, forms::kProse);
  form("case", e.id, {.text = "A case of `lockstep repro`.", .filled = true});
  form("call", e.call, {.text = "A line of `lockstep eval`."});
  form("gas", e.gas, {.min = 1, .text = "As a model of its own."});
  form("out", e.out, {.filled = true});
}

}  // namespace judge

template <class F> void fields(F& form, const Port& p) {
  static const std::vector<std::string> kArity{"one", "optional", "variadic"};
  form("name", p.name, forms::kProse);
  form("rank", forms::ends(p.rank));
  form("arity", kArity[static_cast<std::size_t>(p.arity)], {.words = kArity});
  form("text", p.text, forms::kProse);
}

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

template <class F> void fields(F& form, const OwnLabel& l) {
  form("label", l.label, forms::kLabel);
  form.constant("fault", "logic");
  form("text", l.text, forms::kProse);
}

template <class F> void fields(F& form, const SharedLabel& l) {
  form("label", l.label, forms::kLabel);
  form("text", l.text, forms::kProse);
  form("typed", l.typed, {.text = "Also given to arguments with types."});
}

template <class F> void fields(F& form, const LawInfo& l) {
  form("label", l.label, forms::kName);
  form("text", l.text, forms::kProse);
}

template <class F> void fields(F& form, const Erratum& e) {
  form("text", e.text, forms::kProse);
  form("reason", e.reason, forms::kProse);
  // A vector of `op`, or of the operator itself, with this comment or label; or a test.
  form.object("shown_by", [&](auto& shown_by) {
    shown_by.optional("op", e.op, forms::kName);
    shown_by.optional("example", e.example, forms::kProse);
    shown_by.optional("label", e.label, forms::kAnyLabel);
    shown_by.optional("test", e.test, {.pattern = "^[A-Za-z]+\\.[A-Za-z0-9]+$"});
  });
}

template <class F> void fields(F& form, const Literal& l) {
  form("shape", l.shape);
  form("prec", l.precision);
  form("data", l.data, forms::kAnyInteger);
}

template <class F> void fields(F& form, const OpInfo& op) {
  form("name", op.name, forms::kName);
  form("profile", op.profile, {.pattern = "^[A-Z]+$"});
  form("summary", op.summary, forms::kProse);
  form("formula", op.formula, {.text = "LaTeX.", .filled = true});
  form.optional("alias", op.alias, forms::kName);
  form("defined_by", op.pointwise ? "at" : "eval", {.words = {"at", "eval"}});
  form("in_place", op.in_place);
  form("inputs", op.inputs, {.filled = true});
  form("outputs", op.outputs, {.filled = true});
  form("attributes", op.attrs);
  form("gas", op.gas_text, {.text = "Of one element of output 0, in words.", .filled = true});
  form("rules", own_labels(op));
  form("labels", judge::typed_labels(op),
      {.text = "All that typed arguments can be refused with, in the order of judgement.",
          .pattern = forms::kLabel.pattern});
  form("errata", op.errata);
  form("laws", op.laws);
  form("examples", judge::DescribedExample::all(op), {.filled = true});
}

}  // namespace lockstep
