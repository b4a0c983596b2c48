#include "conformance/cli/model.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::judge {

std::vector<const graph::Node*> calls_of(const graph::Graph& graph) {
  std::vector<const graph::Node*> calls;
  for (const graph::Node& n : graph.nodes())
    if (!n.is_variable()) calls.push_back(&n);
  return calls;
}

std::vector<Tensor> SubjectEngine::run(
    const OpInfo& op, Attributes attrs, const std::vector<Tensor>& in) {
  Case c;
  c.op = &op;
  c.attrs.assign(attrs.begin(), attrs.end());
  for (const Tensor& t : in) c.in.push_back(t.type);
  const Inferred types = op.infer(attrs, c.types());
  Answer a = subject_.execute(c, in, types, {.poison = kPoison});
  std::vector<Tensor> out;
  for (int k = 0; a.ok() && k < types.count; ++k)
    out.push_back({types[k], a.out.at(static_cast<std::size_t>(k))});
  if (!a.ok() || !std::all_of(out.begin(), out.end(), reference::holds_its_type))
    throw Stopped(
        fmt::format("{} {}", op.name, difference(reference::outputs(op, attrs, in), a)->text));
  return out;
}

std::string document_text(const documents::ModelDocument& document) {
  return form::text_of(form::written(document));
}

void add_model(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("model",
      "Infer with models, look into them, judge backends with them, trace and compare them.\n"
      "A MODEL is a directory with symbol.json and params.\n"
      "Exit codes: 0 fine or equal, 1 a file is faulty, a call failed or results differ, 2 usage.");
  group->require_subcommand(1);
  add_model_run(*group, session);
  add_model_check(*group, session);
  add_model_show(*group, session);
  add_model_trace(*group, session);
  add_model_diff(*group, session);
  add_model_make(*group, session);
  group->add_subcommand("schema", "Print the JSON Schema of the documents of these verbs")
      ->callback([] { fmt::print("{}", documents::model_schema()); });
}

}  // namespace lockstep::judge
