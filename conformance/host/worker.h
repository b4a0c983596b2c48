/// @file
/// The part of backend-host that loads a library and answers a judge.
#pragma once
#include <string>
#include <vector>

#include "backends/client.hpp"
#include "spec/random.h"

namespace lockstep::judge {

struct Work {
  std::string library;
  std::vector<client::Options> configs;  ///< of open(), each opened at its first use
  u64 memory = 0;  ///< bytes that it may allocate; 0, or a backend with a device: no limit
};

/// Loads the library and describes it in the channel. For each number that arrives on the socket,
/// answers the letters in the channel and sends the number back, until the socket is closed. Never
/// returns.
[[noreturn]] void serve(const Work& work);

}  // namespace lockstep::judge
