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
  if (s.ok()) return;
  const std::string why = judge::printable(s.text);
  if (s.code == LS_UNSUPPORTED) throw NotOffered(why);
  throw std::runtime_error(std::string(s.function) + "() failed" + (why.empty() ? "" : ": " + why));
}

template <class T> T required(client::Result<T> result) {
  require(result.status());
  return std::move(result).value();
}

uint64_t alignment(const client::Backend& backend) {
  return backend.library().has_device() ? client::kAlignment : kPage;
}

std::vector<PlacedTensor> written(const client::Backend& backend, const judge::Case& c,
    const std::vector<judge::Tensor>& values) {
  std::vector<PlacedTensor> all;
  for (const judge::Tensor& v : values) {
    const int k = static_cast<int>(all.size());
    all.emplace_back(backend, v.type, judge::place_input(v.type, c.layout, c.seed, k));
    all.back().write(v.data);
  }
  return all;
}

std::vector<PlacedTensor> fresh(
    const client::Backend& backend, const judge::Case& c, const Inferred& types) {
  std::vector<PlacedTensor> all;
  for (int k = 0; k < types.count; ++k)
    all.emplace_back(backend, types[k], judge::place_output(types[k], c.layout, c.seed, k));
  return all;
}

client::Plan prepare(const client::Backend& backend, const Workload& w,
    const std::vector<PlacedTensor>& in, const std::vector<PlacedTensor>& out) {
  client::Call call{
      std::string(w.call.op->name), client::attributes_of(*w.call.op, w.call.attributes()), {}, {}};
  for (const PlacedTensor& t : in) call.in.push_back(t.view(w.constants() && !call.in.empty()));
  for (const PlacedTensor& t : out) call.out.push_back(t.view(false));
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

PlacedTensor::PlacedTensor(
    const client::Backend& backend, const Type& type, const judge::Placement& place)
    : type_(type),
      place_(place),
      memory_(required(backend.allocate(
          static_cast<uint64_t>(place.allocated) * sizeof(i32), alignment(backend)))) {}

client::TensorView PlacedTensor::view(bool constant) const {
  const Shape& shape = type_.shape;
  return {{shape.begin(), shape.end()}, {place_.stride, place_.stride + type_.rank()},
      type_.precision, constant ? data() : nullptr};
}

void PlacedTensor::write(const std::vector<i32>& values) {
  std::vector<i32> all(static_cast<std::size_t>(place_.allocated), INT32_MIN);
  auto next = values.begin();
  judge::for_each_address(
      type_, place_, [&](i64 at) { all[static_cast<std::size_t>(at)] = *next++; });
  require(memory_.write(all.data(), memory_.bytes()));
}

void PlacedTensor::clear() {
  const std::vector<i32> all(static_cast<std::size_t>(place_.allocated), INT32_MIN);
  require(memory_.write(all.data(), memory_.bytes()));
}

std::vector<i32> PlacedTensor::read() const {
  std::vector<i32> all(static_cast<std::size_t>(place_.allocated)), values;
  require(memory_.read(all.data(), memory_.bytes()));
  values.reserve(static_cast<std::size_t>(volume(type_.shape)));
  judge::for_each_address(
      type_, place_, [&](i64 at) { values.push_back(all[static_cast<std::size_t>(at)]); });
  return values;
}

Prepared::Prepared(
    const client::Backend& backend, const Workload& workload, const std::vector<judge::Tensor>& in)
    : in_(written(backend, workload.call, in)),
      out_(fresh(backend, workload.call, workload.outputs())),
      stream_(required(backend.stream())),
      plan_(prepare(backend, workload, in_, out_)),
      scratch_(required(backend.allocate(plan_.scratch_bytes(), alignment(backend)))),
      path_(judge::printable(plan_.path())) {
  for (const PlacedTensor& t : in_) in_data_.push_back(t.data());
  for (const PlacedTensor& t : out_) out_data_.push_back(t.data());
}

void Prepared::execute() const {
  require(plan_.execute(in_data_, out_data_, scratch_.data(), stream_.handle()));
  require(stream_.wait());
}

std::vector<std::vector<i32>> Prepared::fresh_outputs() {
  for (PlacedTensor& t : out_) t.clear();
  execute();
  std::vector<std::vector<i32>> values;
  for (const PlacedTensor& t : out_) values.push_back(t.read());
  return values;
}

}  // namespace lockstep::bench
