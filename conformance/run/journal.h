/// @file
/// A file of the results so far, with which an interrupted run goes on where it stopped.
#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep::judge {

/// A file of JSON lines: first the run's identity, then one line for each judged case, written as
/// soon as it is known. An incomplete last line, left by a killed process, is dropped.
class Journal {
 public:
  /// Begins a journal, or continues the journal of the same run.
  /// @param run the run's identity: everything on which a result depends.
  /// @throws UsageError if the file is another run's, in use, or no journal.
  Journal(const std::string& file, const nlohmann::ordered_json& run, std::size_t cases);
  Journal(const Journal&) = delete;
  ~Journal();

  /// The lines that the file already had, by the number of their case.
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
