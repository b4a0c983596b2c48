/// @file
/// Work that can be given up.
#pragma once
#include <functional>
#include <stdexcept>

namespace lockstep::judge {

/// The run is to end, at its deadline or by a signal, before this work is done.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// Asks whether the run is to end; may be empty: it is not. Several threads may ask.
using Interruption = std::function<bool()>;

/// @throws Interrupted if the run is to end.
inline void give_up_if(const Interruption& interrupted) {
  if (interrupted && interrupted()) throw Interrupted();
}

}  // namespace lockstep::judge
