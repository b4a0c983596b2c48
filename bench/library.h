/// @file
/// Loads a backend into this process, as an application does, without guard pages or a worker. A
/// backend that the judge has not passed may crash the benchmark.
#pragma once
#include <string>
#include <vector>

#include "backends/client.hpp"
#include "bench/workloads.h"
#include "conformance/cases/layout.h"
#include "conformance/subjects/manifest.h"

namespace lockstep::bench {

/// An opened backend with its manifest.
struct Library {
  judge::Manifest manifest;
  client::Backend backend;

  /// The device that its tensors lie on, as the manifest names it; empty: the host.
  std::string device() const { return backend.library().has_device() ? manifest.device : ""; }
};

/// @throws judge::UsageError if there is no such backend or it refuses the options;
/// std::runtime_error if its device fails.
Library open_library(const std::string& what, const judge::Options& options);

/// The backend does not offer a call.
struct NotOffered : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A tensor in a backend's memory, which lies as the layout of a call says.
class PlacedTensor {
 public:
  /// @throws std::runtime_error if the backend has no memory for it.
  PlacedTensor(const client::Backend& backend, const Type& type, const judge::Placement& place);

  /// For a prepared call, with the address of its elements where they are constant.
  client::TensorView view(bool constant) const;
  /// The address of its first element.
  void* data() const { return static_cast<i32*>(memory_.data()) + place_.offset; }
  /// Writes its elements, of which there are as many values, and INT32_MIN around them.
  void write(const std::vector<i32>& values);
  /// Makes all of its memory INT32_MIN, which is never legal.
  void clear();
  /// Its elements in row-major order.
  std::vector<i32> read() const;

 private:
  Type type_;
  judge::Placement place_;
  client::Memory memory_;
};

/// A prepared workload: its plan and its tensors.
class Prepared {
 public:
  /// @throws NotOffered; std::runtime_error with any other error of the backend.
  Prepared(const client::Backend& backend, const Workload& workload,
      const std::vector<judge::Tensor>& in);

  /// Runs the call once, to its end. @throws std::runtime_error if the backend fails.
  void execute() const;
  /// The outputs of one execution, which first fills them with a value that is never legal.
  std::vector<std::vector<i32>> fresh_outputs();
  const std::string& path() const { return path_; }

 private:
  std::vector<PlacedTensor> in_, out_;
  std::vector<const void*> in_data_;
  std::vector<void*> out_data_;
  client::Stream stream_;
  client::Plan plan_;
  client::Memory scratch_;
  std::string path_;
};

}  // namespace lockstep::bench
