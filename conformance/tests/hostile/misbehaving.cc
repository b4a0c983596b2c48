/// @file
/// The reference with one fault. `--set fault=NAME` chooses a row of the table below. Variables of
/// the environment: HOSTILE_MANIFEST replaces the manifest by any text; with HOSTILE_RENAMES each
/// process states another name in it. Those that processes.cc reads act while the library is
/// loaded.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "backends/manifest.h"
#include "backends/reference/plan.h"
#include "conformance/tests/hostile/processes.h"

namespace lockstep::backend {
namespace {

constexpr int32_t kUnknownStatus = 77;
constexpr uint64_t kScratchBytes = 100;  // 28 less than are aligned

/// One execution, after it has written the right answer.
struct Execution {
  const LegalCall& call;
  const int32_t* const* in;
  int32_t* const* out;
  char* scratch;   ///< of kScratchBytes
  bool is_packed;  ///< no other plan has run for the first time since this one did
  bool of(string_view op) const { return call.op->name == op; }
  int rank() const { return call.in[0].rank(); }
  bool compact() const { return call.in[0].compact && call.out[0].compact; }
};

bool of_rank_three(const Call& c) { return !c.in.empty() && c.in[0].dl.ndim == 3; }

int deeper(int n) {  // NOLINT(misc-no-recursion): it is to overflow the stack
  volatile char page[4096];
  page[0] = static_cast<char>(n);
  return n < 0 ? n : deeper(n + 1) + page[0];
}

void write_padding(const Execution& e) {
  const Out& y = e.call.out[0];
  const int last = y.rank() - 1;
  if (last > 0 && y.dim(last - 1) > 1 && y.stride[last - 1] > y.dim(last) * y.stride[last])
    e.out[0][y.dim(last) * max(y.stride[last], 1)] = 7;
}

// Overwrites what lies some pages before its memory, where a judge may keep its own.
void scribble(const Execution& e) {
  constexpr std::size_t kPage = 4096;
  auto* at = const_cast<char*>(reinterpret_cast<const char*>(e.in[0]));
  char* page = at - reinterpret_cast<uintptr_t>(at) % kPage;
  std::memset(page - 3 * kPage, 0xff, 2 * kPage);
}

void answer_as_before(const Execution& e) {
  static int32_t last = 0;
  std::swap(last, e.out[0][0]);
}

// Reads where an output of the call before lay.
void look_back(const Execution& e) {
  static const volatile int32_t* before = nullptr;
  if (before) (void)*before;
  before = e.out[0];
}

// The argument of the last prepare().
const int64_t* given_shape = nullptr;
int64_t given_extent = 0, given_elements = 0;

void note_call(const Call& c) {
  if (c.in.empty() || c.in[0].dl.ndim < 1) return;
  given_shape = c.in[0].dl.shape;
  given_extent = given_shape[0];
  given_elements = volume(c.in[0]);
}

// Takes a compact tensor for a strided one if an extent of 1 has a stride of its own.
bool given_pitch = false;

void note_pitch(const Call& c) {
  given_pitch = false;
  for (const ls_tensor& t : c.in) {
    int64_t n = 1;
    for (int d = t.dl.ndim - 1; d >= 0; n *= t.dl.shape[d--])
      given_pitch = given_pitch || (compact(t) && t.dl.strides[d] != n);
  }
}

// Answers from a cache of addresses, which each prepare() empties.
const void* cached_address = nullptr;
int32_t cached_answer = 0;

void answer_by_address(const Execution& e) {
  if (e.in[0] == cached_address)
    e.out[0][0] = cached_answer;
  else
    cached_address = e.in[0], cached_answer = e.out[0][0];
}

// Behaves like a backend whose threads start with the first work that is worth sharing.
bool has_run_large = false;

void answer_otherwise(const Execution& e) {
  static int calls = 0;
  e.out[0][0] ^= ++calls % 2 == 0;
}

void answer_seldom(const Execution& e) {
  constexpr int kSeldom = 31;
  static int calls = 0;
  e.out[0][0] ^= ++calls % kSeldom == 0;
}

std::atomic<int> plans = 0, runs = 0;

std::atomic<int> packed_plan = 0;  // the last that ran for the first time

// Right in the first run that a thread makes of the last plan.
void wear(const Execution& e) {
  thread_local int last = 0;
  e.out[0][0] ^= last == plans;
  last = plans;
}

void print_much() {
  for (int line = 0; line < 1000; ++line) {
    std::puts("a line that nobody asked for");
    std::fputs("and another one\n", stderr);
  }
}

// Memory that the backend keeps. It touches a large block only if the allocation succeeded.
void fill_memory(std::size_t bytes) {
  auto* kept = new char[bytes];
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(kept)[at] = 1;
}

constexpr std::size_t kBlock = 100;  // 12 bytes less than are aligned

// Works on a block of the heap that the compiler cannot see through. @return where it was
template <class F> volatile char* on_heap(F work) {
  void* volatile block = std::malloc(kBlock);
  work(static_cast<volatile char*>(block));
  std::free(block);
  return static_cast<volatile char*>(block);
}

void flip(volatile char& c) { c = static_cast<char>(c ^ 1); }

// Reports success of every case to the judge on every open file.
void forge(const Execution& e) {
  e.out[0][0] ^= 1;
  for (int fd = 3; fd < 64; ++fd)
    for (int n = 0; n < 10000 && fcntl(fd, F_GETFD) >= 0; ++n)
      dprintf(fd,
          R"({"n":%d,"outcome":0,"calls":1,"judged":["matches_reference"],)"
          R"("paths":[],"findings":{},"outputs":"","canaries":{},"flaky":false}%c)",
          n, '\n');
}

void close_every_file() {
  for (int fd = 0; fd < 1024; ++fd) close(fd);
}

// Spoils the result if a process of the judge lets this one into its memory or its files.
void reach(const Execution& e) {
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    std::string name;
    std::getline(std::ifstream(process.path() / "comm"), name);
    if (name != "lockstep") continue;
    const auto reaches = [&](const char* file, bool memory) {
      const int fd = open((process.path() / file).c_str(), O_RDWR);
      char byte;
      // The memory of a process that has ended can be opened, but not read.
      const bool reached = fd >= 0 && (!memory || pread(fd, &byte, 1, 0x1000) != 0);
      close(fd);
      return reached;
    };
    if (reaches("mem", true) || reaches("fd/1", false) || reaches("fd/4", false)) e.out[0][0] ^= 1;
  }
}

// Spoils the result if its process looks like one that is being judged, or has a file of others.
void look_around(const Execution& e) {
  using namespace std::string_view_literals;
  e.out[0][0] ^= has_files_of_others();
  for (const char* file : {"/proc/self/comm", "/proc/self/environ", "/proc/self/maps"}) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    const std::string all = '\0' + text.str();
    for (const string_view told : {"\0lockstep"sv, "LOCKSTEP_"sv, "\0_="sv})
      if (all.find(told) != all.npos) e.out[0][0] ^= 1;
    // Memory without a name has a blank there.
    constexpr string_view kMemory = "/memfd:";
    for (std::size_t at = 0; (at = all.find(kMemory, at)) != all.npos;)
      if (all[at += kMemory.size()] != ' ') e.out[0][0] ^= 1;
  }
}

