/// @file
/// How the program reads manifests, as one hash.
///
/// A mistake in reading them changes which calls are put to a backend, and the backend at hand may
/// not show it. So what is made of a right manifest and of many wrong ones is frozen (frozen.h).
#pragma once
#include <string>

namespace lockstep::judge {

/// SHA-256 over what is read from a manifest that has every member, and from it without each
/// member and with other values in its place: its fields and the calls that it claims, or why it is
/// refused.
std::string manifests_hash();

}  // namespace lockstep::judge
