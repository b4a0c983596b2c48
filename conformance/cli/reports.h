/// @file
/// Reads documents from the files that verbs are given.
#pragma once
#include <fmt/format.h>

#include "conformance/base/read_file.h"
#include "conformance/cli/verbs.h"

namespace lockstep::judge {

/// Verbs of `lockstep report` about evidence.
void add_attest(CLI::App& group, Session& session);
void add_verify(CLI::App& group, Session& session);

/// Reads a document from a file; errors name the file.
template <class F> auto read_document(const std::string& file, const char* kind, F read) {
  const std::string text = read_file(file);
  try {
    return read(text);
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("'{}' is no {}: {}", file, kind, printable(e.what())));
  }
}

/// Reads a report from a file.
inline Report report_of(const std::string& file) {
  return read_document(file, "report of lockstep check", read_report);
}

}  // namespace lockstep::judge
