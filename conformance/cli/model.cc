#include "conformance/cli/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conformance/trial/finding.h"
#include "reference/graph/arrays.h"

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

// Numbers feeds first, then constants, then results.
CompiledModel::CompiledModel(const graph::Model& model, Subject& subject) : subject_(subject) {
  const graph::Graph& graph = model.graph();
  const std::vector<const graph::Node*> calls = calls_of(graph);
  can_run_ = subject.can_compile() && !calls.empty();
  if (!can_run_) return;
  std::vector<int> number(graph.entries().size(), -1);
  const auto add = [&](int e) {
    number[static_cast<std::size_t>(e)] = static_cast<int>(graph_.entries.size());
    graph_.entries.push_back({graph.entry(e).type, {}});
  };
  add(graph.data());
  graph_.feeds = 1;
  graph_.int8_constants = subject.reads_int8();
  for (int e = 0; e < static_cast<int>(number.size()); ++e)
    if (model.parameter(e)) {
      add(e);
      const ndarray::NDArray wide = graph::as_int32(model.parameter(e));
      const std::span<const i32> values = graph::values_of(wide);
      graph_.entries.back().data.assign(values.begin(), values.end());
    }
  graph_.given = static_cast<int>(graph_.entries.size());
  can_run_ = graph_.given <= kMaxInputs;
  given_.assign(graph_.entries.begin(), graph_.entries.end());
  for (const graph::Node* n : calls) {
    CallGraph::Node& call = graph_.nodes.emplace_back(CallGraph::Node{n->op, n->attrs});
    for (const int e : n->inputs) call.in.push_back(number[static_cast<std::size_t>(e)]);
    for (int k = 0; k < n->entry_count; ++k) {
      add(n->first_entry + k);
      call.out.push_back(static_cast<int>(graph_.entries.size()) - 1);
    }
  }
  for (const int e : graph.heads()) {
    heads_.push_back(number[static_cast<std::size_t>(e)]);
    can_run_ = can_run_ && heads_.back() >= graph_.given;
  }
  const CallGraph::Node& first = graph_.nodes[0];
  call_.op = first.op;
  call_.attrs = first.attrs;
  for (const int e : first.in) call_.in.push_back(graph_.entries[static_cast<std::size_t>(e)].type);
}

std::vector<Tensor> CompiledModel::run(const Tensor& data) {
  given_[0] = data;
  std::vector<Tensor> heads;
  for (std::size_t first = 0; first < heads_.size(); first += kMaxHeads) {
    const std::size_t count = std::min<std::size_t>(kMaxHeads, heads_.size() - first);
    graph_.heads.assign(&heads_[first], &heads_[first] + count);
    const Question q{
        .call = &call_, .callers = {&given_}, .graph = &graph_, .run = {.poison = kPoison}};
    Answer a = std::move(subject_.ask({q})[0][0]);
    for (std::size_t k = 0; a.ok() && k < count; ++k)
      heads.push_back({q.output(static_cast<int>(k)), a.out.at(k)});
    if (!a.ok() || !std::all_of(heads.begin(), heads.end(), reference::holds_its_type))
      throw Stopped("compiled: " + (a.ok() ? "a head lies outside its type" : answer_text(a)));
  }
  return heads;
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
