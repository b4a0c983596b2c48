#include "conformance/host/plant.h"

#include <malloc.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <thread>

namespace lockstep::judge {
namespace {

void change(char* at, i32 bits = 1) {
  auto* element = reinterpret_cast<volatile i32*>(at);
  *element = *element ^ bits;
}

// Writes at a place beside two blocks, which the heap guards, or to them when they are freed. The
// compiler must neither see this nor leave out what is written before free().
enum BlockPlace { before, behind, freed };
void write_to_blocks(BlockPlace place) {
  constexpr std::ptrdiff_t kMark = 16;  // bytes before a block, by which the heap knows it
  for (const std::ptrdiff_t bytes : {100, 200}) {
    char* volatile block = static_cast<char*>(std::malloc(static_cast<std::size_t>(bytes)));
    if (place == freed) std::free(block);
    volatile char& at = block[place == before ? -kMark : place == behind ? bytes : 0];
    at = static_cast<char>(at ^ 1);
    if (place != freed) std::free(block);
  }
}

void free_twice() {
  char* volatile block = static_cast<char*>(std::malloc(1));
  char* volatile same = block;
  std::free(block);
  std::free(same);
}

// A call of the kernel that starts a process: of programs for x32, or without the C library.
#ifdef SYS_fork
constexpr long kOtherFork = (1 << 30) + SYS_fork;
#else
constexpr long kOtherFork = SYS_clone;
#endif

void end_if_child(long process) {
  if (process == 0) _exit(0);
}

void abort_soon() {
  constexpr useconds_t kSoon = 10'000;
  std::thread([] {
    usleep(kSoon);
    std::abort();
  }).detach();
}

[[noreturn]] void wait_for_ever() {
  for (;;) pause();
}

}  // namespace

std::string allocations() {
  constexpr std::size_t kBytes = 3000, kMore = 7000, kAlignment = 1024;
  unsigned char* volatile fresh = static_cast<unsigned char*>(std::malloc(1));
  std::string text = "a block held " + std::to_string(*fresh);
  std::free(fresh);
  auto* block = static_cast<unsigned char*>(std::calloc(2, kBytes));
  text += ", zeros " + std::to_string(std::count(block, block + 2 * kBytes, 0));
  std::fill_n(block, kBytes, 9);
  block = static_cast<unsigned char*>(std::realloc(block, kMore));
  text += ", kept " + std::to_string(std::count(block, block + kBytes, 9)) + ", usable " +
      std::to_string(malloc_usable_size(block) >= kMore);
  std::free(block);
  for (const std::size_t alignment : {std::size_t{64}, kAlignment, 2 * kPage}) {
    void* at = nullptr;
    text += ", error " + std::to_string(posix_memalign(&at, alignment, kBytes));
    text += " and " + std::to_string(reinterpret_cast<std::uintptr_t>(at) % alignment);
    std::free(at);
  }
  const volatile std::size_t too_many = SIZE_MAX;
  return text + ", too many " + std::to_string(std::calloc(too_many, 2) == nullptr);
}

int leave_processes() {
  int started = 0;
  for (const bool is_orphan : {false, true}) {
    if (const pid_t child = fork(); child != 0) {
      int status = 0;
      if (is_orphan) waitpid(child, &status, 0);
      started += child > 0 && status == 0;
      continue;
    }
    if (is_orphan)
      if (const pid_t child = fork(); child != 0) _exit(child < 0);
    setsid();
    wait_for_ever();
  }
  return started;
}

void commit(Plant plant, const Reach& at) {
  constexpr int kLaterRun = 3;  // after a turn of each of two callers, or the last of three runs
  switch (plant) {
    case Plant::none:
    case Plant::uncounted:
    case Plant::filled:
    case Plant::allocated:
    case Plant::arguments:
    case Plant::bounds:
    case Plant::idle:
    case Plant::together:
    case Plant::turns:
    case Plant::leaving:
    case Plant::orphaning:
    case Plant::stale:
    case Plant::late: return;
    case Plant::beside: return change(at.out[0] - sizeof(i32));
    case Plant::beyond: return change(at.out[0] + kPage);
    case Plant::before: return change(at.out[0] - kPage);
    case Plant::past_input: return change(at.in[0] + kPage);
    case Plant::input: return change(at.in[0], 0);
    case Plant::heap: return write_to_blocks(behind);
    case Plant::under: return write_to_blocks(before);
    case Plant::freed: return write_to_blocks(freed);
    case Plant::scratch:
    case Plant::page: return change(at.behind_scratch);
    case Plant::ahead: return change(at.scratch - sizeof(i32));
    case Plant::exiting: _exit(3);
    case Plant::raising: raise(SIGSEGV); return;
    case Plant::starting: return end_if_child(fork());
    case Plant::renumbered: return end_if_child(syscall(kOtherFork, SIGCHLD, 0, 0, 0, 0));
    case Plant::freed_twice: return free_twice();
    case Plant::closing: return abort_soon();
    case Plant::hanging: wait_for_ever();
    case Plant::second_run:
      if (at.run == 2) change(at.out[0]);
      return;
    case Plant::later_run:
      if (at.run >= kLaterRun) change(at.out[0]);
  }
}

}  // namespace lockstep::judge
