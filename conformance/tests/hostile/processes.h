/// @file
/// What a hostile library does while a process loads it.
#pragma once

namespace lockstep::backend {

/// Whether an even number of processes has loaded the library, as HOSTILE_COUNTS counts them.
extern bool is_every_second;
/// Whether no other process had loaded the library before.
extern bool is_first;
/// Whether this process offers infer(): one of the first HOSTILE_INFERS, if that is set.
extern bool offers_infer;

/// Whether the process had a file besides its streams and the socket when it loaded the library.
bool has_files_of_others();

/// Starts a process in the way that HOSTILE_WAY names. @return whether that is possible
bool start_process();

}  // namespace lockstep::backend
