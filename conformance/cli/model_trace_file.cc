#include <fmt/format.h>

#include "conformance/base/base64.h"
#include "conformance/cli/model.h"
#include "conformance/cli/model_trace.h"
#include "containers/params/npz.h"

namespace lockstep::judge {
namespace {

constexpr const char* kText = "trace";

documents::Trace read_trace(const std::string& path, const std::string& text) {
  try {
    return form::parsed<documents::Trace>(text, documents::settle);
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("'{}' is no trace of a model: {}", path, printable(e.what())));
  }
}

}  // namespace

void documents::settle(Trace& trace) {
  std::string hashes;
  for (const TracedOutput& o : trace.outputs) hashes += o.sha256;
  trace.digest = sha256(hashes);
}

std::vector<i32> TraceFile::values(std::size_t k) const {
  const documents::TracedOutput& o = trace.outputs[k];
  const std::string name = array_name(trace, k);
  const params::Tensor* array = archive ? archive->find(name) : nullptr;
  if (!array || array->shape != o.shape || array->dtype != params::DType{0, 32})
    throw UsageError("the trace has no array '" + printable(name) + "' of the output's type");
  std::vector<i32> values = params::to_int32(*array);
  if (sha256(little_endian(values)) != o.sha256)
    throw UsageError(
        "the array '" + printable(name) + "' has not the hash that the trace states for it");
  return values;
}

// The number makes the name unique. The node's name, in letters that every system takes, helps a
// reader.
std::string array_name(const documents::Trace& trace, std::size_t k) {
  std::string name = fmt::format("{:04}_{}", k, trace.outputs[k].node);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '_';
  return name.substr(0, 64);
}

void write_trace_archive(const std::string& path, const documents::Trace& trace,
    const std::vector<params::Tensor>& values) {
  const std::string text = form::text_of(form::written(trace));
  std::vector<params::NamedTensor> arrays = {{kText,
      {{.code = 1, .bits = 8}, {std::ssize(text)},
          params::Bytes::copy(std::as_bytes(std::span(text)))}}};
  for (std::size_t k = 0; k < values.size(); ++k)
    arrays.push_back({array_name(trace, k), values[k]});
  params::npz::write_file(path, arrays);
}

TraceFile read_trace_file(const std::string& path) {
  if (!path.ends_with(".npz")) return {read_trace(path, read_file(path)), {}};
  params::Params archive = params::npz::read_file(path);
  const params::Tensor* text = archive.find(kText);
  if (!text) throw UsageError("'" + path + "' is no trace of a model: it has no array 'trace'");
  const auto* first = reinterpret_cast<const char*>(text->bytes.data());
  TraceFile file{read_trace(path, {first, text->bytes.size()}), std::move(archive)};
  for (std::size_t k = 0; k < file.trace.outputs.size(); ++k) file.values(k);
  return file;
}

}  // namespace lockstep::judge
