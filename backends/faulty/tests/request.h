/// @file
/// A call as a backend receives it, and everything one can observe of how it was answered.
#pragma once
#include <string>
#include <vector>

#include "backends/client.hpp"
#include "backends/faulty/mutant.h"
#include "conformance/cases/case.h"

namespace lockstep::faulty {

/// Elements around each tensor that nobody may touch: an odd number, so that no tensor is aligned
/// to more than its elements.
inline constexpr i64 kGuard = 17;
inline constexpr i32 kPoison = -559038737;

/// A tensor in memory of its own: guards at both ends, and cells between its rows.
struct Memory {
  std::vector<i64> extents, strides;
  std::vector<i32> cells;
  int precision;

  Memory(const Type& t, bool padded);
  client::TensorView view(bool is_constant) {
    return {extents, strides, precision, is_constant ? data() : nullptr};
  }
  i32* data() { return cells.data() + kGuard; }
  i64 offset(i64 element) const;
};

/// A call, and how its tensors are given.
struct Request {
  judge::Case call;
  bool padded = false;
  bool constants = false;  ///< whether all inputs but the first are known when it is prepared
};

/// A legal call of an operator. Its data are dense, extreme, or shaped by the ports' hints.
Request draw_request(const OpInfo& op, u64 seed);
/// A request with one attribute, extent or precision changed, so that it is most likely illegal.
Request disturbed(Request r, u64 seed);

/// What one can observe of an answer.
struct Observed {
  std::string inferred, refused, path;
  int threads = 0;
  std::vector<std::vector<i32>> inputs, outputs;  ///< all of their memory, guards included
  bool operator==(const Observed&) const = default;
};
/// @param run the number of the plan's run that is observed.
Observed observe(Behaviour& subject, const Request& r, i64 run = 1);

}  // namespace lockstep::faulty
