#include "conformance/subjects/loaded_model.h"

#include <algorithm>

#include "backends/call.h"
#include "reference/graph/zoo/network.h"

namespace lockstep::judge {
namespace {

std::vector<uint32_t> outputs_of(const graph::Node& n) {
  std::vector<uint32_t> entries;
  for (int k = 0; k < n.entry_count; ++k)
    entries.push_back(static_cast<uint32_t>(n.first_entry + k));
  return entries;
}

}  // namespace

LoadedModel::LoadedModel(const client::Backend& backend, const graph::Model& model)
    : backend_(backend), graph_(model.graph()), stream_(backend.stream().value()) {
  place(model);
  for (const graph::Node& n : graph_.nodes()) {
    if (n.is_variable()) continue;
    client::Call call{
        std::string(n.op->name), client::attributes_of(*n.op, n.attributes()), {}, {}};
    std::vector<const void*> in;
    std::vector<void*> out;
    for (const int e : n.inputs) {
      call.in.push_back(view(e));
      in.push_back(memory(e));
    }
    for (const uint32_t e : outputs_of(n)) {
      call.out.push_back(view(static_cast<int>(e)));
      out.push_back(memory(static_cast<int>(e)));
    }
    client::Plan plan = backend.prepare(call).value();
    need_scratch(plan);
    calls_.push_back({call.op, std::move(plan), std::move(in), std::move(out)});
  }
}

// The ABI lets no output alias an input, so the storage ids of the file, which may, do not serve.
void LoadedModel::place(const graph::Model& model) {
  const std::vector<i64> plan = graph::zoo::plan_storage(graph_, graph::zoo::Reuse::dead);
  std::vector<uint64_t> bytes(plan.size());
  for (std::size_t e = 0; e < plan.size(); ++e) {
    const Type& t = graph_.entries()[e].type;
    slot_.push_back(static_cast<std::size_t>(plan[e]));
    bytes[slot_[e]] =
        std::max(bytes[slot_[e]], sizeof(int32_t) * static_cast<uint64_t>(volume(t.shape)));
    Extents x{
        {t.shape.begin(), t.shape.end()}, std::vector<int64_t>(t.shape.begin(), t.shape.end())};
    int64_t stride = 1;
    for (std::size_t d = x.shape.size(); d-- > 0; stride *= x.shape[d]) x.strides[d] = stride;
    extents_.push_back(std::move(x));
    is_parameter_.push_back(!model.parameter(static_cast<int>(e)).data.empty());
  }
  while (!bytes.empty() && bytes.back() == 0) bytes.pop_back();
  for (const uint64_t n : bytes) slots_.push_back(backend_.allocate(n).value());
  for (std::size_t e = 0; e < plan.size(); ++e) {
    const std::vector<i32>& values = model.parameter(static_cast<int>(e)).data;
    if (is_parameter_[e])
      slots_[slot_[e]].write(values.data(), sizeof(int32_t) * values.size()).check();
  }
}

client::TensorView LoadedModel::view(int entry) const {
  const auto e = static_cast<std::size_t>(entry);
  return {extents_[e].shape, extents_[e].strides, graph_.entry(entry).type.precision,
      is_parameter_[e] ? slots_[slot_[e]].data() : nullptr};
}

bool LoadedModel::compile() {
  if (!backend_.library().has_compile()) return false;
  client::Graph graph{{}, {}, {static_cast<uint32_t>(graph_.data())}, {}};
  for (int e = 0; e < static_cast<int>(extents_.size()); ++e) graph.entries.push_back(view(e));
  for (const graph::Node& n : graph_.nodes())
    if (!n.is_variable())
      graph.nodes.push_back({std::string(n.op->name), client::attributes_of(*n.op, n.attributes()),
          {n.inputs.begin(), n.inputs.end()}, outputs_of(n)});
  for (const int e : graph_.heads()) graph.heads.push_back(static_cast<uint32_t>(e));
  whole_ = backend_.compile(graph).value();
  need_scratch(*whole_);
  return true;
}

void LoadedModel::write(const reference::Tensor& data) {
  slots_[slot_[static_cast<std::size_t>(graph_.data())]]
      .write(data.data.data(), sizeof(int32_t) * data.data.size())
      .check();
}

void LoadedModel::run_compiled() {
  std::vector<void*> heads;
  for (const int e : graph_.heads()) heads.push_back(memory(e));
  run(whole_.value(), {memory(graph_.data())}, heads);
}

void LoadedModel::run_calls() {
  for (std::size_t k = 0; k < calls_.size(); ++k) run_call(k);
}

void LoadedModel::run_call(std::size_t call) {
  run(calls_[call].plan, calls_[call].in, calls_[call].out);
}

std::vector<reference::Tensor> LoadedModel::heads() const {
  std::vector<reference::Tensor> all;
  for (const int e : graph_.heads()) {
    const Type& t = graph_.entry(e).type;
    std::vector<i32> values(static_cast<std::size_t>(volume(t.shape)));
    slots_[slot_[static_cast<std::size_t>(e)]]
        .read(values.data(), sizeof(int32_t) * values.size())
        .check();
    all.push_back({t, std::move(values)});
  }
  return all;
}

void LoadedModel::run(
    const client::Plan& plan, const std::vector<const void*>& in, const std::vector<void*>& out) {
  plan.execute(in, out, scratch_ ? scratch_->data() : nullptr, stream_.handle()).check();
  stream_.wait().check();
}

void LoadedModel::need_scratch(const client::Plan& plan) {
  if (!scratch_ || scratch_->bytes() < plan.scratch_bytes())
    scratch_ = backend_.allocate(plan.scratch_bytes()).value();
}

}  // namespace lockstep::judge
