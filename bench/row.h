/// @file
/// Results of a benchmark: rows, their means, and formats of them: a table for people, the same in
/// Markdown, JSON for machines, and a comparison with older results.
#pragma once
#include <string>
#include <vector>

#include "bench/measure.h"
#include "spec/op.h"

namespace lockstep::bench {

/// The time of a peer beside a row.
struct PeerTime {
  std::string name;                 ///< of the library
  std::string layout = {};          ///< of its tensors; empty if it has no choice
  std::string implementation = {};  ///< the kernel it chose; empty if it has no choice
  std::string trouble = {};         ///< why it cannot be timed; else empty
  i64 different = 0, compared = 0;  ///< elements, against the reference's result
  Timing time = {};                 ///< none if there is trouble
  double ratio = 0;                 ///< of its time to ours; in JSON only

  std::string title() const { return layout.empty() ? name : name + " " + layout; }
};

/// What the calls of an operator take in a graph that runs call by call.
struct OperatorTime {
  std::string op;
  double ns = 0;
};

/// One thing that was timed.
struct Measurement {
  std::string op = {}, workload = {};  ///< for other work: judge, params, build
  std::string family = {};             ///< of the operator, or `layouts`
  std::string call = {};               ///< the case, or the command
  std::string backend = {};
  std::string isa = {};   ///< the instruction set that was asked for; empty: the backend's choice
  std::string path = {};  ///< the kernel that ran
  int threads = 1;
  std::string unit = {};  ///< byte, mac, call, case or build
  i64 units = 1;          ///< of one call
  i64 bytes = 0;          ///< that one call of an operator reads or writes, at least
  i64 compared = 0;       ///< elements found equal to the reference's before the call was timed
  i64 peak_bytes = 0;     ///< of all processes together, at most; 0: not measured
  i64 scratch_bytes = 0;  ///< that a compiled graph needs beside inputs, outputs and constants
  Timing time = {};       ///< none if there is trouble
  std::vector<PeerTime> peers = {};
  std::vector<OperatorTime> operators = {};  ///< of a graph, the slowest first
  std::string limit = {};                    ///< what bounds the call; empty if nothing does
  double limit_ns = 0;                       ///< the time in which the limit does the same work
  std::string trouble = {};                  ///< why the call was not timed; else empty
  bool failed = false;                       ///< whether that is a failure

  std::string id() const { return op + "/" + workload; }
  /// The name that identifies a row.
  std::string key() const;
  /// Whether anything about it makes the run fail.
  bool fails() const;
};

/// The geometric mean of what a family's rows were compared with.
struct Mean {
  std::string family, backend, isa;
  int threads = 1;
  std::string against;  ///< a peer, the fastest of the exact ones, or `limit`
  int rows = 0;
  double ratio = 0;  ///< of its time to ours: above 1, ours is faster
};

/// A run.
struct Results {
  std::string date, processor, compiler, peer_libraries;
  int processors = 0;
  double load = 0;  ///< of the machine when the run began; above 1, others were at work
  std::vector<Measurement> rows;
  std::vector<Mean> means = {};  ///< in JSON only

  /// Whether a row fails, or none was timed.
  bool fails() const;
};

/// The means of all timed rows that belong to a family, by family. A peer that is also the limit
/// counts once.
std::vector<Mean> means_of(const std::vector<Measurement>& rows);

/// The table: a title, a headline, one or more lines for each row, and the means.
std::string table_title(const Results& results);
std::string table_head();
std::string table_row(const Measurement& row);
std::string table_means(const std::vector<Mean>& means);

/// Numbers as people read them: `1.23 ms`, `116 MMAC` or `6.4 MB`, a speed, and a part in percent.
std::string time_text(double ns);
std::string work_text(const std::string& unit, i64 units);
std::string rate_text(const Measurement& row);
std::string percent_text(double part);

/// The results as tables in Markdown: the means, and the rows of networks, graphs and operators.
std::string markdown_of(const Results& results);

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
