#include "conformance/host/plant.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace lockstep::judge {
namespace {

void change(char* at) {
  auto* element = reinterpret_cast<volatile i32*>(at);
  *element = *element ^ 1;
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

}  // namespace

void commit(Plant plant, const Reach& at) {
  constexpr int kLaterRun = 3;  // after a turn of each of two callers, or the last of three runs
  switch (plant) {
    case Plant::none:
    case Plant::uncounted:
    case Plant::filled:
    case Plant::arguments:
    case Plant::bounds:
    case Plant::idle:
    case Plant::late: return;
    case Plant::beside: return change(at.out[0] - sizeof(i32));
    case Plant::beyond: return change(at.out[0] + kPage);
    case Plant::before: return change(at.out[0] - kPage);
    case Plant::past_input: return change(at.in[0] + kPage);
    case Plant::input: return change(at.in[0]);
    case Plant::heap: return write_to_blocks(behind);
    case Plant::under: return write_to_blocks(before);
    case Plant::freed: return write_to_blocks(freed);
    case Plant::scratch:
    case Plant::page: return change(at.behind_scratch);
    case Plant::starting: return end_if_child(fork());
    case Plant::renumbered: return end_if_child(syscall(kOtherFork, SIGCHLD, 0, 0, 0, 0));
    case Plant::freed_twice: return free_twice();
    case Plant::closing: std::abort();
    case Plant::second_run:
      if (at.run == 2) change(at.out[0]);
      return;
    case Plant::shared:
      if (at.run >= kLaterRun && at.in[0] == at.in[1]) change(at.out[0]);
      return;
    case Plant::later_run:
      if (at.run >= kLaterRun) change(at.out[0]);
  }
}

}  // namespace lockstep::judge
