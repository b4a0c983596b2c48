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

/// A prepared peer.
struct Peer {
  std::string name;                 ///< of the library and its data layout
  std::string implementation;       ///< the kernel it chose; empty if it has no choice
  std::string trouble;              ///< why it cannot be timed; else empty
  i64 different = 0, compared = 0;  ///< elements, against the reference's result
  std::function<void()> call;
};

/// memcpy of as many bytes as the call reads and writes: it reads one half and writes the other.
/// Each thread of the team copies its share.
Peer copy_peer(const Workload& workload, const std::shared_ptr<Team>& team);

/// oneDNN for conv2d and dense, in its own layout and with row-major int32; none for other
/// workloads, or if the build found no oneDNN.
std::vector<Peer> onednn_peers(const Workload& workload, const std::vector<judge::Tensor>& in,
    const judge::Tensor& expected, int threads);

/// The result of onednn_version() in a build without oneDNN.
inline constexpr const char* kNoOneDnn = "no oneDNN in this build";

/// The version of oneDNN, or kNoOneDnn.
std::string onednn_version();

}  // namespace lockstep::bench
