/// @file
/// Inference: a model from files, on a backend, in the caller's process.
///
///     auto session = runtime::Session::load("models/digits", {.backend = "cpu"});
///     std::vector<ndarray::NDArray> heads = session.run(image);
///
/// What loads and runs throw has one of two roots. utils::ValueVerifyFatal is a fault of the
/// caller, of the files or of the input: graph::Error has a label and the path of the fault; a file
/// that cannot be opened, a file that is no backend and an option that the backend refuses have
/// neither. utils::LogMessageFatal is a fault of the
/// backend or of the machine; utils::OutOfMemory is one, and of a load it names the directory or
/// the file. Where not even the text of that finds room, it is std::bad_alloc.
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
  /// The name of a backend in backend_directory(), or the path of a library, which a program that
  /// holds this code and lies outside the installed tree has to give: ${backenddir}/cpu.so of
  /// pkg-config.
  std::string backend = "cpu";
  client::Options options{};  ///< of the backend, such as {"threads", "2"}
  Form form = Form::best;     ///< compiled, call by call, or whichever the backend offers
};

/// A model that is ready to run. Several threads may use one session: its runs follow one another.
/// A run that throws leaves the session as it was. Results need no session.
class Session {
 public:
  /// The model of a directory with the files `symbol.json` and `params`.
  /// @throws utils::ValueVerifyFatal for a fault of the caller or of the files,
  /// utils::LogMessageFatal for one of the backend or of the machine.
  static Session load(const std::string& directory, const SessionOptions& options = {});
  /// Prepares a model on a backend.
  /// @throws utils::ValueVerifyFatal where the options name no backend or the backend refuses them,
  /// utils::LogMessageFatal where it cannot be opened or does not take the model.
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
  /// The bytes that the program holds for parameters, for tensors between calls and as scratch; on
  /// a device also for the input and the heads. What a backend keeps of its own beside them, such
  /// as packed weights, is not counted, nor are results in host memory.
  uint64_t memory_bytes() const;

  /// The heads for an input of the shape of "data": of integers, each inside the precision. An
  /// int32, compact and aligned array in host memory is read where it lies; another one is
  /// converted first. The results are such arrays, too, each in memory of its own, where a
  /// backend without a device writes them; call by call, a head that is the input, a parameter or
  /// an earlier head is copied there. A compiled graph is a single call to `progress`, which must
  /// not use the session.
  /// @throws graph::Error model.input, input.value for the input; utils::LogMessageFatal where the
  /// backend fails, or answers with a head outside its precision; what `progress` throws.
  std::vector<ndarray::NDArray> run(const ndarray::NDArray& data, const Progress& progress = {});

  /// From input bytes to output bytes (reference/graph/bytes.h): values are clamped into the
  /// precision of "data", and the output went through the model's post-processing.
  /// @throws graph::Error model.input for another length; utils::LogMessageFatal as run() does.
  std::vector<std::byte> infer(std::span<const std::byte> input);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::runtime
