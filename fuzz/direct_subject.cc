#include "fuzz/direct_subject.h"

#include <new>

#include "conformance/cases/layout.h"
#include "conformance/subjects/abi.h"

namespace lockstep::fuzz {
namespace {

using judge::Answer, judge::Case, judge::Run;

struct Status {
  ls_status s{sizeof s, 0, {}, {}};
  // The answer so far, which is final unless it is ok.
  Answer answer(int32_t code) const {
    Answer a;
    a.kind = code == LS_OK            ? Answer::Kind::ok
             : code == LS_LOGIC       ? Answer::Kind::logic_error
             : code == LS_UNSUPPORTED ? Answer::Kind::unsupported
                                      : Answer::Kind::runtime_error;
    a.label = s.label;
    a.message = s.text;
    return a;
  }
};

// A type with strides, as the ABI describes it, and perhaps with memory.
struct Block {
  std::vector<i64> shape, stride;
  int precision;
  judge::Placement at;
  std::vector<i32> cells, before;

  // Row-major. Illegal extents only saturate the strides.
  explicit Block(const Type& t) : precision(t.precision) {
    shape.assign(t.shape.begin(), t.shape.end());
    shape.resize(static_cast<std::size_t>(t.rank()), 1);  // a list keeps no more than it can hold
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
  ls_tensor tensor() {
    ls_tensor t{};
    t.dl.device = {kDLCPU, 0};
    t.dl.ndim = static_cast<int>(shape.size());
    t.dl.dtype = {kDLInt, 32, 1};
    t.dl.shape = shape.data();
    t.dl.strides = stride.data();
    t.precision = precision;
    return t;
  }
};

// A vector's memory is aligned to more than 4 bytes; a tensor that begins an element later is not.
judge::Placement based(judge::Placement p, judge::Base base) {
  const i64 skipped = base == judge::Base::unaligned ? 1 : 0;
  p.offset += skipped;
  p.allocated += skipped;
  return p;
}

// A call as the ABI's arguments.
struct Arguments {
  Arguments(const Case& c, std::vector<Block> blocks)
      : name(c.op->name), attrs(*c.op, c.attributes()), tensors(std::move(blocks)) {
    for (Block& b : tensors) rows.push_back(b.tensor());
    n_in = static_cast<uint32_t>(c.in.size());
    n_out = static_cast<uint32_t>(rows.size()) - n_in;
  }
  Answer prepare(const ls_api& api, ls_backend* self, ls_plan** plan, uint64_t* scratch) {
    Status status;
    return status.answer(api.prepare(self, name.c_str(), attrs.data(), attrs.size(), rows.data(),
                                     n_in, rows.data() + n_in, n_out, plan, scratch, &status.s));
  }
  Answer execute(const ls_api& api, const ls_plan* plan, void* scratch) {
    std::vector<const void*> in;
    std::vector<void*> out;
    for (uint32_t k = 0; k < n_in; ++k) in.push_back(tensors[k].data());
    for (uint32_t k = n_in; k < n_in + n_out; ++k) out.push_back(tensors[k].data());
    Status status;
    return status.answer(api.execute(plan, in.data(), out.data(), scratch, nullptr, &status.s));
  }

