/// @file
/// The run itself: what is timed, in which order, and what is checked before.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/row.h"
#include "bench/workloads.h"
#include "conformance/subjects/manifest.h"

namespace lockstep::bench {

/// What the user asked for.
struct Wishes {
  std::vector<std::string> backends{"cpu"};
  judge::Options set;                ///< options of every backend
  std::vector<int> threads{1};       ///< for backends that have the option
  std::vector<std::string> filters;  ///< globs over OPERATOR/WORKLOAD or OPERATOR; none: all
  Effort effort;
  std::optional<int> judge_tier;  ///< 0 for properties and 1 for whole runs unless given
  /// Called with what the run does next.
  std::function<void(const std::string&)> announce = [](const std::string&) {};

  /// Whether the filters let a row through.
  bool want(const std::string& op, const std::string& workload) const;
};

/// Called with each row as soon as it is known.
using Take = std::function<void(Measurement)>;

/// Every chosen workload of every operator on every backend: checked first, then timed.
/// @throws judge::UsageError for a backend that is none or refuses its options.
void run_operators(const Wishes& wishes, const Take& take);

/// The cost of references and views of arrays, and of recycled memory beside fresh pages.
void run_arrays(const Wishes& wishes, const Take& take);

/// Cases per second of each property and of all, judging each backend; what a tiny call costs; and
/// a whole run with its memory. Forks: call it before anything starts a thread.
void run_judge(const Wishes& wishes, const Take& take);

/// Loading and saving a parameter file of 100 MB in 200 tensors, beside the system's transfer of as
/// many bytes and a memcpy of them.
/// @throws std::runtime_error if the machine has no place for the file.
void run_params(const Wishes& wishes, const Take& take);

}  // namespace lockstep::bench
