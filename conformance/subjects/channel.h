/// @file
/// What the judge and a worker process share: one question and one answer at a time, in memory both
/// map at the same address. The worker is a fork, so pointers to static data hold in both.
#pragma once
#include <cstdint>

#include "spec/info.h"

namespace lockstep::judge {

inline constexpr int kMaxSlots = kMaxInputs + 8;
inline constexpr std::size_t kPage = 4096;

/// One tensor of a question. Its memory is the pages [begin, end); the pages around are guarded.
struct Slot {
  int rank = 0, precision = 0;
  i64 shape[kMaxRank + 1]{}, stride[kMaxRank + 1]{};
  char *data = nullptr, *begin = nullptr, *end = nullptr;
};

struct Question {
  enum What { execute, refuse, infer } what = execute;
  const OpInfo* op = nullptr;
  bool constants = false;  ///< inputs after the first are given to prepare() already
  int callers = 1;         ///< that run the plan at once
  i32 poison = 0;          ///< what scratch memory holds before the call
  int config = 0, attr_count = 0, in_count = 0, out_count = 0;
  Attr attrs[kMaxAttributes];
  Slot slot[kMaxSlots];  ///< inputs, then outputs, of each caller in turn

  int tensors() const { return in_count + out_count; }  ///< of one caller
  std::ptrdiff_t first(int caller) const { return std::ptrdiff_t{caller} * tensors(); }
};

/// How a worker's answer is coded. `died` is never written: it is what the judge finds otherwise.
enum Code { kOk, kLogic, kRuntime, kUnsupported, kBroken };

struct Reply {
  int code = kOk;
  char label[64]{}, text[256]{}, path[128]{};
  i64 threads = 0;        ///< that the backend says it shares work among
  bool unsteady = false;  ///< a caller's outputs changed while it made the same call again
  int type_count = 0;
  struct {
    int rank, precision;
    i64 shape[kMaxRank];
  } type[kMaxOutputs]{};
  const char* fault = nullptr;  ///< the address it was about
};

/// The shared block: what a worker says of its library, the question, the reply, the tensors.
struct Channel {
  enum State { starting, ready, refused, unopened } state = starting;
  char refusal[512]{};  ///< why there is no backend, where state is refused or unopened
  char failure[512]{};  ///< why it could not be opened otherwise, though it may be next time
  bool infers = false, has_device = false;
  std::size_t manifest_size = 0;
  char manifest[1 << 20]{};
  Question question;
  Reply reply;
};

}  // namespace lockstep::judge