bool always(const Execution&) { return true; }
bool cubes(const Execution& e) { return e.rank() == 3; }
bool sized_alike(const Execution& e) {
  return e.compact() && volume(e.call.in[0].shape) == volume(e.call.out[0].shape);
}
bool relu(const Execution& e) { return e.of("relu"); }
bool large(const Execution& e) { return volume(e.call.in[0].shape) > int64_t{1} << 20; }
bool sums(const Execution& e) { return e.of("elemwise_add"); }
bool batches(const Execution& e) { return e.of("max_pool2d") && e.call.in[0].dim(0) > 1; }
bool compact_out(const Execution& e) { return e.call.out[0].compact; }

[[noreturn]] void spin(const Execution&) {
  for (volatile int turns = 0;;) turns = turns ^ 1;
}
[[noreturn]] void hang(const Execution&) {
  for (;;) pause();
}
[[noreturn]] void leak(const Execution&) {
  for (;;) fill_memory(std::size_t{16} << 20);
}
void refuse_cubes(const Call& c) {
  if (of_rank_three(c)) throw LogicError("relu.cube", "no");
}
void refuse_signs(const Call& c) {
  for (const ls_attr& a : c.attrs)
    if (a.kind == LS_TEXT && std::strchr(a.text, '+')) throw LogicError("attr.syntax", "no plus");
}
void lack_cubes(const Call& c) {
  if (of_rank_three(c)) throw Unsupported("no cubes");
}

