/// @file
/// The memory that the judge and a worker process share: one question and one answer at a time. The
/// worker is a fork, so pointers to this memory and to static data are valid in both.
#pragma once
#include <string>
#include <vector>

#include "conformance/subjects/manifest.h"
#include "spec/info.h"

namespace lockstep::judge {

inline constexpr int kMaxSlots = kMaxInputs + 8;
inline constexpr std::size_t kPage = 4096;

/// One tensor of a question. Its memory is the pages [begin, end), with guard pages around them.
struct Slot {
  int rank = 0, precision = 0;
  i64 shape[kMaxRank + 1]{}, stride[kMaxRank + 1]{};
  char *data = nullptr, *begin = nullptr, *end = nullptr;
};

struct Question {
  enum What { execute, refuse, infer } what = execute;
  const OpInfo* op = nullptr;
  bool constants = false;  ///< prepare() receives the inputs after the first
  int callers = 1;         ///< threads that run the plan at the same time
  i32 poison = 0;          ///< what scratch memory holds before the call
  int config = 0, attr_count = 0, in_count = 0, out_count = 0;
  Attr attrs[kMaxAttributes];
  Slot slot[kMaxSlots];  ///< of each caller in turn: inputs, outputs

  int tensors() const { return in_count + out_count; }  ///< of one caller
  std::ptrdiff_t first(int caller) const { return std::ptrdiff_t{caller} * tensors(); }
};

/// The code of a worker's answer. A worker that dies writes none.
enum Code { kOk, kLogic, kRuntime, kUnsupported, kBroken };

struct Reply {
  int code = kOk;
  char label[64]{}, text[256]{}, path[128]{};
  i64 threads = 0;        ///< that the backend says it uses
  bool unsteady = false;  ///< a caller got other outputs for the same call
  int type_count = 0;
  struct {
    int rank, precision;
    i64 shape[kMaxRank];
  } type[kMaxOutputs]{};
  const char* fault = nullptr;  ///< the address whose access crashed
};

/// The shared block: the worker's description of its library, the question, and the reply.
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

/// Loads the library, describes it in the channel, and answers the question in the channel for each
/// number that arrives on `socket`, which it sends back, until it is closed. Never returns.
/// @param configs options of each configuration, opened at its first use.
/// @param memory bytes that it may allocate; 0, or a backend with a device: no limit.
[[noreturn]] void work(const std::string& library, const std::vector<Options>& configs,
    std::uint64_t memory, Channel& channel, int socket);

}  // namespace lockstep::judge
