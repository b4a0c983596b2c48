/// @file
/// Child processes: waiting with a time limit, ending them, and describing how they ended.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/base/interrupted.h"

namespace lockstep::judge {

/// Converts GiB to bytes.
inline std::uint64_t bytes_of_gib(double gib) {
  return static_cast<std::uint64_t>(gib * (std::uint64_t{1} << 30));
}

/// Waits for a byte to read. @return whether a byte or the end of file came within the limit
/// @throws Interrupted
bool readable_within(int fd, double seconds, const Interruption& interrupted);
/// The longest delay, in milliseconds, until a wait is interrupted.
inline constexpr std::int64_t kInterruptionMs = 100;

/// Starts the program `backend-host` in a process group of its own. The host ends with this
/// process, which inherits the processes that it leaves behind.
/// @param words its arguments after the first, which is this process
/// @param files become its files 0, 1, ...; -1: none, and what is written there is discarded
/// @throws std::runtime_error if it cannot be started.
pid_t start_host(const std::vector<std::string>& words, const std::vector<int>& files,
    const std::vector<std::string>& environment);

/// Ends a host, and all processes that its backend started. @return how the host ended, in words,
/// and whether it has not ended the others itself
std::string end_host(pid_t pid);

/// The same for a host that has closed its end: gives it a moment to end by itself. If it ended by
/// a signal with which other programs end processes, waits for `reach`, in which such a signal
/// reaches this process as well, and halves `reach`: the more of them do not reach it, the likelier
/// it is that the backend sends them itself.
std::string reap_host(pid_t pid, std::chrono::milliseconds& reach);
inline constexpr std::chrono::milliseconds kReach{500};

/// Kills a process and its group, if it has one of its own, and reaps it.
/// @return how it ended, in words: "exited with status 3", "was killed by SIGSEGV".
/// @throws std::logic_error for 1 and less, which would mean every process there is.
std::string end_process(pid_t pid);

/// Notes that this process has started another one, which is therefore no orphan.
void note_child(pid_t pid);

/// Ends the processes that this one inherited because a backend ended the program that held it.
/// @return whether there were any
bool end_orphans();

/// Runs a command in a process group of its own for at most `seconds`, and overwrites the file
/// `log` with its output. All children of this process end with the command, also those that the
/// command started and left behind.
/// @return nothing if it ended with status 0, else a description of its end.
/// @throws std::runtime_error if no process can be started.
std::optional<std::string> run_logged(
    const std::vector<std::string>& command, double seconds, const std::string& log);

}  // namespace lockstep::judge
