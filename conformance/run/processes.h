/// @file
/// Processes of the judge's own, which send lines of JSON to this one.
#pragma once
#include <sys/types.h>

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep::judge {

/// Sends a line; for the body of a process, which ends if nobody reads it.
void send_line(int fd, const nlohmann::ordered_json& line);

/// Processes that work beside this one. Their destructor ends those that are left.
class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  ~Processes();

  /// Starts a process that runs `body`, which sends lines to the file `fd`. The process ends with
  /// this one, and leaves it to this one to act on an interrupt.
  void start(const std::function<void(int fd)>& body);
  /// Whether any process still runs its body.
  bool working() const;
  /// Hands over the lines that have arrived, after a wait of at most half a second. Once
  /// `interrupted` returns true, hands over no more: an interrupt may have caused them.
  /// @throws std::runtime_error if a process ended early, or with what its body threw.
  void receive(const std::function<bool()>& interrupted,
      const std::function<void(const std::string& line, const nlohmann::ordered_json&)>& take);

 private:
  struct Child {
    pid_t pid = 0;
    int fd = -1;
    bool done = false;
    std::string pending = {};  // text read so far, without an end of line
  };
  std::vector<std::string> lines_of(Child& c);

  std::vector<Child> children_;
};

}  // namespace lockstep::judge
