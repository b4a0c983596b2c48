#include "bench/library.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "conformance/subjects/library_subject.h"

namespace lockstep::bench {
namespace {

constexpr std::size_t kPage = 4096;         // the alignment of host memory
constexpr uint64_t kScratchAlignment = 64;  // of device memory, as the ABI wants it

struct Status : ls_status {
  Status() : ls_status{} { size = sizeof(ls_status); }
  std::string sentence(const char* function) const {
    const std::string why = judge::printable(text);
    return std::string(function) + "() failed" + (why.empty() ? "" : ": " + why);
  }
};

void require(int32_t code, const char* function, const Status& s) {
  if (code == LS_UNSUPPORTED) throw NotOffered(judge::printable(s.text));
  if (code != LS_OK) throw std::runtime_error(s.sentence(function));
}

// A tensor for prepare(): row-major, side by side.
struct Described {
  Described(const Type& type, const ls_api& api) : view(type, nullptr) {
    t.dl.device = {api.alloc ? kDLExtDev : kDLCPU, 0};
    t.dl.ndim = type.rank();
    t.dl.dtype = {kDLInt, 32, 1};
    t.dl.shape = view.shape.item;
    t.dl.strides = view.stride;
    t.precision = type.precision;
  }
  View view;
  ls_tensor t{};
};

std::vector<ls_tensor> rows(std::vector<Described>& tensors) {
  std::vector<ls_tensor> r;
  for (Described& d : tensors) {
    d.t.dl.shape = d.view.shape.item;
    d.t.dl.strides = d.view.stride;
    r.push_back(d.t);
  }
  return r;
}

std::size_t bytes_of(const Type& t) {
  return static_cast<std::size_t>(volume(t.shape)) * sizeof(i32);
}

}  // namespace

Library::Library(const std::string& what, const judge::Options& options) {
  const std::string file = judge::library_file(what);
  try {
    api_ = judge::load_backend(file);
    manifest_ = judge::parse_manifest(api_.manifest());
  } catch (const std::runtime_error& e) {
    throw judge::UsageError("'" + what + "' is no backend: " + e.what());
  }
  std::vector<ls_text> texts;
  for (const auto& [key, value] : options) texts.push_back({key.c_str(), value.c_str()});
  Status s;
  const int32_t code = api_.open(texts.data(), static_cast<uint32_t>(texts.size()), &self_, &s);
  if (code == LS_LOGIC)
    throw judge::UsageError("'" + what + "' refuses its options: " + judge::printable(s.text));
  require(code, "open", s);
}

Library::~Library() { api_.close(self_); }

bool Library::knows_option(const std::string& name) const {
  const auto& known = manifest_.options;
  return std::find(known.begin(), known.end(), name) != known.end();
}

Memory::Memory(const Library& library, std::size_t bytes) : library_(library) {
  const std::size_t whole = std::max(kPage, (bytes + kPage - 1) / kPage * kPage);
  Status s;
  data_ = library.api().alloc ? library.api().alloc(library.self(), whole, kScratchAlignment, &s)
                              : std::aligned_alloc(kPage, whole);
  if (!data_ && s.text[0]) throw std::runtime_error(s.sentence("alloc"));
  if (!data_) throw std::runtime_error("no memory for " + std::to_string(bytes) + " bytes");
}

Memory::~Memory() {
  if (data_ && library_.api().alloc)
    library_.api().free(library_.self(), data_);
  else
    std::free(data_);
}

void Memory::write(const void* from, std::size_t bytes) {
  Status s;
  if (library_.api().alloc)
    require(library_.api().upload(library_.self(), data_, from, bytes, &s), "upload", s);
  else
    std::memcpy(data_, from, bytes);
}

void Memory::read(void* to, std::size_t bytes) const {
  Status s;
  if (library_.api().alloc)
    require(library_.api().download(library_.self(), to, data_, bytes, &s), "download", s);
  else
    std::memcpy(to, data_, bytes);
}

Prepared::Prepared(const Library& library, const Workload& workload,
                   const std::vector<judge::Tensor>& in)
    : library_(library) {
  std::vector<Described> inputs, outputs;
  for (const judge::Tensor& t : in) {
    in_.emplace_back(library, bytes_of(t.type)).write(t.data.data(), bytes_of(t.type));
    in_data_.push_back(in_.back().data());
    Described& d = inputs.emplace_back(t.type, library.api());
    if (workload.constants() && in_.size() > 1) {
      d.t.flags = LS_CONSTANT;
      d.t.dl.data = in_.back().data();
    }
  }
  const Inferred types = workload.outputs();
  for (int k = 0; k < types.count; ++k) {
    out_.emplace_back(library, bytes_of(types[k]));
    out_data_.push_back(out_.back().data());
    out_volumes_.push_back(volume(types[k].shape));
    outputs.emplace_back(types[k], library.api());
  }
  const judge::AbiAttributes attrs(*workload.call.op, workload.call.attributes());
  const std::string op(workload.call.op->name);
  const std::vector<ls_tensor> from = rows(inputs), to = rows(outputs);
  const ls_api& api = library.api();
  Status s;
  if (api.alloc) require(api.stream(library.self(), &stream_, &s), "stream", s);
  uint64_t scratch = 0;
  require(api.prepare(library.self(), op.c_str(), attrs.data(), attrs.size(), from.data(),
                      static_cast<uint32_t>(from.size()), to.data(),
                      static_cast<uint32_t>(to.size()), &plan_, &scratch, &s),
          "prepare", s);
  path_ = judge::printable(api.path(plan_));
  scratch_.emplace_back(library, scratch);
}

Prepared::~Prepared() {
  if (plan_) library_.api().release(plan_);
}

void Prepared::execute() const {
  Status s;
  const ls_api& api = library_.api();
  require(api.execute(plan_, in_data_.data(), out_data_.data(), scratch_[0].data(), stream_, &s),
          "execute", s);
  if (api.alloc) require(api.wait(library_.self(), stream_, &s), "wait", s);
}

std::vector<std::vector<i32>> Prepared::fresh_outputs() {
  std::vector<std::vector<i32>> values;
  for (std::size_t k = 0; k < out_.size(); ++k) {
    values.emplace_back(static_cast<std::size_t>(out_volumes_[k]), INT32_MIN);
    out_[k].write(values[k].data(), values[k].size() * sizeof(i32));
  }
  execute();
  for (std::size_t k = 0; k < out_.size(); ++k)
    out_[k].read(values[k].data(), values[k].size() * sizeof(i32));
  return values;
}

}  // namespace lockstep::bench
