/// @file
/// Another implementation of a workload, timed beside ours in the same process.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/limits/limits.h"
#include "bench/peers/module.h"
#include "bench/row.h"
#include "bench/workloads.h"

namespace lockstep::bench {

/// A prepared peer.
struct Peer : PeerTime {
  Contender call = {};
  Contender start = {};  ///< as ModulePeer says
};

/// A memcpy that reads one half of these bytes and writes the other. Each thread of the team copies
/// a share; if there is too little to share, one thread copies all.
Peer copy_peer(i64 bytes, const std::shared_ptr<Team>& team);

/// A device's own copy of so many bytes; none where no module has one.
std::vector<Peer> device_copy(const std::string& device, i64 bytes);

/// Work whose time bounds that of a call.
struct Bound {
  std::string name;
  double share = 1;  ///< of a call's work that one run of the bound does
  Contender call = {};
  Contender start = {};  ///< as ModulePeer says
};
/// What bounds a call on a device: multiply-adds at the rate of its registers, and a copy of its
/// bytes. None where no module offers them.
std::vector<Bound> device_bounds(const std::string& device, i64 macs, i64 bytes);

/// The peer libraries of this build, by name, sorted. Those that cannot be loaded are left out.
const std::vector<const PeerModule*>& peer_modules();
/// Their names in a line.
std::string peer_names();

/// What a library does with conv2d and dense, 8-bit and without a bias; none for other workloads.
std::vector<Peer> module_peers(const PeerModule& module, const Workload& workload,
    const std::vector<judge::Tensor>& in, const judge::Tensor& expected, int threads);

/// Times a call of ours in turns with its peers and with `others`. Fills the row with the times of
/// the former and returns those of `others`.
std::vector<Timing> time_beside(Measurement& row, const Contender& ours,
    const std::vector<Peer>& peers, const std::vector<Contender>& others, const Effort& effort);

}  // namespace lockstep::bench
