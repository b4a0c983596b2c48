/// @file
/// A backend that reports what it receives, and does what its options say:
///   tells=call|limits|attrs  prepare() refuses with the tensors, the limits of its process, or the
///                         attributes
///   tells=scratch         execute() refuses with what scratch memory holds, and where
///   tells=output          execute() refuses with what its output holds
///   scratch=BYTES         of scratch memory that execute() needs
///   code=FUNCTION:NUMBER  what that function answers
///   poke=PORT:BYTES       execute() changes a byte, so far from the first element of a tensor;
///                         the output follows the inputs
///   counts=RUN            execute() adds 1 to an output of one element, in that run of a plan 2
///   pretends=YES          execute() counts 120 runs of plans for the judge, slowly, and exits
///   guesses=NUMBER        execute() answers the judge with that number, and never ends
///   spoils=CALL           execute() spoils the answer to the first call, and ends its process in
///                         the call of this number
///   answers=NUMBER        execute() tells the judge that so many calls have been answered
///   words=long|open       texts fill their room and have no end; `open`: open() refuses with one
/// And its environment: TELLING_LACKS numbers a required function that the table lacks,
/// TELLING_DEVICE gives it a device, TELLING_SIZE is how many bytes the manifest has.
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>

#include "backends/backend.hpp"
#include "conformance/host/channel.h"

struct ls_backend : lockstep::backend::Options {
  std::string value(const char* option) const {
    const auto at = find(option);
    return at == end() ? "" : at->second;
  }
  bool tells(const char* what) const { return value("tells") == what; }
  uint64_t scratch() const { return std::strtoull(value("scratch").c_str(), nullptr, 10); }
};

struct ls_plan {
  const ls_backend* self;
  uint32_t inputs;
  mutable long runs = 0;
};

namespace {

const char* manifest() {
  static std::string text;
  text =
      R"({"name": "telling", "version": "1", "device": "cpu",
          "options": ["tells", "pretends", "answers", "guesses", "spoils", "code", "poke",
                      "scratch", "counts", "words"],
          "kernels": [{"op": "*", "name": "only", "isa": "any", "runnable": true}],
          "claims": {"operators": {"relu": {}}}})";
  if (const char* size = std::getenv("TELLING_SIZE")) text.resize(std::stoul(size), ' ');
  return text.c_str();
}

// Refuses with a text, or with letters that fill the room.
int32_t refuse(const ls_backend& self, ls_status* status, const std::string& text) {
  lockstep::backend::detail::fill(status, LS_LOGIC, "told", text);
  if (!self.value("words").empty()) {
    std::memset(status->label, 'l', sizeof status->label);
    std::memset(status->text, 't', sizeof status->text);
  }
  return LS_LOGIC;
}

// What a function returns if nothing else is wrong.
int32_t code(const ls_backend* self, const std::string& function, ls_status* status) {
  static int calls = 0;
  const std::string code = self->value("code");
  if (!code.starts_with(function + ":")) return LS_OK;
  std::strcpy(status->text, ("answer " + std::to_string(++calls)).c_str());
  return std::stoi(code.substr(function.size() + 1));
}

std::string list(const int64_t* numbers, int n, const char* between) {
  std::string text;
  for (int k = 0; k < n; ++k) text += (k > 0 ? between : "") + std::to_string(numbers[k]);
  return text;
}

// Shape, strides, precision; what a tensor always has is told only where it is otherwise.
std::string told(const ls_tensor& t) {
  const DLTensor& d = t.dl;
  std::string text = " " + list(d.shape, d.ndim, "x");
  if (d.ndim > 0) text += "/" + list(d.strides, d.ndim, ",");
  text += "@" + std::to_string(t.precision);
  if (t.flags) text += "#" + std::to_string(t.flags);
  if (d.device.device_type != kDLCPU) text += "on" + std::to_string(d.device.device_type);
  if (d.device.device_id || d.byte_offset || t.reserved[0] || t.reserved[1] ||
      d.dtype.code != kDLInt || d.dtype.bits != 32 || d.dtype.lanes != 1)
    text += "?";
  return text;
}

