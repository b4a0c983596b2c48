/// @file
/// What a run has found so far, in a file: an interrupted run goes on where it stopped.
#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep::judge {

/// A file of JSON lines: what the run is, then a line for each judged case, written as soon as it
/// is known. What a killed process left of a line is dropped.
class Journal {
 public:
  /// Begins a journal, or goes on with one of the same run.
  /// @param run everything that decides a result, member by member.
  /// @throws UsageError if the file is another run's, in use, or no journal.
  Journal(const std::string& file, const nlohmann::ordered_json& run, std::size_t cases);
  Journal(const Journal&) = delete;
  ~Journal();

  /// The lines that were there, by the number of their case.
  const std::map<std::size_t, std::string>& known() const { return known_; }
  /// Adds the line of a case, without its end.
  void add(const std::string& line);

 private:
  void begin(const nlohmann::ordered_json& run);
  void go_on(const std::string& text, const nlohmann::ordered_json& run, std::size_t cases);
  [[noreturn]] void refuse(const std::string& why) const;

  std::string file_;
  int fd_ = -1;
  std::map<std::size_t, std::string> known_;
};

}  // namespace lockstep::judge
