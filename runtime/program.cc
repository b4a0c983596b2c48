#include "runtime/program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/call.h"
#include "containers/logging.h"
#include "reference/graph/arrays.h"
#include "reference/graph/plan.h"

namespace lockstep::runtime {
namespace {

using Entries = std::vector<uint32_t>;

Entries outputs_of(const graph::Node& n) {
  Entries entries;
  for (int k = 0; k < n.entry_count; ++k)
    entries.push_back(static_cast<uint32_t>(n.first_entry + k));
  return entries;
}

Entries inputs_of(const graph::Node& n) { return {n.inputs.begin(), n.inputs.end()}; }

}  // namespace

Program::Program(const client::Backend& backend, const graph::Model& model, Form form)
    : backend_(backend),
      stream_(backend.stream().value()),
      has_device_(backend.library().has_device()),
      data_(static_cast<uint32_t>(model.graph().data())),
      heads_(model.graph().heads().begin(), model.graph().heads().end()) {
  describe(model.graph());
  const bool as_bytes = form != Form::calls && backend.library().has_int8_constants();
  place_inputs(model, as_bytes);
  if (form == Form::calls || !compile(model.graph())) {
    if (form == Form::whole)
      client::Status{"compile", LS_UNSUPPORTED, "", "the backend compiles no such graph"}.check();
    if (as_bytes) place_inputs(model, false);
    prepare(model.graph());
  }
}

uint64_t Program::memory_bytes() const {
  uint64_t all = scratch_bytes();
  for (const client::Memory& m : own_) all += m.bytes();
  for (const auto* arrays : {&parameters_, &storage_})
    for (const ndarray::NDArray& a : *arrays) all += ndarray::byte_count(a.tensor());
  return all;
}

void Program::describe(const graph::Graph& graph) {
  for (const graph::Entry& e : graph.entries()) {
    Entry& mine = entries_.emplace_back();
    mine.shape.assign(e.type.shape.begin(), e.type.shape.end());
    mine.strides.resize(mine.shape.size());
    mine.precision = e.type.precision;
    int64_t stride = 1;
    for (std::size_t d = mine.shape.size(); d-- > 0; stride *= mine.shape[d])
      mine.strides[d] = stride;
    mine.bytes = sizeof(int32_t) * static_cast<uint64_t>(stride);
    is_computed_.push_back(!graph.nodes()[static_cast<std::size_t>(e.node)].is_variable());
  }
  addresses_.resize(entries_.size());
}

// Places the parameters, those of at most 8 bits as bytes if asked to, and on a device the data.
void Program::place_inputs(const graph::Model& model, bool as_bytes) {
  parameters_.clear();
  own_.clear();
  if (has_device_) addresses_[data_] = own(entries_[data_].bytes);
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const ndarray::NDArray& given = model.parameter(static_cast<int>(e));
    if (!given) continue;
    entries_[e].is_int8 = as_bytes && graph::is_int8(given);
    const ndarray::NDArray parameter = entries_[e].is_int8 ? given : graph::as_int32(given);
    if (has_device_) {
      const uint64_t bytes = ndarray::byte_count(parameter.tensor());
      addresses_[e] = own(bytes);
      own_.back().write(parameter.data(), bytes).check();
    } else {
      parameters_.push_back(parameter);
      addresses_[e] = const_cast<std::byte*>(parameter.data());
    }
    entries_[e].constant = addresses_[e];
  }
}

client::TensorView Program::view(uint32_t entry) const {
  const Entry& e = entries_[entry];
  return {e.shape, e.strides, e.precision, e.constant, e.is_int8};
}

void* Program::own(uint64_t bytes) {
  return own_.emplace_back(backend_.allocate(bytes).value()).data();
}

client::Memory& Program::memory_at(const void* address) {
  return *std::find_if(
      own_.begin(), own_.end(), [&](const client::Memory& m) { return m.data() == address; });
}

void Program::add(std::string op, client::Plan plan, Entries in, Entries out) {
  if (plan.scratch_bytes() > 0 && (!scratch_ || scratch_->bytes() < plan.scratch_bytes()))
    scratch_ = backend_.allocate(plan.scratch_bytes()).value();
  calls_.push_back({std::move(op), std::move(plan), std::move(in), std::move(out)});
}

bool Program::compile(const graph::Graph& graph) {
  client::Graph whole{{}, {}, {data_}, heads_};
  for (uint32_t e = 0; e < entries_.size(); ++e) whole.entries.push_back(view(e));
  for (const graph::Node& n : graph.nodes())
    if (!n.is_variable())
      whole.nodes.push_back({std::string(n.op->name), client::attributes_of(*n.op, n.attributes()),
          inputs_of(n), outputs_of(n)});
  client::Result<client::Plan> plan = backend_.compile(whole);
  if (plan.status().code == LS_UNSUPPORTED) return false;
  add("graph", std::move(plan).value(), {data_}, {});
  outputs_.resize(heads_.size());
  for (std::size_t k = 0; has_device_ && k < heads_.size(); ++k)
    outputs_[k] = own(entries_[heads_[k]].bytes);
  compiled_ = true;
  return true;
}

