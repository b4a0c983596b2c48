#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "reference/graph/bytes.h"
#include "reference/graph/load.h"
#include "runtime/capi/handles.h"
#include "runtime/capi/status.h"
#include "runtime/session.h"

namespace lockstep::capi {
namespace {

using runtime::Session;
using Net = std::shared_ptr<Session>;

// The longest text that deployed clients have room for, without its NUL.
constexpr std::size_t kMostText = 32;

// The live models. A table tells a handle from an address that was freed or never made here.
struct Nets {
  std::mutex mutex;
  std::map<const void*, Net> live;
};

Nets& nets() {
  // Never destroyed, because destructors of static objects may still free models.
  static Nets& only = *new Nets;
  return only;
}

void hand_out(Net net, void*& handle) {
  void* const address = net.get();
  const std::lock_guard lock(nets().mutex);
  nets().live.emplace(address, std::move(net));
  handle = address;
}

constexpr std::string_view kNoHandle =
    "the model is no handle, or no longer: it was not made here, or is freed already";

Net take_back(const void* handle) {
  const std::lock_guard lock(nets().mutex);
  auto taken = nets().live.extract(handle);
  VERIFY(!taken.empty()) << kNoHandle;
  return std::move(taken.mapped());
}

// The model of a handle, kept alive even where another thread frees it meanwhile.
Net borrow(const void* handle) {
  VERIFY(handle != nullptr) << "the model is null";
  const std::lock_guard lock(nets().mutex);
  const auto found = nets().live.find(handle);
  VERIFY(found != nets().live.end()) << kNoHandle;
  return found->second;
}

std::string_view text_of(const char* data, std::size_t size, const char* name) {
  VERIFY(data != nullptr || size == 0) << name << " is null";
  return {data, size};
}

std::size_t length_of(int length, const char* name) {
  VERIFY(length >= 0) << name << " is " << length << ", less than 0";
  return static_cast<std::size_t>(length);
}

graph::Model model_of(std::string_view json, std::string_view params) {
  // The parts have the names of the files that they usually are.
  graph::Graph graph = graph::graph_of(json, "symbol.json");
  return utils::naming_out_of_memory("reading", "params", [&] {
    return graph::Model(std::move(graph),
        graph::read_parameters(std::as_bytes(std::span(params.data(), params.size()))));
  });
}

runtime::SessionOptions options_of(int device_type, int device_id) {
  constexpr const char* kBackends[] = {"cpu", "cuda", "reference"};
  VERIFY(device_type >= CVM_CPU && device_type <= CVM_FORMAL)
      << "device_type is " << device_type << ", known are 0 (CPU), 1 (GPU) and 2 (FORMAL)";
  VERIFY(device_id >= 0 && (device_id == 0 || device_type == CVM_GPU))
      << "device_id is " << device_id << "; only a GPU has another than 0";
  runtime::SessionOptions options;
  options.backend = kBackends[device_type];
  if (device_id > 0) options.options["device"] = std::to_string(device_id);
  return options;
}

// Answers with a number about a graph.
template <class Number> int number(void* net, unsigned long long* out, const Number& of) {
  return guarded([&] {
    unsigned long long& answer = result(out, "the result");
    answer = static_cast<unsigned long long>(of(borrow(net)->model().graph()));
  });
}

// Answers with a text of a graph.
template <class Text> int text(void* net, char* out, const Text& of) {
  return guarded([&] {
    char& answer = result(out, "the result");
    const std::string found = of(borrow(net)->model().graph());
    VERIFY(found.size() <= kMostText)
        << "the text has " << found.size() << " bytes, callers have room for " << kMostText;
    std::memcpy(&answer, found.c_str(), found.size() + 1);
  });
}

}  // namespace
}  // namespace lockstep::capi

using namespace lockstep;
using namespace lockstep::capi;

int CVMAPILoadModel(const char* graph_json, int graph_strlen, const char* param_bytes,
    int param_strlen, void** net, int device_type, int device_id) {
  return guarded([&] {
    void*& handle = result(net, "net");
    const runtime::SessionOptions options = options_of(device_type, device_id);
    const std::string_view json = text_of(
                               graph_json, length_of(graph_strlen, "graph_strlen"), "graph_json"),
                           params = text_of(
                               param_bytes, length_of(param_strlen, "param_strlen"), "param_bytes");
    hand_out(std::make_shared<Session>(model_of(json, params), options), handle);
  });
}

