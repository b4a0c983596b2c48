/// @file
/// A backend in this process, as an application loads it: no guard pages, no worker. A backend that
/// the judge has not passed may crash the benchmark.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/workloads.h"
#include "conformance/subjects/abi.h"
#include "conformance/subjects/manifest.h"

namespace lockstep::bench {

/// An opened backend.
class Library {
 public:
  /// @throws judge::UsageError if there is no such backend or it refuses the options,
  /// std::runtime_error if its device fails.
  Library(const std::string& what, const judge::Options& options);
  ~Library();
  Library(const Library&) = delete;
  const judge::Manifest& manifest() const { return manifest_; }
  bool knows_option(const std::string& name) const;
  const ls_api& api() const { return api_; }
  ls_backend* self() const { return self_; }

 private:
  ls_api api_;
  judge::Manifest manifest_;
  ls_backend* self_ = nullptr;
};

/// Memory that a backend can access: its device's, or the host's.
class Memory {
 public:
  Memory(const Library& library, std::size_t bytes);
  ~Memory();
  Memory(Memory&& other) noexcept : library_(other.library_), data_(other.data_) {
    other.data_ = nullptr;
  }
  Memory(const Memory&) = delete;
  void* data() const { return data_; }
  void write(const void* from, std::size_t bytes);
  void read(void* to, std::size_t bytes) const;

 private:
  const Library& library_;
  void* data_ = nullptr;
};

/// The backend does not offer a call.
struct NotOffered : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A workload made ready: planned, its tensors in place.
class Prepared {
 public:
  /// @throws NotOffered, std::runtime_error with what the backend answered otherwise.
  Prepared(const Library& library, const Workload& workload, const std::vector<judge::Tensor>& in);
  ~Prepared();
  Prepared(const Prepared&) = delete;

  /// Runs the call once, to its end. @throws std::runtime_error if the backend fails.
  void execute() const;
  /// The outputs of one execution, after filling them with a value that no output has.
  std::vector<std::vector<i32>> fresh_outputs();
  const std::string& path() const { return path_; }

 private:
  const Library& library_;
  std::vector<Memory> in_, out_, scratch_;
  std::vector<const void*> in_data_;
  std::vector<void*> out_data_;
  std::vector<i64> out_volumes_;
  void* stream_ = nullptr;
  ls_plan* plan_ = nullptr;
  std::string path_;
};

}  // namespace lockstep::bench
