/// @file
/// What a process does while it loads the library. Variables of the environment choose it: if
/// HOSTILE_DESERTS names a file, each process ends the one that holds it, and hangs with
/// HOSTILE_HANGS; if HOSTILE_ONCE names a file, only the first HOSTILE_LOADS processes (1) survive;
/// HOSTILE_COUNTS names a file in which processes are counted for the fault `sometimes`; if
/// HOSTILE_LEAVES names a file, each process leaves another one behind, in a session of its own,
/// and adds its number to the file; with HOSTILE_STARTS each process starts that many others.
#include "conformance/tests/hostile/processes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace lockstep::backend {

bool is_every_second = false;

namespace {

__attribute__((constructor)) void load_once() {
  const char* file = std::getenv("HOSTILE_ONCE");
  if (!file) return;
  const char* loads = std::getenv("HOSTILE_LOADS");
  const int times = open(file, O_CREAT | O_APPEND | O_WRONLY, S_IRUSR | S_IWUSR);
  if (write(times, ".", 1) != 1 || lseek(times, 0, SEEK_END) > (loads ? std::atoi(loads) : 1))
    std::exit(0);
  close(times);
}

__attribute__((constructor)) void leave_process() {
  const char* file = std::getenv("HOSTILE_LEAVES");
  if (!file || fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  std::ofstream(file, std::ios::app) << getpid() << "\n";
  for (;;) pause();
}

__attribute__((constructor)) void start_many() {
  const char* number = std::getenv("HOSTILE_STARTS");
  for (int k = 0; number && k < std::atoi(number); ++k)
    if (fork() == 0)
      for (;;) pause();
}

// Ends the process that holds this library, and outlives the judge unless the judge ends it.
__attribute__((constructor)) void desert() {
  const char* file = std::getenv("HOSTILE_DESERTS");
  if (!file) return;
  std::ofstream(file, std::ios::app) << getpid() << "\n";
  prctl(PR_SET_PDEATHSIG, 0);
  kill(getppid(), SIGKILL);
  if (std::getenv("HOSTILE_HANGS")) pause();
}

__attribute__((constructor)) void count_process() {
  const char* file = std::getenv("HOSTILE_COUNTS");
  if (!file) return;
  std::ofstream(file, std::ios::app).put('x');
  is_every_second = std::filesystem::file_size(file) % 2 == 0;
}

}  // namespace
}  // namespace lockstep::backend
