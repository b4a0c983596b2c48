/// @file
/// What the verbs of `lockstep params` share: files of either form, and how they are shown.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/cli/verbs.h"
#include "containers/params/params.h"

namespace lockstep::judge {

using json = nlohmann::ordered_json;

/// Reads a parameter file, or an archive if the name ends in .npz; leniency is for the former.
/// @throws params::Error when the file is faulty.
params::Params read_params(const std::string& path, bool lenient);

/// Writes the one or the other, as the name says.
void write_params(const std::string& path, const params::Params& contents);

/// A name as every verb shows it: in quotes and fit for a terminal.
std::string shown_name(std::string_view name);

/// Prints a document; a path that is no UTF-8 is no reason to print nothing.
void print_json(const json& document);

/// A tensor's type and shape, as "int32 (2, 2)".
std::string type_text(const params::Tensor& tensor);

/// A verb of the group with its options --json and --lenient.
CLI::App* add_params_verb(CLI::App& group, const char* name, const char* text, bool& as_json,
                          bool& lenient);

void add_params_dump(CLI::App& group, Session& session);
void add_params_diff(CLI::App& group, Session& session);

}  // namespace lockstep::judge
