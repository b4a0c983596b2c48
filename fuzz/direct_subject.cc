#include "fuzz/direct_subject.h"

#include "backends/call.h"
#include "conformance/cases/layout.h"

namespace lockstep::fuzz {
namespace {

using judge::Answer, judge::AnswerKind, judge::Case, judge::Run;

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
    return {shape, stride, precision, is_constant ? data() : nullptr};
  }
};

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
    std::vector<const void*> in;
    std::vector<void*> out;
    for (std::size_t k = 0; k < tensors.size(); ++k)
      if (k < n_in)
        in.push_back(tensors[k].data());
      else
        out.push_back(tensors[k].data());
    auto scratch = backend.allocate(plan.scratch_bytes());
    return plan.execute(in, out, scratch->data());
  }

  std::vector<Block> tensors;
  std::size_t n_in;
  client::Call call;
};

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

}  // namespace lockstep::fuzz
