/// @file
/// Bounds how many processes a backend and all that it starts may be, for root as for others: each
/// start of one waits until the program that keeps the backend lets it.
#pragma once
#include <sys/types.h>

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
  /// @param file from ask_before_starting(); -1: nobody asks
  explicit Starts(int file) : file_(file) {}
  int file() const { return file_; }
  /// Lets the process that waits start another one. @return false if there are too many
  bool let();
  /// From now on no process can be started.
  void end();

 private:
  int file_;
  int left_ = 0;  // starts until descendants must be counted again
};

}  // namespace lockstep::judge
