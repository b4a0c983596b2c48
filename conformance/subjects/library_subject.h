/// @file
/// The adapter for shared libraries: a worker process with its tensors in shared memory.
#pragma once
#include <memory>
#include <string>

#include "conformance/subjects/subject.h"

namespace lockstep::judge {

/// The worker process died while it loaded the library.
struct LoadCrash : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The library is a backend but refuses the given options, or requires some.
struct RefusedOptions : UsageError {
  using UsageError::UsageError;
};

/// The library is a backend but cannot be opened, since it has no kernel for this machine.
struct CannotRun : UsageError {
  CannotRun(const std::string& why, const Manifest& m) : UsageError(why), manifest(m) {}
  Manifest manifest;
};

/// @throws UsageError if the file is no library or no backend, LoadCrash if loading it ends the
/// process.
std::unique_ptr<Subject> open_library(const std::string& path, const Limits& limits);

/// The file of a library backend: a built-in name, or a path.
/// @throws UsageError if there is none.
std::string library_file(const std::string& what);

}  // namespace lockstep::judge
