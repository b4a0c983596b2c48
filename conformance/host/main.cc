// The program backend-host: runs a backend, a library or a command, for the process that started
// it, and ends whatever the backend started. A backend shares no memory but the channel with a
// judge, and none of its files.
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "conformance/host/confine.h"
#include "conformance/host/starts.h"
#include "conformance/host/worker.h"
#include "containers/instrumented.h"

#ifdef LOCKSTEP_MEMORY_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace lockstep::judge {
namespace {

constexpr int kFailed = 126;

void usage() {
  std::fputs(
      "usage: backend-host PARENT library BYTES FILE [NAME=VALUE...] [-- NAME=VALUE...]...\n"
      "       backend-host PARENT command BYTES COMMAND\n"
      "Programs start it; PARENT is the starting process. BYTES limits the memory; 0: no limit.\n",
      stderr);
}

[[noreturn]] void run_library(u64 memory, char** words) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  renounce_rights(true);
  Work work{*words, {{}}, memory};
  while (*++words) {
    if (std::strcmp(*words, "--") == 0) {
      work.configs.emplace_back();
    } else {
      const std::string option = *words;
      const std::size_t name = option.find('=');
      work.configs.back()[option.substr(0, name)] = option.substr(name + 1);
    }
  }
  serve(work);
}

[[noreturn]] void run_command(u64 memory, const char* command) {
  renounce_rights(false);
  signal(SIGPIPE, SIG_DFL);
  if (const rlimit data{memory, memory}; memory > 0) setrlimit(RLIMIT_DATA, &data);
  execl("/bin/sh", "sh", "-c", command, nullptr);
  _exit(kFailed);
}

// Kills all children, and theirs, which this process inherits as their parents end.
void end_descendants(pid_t backend) {
  for (bool found = true; found;) {
    found = false;
    std::set<pid_t> groups;
    std::ifstream children("/proc/thread-self/children");
    for (pid_t pid; children >> pid; found = true) {
      kill(pid, SIGKILL);
      const pid_t group = getpgid(pid);
      if (group == pid || group == backend) groups.insert(group);
    }
    // The kernel ends a group as a whole, so that none of it starts another process meanwhile.
    for (const pid_t group : groups) kill(-group, SIGKILL);
    if (found) waitpid(-1, nullptr, 0);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
}

// Ends this process by a signal.
[[noreturn]] void die(int signal_number) {
  sigset_t none;
  sigemptyset(&none);
  prctl(PR_SET_DUMPABLE, 0);  // the core that matters is the backend's
  signal(signal_number, SIG_DFL);
  raise(signal_number);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  _exit(kFailed);
}

// Ends in the same way as the backend's process if that has ended.
void reap(pid_t backend, Starts& starts) {
  int status = 0;
  for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended != backend) continue;
    starts.end();
    end_descendants(backend);
    if (WIFSIGNALED(status)) die(WTERMSIG(status));
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : kFailed);
  }
}

// Waits for the backend's process, and lets what it starts go on as long as that is not too much.
[[noreturn]] void keep(pid_t backend, const sigset_t& signals, Starts starts) {
  // Among too many processes, this one must get the time to count them. A superuser has the right.
  if (starts.pause_ms() >= 0) setpriority(PRIO_PROCESS, 0, -20);
  const int arrived = signalfd(-1, &signals, SFD_CLOEXEC);
  for (;;) {
    pollfd files[] = {{arrived, POLLIN, 0}, {starts.file(), POLLIN, 0}};
    poll(files, std::size(files), starts.pause_ms());
    const bool asked = files[1].revents & POLLIN, counts = starts.pause_ms() >= 0;
    if ((asked && !starts.let()) || (counts && !starts.count())) {
      kill(-backend, SIGKILL);  // at once, since a crowd grows
      starts.end();
      end_descendants(backend);
      die(SIGSYS);
    }
    if (files[1].revents && !asked) starts.end();  // nobody is left to ask
    signalfd_siginfo signal{};
    if (!(files[0].revents & POLLIN) || read(arrived, &signal, sizeof signal) != sizeof signal)
      continue;
    if (signal.ssi_signo == SIGTERM) {
      starts.end();
      end_descendants(backend);
      die(SIGTERM);
    }
    reap(backend, starts);
  }
}

// Closes every file but the one on which starts of processes wait for permission. An open copy of a
// pipe would hide that the backend has ended.
int keep_one_file(int file) {
  if (file > 0) dup2(file, 0);
  close_range(file < 0 ? 0 : 1, ~0U, 0);
  return file < 0 ? -1 : 0;
}

}  // namespace
}  // namespace lockstep::judge

#ifdef LOCKSTEP_MEMORY_SANITIZER
// A judged process may not start another one, as the leak check at its end does, nor keep all freed
// memory, since its memory is limited.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "detect_leaks=0:quarantine_size_mb=16";
}
#endif

int main(int argc, char** argv) {
  using namespace lockstep::judge;
  const bool library = argc > 4 && std::strcmp(argv[2], "library") == 0;
  if (!library && (argc != 5 || std::strcmp(argv[2], "command") != 0)) {
    usage();
    return kFailed;
  }
  sigset_t signals, none;
  sigemptyset(&none);
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGCHLD);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != std::atoi(argv[1])) return kFailed;  // its parent ended before the line above
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return kFailed;
  const pid_t keeper = getpid(), backend = fork();
  if (backend < 0) return kFailed;
  if (backend > 0) {
    close(ends[1]);
    keep(backend, signals, Starts(backend, keep_one_file(taken_over(ends[0]))));
  }
  close(ends[0]);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) return kFailed;
  setpgid(0, 0);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // A signal that arrives while a start waits can make it fail, which a shell takes for an error.
  // The processes of a command are counted instead.
  hand_over(ends[1], library ? ask_before_starting() : -1);
  const lockstep::u64 memory = std::strtoull(argv[3], nullptr, 10);
  if (library) run_library(memory, argv + 4);
  run_command(memory, argv[4]);
}
