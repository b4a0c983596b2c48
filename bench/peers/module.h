/// @file
/// The interface of a peer library. Each version of a library is a module of its own, which is
/// loaded, so that two versions of one library can be timed in one process. It is plain data, so
/// that a module needs nothing of this project.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lockstep::bench {

/// A convolution or a matrix product of 8-bit integers, which int32 tensors hold, without a bias.
struct MatrixCall {
  using Extents = std::vector<int64_t>;
  bool convolution = false;        ///< else dense: y = x w^T
  Extents x = {}, w = {}, y = {};  ///< N C H W and O C/groups KH KW, or N K and O K
  Extents strides = {}, padding = {}, dilation = {};  ///< of a convolution, by height and width
  int64_t groups = 1;
  const int32_t *x_values = nullptr, *w_values = nullptr, *y_values = nullptr;  ///< y: right ones
};

/// One way to compute the call.
struct ModulePeer {
  std::string layout = {};          ///< of the tensors
  std::string implementation = {};  ///< the kernel that the library chose, if it says so
  std::string trouble = {};         ///< why it is no peer; else empty
  int64_t different = 0;            ///< elements of the result unlike y_values
  std::function<void()> call = {};  ///< one execution on the given number of threads
  /// Queues one execution, which call() waits for, too; none where there is no queue.
  std::function<void()> start = {};
};

/// What a module exports as `lockstep_peer_module`.
struct PeerModule {
  std::string (*name)();  ///< of the library, with its version
  /// The ways in which the library computes the call; none if it does not serve it.
  std::vector<ModulePeer> (*prepare)(const MatrixCall& call, int threads);
  const char* device = "";  ///< on which it computes, as manifests name it; empty: the host
  /// A copy on the device, which reads one half of these bytes and writes the other; null or none
  /// where it offers none.
  std::vector<ModulePeer> (*copy)(int64_t bytes) = nullptr;
  /// Products of bytes in the device's registers, and how many multiply-adds one call makes; null
  /// or none where it offers none.
  std::vector<ModulePeer> (*products)(int64_t* macs) = nullptr;
};

}  // namespace lockstep::bench
