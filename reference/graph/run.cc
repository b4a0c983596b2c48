#include "reference/graph/run.h"

#include <utility>

#include "containers/logging.h"
#include "reference/graph/arrays.h"
#include "reference/graph/bytes.h"
#include "reference/graph/error.h"

namespace lockstep::graph {
namespace {

// Moves the inputs of a call out of the table of values and, even if the engine throws, back again.
// No call copies a parameter, and no exception loses one.
class Loan {
 public:
  Loan(std::vector<reference::Tensor>& values, const std::vector<int>& entries)
      : values_(values), entries_(entries) {
    tensors.reserve(entries.size());
    for (std::size_t k = 0; k < entries.size(); ++k) {
      std::size_t earlier = 0;
      while (entries[earlier] != entries[k]) ++earlier;
      if (earlier < k)
        tensors.push_back(tensors[earlier]);
      else
        tensors.push_back(std::move(value(k)));
    }
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    // Backwards, so that the original comes after its copies.
    for (std::size_t k = tensors.size(); k-- > 0;) value(k) = std::move(tensors[k]);
  }

  std::vector<reference::Tensor> tensors;

 private:
  reference::Tensor& value(std::size_t k) { return values_[static_cast<std::size_t>(entries_[k])]; }

  std::vector<reference::Tensor>& values_;
  const std::vector<int>& entries_;
};

}  // namespace

std::vector<reference::Tensor> ReferenceEngine::run(
    const OpInfo& op, Attributes attrs, const std::vector<reference::Tensor>& in) {
  return reference::outputs(op, attrs, in);
}

Runner::Runner(const Model& model, Engine& engine) : model_(model), engine_(engine) {
  const std::vector<Entry>& entries = model.graph().entries();
  values_.resize(entries.size());
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const ndarray::NDArray& parameter = model.parameter(static_cast<int>(e));
    if (!parameter) continue;
    const ndarray::NDArray wide = as_int32(parameter);
    const std::span<const i32> values = values_of(wide);
    values_[e] = {entries[e].type, {values.begin(), values.end()}};
  }
}

std::vector<std::byte> Runner::run(std::span<const std::byte> input) {
  const Graph& graph = model_.graph();
  const std::vector<reference::Tensor> heads = run(decode_input(graph, input));
  std::vector<std::span<const i32>> values;
  for (const reference::Tensor& head : heads) values.emplace_back(head.data);
  return encode_output(graph, values);
}

std::vector<reference::Tensor> Runner::run(reference::Tensor data) {
  const Graph& graph = model_.graph();
  if (data.type != graph.entry(graph.data()).type)
    throw Error("model.input", "the input is not of the type that \"data\" declares");
  if (!holds_its_type(data))
    throw Error("input.value", "the input has a value outside its precision, or lacks values");
  drop_temporaries();
  values_[static_cast<std::size_t>(graph.data())] = std::move(data);
  for (int i = 0; i < static_cast<int>(graph.nodes().size()); ++i)
    if (!graph.nodes()[static_cast<std::size_t>(i)].is_variable()) call(i);
  std::vector<reference::Tensor> heads;
  for (int e : graph.heads()) heads.push_back(values_[static_cast<std::size_t>(e)]);
  drop_temporaries();
  return heads;
}

void Runner::call(int i) {
  const Graph& graph = model_.graph();
  const Node& node = graph.nodes()[static_cast<std::size_t>(i)];
  std::vector<reference::Tensor> out;
  {
    const Loan in(values_, node.inputs);
    out = engine_.run(*node.op, node.attributes(), in.tensors);
  }
  CHECK_EQ(std::ssize(out), node.entry_count) << describe(graph, i) << ": outputs of the engine";
  for (int e : node.inputs)
    if (graph.entry(e).last_use == i) values_[static_cast<std::size_t>(e)] = {};
  for (int k = 0; k < node.entry_count; ++k) {
    const Entry& entry = graph.entry(node.first_entry + k);
    reference::Tensor& y = out[static_cast<std::size_t>(k)];
    CHECK(y.type == entry.type && holds_its_type(y))
        << describe(graph, i) << ": the engine's output " << k
        << " has another type than inferred, or a value outside it";
    if (entry.last_use > i)
      values_[static_cast<std::size_t>(node.first_entry) + static_cast<std::size_t>(k)] =
          std::move(y);
  }
}

// Also after a run that threw, because the next one must not start from its values.
void Runner::drop_temporaries() {
  const Graph& graph = model_.graph();
  for (const Node& node : graph.nodes())
    for (int k = 0; k < node.entry_count; ++k) {
      const int e = node.first_entry + k;
      if (!node.is_variable() || e == graph.data()) values_[static_cast<std::size_t>(e)] = {};
    }
}

}  // namespace lockstep::graph
