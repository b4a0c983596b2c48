#include "fuzz/direct_subject.h"

#include <deque>

#include "backends/call.h"
#include "conformance/cases/call_graph.h"
#include "conformance/cases/layout.h"
#include "conformance/host/call_sequence.h"

namespace lockstep::fuzz {
namespace {

using judge::Answer, judge::CallGraph, judge::Case, judge::Run;

// The answer so far, which is final unless it is ok.
Answer answer(const client::Status& s) {
  const auto kind = s.code == LS_OK ? judge::AnswerKind::ok
      : s.code == LS_LOGIC          ? judge::AnswerKind::logic_error
      : s.code == LS_UNSUPPORTED    ? judge::AnswerKind::unsupported
                                    : judge::AnswerKind::runtime_error;
  return {.kind = kind, .label = s.label, .message = s.text};
}

// A tensor as the ABI describes it, optionally with memory.
struct Block {
  std::vector<i64> shape, stride;
  int precision;
  judge::Placement at;
  std::vector<i32> cells, before;
  std::vector<int8_t> bytes;  // of a constant of int8, in place of cells

  // Row-major. Illegal extents only saturate the strides.
  explicit Block(const Type& t) : precision(t.precision) {
    shape.assign(t.shape.begin(), t.shape.end());
    shape.resize(static_cast<std::size_t>(t.rank()), 1);  // a list stores at most its room
    stride.resize(shape.size());
    i64 n = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      stride[d] = n;
      if (shape[d] > 0) n = min(n * min(shape[d], kMaxVolume), kMaxVolume);
    }
  }
  Block(const Type& t, const judge::Placement& p, const std::vector<i32>& values, i32 beside)
      : precision(t.precision), at(p), cells(static_cast<std::size_t>(p.allocated), beside) {
    shape.assign(t.shape.begin(), t.shape.end());
    stride.assign(p.stride, p.stride + t.rank());
    std::size_t k = 0;
    judge::for_each_address(t, p, [&](i64 e) { cells[static_cast<std::size_t>(e)] = values[k++]; });
    before = cells;
  }
  i32* data() { return cells.data() + at.offset; }
  client::TensorView view(bool is_constant) {
    if (!bytes.empty()) return {shape, stride, precision, bytes.data(), true};
    return {shape, stride, precision, is_constant ? data() : nullptr};
  }
};

// Executes a plan, or the plans of a graph's calls, on tensors that have memory.
template <class Plan> client::Status run_plan(const client::Backend& backend, const Plan& plan,
    const std::vector<Block*>& in, const std::vector<Block*>& out) {
  std::vector<const void*> from;
  std::vector<void*> to;
  for (Block* b : in) from.push_back(b->data());
  for (Block* b : out) to.push_back(b->data());
  auto scratch = backend.allocate(plan.scratch_bytes());
  return plan.execute(from, to, scratch->data(), nullptr);
}

// A std::vector is aligned to more than 4 bytes; a tensor that begins one element later is not.
judge::Placement based(judge::Placement p, judge::Base base) {
  const i64 skipped = base == judge::Base::unaligned ? 1 : 0;
  p.offset += skipped;
  p.allocated += skipped;
  return p;
}

// A call with its tensors.
struct Arguments {
  Arguments(const Case& c, std::vector<Block> blocks, bool constants = false)
      : tensors(std::move(blocks)),
        n_in(c.in.size()),
        call{std::string(c.op->name), client::attributes_of(*c.op, c.attributes()), {}, {}} {
    for (std::size_t k = 0; k < tensors.size(); ++k)
      (k < n_in ? call.in : call.out).push_back(tensors[k].view(constants && 0 < k && k < n_in));
  }
  client::Status execute(const client::Backend& backend, const client::Plan& plan) {
    std::vector<Block*> in, out;
    for (std::size_t k = 0; k < tensors.size(); ++k) (k < n_in ? in : out).push_back(&tensors[k]);
    return run_plan(backend, plan, in, out);
  }

