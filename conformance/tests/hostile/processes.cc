/// @file
/// What a process does while it loads the library. Variables of the environment choose it: if
/// HOSTILE_DESERTS names a file, each process ends the one that holds it, and hangs with
/// HOSTILE_HANGS; if HOSTILE_ONCE names a file, only the first HOSTILE_LOADS processes (1) survive;
/// HOSTILE_COUNTS names a file in which processes are counted, for the fault `sometimes`, for
/// HOSTILE_INFERS, which is how many of the first offer infer(), and for HOSTILE_DIES, which is how
/// many after the first do not survive; if HOSTILE_LEAVES names a file, each process leaves another
/// one behind, in a session of its own, and adds its number to the file; with HOSTILE_STARTS each
/// process starts that many others. HOSTILE_WAY is how the fault `starts` starts one later: by the
/// call of the kernel of this name, by fork() as programs for `x32` and for `x86` make it, or in a
/// `thread` that began before.
#include "conformance/tests/hostile/processes.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

namespace lockstep::backend {

bool is_every_second = false, is_first = false, offers_infer = true;

namespace {

int others_files = 0;

__attribute__((constructor)) void count_files() {
  constexpr int kFirst = 4, kMost = 64;
  for (int fd = kFirst; fd < kMost; ++fd) others_files += fcntl(fd, F_GETFD) >= 0;
}

// A thread of before the library is opened starts a process when it is wanted to.
std::atomic<bool> is_wanted = false, is_started = false;

__attribute__((constructor)) void begin_thread() {
  const char* way = std::getenv("HOSTILE_WAY");
  if (!way || std::string_view(way) != "thread") return;
  std::thread([] {
    while (!is_wanted) usleep(1000);
    if (fork() == 0) _exit(0);
    is_started = true;
  }).detach();
}

bool start_in_thread() {
  is_wanted = true;
  while (!is_started) usleep(1000);
  return true;
}

// What a call of the kernel that starts a process returns, which is 0 in that process.
bool started(long child) {
  if (child == 0) _exit(0);
  return child > 0;
}

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
  const auto number = std::filesystem::file_size(file);
  is_every_second = number % 2 == 0;
  is_first = number == 1;
  const char* die = std::getenv("HOSTILE_DIES");
  if (die && number > 1 && number <= 1 + std::strtoull(die, nullptr, 10)) std::exit(0);
  if (const char* some = std::getenv("HOSTILE_INFERS"))
    offers_infer = number <= std::strtoull(some, nullptr, 10);
}

}  // namespace

bool has_files_of_others() { return others_files > 0; }

bool start_process() {
  const std::string_view way = std::getenv("HOSTILE_WAY");
  if (way == "thread") return start_in_thread();
  if (way == "clone") return started(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (way == "clone3") {
    clone_args how{};
    how.exit_signal = SIGCHLD;
    return started(syscall(SYS_clone3, &how, sizeof how));
  }
#ifdef SYS_fork
  constexpr long kX32 = 1 << 30;
  if (way == "fork") return started(syscall(SYS_fork));
  if (way == "vfork") return started(vfork());
  if (way == "x32") return started(syscall(kX32 + SYS_fork));
  if (way == "x86") {
    long child = 2;  // the number of fork() there
    asm volatile("int $0x80" : "+a"(child) : : "memory");
    return started(child);
  }
#endif
  return false;
}

}  // namespace lockstep::backend
