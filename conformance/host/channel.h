/// @file
/// The memory that a judge shares with the program `backend-host`, which holds a backend:
/// questions, their tensors, and the answers. Addresses differ in the two processes, so positions
/// in this memory are offsets from its beginning.
#pragma once
#include <algorithm>
#include <atomic>
#include <string>

#include "conformance/witness/witness.h"
#include "spec/info.h"

namespace lockstep::judge {

inline constexpr int kMaxHeads = 8;  ///< of a graph that one question runs
/// Tensors of a question, all callers together.
inline constexpr int kMaxSlots = kMaxInputs + kMaxHeads;
inline constexpr u64 kPage = 4096;
inline constexpr u64 kMail = u64{8} << 30;     ///< bytes of shared memory, most of them never used
inline constexpr u64 kArena = u64{128} << 30;  ///< addresses for the tensors of one question
/// The files with which backend-host starts.
enum HostFile { kSocketFile = 3, kMailFile = 4 };

constexpr u64 round_up(u64 n, u64 to) { return (n + to - 1) / to * to; }

/// The addresses from the middle of one tensor's memory to the next, most of them inaccessible.
constexpr u64 span_of(u64 most_bytes) {
  u64 span = u64{64} << 20;
  while (span < 2 * (most_bytes + kPage)) span *= 2;
  return span;
}

/// One tensor of a question, and the whole pages in which it lies.
struct Slot {
  int rank = 0, precision = 0;
  bool is_int8 = false;  ///< its elements, else they are int32
  i64 shape[kMaxRank + 1]{}, stride[kMaxRank + 1]{};
  u64 bytes = 0;  ///< of its memory, which inaccessible memory surrounds; 0: only a type is given
  u64 first = 0;  ///< element (0, ..., 0), in bytes from the beginning of its memory
  u64 image = 0;  ///< where its content stands: that before the call, then that after it
};

/// The code of an answer. A process that dies writes none.
enum Code { kOk, kLogic, kRuntime, kUnsupported, kBroken };

struct Reply {
  int code = kOk;
  char label[64]{}, text[256]{}, path[128]{};
  i64 threads = 0;          ///< as many as the backend says it uses
  bool unsteady = false;    ///< a caller got different outputs for the same call
  bool one_by_one = false;  ///< the calls of a graph ran, and no compiled plan
  int changed_run = 0;      ///< the first run whose outputs changed for the same values; 0: none
  int type_count = 0;
  struct {
    int rank, precision;
    i64 shape[kMaxRank];
  } type[kMaxOutputs]{};
  bool beside_scratch = false;  ///< memory beside scratch memory was written
  int written_slot = -1;        ///< an input that was written
  i64 written_at = 0;           ///< in bytes from the beginning of its memory
  int fault_slot = -1;          ///< the tensor nearest to the address whose access crashed
  i64 fault_at = 0;             ///< in bytes from the beginning of its memory
  bool heap_fault = false;      ///< whether that address lies on the heap
  u64 heap_bytes = 0;           ///< of the block nearest to it
  i64 heap_at = 0;              ///< in bytes from the block's beginning
  bool tallied = false;         ///< whether the witness reaches the memory of the device
  ValueTally tally;             ///< of a range of values
};

/// A call of a graph. The numbers of its entries, inputs before outputs, stand at `entries`.
struct GraphNode {
  int op = 0, attr_count = 0, in_count = 0, out_count = 0;
  Attr attrs[kMaxAttributes];
  u64 entries = 0;
};

/// A graph of calls. Its first entries are the letter's inputs, of which those after the feeds are
/// constants; the letter's outputs are its heads.
struct GraphLetter {
  int node_count = 0, entry_count = 0, feed_count = 0;
  bool one_by_one = false;                ///< its calls are prepared, and it is not compiled
  u64 nodes = 0, entries = 0, heads = 0;  ///< where GraphNodes, Slots and numbers stand
};

/// A fault that the host commits in the backend's place, to see whether it is noticed.
enum class Plant {
  none,
  beside,       ///< writes the word before output 0
  beyond,       ///< writes a page after the start of output 0, which must be smaller
  before,       ///< writes a page before the start of output 0, which must be smaller
  past_input,   ///< writes a page after the start of input 0, which must be smaller
  input,        ///< writes to an element of input 0 what it holds
  heap,         ///< writes behind two blocks of the heap
  under,        ///< writes before two blocks of the heap
  freed,        ///< writes to two blocks of the heap that are freed
  scratch,      ///< writes behind scratch memory, which a plan gets even if it asks for none
  page,         ///< the same behind scratch memory of whole pages, guarded if the filler is even
  late,         ///< writes output 0 when execute() has returned
  stale,        ///< writes where a call with more callers had a tensor
  second_run,   ///< changes output 0 in the second run of a plan
  later_run,    ///< changes output 0 in later runs of a plan
  turns,        ///< tells in what the runs of a plan differ
  idle,         ///< computes nothing in runs after the first
  uncounted,    ///< overwrites the number of answers
  ahead,        ///< writes before scratch memory, which a plan gets even if it asks for none
  filled,       ///< tells what scratch memory held, which a plan gets even if it asks for none
  allocated,    ///< tells what the functions that allocate memory do
  arguments,    ///< tells what prepare() was given, and how much of it is there afterwards
  bounds,       ///< tells what its process may do
  starting,     ///< starts a process
  renumbered,   ///< starts a process by a call of the kernel with another number
  freed_twice,  ///< frees a block of the heap twice
  raising,      ///< ends the process by a signal that no access to memory raises
  exiting,      ///< ends the process with status 3
  together,     ///< ends the process if another question of the exchange came before
  closing,      ///< ends the process a little after the backend was closed
  hanging,      ///< never returns
  leaving,      ///< starts two processes before the backend, which only a signal ends
  orphaning,    ///< the same, and the program that keeps the backend is killed
};

struct Letter {
  enum What { execute, refuse, infer, close, tally } what = execute;
  int op = 0;              ///< its place among operators()
  bool constants = false;  ///< prepare() receives the inputs after the first
  int callers = 1;         ///< threads that run the plan at the same time, if it runs once
  int runs = 1;            ///< runs of the plan, with the values of each caller in turn
  i32 filler = 0;          ///< what scratch memory holds before the call
  Plant plant = Plant::none;
  int config = 0, attr_count = 0, in_count = 0, out_count = 0;
  Attr attrs[kMaxAttributes];
  u64 slots = 0;    ///< where the Slots of each caller in turn stand: inputs, outputs
  u64 next = 0;     ///< where the next letter stands; 0: this is the last
  u64 between = 0;  ///< where a call stands whose plan runs after the first run; 0: none
  u64 graph = 0;    ///< where a GraphLetter stands, to run in place of the call; 0: none
  u64 texts = 0;  ///< where names and texts of attributes stand in turn, each with its NUL; 0: none
  int text_count = 0;  ///< attributes there, in place of `attrs`
  u64 witness = 0;     ///< where the file name of the witness stands; of tally
  i64 first = 0;       ///< number of the first value of input 0; of tally
  Reply reply;