  std::vector<Block> tensors;
  std::size_t n_in;
  client::Call call;
};

// A graph over its entries.
client::Graph graph_of(const CallGraph& g, std::vector<Block>& entries) {
  const auto numbers = [](const std::vector<int>& all) {
    return std::vector<uint32_t>(all.begin(), all.end());
  };
  client::Graph graph{{}, {}, {}, numbers(g.heads)};
  for (const CallGraph::Node& n : g.nodes)
    graph.nodes.push_back({std::string(n.op->name), client::attributes_of(*n.op, n.attributes()),
        numbers(n.in), numbers(n.out)});
  for (int e = 0; e < static_cast<int>(entries.size()); ++e)
    graph.entries.push_back(entries[static_cast<std::size_t>(e)].view(g.feeds <= e && e < g.given));
  for (int e = 0; e < g.feeds; ++e) graph.feeds.push_back(static_cast<uint32_t>(e));
  return graph;
}

// The memory of head k of a graph.
Block head_of(const judge::Question& q, std::size_t k, const judge::Placement& at) {
  const Type& t = q.output(static_cast<int>(k));
  return {t, at, std::vector<i32>(static_cast<std::size_t>(volume(t.shape)), q.run.poison),
      q.run.filler};
}

// The entries of a graph, with memory where a run is given them or wants them.
std::vector<Block> entries_of(const judge::Question& q) {
  const CallGraph& g = *q.graph;
  std::vector<Block> all;
  for (const judge::Tensor& t : g.entries) all.emplace_back(t.type);
  if (q.what == judge::Question::refuse) return all;
  for (int e = 0; e < g.given; ++e) {
    const judge::Tensor& t = g.entries[static_cast<std::size_t>(e)];
    Block& b = all[static_cast<std::size_t>(e)];
    if (e >= g.feeds && g.int8_constants && t.type.precision <= 8)
      for (const i32 v : t.data) b.bytes.push_back(static_cast<int8_t>(v));
    else
      b = Block(t.type,
          based(judge::place_input(t.type, q.run.layout, q.call->seed, e), q.run.base), t.data,
          q.run.filler);
  }
  for (std::size_t k = 0; k < g.heads.size(); ++k)
    if (!same_tensor(g, k))
      all[static_cast<std::size_t>(g.heads[k])] = head_of(q, k,
          based(judge::place_output(
                    q.output(static_cast<int>(k)), q.run.layout, q.call->seed, static_cast<int>(k)),
              q.run.base));
  return all;
}

// The values of an output. Any other change in its memory is damage.
std::vector<i32> collect(Block& b, const Type& t, std::string& damage) {
  std::vector<i32> values;
  judge::for_each_address(t, b.at, [&](i64 e) {
    const auto k = static_cast<std::size_t>(e);
    values.push_back(b.cells[k]);
    b.cells[k] = b.before[k];
  });
  if (b.cells != b.before) damage = "a cell between the elements of an output was written";
  return values;
}

// Runs a graph on its first entries. Each run finds the same outputs and wants the same results.
template <class F>
Answer repeat(const judge::Question& q, std::vector<Block>& entries, int inputs, const F& execute) {
  const CallGraph& g = *q.graph;
  std::vector<Block*> in, out;
  for (int e = 0; e < inputs; ++e) in.push_back(&entries[static_cast<std::size_t>(e)]);
  std::deque<Block> copies;
  for (std::size_t k = 0; k < g.heads.size(); ++k) {
    Block& entry = entries[static_cast<std::size_t>(g.heads[k])];
    if (!same_tensor(g, k)) {
      out.push_back(&entry);
      continue;
    }
    const Type& t = q.output(static_cast<int>(k));
    const bool is_int8 = !entry.bytes.empty();
    copies.push_back(
        head_of(q, k, is_int8 ? judge::place_output(t, judge::Layout::compact, 0, 0) : entry.at));
    out.push_back(&copies.back());
  }
  Answer a;
  for (int run = 1; run <= q.run.runs && a.ok() && a.changed_run == 0; ++run) {
    Answer now = answer(execute(in, out));
    for (int k = 0; now.ok() && k < q.outputs(); ++k)
      now.out.push_back(collect(*out[static_cast<std::size_t>(k)], q.output(k), now.out_damage));
    if (run > 1 && now.ok() && now.out != a.out) now.changed_run = run;
    a = std::move(now);
  }
  for (int e = 0; e < g.given; ++e)
    if (const Block& b = entries[static_cast<std::size_t>(e)]; b.cells != b.before)
      a.in_damage = "entry " + std::to_string(e) + " was written";
  return a;
}

}  // namespace

DirectSubject::DirectSubject(const client::Library& library, const judge::Options& options)
    : library_(library), options_(options), manifest_(judge::parse_manifest(library.manifest())) {
  if (library.has_device()) throw judge::UsageError("a backend with memory of its own");
  configure({});
}

