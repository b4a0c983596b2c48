/// @file
/// The members of an operator's parts, as a document names them (conformance/base/form.h).
#pragma once
#include "conformance/cases/mutate.h"
#include "conformance/golden/attribute_form.h"
#include "conformance/specification/describe.h"
#include "spec/explain.h"

namespace lockstep {
namespace forms {

inline const Rule kLabel{.pattern = "^[a-z][a-z0-9_]*\\.[a-z][a-z0-9_]*$"};
inline const Rule kAnyLabel{.pattern = "^([a-z][a-z0-9_]*\\.)?[a-z][a-z0-9_]*$"};

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
  static const std::vector<std::string> kThere{
      "same", "accepts", "refuses", "blames", "differs", "crashes"};
  form.optional_object("deployed", !e.deployed.empty(), [&](auto& deployed) {
    deployed("there", kThere[static_cast<std::size_t>(e.deployed.there)],
        {.words = kThere,
            .text = "How the recorded answers of the deployed runtime stand to the results."});
    deployed("topic", e.deployed.topic, {.pattern = "^[a-z_]+(/[a-z_]+)?$"});
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
  form("shape", op.shape,
      {.text = "Of each output, as a formula (FORMAT.md of the vectors).", .filled = true});
  form("precision", op.precision, {.text = "Likewise.", .filled = true});
  form.optional("accumulator", op.accumulator,
      {.text = "The bits that hold every partial sum, as a formula.", .filled = true});
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
