/// @file
/// Another implementation of a workload, timed beside ours in the same binary.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/limits/limits.h"
#include "bench/row.h"
#include "bench/workloads.h"

namespace lockstep::bench {

/// A prepared peer.
struct Peer : PeerTime {
  Contender call = {};
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
