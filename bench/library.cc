#include "bench/library.h"

#include <algorithm>
#include <stdexcept>

#include "backends/call.h"
#include "conformance/subjects/library_subject.h"

namespace lockstep::bench {
namespace {

constexpr uint64_t kPage = 4096;  // the alignment of host memory

// Like client::Error, but printable on a terminal and without the label, which users do not need.
void require(const client::Status& s) {
  const std::string why = judge::printable(s.text);
  if (s.code == LS_UNSUPPORTED) throw NotOffered(why);
  if (!s.ok())
    throw std::runtime_error(
        std::string(s.function) + "() failed" + (why.empty() ? "" : ": " + why));
}

template <class T> T required(client::Result<T> result) {
  require(result.status());
  return std::move(result).value();
}

uint64_t alignment(const client::Backend& backend) {
  return backend.library().has_device() ? client::kAlignment : kPage;
}

client::DeviceTensor tensor(const client::Backend& backend, const Type& t) {
  return required(
      backend.tensor({t.shape.begin(), t.shape.end()}, t.precision, alignment(backend)));
}

std::vector<client::DeviceTensor> written(
    const client::Backend& backend, const std::vector<judge::Tensor>& values) {
  std::vector<client::DeviceTensor> all;
  for (const judge::Tensor& v : values) {
    all.push_back(tensor(backend, v.type));
    require(all.back().write(v.data));
  }
  return all;
}

std::vector<client::DeviceTensor> fresh(const client::Backend& backend, const Inferred& types) {
  std::vector<client::DeviceTensor> all;
  for (int k = 0; k < types.count; ++k) all.push_back(tensor(backend, types[k]));
  return all;
}

client::Plan prepare(const client::Backend& backend, const Workload& w,
    const std::vector<client::DeviceTensor>& in, const std::vector<client::DeviceTensor>& out) {
  client::Call call{
      std::string(w.call.op->name), client::attributes_of(*w.call.op, w.call.attributes()), {}, {}};
  for (const client::DeviceTensor& t : in)
    call.in.push_back(w.constants() && !call.in.empty() ? t.constant() : t.view());
  for (const client::DeviceTensor& t : out) call.out.push_back(t.view());
  return required(backend.prepare(call));
}

}  // namespace

Library open_library(const std::string& what, const judge::Options& options) {
  const auto load = [&] {
    const std::string file = judge::library_file(what);
    try {
      const client::Library library = client::Library::load(file);
      return std::pair(library, judge::parse_manifest(library.manifest()));
    } catch (const std::runtime_error& e) {
      throw judge::UsageError("'" + what + "' is no backend: " + e.what());
    }
  };
  auto [library, manifest] = load();
  client::Result<client::Backend> backend = client::Backend::open(library, options);
  if (backend.status().code == LS_LOGIC)
    throw judge::UsageError(
        "'" + what + "' refuses its options: " + judge::printable(backend.status().text));
  return {std::move(manifest), required(std::move(backend))};
}

Prepared::Prepared(
    const client::Backend& backend, const Workload& workload, const std::vector<judge::Tensor>& in)
    : in_(written(backend, in)),
      out_(fresh(backend, workload.outputs())),
      stream_(required(backend.stream())),
      plan_(prepare(backend, workload, in_, out_)),
      scratch_(required(backend.allocate(plan_.scratch_bytes(), alignment(backend)))),
      path_(judge::printable(plan_.path())) {
  for (const client::DeviceTensor& t : in_) in_data_.push_back(t.data());
  for (const client::DeviceTensor& t : out_) out_data_.push_back(t.data());
}

void Prepared::execute() const {
  require(plan_.execute(in_data_, out_data_, scratch_.data(), stream_.handle()));
  require(stream_.wait());
}

std::vector<std::vector<i32>> Prepared::fresh_outputs() {
  std::vector<std::vector<i32>> values;
  for (client::DeviceTensor& t : out_) {
    values.emplace_back(t.volume(), INT32_MIN);
    require(t.write(values.back()));
  }
  execute();
  for (std::size_t k = 0; k < out_.size(); ++k) require(out_[k].read(values[k]));
  return values;
}

}  // namespace lockstep::bench
