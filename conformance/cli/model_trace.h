/// @file
/// Traces of models as files: the hashes of all outputs, with or without the values.
#pragma once
#include <optional>

#include "conformance/cli/model_documents.h"
#include "containers/params/params.h"

namespace lockstep::judge {

/// A trace, and the values of its outputs where the file carries them.
struct TraceFile {
  documents::Trace trace;
  std::optional<params::Params> archive;

  /// The values of output `k` of the trace, where there are values.
  /// @throws UsageError if their hash is not the one in the trace.
  std::vector<i32> values(std::size_t k) const;
};

/// The name of the array of output `k` in an archive.
std::string array_name(const documents::Trace& trace, std::size_t k);

/// Writes an archive: the trace's text, as the array "trace" of bytes, and an array for each
/// output.
void write_trace_archive(const std::string& path, const documents::Trace& trace,
    const std::vector<params::Tensor>& values);

/// Reads an archive if the name ends in .npz, else a trace alone.
/// @throws UsageError also where values() of an output throws; params::Error
TraceFile read_trace_file(const std::string& path);

}  // namespace lockstep::judge