int DirectSubject::configure(const judge::Options& more) {
  judge::Options all = options_;
  for (const auto& [key, value] : more) all[key] = value;
  auto backend = client::Backend::open(library_, all);
  if (!backend.ok()) throw judge::UsageError("open() failed: " + backend.status().text);
  opened_.push_back(std::move(*backend));
  return static_cast<int>(opened_.size()) - 1;
}

Answer DirectSubject::execute(
    const Case& c, const std::vector<judge::Tensor>& in, const Inferred& out, const Run& run) {
  std::vector<Block> blocks;
  const auto lay = [&](const Type& t, const judge::Placement& at, const std::vector<i32>& values) {
    blocks.emplace_back(t, based(at, run.base), values, run.filler);
  };
  for (std::size_t k = 0; k < in.size(); ++k)
    lay(in[k].type, judge::place_input(in[k].type, run.layout, c.seed, static_cast<int>(k)),
        in[k].data);
  for (int k = 0; k < out.count; ++k)
    lay(out[k], judge::place_output(out[k], run.layout, c.seed, k),
        std::vector<i32>(static_cast<std::size_t>(volume(out[k].shape)), run.poison));
  Arguments arguments(c, std::move(blocks), run.constants);
  const client::Backend& backend = opened_[static_cast<std::size_t>(run.config)];
  auto plan = backend.prepare(arguments.call);
  if (!plan.ok()) return answer(plan.status());
  Answer a = answer(arguments.execute(backend, *plan));
  a.path = plan->path();
  for (std::size_t k = arguments.n_in; a.ok() && k < arguments.tensors.size(); ++k)
    a.out.push_back(
        collect(arguments.tensors[k], out[static_cast<int>(k - arguments.n_in)], a.out_damage));
  for (std::size_t k = 0; k < arguments.n_in; ++k)
    if (arguments.tensors[k].cells != arguments.tensors[k].before)
      a.in_damage = "input " + std::to_string(k) + " was written";
  return a;
}

Answer DirectSubject::refuse(const Case& c) {
  std::vector<Block> blocks;
  for (const Type& t : c.in) blocks.emplace_back(t);
  // Outputs of an illegal call have no types, so each port gets a placeholder of one element.
  for (int k = 0; k < c.op->outputs.size(); ++k) blocks.emplace_back(Type{{1}, kMaxPrecision});
  return answer(opened_[0].prepare(Arguments(c, std::move(blocks)).call).status());
}

Answer DirectSubject::infer(const Case& c) {
  std::vector<Block> blocks;
  for (const Type& t : c.in) blocks.emplace_back(t);
  const Arguments arguments(c, std::move(blocks));
  auto types = opened_[0].infer(arguments.call, kMaxOutputs);
  Answer a = answer(types.status());
  for (std::size_t k = 0; types.ok() && k < types->size(); ++k) {
    const client::TensorType& t = (*types)[k];
    a.types.push_back({{t.shape.data(), t.shape.data() + t.shape.size()}, t.precision});
  }
  return a;
}

std::vector<judge::Answers> DirectSubject::ask(const std::vector<judge::Question>& questions) {
  std::vector<judge::Answers> all;
  for (const judge::Question& q : questions)
    all.push_back(q.graph ? judge::Answers{run_graph(q)} : Subject::ask({q})[0]);
  return all;
}

// Compiles a graph or prepares its calls, and runs it if that is asked for.
Answer DirectSubject::run_graph(const judge::Question& q) {
  std::vector<Block> entries = entries_of(q);
  const client::Backend& backend = opened_[static_cast<std::size_t>(q.run.config)];
  client::Graph graph = graph_of(*q.graph, entries);
  if (q.graph->one_by_one) {
    auto sequence = judge::CallSequence::prepare(backend, graph);
    if (!sequence.ok()) return answer(sequence.status());
    return repeat(q, entries, q.graph->given,
        [&](auto& in, auto& out) { return run_plan(backend, *sequence, in, out); });
  }
  auto plan = backend.compile(graph);
  if (!plan.ok() || q.what == judge::Question::refuse) return answer(plan.status());
  return repeat(q, entries, q.graph->feeds,
      [&](auto& in, auto& out) { return run_plan(backend, *plan, in, out); });
}

}  // namespace lockstep::fuzz