void Program::prepare(const graph::Graph& graph) {
  place_results(graph);
  for (const graph::Node& n : graph.nodes()) {
    if (n.is_variable()) continue;
    client::Call call{
        std::string(n.op->name), client::attributes_of(*n.op, n.attributes()), {}, {}};
    for (const uint32_t e : inputs_of(n)) call.in.push_back(view(e));
    for (const uint32_t e : outputs_of(n)) call.out.push_back(view(e));
    add(call.op, backend_.prepare(call).value(), inputs_of(n), outputs_of(n));
  }
}

// Plans storage anew: the storage ids of the file may let an output alias an input, which the ABI
// forbids. A head on the host is written where its reader wants it.
void Program::place_results(const graph::Graph& graph) {
  const std::vector<i64> plan = graph::plan_storage(graph, graph::Reuse::dead);
  std::vector<bool> is_inner = is_computed_, is_placed = is_computed_;
  for (const uint32_t e : heads_) {
    is_inner[e] = false;
    if (!has_device_) is_placed[e] = false;
  }
  std::vector<uint64_t> bytes(plan.size());
  for (std::size_t e = 0; e < plan.size(); ++e) {
    uint64_t& most = bytes[static_cast<std::size_t>(plan[e])];
    if (is_inner[e]) pad(entries_[e]);
    if (is_placed[e]) most = std::max(most, entries_[e].bytes);
  }
  std::vector<std::byte*> memory(plan.size());
  for (std::size_t id = 0; id < bytes.size(); ++id)
    if (bytes[id] > 0) memory[id] = storage(bytes[id]);
  for (std::size_t e = 0; e < plan.size(); ++e)
    if (is_placed[e])
      addresses_[e] = memory[static_cast<std::size_t>(plan[e])] + entries_[e].offset;
}

// Lays an entry out as the backend wishes.
void Program::pad(Entry& e) {
  const client::Padding wish = backend_.padding({e.shape, e.strides, e.precision, nullptr}).value();
  ndarray::Extents shape, paddings, offsets;
  try {
    for (std::size_t d = 0; d < e.shape.size(); ++d) {
      shape.push(e.shape[d]);
      offsets.push(wish.before[d]);
      paddings.push(ndarray::add(wish.before[d], wish.after[d], "a padding"));
    }
    const ndarray::ShapeDescriptor layout =
        ndarray::paddedBufferDescriptor({kDLInt, 32}, ndarray::Order::kC, shape, paddings, offsets);
    e.strides.assign(layout.strides.begin(), layout.strides.end());
    e.offset = sizeof(int32_t) * static_cast<uint64_t>(layout.offset);
    e.bytes = sizeof(int32_t) * static_cast<uint64_t>(layout.allocLength());
  } catch (const utils::ValueVerifyFatal& refused) {
    client::Status{"padding", client::kBroken, "", refused.what()}.check();
  }
}

// Memory for results.
std::byte* Program::storage(uint64_t bytes) {
  if (has_device_) return static_cast<std::byte*>(own(bytes));
  const int64_t elements = static_cast<int64_t>(bytes / sizeof(int32_t));
  return storage_.emplace_back(ndarray::NDArray::empty({&elements, 1}, {kDLInt, 32, 1}))
      .mutable_data();
}

void Program::run(const int32_t* data, std::span<int32_t* const> heads, const Progress& progress) {
  CHECK_EQ(heads.size(), heads_.size()) << "places for the heads";
  bind(data, heads);
  if (!progress) repeat();
  for (std::size_t k = 0; progress && k < calls(); ++k) {
    run_call(k);
    progress(k + 1, calls());
  }
  for (std::size_t k = 0; k < heads.size(); ++k) {
    const void* from = compiled_ ? outputs_[k] : addresses_[heads_[k]];
    const uint64_t bytes = entries_[heads_[k]].bytes;
    if (has_device_)
      memory_at(from).read(heads[k], bytes).check();
    else if (from != heads[k])
      std::memcpy(heads[k], from, bytes);
  }
}

void Program::repeat() {
  for (const Call& call : calls_) start(call);
  stream_.wait().check();
}

void Program::bind(const int32_t* data, std::span<int32_t* const> heads) {
  if (has_device_) return memory_at(addresses_[data_]).write(data, entries_[data_].bytes).check();
  addresses_[data_] = const_cast<int32_t*>(data);
  if (compiled_) outputs_.assign(heads.begin(), heads.end());
  // Backwards, so that an entry that is several heads is written to the first.
  for (std::size_t k = heads.size(); k-- > 0;)
    if (is_computed_[heads_[k]]) addresses_[heads_[k]] = heads[k];
}

void Program::start(const Call& call) {
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const uint32_t e : call.in) in.push_back(addresses_[e]);
  for (const uint32_t e : call.out) out.push_back(addresses_[e]);
  void* const scratch = scratch_ ? scratch_->data() : nullptr;
  call.plan.execute(in, compiled_ ? outputs_ : out, scratch, stream_.handle()).check();
}

}  // namespace lockstep::runtime
