/// @file
/// Shards: parts of a case set that several machines judge.
#pragma once
#include <functional>
#include <string>

#include "spec/op.h"

namespace lockstep::judge {

/// The part of a case set that is judged: every `of`-th case, starting at case `number`.
struct Shard {
  i64 number = 1, of = 1;
  bool holds(i64 place) const { return place % of == number - 1; }
};

/// The part that a text names: `2/4` is the second of four; `auto` takes it from the environment
/// (a Slurm array, an indexed Kubernetes job with LOCKSTEP_SHARDS, a test runner's
/// GTEST_SHARD_INDEX).
/// @param variable returns the value of an environment variable, or nullptr.
/// @throws UsageError naming what is wrong.
Shard read_shard(const std::string& text, const std::function<const char*(const char*)>& variable);

}  // namespace lockstep::judge
