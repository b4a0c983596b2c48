/// @file
/// What a fuzz target is made of: its entry, and the way it says that something does not hold.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "spec/info.h"

/// Puts one input to the target. libFuzzer calls it, and so does the replay of a corpus. It returns
/// 0, or -1 for an input that is not worth keeping; where something is wrong it does not return.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace lockstep::fuzz {

/// Says what a target found and ends the process, which makes the input a finding.
[[noreturn]] void violated(const std::string& what);

/// Ends the process unless the condition holds.
inline void hold(bool condition, const char* what) {
  if (!condition) violated(what);
}

/// Whether a call can be refused with this label.
bool is_label_of_calls(std::string_view label);

/// At least the elements that a call reads, times those it writes: no operator does more. Saturates
/// at kMaxWork + 1. It is how a target passes over legal calls for which it has no time.
i64 work(Types in, const Inferred& out);
inline constexpr i64 kMaxWork = i64{1} << 22;

}  // namespace lockstep::fuzz