int CVMAPIFreeModel(void* net) {
  return guarded([&] {
    if (net != nullptr) take_back(net);
  });
}

int CVMAPIInference(void* net, char* input_data, int input_len, char* output_data) {
  return guarded([&] {
    const Net session = borrow(net);
    const std::string_view input =
        text_of(input_data, length_of(input_len, "input_len"), "input_data");
    VERIFY(output_data != nullptr) << "output_data is null";
    const std::vector<std::byte> output =
        session->infer(std::as_bytes(std::span(input.data(), input.size())));
    std::memcpy(output_data, output.data(), output.size());
  });
}

int CVMAPIGetVersion(void* net, char* version) {
  return text(net, version, [](const graph::Graph& g) { return g.version(); });
}

int CVMAPIGetPreprocessMethod(void* net, char* method) {
  return text(net, method, [](const graph::Graph& g) { return g.postprocess(); });
}

int CVMAPIGetInputLength(void* net, unsigned long long* size) {
  return number(net, size, graph::input_length);
}

int CVMAPIGetOutputLength(void* net, unsigned long long* size) {
  return number(net, size, graph::output_length);
}

int CVMAPIGetInputTypeSize(void* net, unsigned long long* size) {
  return number(net, size, graph::input_element_size);
}

int CVMAPIGetOutputTypeSize(void* net, unsigned long long* size) {
  return number(net, size, graph::output_element_size);
}

int CVMAPIGetStorageSize(void* net, unsigned long long* gas) {
  return number(net, gas, [](const graph::Graph& g) { return g.storage_bytes(); });
}

int CVMAPIGetGasFromModel(void* net, unsigned long long* gas) {
  return number(net, gas, [](const graph::Graph& g) { return g.gas(); });
}

int CVMAPIGetGasFromGraphFile(const char* graph_json, unsigned long long* gas) {
  return guarded([&] {
    unsigned long long& answer = result(gas, "gas");
    VERIFY(graph_json != nullptr) << "graph_json is null";
    answer = static_cast<unsigned long long>(graph::graph_of(graph_json, "symbol.json").gas());
  });
}

int CVMSessionLoad(const char* graph_json, size_t graph_size, const char* param_bytes,
    size_t param_size, const char* backend, const CVMOption* options, size_t option_count,
    void** net) {
  return guarded([&] {
    void*& handle = result(net, "net");
    const std::string_view json = text_of(graph_json, graph_size, "graph_json"),
                           params = text_of(param_bytes, param_size, "param_bytes");
    VERIFY(backend != nullptr) << "backend is null";
    VERIFY(options != nullptr || option_count == 0) << "options is null";
    runtime::SessionOptions wishes;
    wishes.backend = backend;
    for (const CVMOption& o : std::span(options, option_count)) {
      VERIFY(o.name != nullptr && o.value != nullptr) << "an option's name or value is null";
      wishes.options[o.name] = o.value;
    }
    hand_out(std::make_shared<Session>(model_of(json, params), wishes), handle);
  });
}

int CVMSessionHeadCount(void* net, size_t* count) {
  return guarded([&] {
    std::size_t& answer = result(count, "count");
    answer = borrow(net)->model().graph().heads().size();
  });
}

int CVMSessionType(void* net, int head, CVMType* type) {
  return guarded([&] {
    CVMType& answer = result(type, "type");
    const Net session = borrow(net);
    const graph::Graph& graph = session->model().graph();
    VERIFY(head >= -1 && head < std::ssize(graph.heads()))
        << "head is " << head << ", the model has " << graph.heads().size();
    const Type& found =
        graph.entry(head < 0 ? graph.data() : graph.heads()[static_cast<std::size_t>(head)]).type;
    std::copy(found.shape.begin(), found.shape.end(), answer.shape);
    answer.rank = found.shape.size;
    answer.precision = found.precision;
  });
}

int CVMSessionRun(void* net, CVMArrayHandle input, CVMArrayHandle* heads, size_t count) {
  return guarded([&] {
    VERIFY(heads != nullptr || count == 0) << "heads is null";
    std::fill_n(heads, count, nullptr);
    const Net session = borrow(net);
    const std::size_t needed = session->model().graph().heads().size();
    VERIFY(count == needed) << "there is room for " << count << " heads, the model has " << needed;
    std::vector<ndarray::NDArray> results = session->run(ndarray::borrow(input, "the input"));
    std::ranges::copy(ndarray::hand_out(results), heads);
  });
}
