#include "runtime/session.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "containers/logging.h"
#include "reference/graph/arrays.h"
#include "reference/graph/bytes.h"
#include "reference/graph/error.h"
#include "reference/graph/load.h"
#include "runtime/backends.h"
#include "spec/text.h"

namespace lockstep::runtime {
namespace {

using ndarray::NDArray;

[[noreturn]] void fail(const std::string& backend, const client::Error& e) {
  const std::string text = "the backend '" + backend + "': " + e.what();
  if (e.code == LS_RUNTIME && e.label == LS_NO_MEMORY) throw utils::OutOfMemory(text);
  throw utils::LogMessageFatal(text);
}

// A backend that refuses a valid model has a fault or a limit; the caller is not to blame.
template <class Body> auto asked(const std::string& backend, const Body& body) {
  try {
    return body();
  } catch (const client::Error& e) {
    fail(backend, e);
  }
}

client::Backend opened(const SessionOptions& o) {
  const std::string file = backend_file(o.backend);
  try {
    return client::Backend::open(client::Library::load(file), o.options).value();
  } catch (const client::LoadError& e) {
    throw utils::ValueVerifyFatal("'" + o.backend + "' is no backend: " + e.what());
  } catch (const client::Error& e) {
    if (e.code == LS_LOGIC)
      throw utils::ValueVerifyFatal("the backend '" + o.backend + "': " + e.what());
    fail(o.backend, e);
  }
}

NDArray input_of(const graph::Graph& graph, const NDArray& data) {
  const Type& type = graph.entry(graph.data()).type;
  const auto refuse = [](const std::string& why) {
    throw graph::Error("model.input", "the input " + why);
  };
  if (!data) refuse("is no array");
  if (!std::ranges::equal(data.shape(), type.shape))
    refuse(
        "has the shape " + shape_text(data.shape()) + ", \"data\" has " + shape_text(type.shape));
  NDArray values;
  try {
    values = graph::as_int32(data);
  } catch (const utils::ValueVerifyFatal& e) {
    refuse(std::string("does not consist of integers that int32 holds: ") + e.what());
  }
  graph::refuse_beyond(graph::values_of(values), type, "data");
  return values;
}

// A backend that was not judged may break its promise.
void expect_within(
    const graph::Graph& graph, const std::vector<NDArray>& heads, const std::string& backend) {
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const Type& type = graph.entry(graph.heads()[h]).type;
    const std::span<const i32> values = graph::values_of(heads[h]);
    const i64 k = graph::first_beyond(values, type);
    if (k < std::ssize(values))
      throw utils::LogMessageFatal("the backend '" + backend +
          "': " + graph::element_path(graph::at("heads", static_cast<i64>(h)), type.shape, k) +
          " is " + std::to_string(values[static_cast<std::size_t>(k)]) +
          ", outside the precision " + std::to_string(type.precision));
  }
}

}  // namespace

struct Session::State {
  State(graph::Model m, const SessionOptions& o)
      : name(o.backend),
        model(std::move(m)),
        backend(opened(o)),
        program(asked(name, [&] { return Program(backend, model, o.form); })) {}

  std::vector<NDArray> run(const NDArray& data, const Progress& progress);
  std::vector<std::byte> infer(std::span<const std::byte> input);

  std::string name;
  graph::Model model;
  client::Backend backend;
  Program program;
  std::mutex mutex;
};

Session Session::load(const std::string& directory, const SessionOptions& options) {
  return utils::naming_out_of_memory(
      "loading", directory, [&] { return Session(graph::load_model(directory), options); });
}

Session::Session(graph::Model model, const SessionOptions& options)
    : state_(utils::naming_out_of_memory("preparing a model", {},
          [&] { return std::make_unique<State>(std::move(model), options); })) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

const graph::Model& Session::model() const { return state_->model; }
bool Session::is_compiled() const { return state_->program.is_compiled(); }
uint64_t Session::memory_bytes() const { return state_->program.memory_bytes(); }

std::vector<NDArray> Session::run(const NDArray& data, const Progress& progress) {
  return utils::naming_out_of_memory(
      "running a model", {}, [&] { return state_->run(data, progress); });
}

std::vector<NDArray> Session::State::run(const NDArray& data, const Progress& progress) {
  const graph::Graph& graph = model.graph();
  const NDArray input = input_of(graph, data);
  std::vector<NDArray> heads;
  std::vector<int32_t*> places;
  for (const int e : graph.heads()) {
    const Shape& shape = graph.entry(e).type.shape;
    const std::vector<i64> extents(shape.begin(), shape.end());
    heads.push_back(NDArray::empty(extents, {kDLInt, 32, 1}));
    places.push_back(reinterpret_cast<int32_t*>(heads.back().mutable_data()));
  }
  const std::lock_guard lock(mutex);
  asked(name, [&] { program.run(graph::values_of(input).data(), places, progress); });
  expect_within(graph, heads, name);
  return heads;
}

std::vector<std::byte> Session::infer(std::span<const std::byte> input) {
  return utils::naming_out_of_memory("running a model", {}, [&] { return state_->infer(input); });
}

std::vector<std::byte> Session::State::infer(std::span<const std::byte> input) {
  const graph::Graph& graph = model.graph();
  reference::Tensor data = graph::decode_input(graph, input);
  const std::vector<NDArray> heads =
      run(graph::array_of(data.type.shape, std::move(data.data)), {});
  std::vector<std::span<const i32>> values;
  for (const NDArray& head : heads) values.push_back(graph::values_of(head));
  return graph::encode_output(graph, values);
}

}  // namespace lockstep::runtime
