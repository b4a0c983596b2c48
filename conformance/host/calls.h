/// @file
/// What a letter asks, in the words of the client: calls and graphs.
#pragma once
#include <vector>

#include "backends/client.hpp"
#include "conformance/host/channel.h"

namespace lockstep::judge {

/// The types of the first caller's tensors.
std::vector<Slot> types_of(const Letter& letter, const char* mail);

/// A letter's question as a call of the client, which views these types.
client::Call call_of(const Letter& letter, const std::vector<Slot>& types, const char* mail);

/// Prepares a letter's call. What the backend was given lives only until it returns, so all of it
/// is overwritten then.
/// @param tensors addresses of the letter's inputs, of which some may be constants
client::Result<client::Plan> prepared(
    const client::Backend& backend, const Letter& letter, const char* mail, char* const* tensors);

/// Compiles a letter's graph in the same way.
client::Result<client::Plan> compiled(
    const client::Backend& backend, const Letter& letter, const char* mail, char* const* tensors);

}  // namespace lockstep::judge
