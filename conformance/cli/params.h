/// @file
/// Shared by the verbs of `lockstep params`: reading, writing and showing files of both formats.
#pragma once
#include "conformance/cli/params_documents.h"
#include "conformance/cli/verbs.h"

namespace lockstep::judge {

/// Reads an archive if the name ends in .npz, else a parameter file, to which `lenient` applies.
/// @throws params::Error when the file is faulty.
params::Params read_params(const std::string& path, bool lenient);

/// Writes an archive if the name ends in .npz, else a parameter file.
void write_params(const std::string& path, const params::Params& contents);

/// A name in quotes, made fit for a terminal.
std::string shown_name(std::string_view name);

/// Prints a document; bytes of a path that are not UTF-8 are replaced.
void print_json(const documents::Document& document);

/// A tensor's type and shape, as "int32 (2, 2)".
std::string type_text(const params::Tensor& tensor);

/// A verb of the group with its options --json and --lenient.
CLI::App* add_params_verb(
    CLI::App& group, const char* name, const char* text, bool& as_json, bool& lenient);

void add_params_dump(CLI::App& group, Session& session);
void add_params_diff(CLI::App& group, Session& session);

}  // namespace lockstep::judge