  int tensors() const { return in_count + out_count; }  ///< of one caller
};

/// The beginning of the shared memory: how the host describes its library, then what the judge
/// asks.
struct Channel {
  enum State { accepted, refused, unopened } state = accepted;
  bool leaves = false;  ///< whether the host starts processes as Plant::leaving says
  int left = 0;         ///< how many it then started
  char refusal[512]{};  ///< why there is no backend, where state is refused or unopened
  char failure[512]{};  ///< why it cannot be opened this time, in any other state
  bool infers = false, compiles = false, reads_int8 = false, has_device = false;
  std::size_t manifest_size = 0;
  char manifest[1 << 20]{};
  u64 letters = 0;             ///< where the first letter stands
  std::atomic<u64> begun = 0;  ///< letters of this exchange that the host has begun to answer
  std::atomic<u64> runs = 0;   ///< runs of plans, after their first, begun in this exchange
  u64 answered = 0;            ///< letters that the host has answered at the end of the exchange

  /// The manifest that the library states.
  std::string stated() const { return {manifest, std::min(manifest_size, sizeof manifest)}; }
  /// The same, and which functions it offers: all by which it is judged.
  std::string offered() const {
    std::string all = stated();
    for (const bool offers : {infers, compiles, reads_int8, has_device}) all += offers ? '+' : '-';
    return all;
  }
};
static_assert(std::atomic<u64>::is_always_lock_free);

}  // namespace lockstep::judge
