/// @file
/// Another implementation of a workload, timed beside ours in the same binary.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/limits/limits.h"
#include "bench/workloads.h"

namespace lockstep::bench {

/// A peer made ready.
struct Peer {
  std::string name;                 ///< whose, and in what form
  std::string implementation;       ///< the kernel it chose; empty if it has no choice
  std::string trouble;              ///< why it cannot be timed; else empty
  i64 different = 0, compared = 0;  ///< elements of its result against the reference's
  std::function<void()> call;
};

/// memcpy of as many bytes as the call reads and writes: half of them read, half written. Each of
/// the team copies its share.
Peer copy_peer(const Workload& workload, const std::shared_ptr<Team>& team);

/// oneDNN for conv2d and dense, in its own layout and from and to int32 in rows; none for other
/// workloads, or where the build found no oneDNN.
std::vector<Peer> onednn_peers(const Workload& workload, const std::vector<judge::Tensor>& in,
                               const judge::Tensor& expected, int threads);

/// What onednn_version() says of a build without oneDNN.
inline constexpr const char* kNoOneDnn = "no oneDNN in this build";

/// What oneDNN is: its version, or kNoOneDnn.
std::string onednn_version();

}  // namespace lockstep::bench
