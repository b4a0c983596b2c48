/// @file
/// Bounds how many processes a backend and all that it starts may be, for root as for others: each
/// start of one waits until the program that keeps the backend lets it, or else this program counts
/// them again and again.
#pragma once
#include <sys/types.h>

#include <set>

namespace lockstep::judge {

/// The most processes that a keeper may have below it.
inline constexpr int kMostProcesses = 512;

/// From now on each process that this one or a descendant starts waits for its keeper. Without the
/// rights of a superuser this process renounces to gain rights by running a program.
/// @return the file by which the keeper lets them; -1: the system has no such means (Linux 5.5 has)
int ask_before_starting();

/// Sends a file over a socket, or that there is none (-1), and closes both.
void hand_over(int socket, int file);
/// Receives what hand_over() sent. @return the file; -1: none
int taken_over(int socket);

/// The keeper's side.
class Starts {
 public:
  /// @param backend the first process, which leads a group of its own
  /// @param file from ask_before_starting(); -1: nobody asks, so the processes must be counted
  Starts(pid_t backend, int file)
      : file_(file), pause_ms_(file < 0 ? kPauseMs : -1), backend_(backend), newest_(backend - 1) {}
  int file() const { return file_; }
  /// Lets the process that waits start another one. @return false if there are too many
  bool let();
  /// How long to wait, in milliseconds, before the processes are counted; -1: they need not be.
  int pause_ms() const { return pause_ms_; }
  /// Counts the processes. @return false if there are too many
  bool count();
  /// From now on no process can be started.
  void end();

 private:
  static constexpr int kPauseMs = 20;
  bool is_group_small(pid_t newest);

  int file_;
  int left_ = 0;  // starts until descendants must be counted again
  int pause_ms_;
  pid_t backend_;
  pid_t newest_;             // the last process that a count of the group has looked at
  std::set<pid_t> group_;    // the processes of the backend's group
  std::size_t largest_ = 0;  // size of that group
  bool all_found_ = false;   // whether the last count has found those of other groups, too
};

}  // namespace lockstep::judge
