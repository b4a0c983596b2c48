/// @file
/// Inference: a model from files, on a backend, in the caller's process.
///
///     auto session = runtime::Session::load("models/digits", {.backend = "cpu"});
///     std::vector<ndarray::NDArray> heads = session.run(image);
///
/// Everything that a session throws is one of two: utils::ValueVerifyFatal, the caller's fault
/// (graph::Error with a label and the path of the fault, params::Error with a label and an offset),
/// or utils::LogMessageFatal, that of the backend or the machine.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reference/graph/model.h"
#include "runtime/program.h"

namespace lockstep::runtime {

/// What computes a model, and how.
struct SessionOptions {
  /// The name of a backend in backend_directory(), or the path of a library, which a program
  /// outside the installed tree has to give: ${backenddir}/cpu.so of pkg-config.
  std::string backend = "cpu";
  client::Options options{};  ///< of the backend, such as {"threads", "2"}
  Form form = Form::best;     ///< compiled, call by call, or whichever the backend offers
};

/// A model that is ready to run. Several threads may use one session: its runs follow one another.
class Session {
 public:
  /// The model of a directory with the files `symbol.json` and `params`.
  static Session load(const std::string& directory, const SessionOptions& options = {});
  /// Prepares a model on a backend. @throws as all of this class.
  explicit Session(graph::Model model, const SessionOptions& options = {});
  /// Takes the model; the other session can only be destroyed or assigned to.
  Session(Session&&) noexcept;
  /// Lets its own model go and takes the other's.
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// The model that it runs.
  const graph::Model& model() const;
  /// Whether the backend compiled the whole graph.
  bool is_compiled() const;
  /// The memory that parameters, tensors and scratch take. What a backend keeps of its own beside
  /// them, such as packed weights, is not counted.
  uint64_t memory_bytes() const;

  /// The heads for an input of the shape of "data": of integers, each inside the precision. An
  /// int32, compact array in host memory is read where it lies. The results are such arrays, too,
  /// and lie where the backend wrote them, if that is in host memory. A compiled graph is a single
  /// call to `progress`.
  std::vector<ndarray::NDArray> run(const ndarray::NDArray& data, const Progress& progress = {});

  /// From input bytes to output bytes (reference/graph/bytes.h).
  std::vector<std::byte> infer(std::span<const std::byte> input);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::runtime