std::string limits() {
  rlimit data{}, core{};
  getrlimit(RLIMIT_DATA, &data);
  getrlimit(RLIMIT_CORE, &core);
  return std::to_string(data.rlim_cur) + " " + std::to_string(core.rlim_cur) + " " +
      std::to_string(core.rlim_max);
}

int32_t open_telling(const ls_text* options, uint32_t n, ls_backend** self, ls_status* status) {
  *self = new ls_backend;
  for (uint32_t i = 0; i < n; ++i) (**self)[options[i].key] = options[i].value;
  if ((*self)->value("words") == "open") return refuse(**self, status, "");
  return code(*self, "open", status);
}

int32_t prepare(ls_backend* self, const char* op, const ls_attr* attrs, uint32_t n_attrs,
    const ls_tensor* in, uint32_t n_in, const ls_tensor* out, uint32_t n_out, ls_plan** plan,
    uint64_t* scratch_bytes, ls_status* status) {
  if (const int32_t answer = code(self, "prepare", status); answer != LS_OK) return answer;
  if (self->tells("limits")) return refuse(*self, status, limits());
  if (self->tells("attrs")) {
    std::string text;
    for (const ls_attr& a : std::span(attrs, n_attrs))
      text += (text.empty() ? "" : " ") + std::string(a.key) + ":" + std::to_string(a.kind) +
          (a.kind == LS_TEXT ? std::string("=") + a.text : "");
    return refuse(*self, status, text);
  }
  if (self->tells("call")) {
    std::string text = op + (" " + std::to_string(n_in)) + " " + std::to_string(n_out);
    for (uint32_t k = 0; k < n_in; ++k) text += told(in[k]);
    text += " ->";
    for (uint32_t k = 0; k < n_out; ++k) text += told(out[k]);
    return refuse(*self, status, text);
  }
  *plan = new ls_plan{self, n_in};
  *scratch_bytes = self->scratch();
  return LS_OK;
}

// The memory that this process shares with the judge.
lockstep::judge::Channel* channel() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    void *from = nullptr, *to = nullptr;
    if (std::sscanf(line.c_str(), "%p-%p", &from, &to) != 2) continue;
    const std::ptrdiff_t bytes = static_cast<char*>(to) - static_cast<char*>(from);
    if (bytes != lockstep::judge::kMail || line.find("rw-s") == line.npos) continue;
    return static_cast<lockstep::judge::Channel*>(from);
  }
  std::abort();
}

// Answers all calls at once, as its process does with the number that came with them.
[[noreturn]] void guess(uint64_t number) {
  channel()->answered = 1;
  if (write(lockstep::judge::kSocketFile, &number, sizeof number) != sizeof number) std::abort();
  for (;;) pause();
}

void spoil_first_answer() {
  char* const mail = reinterpret_cast<char*>(channel());
  auto* first = reinterpret_cast<lockstep::judge::Letter*>(mail + channel()->letters);
  first->reply.code = lockstep::judge::kRuntime;
  std::abort();
}

