/// @file
/// What a hostile library does while a process loads it.
#pragma once

namespace lockstep::backend {

/// Whether an even number of processes has loaded the library, as HOSTILE_COUNTS counts them.
extern bool is_every_second;

}  // namespace lockstep::backend
