#include "conformance/subjects/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "runtime/backends.h"

namespace lockstep::judge {
namespace {

std::string ending(int status) {
  if (WIFEXITED(status)) return "exited with status " + std::to_string(WEXITSTATUS(status));
  const char* name = sigabbrev_np(WTERMSIG(status));
  return "was killed by SIG" + std::string(name ? name : std::to_string(WTERMSIG(status)).c_str());
}

// The same of a host. The kernel ends one by SIGSYS that starts a process although it must not, and
// a host itself ends so if its backend starts too many.
std::string ending_of_host(int status) {
  const bool started = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
  return ending(status) + (started ? ", because it started a process too many" : "");
}

// Whether a process, or a shell's child, ended by a signal with which other programs end processes.
// A scheduler that ends a whole job may reach the backend before the judge.
bool ended_by_others(int status) {
  const int s = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;
  return s == SIGKILL || s == SIGTERM || s == SIGINT || s == SIGHUP;
}

// The time within which a host ends what its backend started.
constexpr int kEndingMs = 5000;

bool ends_within(int ms, pid_t pid, int& status) {
  for (; ms > 0; --ms, usleep(1000))
    if (waitpid(pid, &status, WNOHANG) == pid) return true;
  return false;
}

// More than any correct output, and a limit for a program that would fill the disk.
constexpr rlim_t kLogBytes = rlim_t{1} << 30;

// Runs between fork and exec, so it must not take a lock.
[[noreturn]] void become(char* const* argv, const char* log) {
  setpgid(0, 0);
  const int in = open("/dev/null", O_RDONLY);
  const int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = std::min(kLogBytes, limit.rlim_max);
  if (in >= 0 && out >= 0 && setrlimit(RLIMIT_FSIZE, &limit) == 0 && dup2(in, 0) == 0 &&
      dup2(out, 1) == 1 && dup2(out, 2) == 2)
    execvp(argv[0], argv);
  _exit(127);
}

std::vector<pid_t> children() {
  std::vector<pid_t> all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t pid; list >> pid;) all.push_back(pid);
  }
  return all;
}

// Children that are no orphans: those that this process started, or had before it started a host.
std::set<pid_t> own_children;

// Ends the children of this process, except `but`, and theirs, which it inherits when their parents
// end. @return whether there were any
bool end_descendants(const std::set<pid_t>& but = {}) {
  bool any = false;
  for (bool found = true; found; any = any || found) {
    found = false;
    for (const pid_t pid : children())
      if (!but.contains(pid)) end_process(pid), found = true;
  }
  return any;
}

}  // namespace

void note_child(pid_t pid) { own_children.insert(pid); }

bool end_orphans() { return end_descendants(own_children); }

bool readable_within(int fd, double seconds, const Interruption& interrupted) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    give_up_if(interrupted);
    const std::int64_t left =
        std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd p{fd, POLLIN, 0};
    const int n = poll(&p, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, kInterruptionMs)));
    if (n > 0) return true;
    if (n == 0 ? left <= kInterruptionMs : errno != EINTR) return false;
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

pid_t start_host(const std::vector<std::string>& words, const std::vector<int>& files,
    const std::vector<std::string>& environment) {
  const std::string program = runtime::backend_directory() + "/backend-host";
  const std::string self = std::to_string(getpid());
  const auto pointers = [](const std::vector<std::string>& texts, std::vector<char*> all) {
    for (const std::string& t : texts) all.push_back(const_cast<char*>(t.c_str()));
    all.push_back(nullptr);
    return all;
  };
  const std::vector<char*> argv =
      pointers(words, {const_cast<char*>(program.c_str()), const_cast<char*>(self.c_str())});
  const std::vector<char*> env = pointers(environment, {});
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Copies first, because a file may have the number that another one is to get.
  std::vector<int> copies;
  for (std::size_t k = 0; k < files.size(); ++k) {
    const int to = static_cast<int>(k);
    if (files[k] < 0) {
      posix_spawn_file_actions_addopen(&actions, to, "/dev/null", O_RDWR, 0);
    } else {
      copies.push_back(fcntl(files[k], F_DUPFD_CLOEXEC, static_cast<int>(files.size())));
      posix_spawn_file_actions_adddup2(&actions, copies.back(), to);
    }
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, static_cast<int>(files.size()));
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  static std::once_flag once;
  std::call_once(once, [] {
    for (const pid_t pid : children()) note_child(pid);
  });
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), env.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  for (int copy : copies) close(copy);
  if (error != 0) throw std::runtime_error("cannot start '" + program + "': " + strerror(error));
  note_child(pid);
  return pid;
}

std::string end_host(pid_t pid) {
  kill(pid, SIGTERM);
  kill(pid, SIGCONT);  // its backend may have stopped it
  int status = 0;
  std::string how = ends_within(kEndingMs, pid, status) ? ending_of_host(status) : end_process(pid);
  if (end_orphans()) how += ", which left others to be ended";
  return how;
}

std::string reap_host(pid_t pid, std::chrono::milliseconds& reach) {
  int status = 0;
  if (!ends_within(200, pid, status)) return end_host(pid);
  end_orphans();
  if (ended_by_others(status)) {
    std::this_thread::sleep_for(reach);
    reach /= 2;
  }
  return ending_of_host(status);
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
