#include "conformance/subjects/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace lockstep::judge {
namespace {

std::string ending(int status) {
  if (WIFEXITED(status)) return "exited with status " + std::to_string(WEXITSTATUS(status));
  const char* name = sigabbrev_np(WTERMSIG(status));
  return "was killed by SIG" + std::string(name ? name : std::to_string(WTERMSIG(status)).c_str());
}

// Whether a process, or a shell's child, ended by a signal with which other programs end processes.
// A scheduler that ends a whole job may reach the backend before the judge.
bool ended_by_others(int status) {
  const int s = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;
  return s == SIGKILL || s == SIGTERM || s == SIGINT || s == SIGHUP;
}

// The time in which such a signal reaches the judge as well; otherwise the backend died by itself.
constexpr std::chrono::milliseconds kReach{500};

// Most calls take less than this, judgement included.
constexpr std::chrono::microseconds kMoment{300};

// Another program took the processor if this passed meanwhile; the next waits sleep at once.
constexpr std::chrono::microseconds kSlice{1500};
constexpr int kSleeps = 5000;

// More than any correct output, and a limit for a program that would fill the disk.
constexpr rlim_t kLogBytes = rlim_t{1} << 30;

// Runs between fork and exec, so it must not take a lock.
[[noreturn]] void become(char* const* argv, const char* log) {
  setpgid(0, 0);
  const int in = open("/dev/null", O_RDONLY);
  const int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const rlimit limit{kLogBytes, kLogBytes};
  if (in >= 0 && out >= 0 && setrlimit(RLIMIT_FSIZE, &limit) == 0 && dup2(in, 0) == 0 &&
      dup2(out, 1) == 1 && dup2(out, 2) == 2)
    execvp(argv[0], argv);
  _exit(127);
}

// Ends the children of this process, and theirs, which it inherits when their parents end.
void end_descendants() {
  for (bool found = true; found;) {
    found = false;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream children(task.path() / "children");
      for (pid_t pid; children >> pid; found = true) end_process(pid);
    }
  }
}

}  // namespace

void limit_data(std::uint64_t bytes) {
  if (bytes == 0) return;
  // The sixth number in this file is the size of data and stack, in pages.
  unsigned long long now = 0;
  if (FILE* sizes = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(sizes, "%*u %*u %*u %*u %*u %llu", &now) != 1) now = 0;
    std::fclose(sizes);
  }
  const rlim_t most = now * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_DATA, &limit);
}

bool readable_within(int fd, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd p{fd, POLLIN, 0};
    const int n = poll(&p, 1, left > 0 ? static_cast<int>(left) : 0);
    if (n > 0) return true;
    if (n == 0 || errno != EINTR) return false;
  }
}

void await_soon(int fd) {
  using Clock = std::chrono::steady_clock;
  // On a busy machine other programs take what is yielded, and who sleeps is woken sooner.
  static int busy = 0;
  if (busy > 0) {
    --busy;
    return;
  }
  const auto begin = Clock::now();
  char byte;
  while (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN) {
    if (const auto waited = Clock::now() - begin; waited > kMoment) {
      busy = waited > kSlice ? kSleeps : 0;
      return;
    }
    sched_yield();
  }
}

std::string end_process(pid_t pid) {
  if (pid <= 1) throw std::logic_error("process numbers below 2 are not ended");
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return ending(status);
}

std::string reap_process(pid_t pid) {
  for (int tries = 0; tries < 200; ++tries) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) {
      kill(-pid, SIGKILL);
      if (ended_by_others(status)) std::this_thread::sleep_for(kReach);
      return ending(status);
    }
    usleep(1000);
  }
  return end_process(pid);
}

std::optional<std::string> run_logged(
    const std::vector<std::string>& command, double seconds, const std::string& log) {
  using Clock = std::chrono::steady_clock;
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no process for '" + command[0] + "'");
  if (pid == 0) become(argv.data(), log.c_str());
  setpgid(pid, pid);
  for (;;) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) {
      end_descendants();
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
      return ending(status);
    }
    if (Clock::now() > end) {
      end_descendants();
      return fmt::format("took more than {:.0f} s", seconds);
    }
    usleep(2000);
  }
}

}  // namespace lockstep::judge
