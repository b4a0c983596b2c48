/// @file
/// Turns what a letter asks into calls and graphs of the client (backends/client.hpp).
#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "backends/client.hpp"
#include "conformance/host/call_sequence.h"
#include "conformance/host/channel.h"

namespace lockstep::judge {

/// Writes the backend's answer. @return whether it is ok
bool note(Reply& r, const client::Status& s);

/// Writes a text, or what of it has room.
template <std::size_t N> void copy_text(char (&to)[N], const std::string& from) {
  to[from.copy(to, std::min(N - 1, std::strlen(from.c_str())))] = '\0';
}

/// The types of the first caller's tensors.
std::vector<Slot> types_of(const Letter& letter, const char* mail);

/// A letter's question as a call of the client. It refers to these types.
client::Call call_of(const Letter& letter, const std::vector<Slot>& types, const char* mail);

/// Prepares a letter's call. The backend may read its arguments only until it returns, so they are
/// overwritten then.
/// @param tensors addresses of the letter's inputs, of which some may be constants
client::Result<client::Plan> prepared(
    const client::Backend& backend, const Letter& letter, const char* mail, char* const* tensors);

/// Compiles a letter's graph in the same way.
client::Result<client::Plan> compiled(
    const client::Backend& backend, const Letter& letter, const char* mail, char* const* tensors);

/// Prepares the calls of a letter's graph in the same way.
client::Result<CallSequence> prepared_one_by_one(
    const client::Backend& backend, const Letter& letter, const char* mail, char* const* tensors);

/// Whether a letter has a graph that is to run call by call.
bool is_sequence(const Letter& letter, const char* mail);

}  // namespace lockstep::judge
