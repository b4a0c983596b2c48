/// @file
/// Child processes: waiting with a limit, and saying how one ended.
#pragma once
#include <sys/types.h>

#include <string>

namespace lockstep::judge {

/// Waits for a byte to read. @return whether there is one, or an end, within the limit.
bool readable_within(int fd, double seconds);

/// Kills a process and its group, if it has one of its own, and reaps it.
/// @return how it ended, in words: "exited with status 3", "was killed by SIGSEGV".
std::string end_process(pid_t pid);

/// The same for a process that has closed its end already: gives it a moment to end by itself.
std::string reap_process(pid_t pid);

}  // namespace lockstep::judge
