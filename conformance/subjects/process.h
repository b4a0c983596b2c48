/// @file
/// Child processes: waiting with a limit, and saying how one ended.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::judge {

/// Bytes of so many GiB.
inline std::uint64_t bytes_of_gib(double gib) {
  return static_cast<std::uint64_t>(gib * (std::uint64_t{1} << 30));
}

/// Limits the memory of this process to what it has and so many bytes more; 0: no limit. Beyond it
/// allocations fail: whoever shares the machine with the process does not pay for its mistakes.
void limit_data(std::uint64_t bytes);

/// Waits for a byte to read. @return whether there is one, or an end, within the limit.
bool readable_within(int fd, double seconds);

/// Waits for a byte without going to sleep, and gives up after a moment. To wake a sleeping process
/// takes longer than most calls do; meanwhile the processor is offered to others.
void await_soon(int fd);

/// Kills a process and its group, if it has one of its own, and reaps it.
/// @return how it ended, in words: "exited with status 3", "was killed by SIGSEGV".
/// @throws std::logic_error for 1 and less, which would mean every process there is.
std::string end_process(pid_t pid);

/// The same for a process that has closed its end already: gives it a moment to end by itself.
/// Where somebody else has ended it, this process gets a moment to be ended as well.
std::string reap_process(pid_t pid);

/// Runs a command, in a process group of its own, for at most so many seconds. What it prints is
/// left in a file, without what the command before left there. Every child of this process ends
/// with it: what the command started and left behind is one of them.
/// @return nothing if it ended with status 0, else in words how it ended.
/// @throws std::runtime_error if there can be no process.
std::optional<std::string> run_logged(const std::vector<std::string>& command, double seconds,
                                      const std::string& log);

}  // namespace lockstep::judge
