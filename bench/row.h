/// @file
/// Results of a benchmark: rows, and three formats of them: a table for people, JSON for machines,
/// and a comparison with older results.
#pragma once
#include <string>
#include <vector>

#include "bench/measure.h"
#include "spec/op.h"

namespace lockstep::bench {

/// The time of a peer beside a row.
struct PeerTime {
  std::string name;                 ///< of the library and its data layout
  std::string implementation = {};  ///< the kernel it chose; empty if it has no choice
  std::string trouble = {};         ///< why it cannot be timed; else empty
  i64 different = 0, compared = 0;  ///< elements, against the reference's result
  Timing time = {};                 ///< none if there is trouble
  double ratio = 0;                 ///< of its time to ours; in JSON only
};

/// One thing that was timed.
struct Measurement {
  std::string op = {}, workload = {};  ///< for other work: judge, params, build
  std::string call = {};               ///< the case, or the command
  std::string backend = {}, path = {};
  int threads = 1;
  std::string unit = {};  ///< byte, mac, call, case or build
  i64 units = 1;          ///< of one call
  i64 compared = 0;       ///< elements found equal to the reference's before the call was timed
  i64 peak_bytes = 0;     ///< of all processes together, at most; 0: not measured
  Timing time = {};       ///< none if there is trouble
  std::vector<PeerTime> peers = {};
  std::string limit = {};    ///< what bounds the call; empty if nothing does
  double limit_ns = 0;       ///< the time in which the limit does the same work
  std::string trouble = {};  ///< why the call was not timed; else empty
  bool failed = false;       ///< whether that is a failure

  std::string id() const { return op + "/" + workload; }
  /// The name that identifies a row.
  std::string key() const;
  /// Whether anything about it makes the run fail.
  bool fails() const;
};

/// A run.
struct Results {
  std::string date, processor, compiler, peer_library;
  int processors = 0;
  double load = 0;  ///< of the machine when the run began; above 1, others were at work
  std::vector<Measurement> rows;

  /// Whether a row fails, or none was timed.
  bool fails() const;
};

/// The table: a title, a headline, and one or more lines for each row.
std::string table_title(const Results& results);
std::string table_head();
std::string table_row(const Measurement& row);

/// The results as JSON; results_schema() describes it.
std::string json_of(const Results& results);
std::string results_schema();
/// @throws std::logic_error naming what is missing or wrong.
Results results_of(const std::string& json);

/// How two runs differ.
struct Comparison {
  std::string text;
  bool passed = false;
};

/// Compares a run with an older one. If both have a limit of one name, it compares times as
/// multiples of the limit, so that another machine, or a slower hour of the same one, matters less;
/// without a limit it compares only runs on one kind of processor. A row got slower if its median
/// grew by more than `percent` and its fastest repetition is slower than the older median. Missing
/// rows and runs without a common row fail too.
Comparison compare(const Results& before, const Results& now, int percent);

}  // namespace lockstep::bench