/// How a backend misbehaves. Members that are nullptr do nothing.
struct Fault {
  const char* name;
  bool (*where)(const Execution&) = always;  ///< it runs
  void (*run)(const Execution&) = nullptr;
  void (*prepare)(const Call&) = nullptr;       ///< before a call is looked at
  void (*refuse)(const LogicError&) = nullptr;  ///< instead of refusing an illegal call
  void (*infer)(std::vector<TensorType>&) = nullptr;
  const char* path = nullptr;  ///< what path() says instead
};

using E = Execution;

constexpr Fault kFaults[] = {
    {"none"},
    {"segfault", cubes, [](const E&) { raise(SIGSEGV); }},
    {"abort", cubes, [](const E&) { std::abort(); }},
    {"sometimes", [](const E& e) { return is_every_second && cubes(e); },
        [](const E&) { std::abort(); }},
    {"exit", cubes, [](const E&) { std::exit(0); }},
    {"overflow", cubes, [](const E&) { deeper(0); }},
    {"hang", relu, hang},
    {"hang_first", [](const E&) { return is_first; }, hang},
    {"spin", relu, spin},
    {"allocate", cubes, [](const E&) { fill_memory(std::size_t{100} << 30); }},
    {"leak", cubes, leak},
    {"after_end", compact_out, [](const E& e) { e.out[0][volume(e.call.out[0].shape)] = 7; }},
    {"before_begin", always, [](const E& e) { e.out[0][-1] = 7; }},
    {"one_value", always,
        [](const E& e) {
          for (i64 k = 0; k < volume(e.call.in[0].shape); ++k)
            if (e.in[0][k] == 777'777) --e.out[0][k];
        }},
    {"batch", batches, [](const E& e) { e.out[0][0] ^= 1; }},
    {"back", [](const E& e) { return e.compact() && volume(e.call.out[0].shape) < 900; },
        look_back},
    {"far", relu, [](const E& e) { e.out[0][9'000'000 / 4] = 7; }},
    {"padding", always, write_padding},
    {"scribble", relu, scribble},
    {"scratch_end", always, [](const E& e) { e.scratch[kScratchBytes] = 7; }},
    {"scratch_begin", always, [](const E& e) { e.scratch[-1] = 7; }},
    {"scratch_guess", always,
        [](const E& e) {
          std::memset(e.scratch - 64, 0x5a, 64);
          std::memset(e.scratch + kScratchBytes, 0x5a, 28);
        }},
    {"scratch_far", cubes, [](const E& e) { e.scratch[kScratchBytes + 28] = 7; }},
    {"scratch_unset", always, [](const E& e) { e.out[0][0] += e.scratch[9]; }},
    {"heap_end", always, [](const E&) { on_heap([](volatile char* b) { flip(b[kBlock]); }); }},
    {"heap_begin", always, [](const E&) { on_heap([](volatile char* b) { b[-1] = 7; }); }},
    {"heap_far", cubes, [](const E&) { on_heap([](volatile char* b) { (void)b[kBlock + 12]; }); }},
    {"heap_freed", always, [](const E&) { flip(on_heap([](volatile char*) {})[7]); }},
    {"heap_unset", always,
        [](const E& e) { on_heap([&](volatile char* b) { e.out[0][0] ^= b[kBlock / 2]; }); }},
    {"input", always, [](const E& e) { const_cast<int32_t*>(e.in[0])[0] ^= 1; }},
    {"input_again", always,
        [](const E& e) {
          auto* in = const_cast<volatile int32_t*>(e.in[0]);
          in[0] = in[0];
        }},
    {"state", always, answer_as_before},
    {"otherwise", always, answer_otherwise},
    {"seldom", always, answer_seldom},
    {"wanders", always, [](const E& e) { e.out[0][0] ^= ++runs; }},
    {"wanders_apart", [](const E& e) { return !e.compact(); },
        [](const E& e) { e.out[0][0] ^= ++runs; }},
    {"wears", always, wear},
    {"packed", always, [](const E& e) { e.out[0][0] ^= !e.is_packed; }},
    {"throw", always, [](const E&) { throw std::runtime_error("out of patience"); }},
    {"throw_number", always, [](const E&) { throw 42; }},
    {"garbled", always, [](const E&) { throw std::runtime_error("\x1b[31m \xff <&> \x01"); }},
    {"print", always, [](const E&) { print_much(); }},
    {"forge", relu, forge},
    {"close", cubes, [](const E&) { close_every_file(); }},
    {"fork", relu, [](const E&) { (void)fork(); }},
    {"starts", always, [](const E& e) { e.out[0][0] ^= start_process(); }},
    {"reach", always, reach},
    {"look", always, look_around},
    {"last"},
    {"last_sometimes"},
    {"last_large", large, [](const E&) { has_run_large = true; }},
    {"late"},
    {"shared", sums,
        [](const E& e) {
          if (e.in[0] == e.in[1]) e.out[0][0] ^= 1;
        }},
    {.name = "address",
        .run = answer_by_address,
        .prepare = [](const Call&) { cached_address = nullptr; }},
    {.name = "one_plan",
        .run =
            [](const E& e) {
              if (volume(e.call.in[0].shape) != given_elements) e.out[0][0] ^= 1;
            },
        .prepare = note_call},
    {.name = "kept_shape",
        .run =
            [](const E& e) {
              if (given_shape[0] != given_extent) e.out[0][0] ^= 1;
            },
        .prepare = note_call},
    {"apart", sized_alike,
        [](const E& e) {
          if ((e.out[0] - e.in[0]) % 16 != 0) e.out[0][0] ^= 1;
        }},
    {.name = "pitch",
        .run =
            [](const E& e) {
              if (given_pitch) e.out[0][0] ^= 1;
            },
        .prepare = note_pitch},
    {"scratch_place", always,
        [](const E& e) {
          if (reinterpret_cast<uintptr_t>(e.scratch) % 128 != 0) e.out[0][0] ^= 1;
        }},
    {.name = "unsupported", .prepare = lack_cubes},
    {.name = "no_signs", .prepare = refuse_signs},
    {.name = "trusts_text",
        .refuse =
            [](const LogicError& e) {
              if (!e.label.starts_with("attr.")) throw LogicError(e);
            }},
    {.name = "refuse_legal", .prepare = refuse_cubes},
    {.name = "wrong_label",
        .refuse = [](const LogicError&) { throw LogicError("relu.colour", "it is too green"); }},
    {.name = "accept", .refuse = [](const LogicError&) {}},
    {.name = "infer", .infer = [](std::vector<TensorType>& y) { ++y[0].precision; }},
    {.name = "infer_rank", .infer = [](std::vector<TensorType>& y) { y[0].shape.push_back(1); }},
    {.name = "path", .path = "secret"},
    {.name = "no_path", .path = ""},
    {"hang_isa"},
    {"hang_close"},
    {"last_late"},
    {"picky"},
    {"curt"},
    {"status"},
    {"no_plan"},
};

const Fault* find_fault(string_view name) {
  for (const Fault& f : kFaults)
    if (f.name == name) return &f;
  throw LogicError("option.value", "no fault '" + std::string(name) + "'");
}

class FaultyPlan : public SpecificationPlan {
 public:
  FaultyPlan(const Call& call, const Fault& fault) : SpecificationPlan(call), fault_(fault) {}

  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override {
    SpecificationPlan::run(in, out, scratch);
    std::call_once(packed_, [&] { packed_plan = number_; });
    const Execution e{call_, in, out, static_cast<char*>(scratch), packed_plan == number_};
    if (fault_.run && fault_.where(e)) fault_.run(e);
    if (fault_.name != std::string_view("late")) return;
    const std::lock_guard lock(mutex_);
    late_.emplace_back(out[0], out[0][0]);
    out[0][0] ^= 1;
  }
  ~FaultyPlan() override {
    for (const auto& [to, value] : late_) *to = value;
  }
  uint64_t scratch_bytes() const override { return kScratchBytes; }
  const char* path() const override {
    return fault_.path ? fault_.path : SpecificationPlan::path();
  }

 private:
  const Fault& fault_;
  const int number_ = ++plans;
  mutable std::once_flag packed_;
  mutable std::mutex mutex_;
  mutable std::vector<std::pair<int32_t*, int32_t>> late_;  // written by release() only
};

struct NothingPlan : Plan {
  void run(const int32_t* const*, int32_t* const*, void*) const override {}
  const char* path() const override { return "specification"; }
};

class Misbehaving {
 public:
  static const char* manifest() {
    if (const char* given = std::getenv("HOSTILE_MANIFEST")) return given;
    static const std::string text = manifest_of(
        "misbehaving" + (std::getenv("HOSTILE_RENAMES") ? std::to_string(getpid()) : ""),
        {{"*", "specification", "portable", true}}, Claims{}, {"fault", "isa"});
    return text.c_str();
  }
  explicit Misbehaving(const Options& options) {
    refuse_options(options, {"fault", "isa"});
    if (const auto f = options.find("fault"); f != options.end()) fault_ = find_fault(f->second);
    const auto isa = options.find("isa");
    if (isa == options.end() || isa->second == "portable") return;
    while (has("hang_isa")) pause();
    if (has("picky"))
      throw LogicError("option.isa", "this machine cannot run '" + isa->second + "'");
    if (has("curt")) throw LogicError("option.isa", "no");
  }
  ~Misbehaving() {
    while (has("hang_close")) pause();
    if (has("last_late")) std::thread([] { usleep(30'000), std::abort(); }).detach();
    const bool sometimes = has("last_sometimes") && is_every_second;
    if (has("last") || has_run_large || sometimes) std::abort();
  }
  std::unique_ptr<Plan> prepare(const Call& call) const {
    if (fault_->prepare) fault_->prepare(call);
    try {
      return std::make_unique<FaultyPlan>(call, *fault_);
    } catch (const LogicError& e) {
      if (!fault_->refuse) throw;
      fault_->refuse(e);
      return std::make_unique<NothingPlan>();
    }
  }
  std::vector<TensorType> infer(const Call& call) const {
    std::vector<TensorType> y = inferred_types(call);
    if (fault_->infer) fault_->infer(y);
    return y;
  }
  bool has(string_view fault) const { return fault_->name == fault; }

 private:
  const Fault* fault_ = &kFaults[0];
};

bool answers_unknown_status = false;

int32_t prepare(ls_backend* self, const char* op, const ls_attr* attrs, uint32_t n_attrs,
    const ls_tensor* in, uint32_t n_in, const ls_tensor* out, uint32_t n_out, ls_plan** plan,
    uint64_t* scratch, ls_status* status) {
  const auto& backend = *reinterpret_cast<const Misbehaving*>(self);
  answers_unknown_status = backend.has("status");
  if (backend.has("no_plan")) return LS_OK;
  return table<Misbehaving>()->prepare(
      self, op, attrs, n_attrs, in, n_in, out, n_out, plan, scratch, status);
}

int32_t execute(const ls_plan* plan, const void* const* in, void* const* out, void* scratch,
    void* stream, ls_status* status) {
  const int32_t code = table<Misbehaving>()->execute(plan, in, out, scratch, stream, status);
  return answers_unknown_status ? kUnknownStatus : code;
}

}  // namespace
}  // namespace lockstep::backend

// Faults that no C++ backend can have are made in the table.
const ls_api* lockstep_backend_v1() {
  static const ls_api api = [] {
    ls_api t = *lockstep::backend::table<lockstep::backend::Misbehaving>();
    t.prepare = lockstep::backend::prepare;
    t.execute = lockstep::backend::execute;
    if (!lockstep::backend::offers_infer) t.infer = nullptr;
    return t;
  }();
  return &api;
}
