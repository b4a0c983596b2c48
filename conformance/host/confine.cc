#include "conformance/host/confine.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "conformance/host/heap.h"

namespace lockstep::judge {
namespace {

Arena* watched = nullptr;
rlim_t size_limit = 0;  // of data and stack, in bytes, as it was to be set

void note_fault(int number, siginfo_t* what, void*) {
  if (watched->let_through(static_cast<const char*>(what->si_addr))) {
    return;
  } else if (const auto beside = heap::near(static_cast<const char*>(what->si_addr))) {
    if (Reply* r = watched->reply())
      r->heap_fault = true, r->heap_bytes = beside->bytes, r->heap_at = beside->at;
  }
  signal(number, SIG_DFL);
  raise(number);  // a signal that another process sent would not come again
}

}  // namespace

void limit_data(u64 bytes) {
  if (bytes == 0) return;
  // The sixth number in this file is the size of data and stack, in pages.
  unsigned long long now = 0;
  if (FILE* sizes = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(sizes, "%*u %*u %*u %*u %*u %llu", &now) != 1) now = 0;
    std::fclose(sizes);
  }
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  const rlim_t most = now * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes;
  size_limit = std::min(most, limit.rlim_max);
  limit = {most, most};
  setrlimit(RLIMIT_DATA, &limit);
}

void renounce_rights(bool all) {
  if (all) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const auto keeps = [&](int right) {
    return all ? right <= CAP_FSETID : right != CAP_SYS_PTRACE && right != CAP_SYS_ADMIN;
  };
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (syscall(SYS_capget, &header, data) != 0) return;
  for (int right = 0; right <= CAP_LAST_CAP; ++right) {
    if (keeps(right)) continue;
    prctl(PR_CAPBSET_DROP, right, 0, 0, 0);
    __user_cap_data_struct& word = data[right / 32];
    const __u32 others = ~(1u << right % 32);
    word.effective &= others, word.permitted &= others, word.inheritable &= others;
  }
  syscall(SYS_capset, &header, data);
}

int filter_starts(unsigned action, unsigned flags) {
  constexpr __u32 kNumber = offsetof(seccomp_data, nr), kFlags = offsetof(seccomp_data, args);
  const auto load = [](__u32 from) { return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, from); };
  // Goes on with the next rule if the test holds, else skips `else_over` rules.
  const auto where = [](__u16 test, __u32 value, std::size_t else_over) {
    return sock_filter BPF_JUMP(BPF_JMP | test | BPF_K, value, 0, static_cast<__u8>(else_over));
  };
  const auto answer = [](__u32 what) { return sock_filter BPF_STMT(BPF_RET | BPF_K, what); };
  // The rules for programs whose calls have these numbers.
  const auto rules_of = [&](__u32 clone, __u32 fork, __u32 vfork) {
    return std::vector<sock_filter>{
        load(kNumber),
        // A program for x32 has the numbers of x86-64 and this bit.
        sock_filter BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~(1u << 30)),
        // A rule cannot see the flags of clone3. Without it, the C library starts threads by clone.
        where(BPF_JEQ, SYS_clone3, 1),
        answer(SECCOMP_RET_ERRNO | ENOSYS),
        where(BPF_JEQ, clone, 4),
        load(kFlags),
        where(BPF_JSET, CLONE_THREAD, 1),
        answer(SECCOMP_RET_ALLOW),
        answer(action),
        where(BPF_JEQ, fork, 1),
        answer(action),
        where(BPF_JEQ, vfork, 1),
        answer(action),
        answer(SECCOMP_RET_ALLOW),
    };
  };
#ifdef SYS_fork
  const std::vector<sock_filter> native = rules_of(SYS_clone, SYS_fork, SYS_vfork);
#else
  const std::vector<sock_filter> native = rules_of(SYS_clone, SYS_clone, SYS_clone);
#endif
  // Programs of 32 bits, for x86 and Arm alike, have other numbers for the same calls, and a
  // process can use those, too.
  const std::vector<sock_filter> narrow = rules_of(120, 2, 190);
  std::vector<sock_filter> rules = {
      load(offsetof(seccomp_data, arch)), where(BPF_JSET, __AUDIT_ARCH_64BIT, native.size())};
  rules.insert(rules.end(), native.begin(), native.end());
  rules.insert(rules.end(), narrow.begin(), narrow.end());
  sock_fprog program{static_cast<unsigned short>(rules.size()), rules.data()};
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

void forbid_processes() { filter_starts(SECCOMP_RET_KILL_PROCESS, SECCOMP_FILTER_FLAG_TSYNC); }

std::string beginning_of_process() {
  std::size_t variables = 0;
  while (environ[variables]) ++variables;
  const std::filesystem::directory_iterator files("/proc/self/fd");
  int signal_number = 0, blocked = 0;
  prctl(PR_GET_PDEATHSIG, &signal_number);
  sigset_t signals;
  sigprocmask(SIG_SETMASK, nullptr, &signals);
  for (int s = 1; s < NSIG; ++s) blocked += sigismember(&signals, s);
  return "variables " + std::to_string(variables) + ", files " +
      std::to_string(std::distance(begin(files), end(files)) - 1) + ", end by " +
      std::to_string(signal_number) + ", signals blocked " + std::to_string(blocked);
}

std::string bounds_of_process(u64 memory) {
  // Rights to read and write files, which renounce_rights() leaves.
  constexpr unsigned long long kFiles = (1u << (CAP_FSETID + 1)) - 1;
  rlimit core{}, data{};
  getrlimit(RLIMIT_CORE, &core);
  getrlimit(RLIMIT_DATA, &data);
  std::string text = "core " + std::to_string(core.rlim_max) + ", memory " +
      (memory == 0 || data.rlim_max == size_limit ? std::to_string(memory) : "another") +
      ", group " + (getpgrp() == getpid() ? "own" : "of others") + ", its keeper's " +
      (getpgid(getppid()) == getppid() ? "own" : "of others");
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    char name[16];
    unsigned long long value = 0;
    if (std::sscanf(line.c_str(), "Cap%7[EP]%*[a-z]: %llx", name, &value) == 2)
      text += ", rights " + std::to_string(value & ~kFiles);
    else if (std::sscanf(line.c_str(), "NoNewPriv%c: %llu", name, &value) == 2)
      text += ", no new ones " + std::to_string(value);
    else if (std::sscanf(line.c_str(), "Seccom%c: %llu", name, &value) == 2)
      text += ", filter " + std::to_string(value);
  }
  return text;
}

void watch_faults(Arena& arena) {
  watched = &arena;
  static char stack[64 * 1024];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = note_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int s : {SIGSEGV, SIGBUS}) sigaction(s, &action, nullptr);
}

}  // namespace lockstep::judge
