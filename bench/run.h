/// @file
/// The run: it chooses what is timed, checks it, and times it in order.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/library.h"
#include "bench/row.h"
#include "bench/workloads.h"
#include "conformance/subjects/manifest.h"

namespace lockstep::bench {

/// The options of a run.
struct BenchmarkOptions {
  std::vector<std::string> backends{"cpu"};
  judge::Options set;  ///< options of every backend
  /// Instruction sets, for backends that have the option: `all` stands for those of their kernels
  /// that run here; none: the backend's choice.
  std::vector<std::string> isas;
  std::vector<int> threads{1};  ///< for backends that have the option
  /// Globs over OPERATOR/WORKLOAD, OPERATOR or WORKLOAD; none: all.
  std::vector<std::string> filters;
  std::vector<std::string> models;  ///< directories of models, each a row
  Effort effort;
  std::optional<int> judge_tier;  ///< 0 for properties and 1 for whole runs unless given
  /// Once it returns true, operators and graphs are no longer timed, and their rows say so.
  std::function<bool()> over = [] { return false; };
  /// Called with the next step of the run, in words.
  std::function<void(const std::string&)> announce = [](const std::string&) {};

  /// Whether the filters select a row.
  bool want(const std::string& op, const std::string& workload) const;
  /// Whether a filter does.
  static bool names(const std::string& filter, const std::string& op, const std::string& workload);
};

/// Why a row has no time once BenchmarkOptions::over() returned true.
inline constexpr const char* kOver = "not timed: the deadline has passed";

/// Called with each row as soon as it is known.
using Take = std::function<void(Measurement)>;

/// A backend, the instruction set and the number of threads with which it was opened.
struct Opened {
  std::string name, isa;
  int threads;
  Library library;
};
/// Opens the backends of a run in every wanted way.
/// @throws judge::UsageError if a backend does not exist or refuses its options.
std::vector<Opened> open_all(const BenchmarkOptions& wishes);

/// Checks and then times every chosen workload of every operator on every backend.
/// @throws judge::UsageError if a backend does not exist or refuses its options.
void run_operators(const BenchmarkOptions& wishes, const Take& take);

/// Times the machine's limits: every probe of its instruction sets, and memcpy within and beyond
/// its caches.
void run_limits(const BenchmarkOptions& wishes, const Take& take);

/// Times networks and parts of them as compiled graphs, beside the same calls one by one. Outputs
/// are compared with the digests on record where there are some, else with the reference's.
/// @throws judge::UsageError if a directory holds no model.
void run_graphs(const BenchmarkOptions& wishes, const Take& take);

/// Times references and views of arrays, and recycled memory beside fresh pages.
void run_arrays(const BenchmarkOptions& wishes, const Take& take);

/// Times the judge on each backend: cases per second of each property and of all, the cost of a
/// tiny call, and a whole run with its memory. It forks, so call it before any thread starts.
void run_judge(const BenchmarkOptions& wishes, const Take& take);

/// Times loading and saving a parameter file of 100 MB in 200 tensors, beside a transfer of as many
/// bytes by the system and a memcpy of them, and loading a model with as many parameters, beside
/// reading its file.
/// @throws std::runtime_error if the machine has no place for the file.
void run_params(const BenchmarkOptions& wishes, const Take& take);

}  // namespace lockstep::bench
