/// @file
/// The library door: a shared library in a worker process, its tensors in shared memory.
#pragma once
#include <memory>
#include <string>

#include "conformance/subjects/subject.h"

namespace lockstep::judge {

/// A backend whose process ended while its library was being loaded.
struct LoadCrash : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A backend that is one, and refuses the options it was given, or their absence.
struct RefusedOptions : UsageError {
  using UsageError::UsageError;
};

/// A backend that is one, and cannot be opened on a machine for which it has no kernel.
struct CannotRun : UsageError {
  CannotRun(const std::string& why, const Manifest& m) : UsageError(why), manifest(m) {}
  Manifest manifest;
};

/// @throws UsageError if the file is no library or no backend, LoadCrash if loading it kills.
std::unique_ptr<Subject> open_library(const std::string& path, const Limits& limits);

/// The file of a library backend: a built-in name, or a path.
/// @throws UsageError if there is none.
std::string library_file(const std::string& what);

}  // namespace lockstep::judge