  std::string name;
  judge::AbiAttributes attrs;
  std::vector<Block> tensors;
  std::vector<ls_tensor> rows;
  uint32_t n_in = 0, n_out = 0;
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

DirectSubject::DirectSubject(const ls_api& api, const judge::Options& options)
    : api_(api), options_(options), manifest_(judge::parse_manifest(api.manifest())) {
  if (api.alloc) throw judge::UsageError("a backend with memory of its own");
  configure({});
}

DirectSubject::~DirectSubject() {
  for (ls_backend* b : opened_) api_.close(b);
}

int DirectSubject::configure(const judge::Options& more) {
  judge::Options all = options_;
  for (const auto& [key, value] : more) all[key] = value;
  std::vector<ls_text> texts;
  for (const auto& [key, value] : all) texts.push_back({key.c_str(), value.c_str()});
  Status status;
  ls_backend* self = nullptr;
  if (api_.open(texts.data(), static_cast<uint32_t>(texts.size()), &self, &status.s) != LS_OK)
    throw judge::UsageError(std::string("open() failed: ") + status.s.text);
  opened_.push_back(self);
  return static_cast<int>(opened_.size()) - 1;
}

Answer DirectSubject::execute(const Case& c, const std::vector<judge::Tensor>& in,
                              const Inferred& out, const Run& run) {
  std::vector<Block> blocks;
  const auto lay = [&](const Type& t, const judge::Placement& at, const std::vector<i32>& values) {
    blocks.emplace_back(t, based(at, run.base), values, ~run.poison);
  };
  for (std::size_t k = 0; k < in.size(); ++k)
    lay(in[k].type, judge::place_input(in[k].type, run.layout, c.seed, static_cast<int>(k)),
        in[k].data);
  for (int k = 0; k < out.count; ++k)
    lay(out[k], judge::place_output(out[k], run.layout, c.seed, k),
        std::vector<i32>(static_cast<std::size_t>(volume(out[k].shape)), run.poison));
  Arguments call(c, std::move(blocks));
  for (uint32_t k = 1; run.constants && k < call.n_in; ++k) {
    call.rows[k].flags |= LS_CONSTANT;
    call.rows[k].dl.data = call.tensors[k].data();
  }
  ls_plan* plan = nullptr;
  uint64_t scratch_bytes = 0;
  ls_backend* self = opened_[static_cast<std::size_t>(run.config)];
  Answer a = call.prepare(api_, self, &plan, &scratch_bytes);
  if (!a.ok()) return a;
  const std::string path = api_.path(plan);
  constexpr std::align_val_t kAlignment{64};
  void* scratch = ::operator new(scratch_bytes, kAlignment);
  a = call.execute(api_, plan, scratch);
  ::operator delete(scratch, kAlignment);
  api_.release(plan);
  a.path = path;
  for (int k = 0; a.ok() && k < out.count; ++k)
    a.out.push_back(
        collect(call.tensors[call.n_in + static_cast<uint32_t>(k)], out[k], a.out_damage));
  for (uint32_t k = 0; k < call.n_in; ++k)
    if (call.tensors[k].cells != call.tensors[k].before)
      a.in_damage = "input " + std::to_string(k) + " was written";
  return a;
}

Answer DirectSubject::refuse(const Case& c) {
  std::vector<Block> blocks;
  for (const Type& t : c.in) blocks.emplace_back(t);
  // Outputs of an illegal call have no types: one element stands there for each port.
  for (int k = 0; k < c.op->outputs.size(); ++k) blocks.emplace_back(Type{{1}, kMaxPrecision});
  Arguments call(c, std::move(blocks));
  ls_plan* plan = nullptr;
  uint64_t scratch_bytes = 0;
  Answer a = call.prepare(api_, opened_[0], &plan, &scratch_bytes);
  if (a.ok()) api_.release(plan);
  return a;
}

Answer DirectSubject::infer(const Case& c) {
  std::vector<Block> blocks;
  for (const Type& t : c.in) blocks.emplace_back(t);
  Arguments call(c, std::move(blocks));
  i64 shape[kMaxOutputs][kMaxRank]{};
  ls_tensor out[kMaxOutputs]{};
  for (int k = 0; k < kMaxOutputs; ++k) out[k].dl.shape = shape[k];
  uint32_t n = kMaxOutputs;
  Status status;
  Answer a =
      status.answer(api_.infer(opened_[0], call.name.c_str(), call.attrs.data(), call.attrs.size(),
                               call.rows.data(), call.n_in, out, &n, &status.s));
  for (uint32_t k = 0; a.ok() && k < n; ++k)
    a.types.push_back({{shape[k], shape[k] + out[k].dl.ndim}, out[k].precision});
  return a;
}

}  // namespace lockstep::fuzz
