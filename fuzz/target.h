/// @file
/// The interface of fuzz targets: an entry point, and functions to report a violation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "spec/info.h"

/// Runs the target on one input, for libFuzzer and for the replay of a corpus. Returns 0, or -1 for
/// an input that is not worth keeping; does not return if it finds something.
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

/// A bound on the work of a call: elements read times elements written. Saturates at kMaxWork + 1.
/// A target uses it to skip legal calls that would take too long.
i64 work(Types in, const Inferred& out);
inline constexpr i64 kMaxWork = i64{1} << 22;

}  // namespace lockstep::fuzz
