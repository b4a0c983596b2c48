/// @file
/// The directory of a search for failures: its progress and its findings.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "conformance/reports/report.h"

namespace lockstep::judge {

/// The target of a search. A directory belongs to one target.
struct FuzzTarget {
  std::string backend;
  std::map<std::string, std::string> set;  ///< options of the backend
  std::vector<std::string> operators, properties;
  u64 seed = 1;
};

/// A failure that was shrunk and saved.
struct FuzzFinding {
  std::string op, property;
  std::string id, text;  ///< the smallest case found, and its finding
  std::string found;     ///< the case it began with
  std::string backend;   ///< name and version
  std::string manifest_hash, repeat;
};

/// What a search has done so far.
struct FuzzProgress {
  FuzzTarget target;
  i64 next = 0;                            ///< the number of the next call
  i64 executed = 0;                        ///< of the calls before it
  std::vector<std::string> findings = {};  ///< their files, in order
  std::map<std::string, i64> tried = {};   ///< how often, by operator and property
};

/// The directory of a search. Each change is written to disk before the next one.
class FuzzState {
 public:
  /// Continues the search of a directory, or begins one there.
  /// @throws UsageError if the directory belongs to another search or holds other files.
  FuzzState(std::string directory, FuzzTarget target);

  const FuzzProgress& progress() const { return progress_; }

  /// Whether a failure of this kind is still worth shrinking: only the first few of a kind are.
  bool wanted(const std::string& op, const std::string& property) const;
  /// Saves a failure. @return its file; empty if the same failure was found before
  std::string save(const FuzzFinding& f);
  /// Notes that more calls are done.
  void advance(i64 calls, i64 executed);

 private:
  void read();
  void write() const;

  std::string directory_;
  FuzzProgress progress_;
};

/// A saved finding.
/// @throws UsageError naming the file and what is wrong with it.
FuzzFinding read_finding(const std::string& file);

}  // namespace lockstep::judge
