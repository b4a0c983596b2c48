/// @file
/// Parts of a case set that several machines share.
#pragma once
#include <functional>
#include <string>

#include "spec/op.h"

namespace lockstep::judge {

/// Which part of a case set is judged: of the cases in turn, every of-th from the number-th on.
struct Part {
  i64 number = 1, of = 1;
  bool holds(i64 place) const { return place % of == number - 1; }
};

/// The part that a text names: `2/4` the second of four; `auto` what the environment says of a job
/// of many (an array of Slurm, an indexed job of Kubernetes with LOCKSTEP_SHARDS, a test runner's
/// GTEST_SHARD_INDEX).
/// @param variable the value of a variable of the environment, or nullptr.
/// @throws UsageError naming what is wrong.
Part read_part(const std::string& text, const std::function<const char*(const char*)>& variable);

}  // namespace lockstep::judge
