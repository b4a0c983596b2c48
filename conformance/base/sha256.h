/// @file
/// SHA-256, by which cases, outputs and files are compared.
#pragma once
#include <string>

#include "spec/op.h"

namespace lockstep::judge {

/// SHA-256 of a text, in lower-case hexadecimal.
std::string sha256(string_view text);

/// Whether a text is a SHA-256 in lower-case hexadecimal.
bool is_hash(string_view text);

}  // namespace lockstep::judge
