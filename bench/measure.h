/// @file
/// Timing by Google Benchmark. Contenders take turns in one run, so that a change of the machine's
/// speed affects all of them.
#pragma once
#include <functional>
#include <vector>

namespace lockstep::bench {

/// Times of one call, over repetitions.
struct Timing {
  double median_ns = 0, min_ns = 0, max_ns = 0;
  int repetitions = 0;
};

/// The time to spend on a measurement.
struct Effort {
  double repetition_s = 0.02;  ///< at least, per repetition
  int repetitions = 9;         ///< at most
  double contender_s = 1;      ///< about, where a call is slow: fewer repetitions, at least 3
  double pause_s = 0;          ///< before a repetition: threads of others may spin for a while
};

using Contender = std::function<void()>;

/// Times each contender; repetitions of all contenders are interleaved at random. Rethrows what a
/// contender throws.
std::vector<Timing> measure(const std::vector<Contender>& contenders, const Effort& effort);

}  // namespace lockstep::bench
