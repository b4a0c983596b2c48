#include "conformance/host/plant.h"

#include <cstdlib>

namespace lockstep::judge {
namespace {

void change(char* at) {
  auto* element = reinterpret_cast<volatile i32*>(at);
  *element = *element ^ 1;
}

// Writes behind a block, which the heap guards. The compiler must not see that this is out of
// bounds.
void write_behind_block() {
  constexpr std::size_t kBytes = 100;
  char* volatile unseen = static_cast<char*>(std::malloc(kBytes));
  char* const block = unseen;
  block[kBytes] = static_cast<char>(block[kBytes] ^ 1);
  std::free(block);
}

}  // namespace

void commit(Plant plant, const Reach& at) {
  constexpr int kLaterRun = 3;  // after a turn of each of two callers, or the last of three runs
  switch (plant) {
    case Plant::none:
    case Plant::late: return;
    case Plant::beside: return change(at.out[0] - sizeof(i32));
    case Plant::beyond: return change(at.out[0] + kPage);
    case Plant::input: return change(at.in[0]);
    case Plant::heap: return write_behind_block();
    case Plant::scratch: return change(at.behind_scratch);
    case Plant::closing: std::abort();
    case Plant::later_run:
      if (at.run >= kLaterRun) change(at.out[0]);
  }
}

}  // namespace lockstep::judge