// Counts run after run of a plan without ending one, until it exits.
[[noreturn]] void pretend() {
  for (int run = 0; run < 120; ++run, usleep(350'000)) ++channel()->runs;
  _exit(0);
}

int32_t execute(const ls_plan* plan, const void* const* in, void* const* out, void* scratch, void*,
    ls_status* status) {
  const ls_backend& self = *plan->self;
  if (!self.value("pretends").empty()) pretend();
  if (const std::string n = self.value("guesses"); !n.empty()) guess(std::stoull(n));
  static int calls = 0;
  if (const std::string n = self.value("spoils"); std::to_string(++calls) == n)
    spoil_first_answer();
  if (const std::string n = self.value("answers"); !n.empty()) channel()->answered = std::stoull(n);
  if (self.tells("output"))
    return refuse(self, status, "it held " + std::to_string(static_cast<int32_t*>(out[0])[0]));
  if (self.tells("scratch")) {
    int32_t first = 0, last = 0;
    std::memcpy(&first, scratch, sizeof first);
    std::memcpy(&last, static_cast<char*>(scratch) + self.scratch() - sizeof last, sizeof last);
    return refuse(self, status,
        std::to_string(first) + " " + std::to_string(last) + " " +
            std::to_string(reinterpret_cast<uintptr_t>(scratch) % 64));
  }
  if (const std::string poke = self.value("poke"); !poke.empty()) {
    const auto port = std::stoul(poke);
    void* tensor = port < plan->inputs ? const_cast<void*>(in[port]) : out[0];
    static_cast<char*>(tensor)[std::stol(poke.substr(poke.find(':') + 1))] ^= 1;
  }
  if (const std::string counts = self.value("counts"); !counts.empty())
    static_cast<int32_t*>(out[0])[0] += ++plan->runs == std::stol(counts) ? 2 : 1;
  return code(&self, "execute", status);
}

const char* path(const ls_plan* plan) {
  static const std::string longer(299, 'p');
  return plan->self->value("words").empty() ? "only" : longer.c_str();
}

// An output without axes, and one longer than any tensor.
int32_t infer(ls_backend* self, const char*, const ls_attr*, uint32_t, const ls_tensor*,
    uint32_t n_in, ls_tensor* out, uint32_t* n_out, ls_status* status) {
  out[0].precision = static_cast<int32_t>(n_in);
  out[1].dl.ndim = 1;
  out[1].dl.shape[0] = int64_t{1} << 40;
  *n_out = 2;
  return code(self, "infer", status);
}

int32_t compile(ls_backend* self, const ls_node*, uint32_t, const ls_tensor*, uint32_t,
    const uint32_t*, uint32_t n_feeds, const uint32_t*, uint32_t, ls_plan** plan,
    uint64_t* scratch_bytes, ls_status*) {
  *plan = new ls_plan{self, n_feeds};
  *scratch_bytes = 0;
  return LS_OK;
}

void add_device(ls_api& t) {
  t.alloc = [](ls_backend*, uint64_t bytes, uint64_t align, ls_status*) {
    void* memory = nullptr;
    return posix_memalign(&memory, align, bytes) == 0 ? memory : nullptr;
  };
  t.free = [](ls_backend*, void* memory) { std::free(memory); };
  t.upload = [](ls_backend* self, void* to, const void* from, uint64_t bytes, ls_status* status) {
    std::memcpy(to, from, bytes);
    return code(self, "upload", status);
  };
  t.download = [](ls_backend* self, void* to, const void* from, uint64_t bytes, ls_status* status) {
    std::memcpy(to, from, bytes);
    return code(self, "download", status);
  };
  t.stream = [](ls_backend* self, void** stream, ls_status* status) {
    *stream = self;
    return code(self, "stream", status);
  };
  t.wait = [](ls_backend* self, void*, ls_status* status) { return code(self, "wait", status); };
}

}  // namespace

const ls_api* lockstep_backend_v1() {
  static ls_api t{};
  t.abi = LOCKSTEP_ABI;
  t.size = sizeof t;
  t.manifest = manifest;
  t.open = open_telling;
  t.close = [](ls_backend* self) { delete self; };
  t.prepare = prepare;
  t.execute = execute;
  t.release = [](ls_plan* plan) { delete plan; };
  t.path = path;
  t.infer = infer;
  t.compile = compile;
  t.threads = [](const ls_backend* self) -> uint32_t {
    return self->value("words").empty() ? 1 : 3000000000;
  };
  if (std::getenv("TELLING_DEVICE")) add_device(t);
  const char* lacks = std::getenv("TELLING_LACKS");
  int number = lacks ? std::atoi(lacks) : -1;
  const auto drop = [&](auto&... functions) {
    ((functions = number-- == 0 ? nullptr : functions), ...);
  };
  drop(t.manifest, t.open, t.close, t.prepare, t.execute, t.release, t.path);
  return &t;
}
