#include "conformance/subjects/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "conformance/subjects/abi.h"
#include "conformance/subjects/process.h"
#include "conformance/subjects/scratch_memory.h"

namespace lockstep::judge {
namespace {

Channel* crash_report = nullptr;

// Notes what was touched, then lets the signal kill the process as it would have.
void note_crash(int number, siginfo_t* what, void*) {
  crash_report->reply.fault = static_cast<const char*>(what->si_addr);
  signal(number, SIG_DFL);
  raise(number);  // one that was sent, not caused, would not come back
}

void watch_crashes(Channel& channel) {
  crash_report = &channel;
  static char stack[64 * 1024];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = note_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int s : {SIGSEGV, SIGBUS}) sigaction(s, &action, nullptr);
}

void copy_text(char* to, std::size_t room, const char* from) {
  std::snprintf(to, room, "%s", from ? from : "");
}

// A status that the backend may have filled.
struct Status {
  ls_status s{};
  Status() { s.size = sizeof s; }
  void answer(Reply& r, int32_t code) {
    s.label[sizeof s.label - 1] = s.text[sizeof s.text - 1] = '\0';
    r.code = code == LS_OK            ? kOk
             : code == LS_LOGIC       ? kLogic
             : code == LS_RUNTIME     ? kRuntime
             : code == LS_UNSUPPORTED ? kUnsupported
                                      : kBroken;
    copy_text(r.label, sizeof r.label, s.label);
    if (r.code == kBroken)
      std::snprintf(r.text, sizeof r.text, "answered the unknown status %d", code);
    else
      copy_text(r.text, sizeof r.text, s.text);
  }
};

void broken(Reply& r, const char* why) {
  r.code = kBroken;
  copy_text(r.text, sizeof r.text, why);
}

ls_tensor tensor_of(Slot& s, DLDeviceType device) {
  ls_tensor t{};
  t.dl.device = {device, 0};
  t.dl.ndim = s.rank;
  t.dl.dtype = {kDLInt, 32, 1};
  t.dl.shape = s.shape;
  t.dl.strides = s.stride;
  t.precision = s.precision;
  return t;
}

class Library {
 public:
  Library(const std::string& path, const std::vector<Options>& configs)
      : api_(load_backend(path)), configs_(configs), opened_(configs.size(), nullptr) {}
  const ls_api& api() const { return api_; }

  /// The backend opened with configuration `i`, or nullptr with the reason in the reply.
  ls_backend* open(int i, Reply& r) {
    ls_backend*& self = opened_[static_cast<std::size_t>(i)];
    if (self) return self;
    std::vector<ls_text> options;
    for (const auto& [key, value] : configs_[static_cast<std::size_t>(i)])
      options.push_back({key.c_str(), value.c_str()});
    Status status;
    const int32_t code =
        api_.open(options.data(), static_cast<uint32_t>(options.size()), &self, &status.s);
    if (code != LS_OK) self = nullptr;
    status.answer(r, code);
    if (code == LS_OK && !self) broken(r, "open() succeeded without a backend");
    if (r.code != kOk) {
      const std::string text = std::string("open() failed: ") + r.text;
      copy_text(r.text, sizeof r.text, text.c_str());
    }
    return self;
  }

 private:
  ls_api api_;
  std::vector<Options> configs_;
  std::vector<ls_backend*> opened_;
};

// Memory of a device, or nullptr with the reason in the status.
void* device_memory(const ls_api& api, ls_backend* self, uint64_t bytes, ls_status* s) {
  s->text[0] = '\0';
  void* memory = api.alloc(self, bytes, 64, s);
  if (!memory && !s->text[0]) copy_text(s->text, sizeof s->text, "alloc() returned nothing");
  return memory;
}

// The tensors of an execution where the backend's device can reach them. Regions are copied whole,
// so that what a kernel writes beside a tensor comes back too.
class Staging {
 public:
  Staging(const ls_api& api, ls_backend* self, Question& q) : api_(api), self_(self), q_(q) {
    for (int k = 0; k < q.callers * q.tensors(); ++k) data_.push_back(q.slot[k].data);
  }
  Staging(const Staging&) = delete;
  ~Staging() {
    for (void* m : device_) api_.free(self_, m);
  }
  bool used() const { return api_.alloc != nullptr; }
  int32_t upload(ls_status* s) {
    for (std::size_t k = 0; used() && k < data_.size(); ++k) {
      const Slot& slot = q_.slot[k];
      const auto bytes = static_cast<uint64_t>(slot.end - slot.begin);
      void* m = device_memory(api_, self_, bytes, s);
      if (!m) return LS_RUNTIME;
      device_.push_back(m);
      if (const int32_t code = api_.upload(self_, m, slot.begin, bytes, s)) return code;
      data_[k] = static_cast<char*>(m) + (slot.data - slot.begin);
    }
    return LS_OK;
  }
  int32_t download(ls_status* s) {
    for (std::size_t k = 0; k < device_.size(); ++k) {
      const Slot& slot = q_.slot[k];
      const auto bytes = static_cast<uint64_t>(slot.end - slot.begin);
      if (const int32_t code = api_.download(self_, slot.begin, device_[k], bytes, s)) return code;
    }
    return LS_OK;
  }
  /// The tensors of one caller.
  char* const* data(int caller = 0) const { return data_.data() + q_.first(caller); }

 private:
  const ls_api& api_;
  ls_backend* self_;
  Question& q_;
  std::vector<char*> data_;
  std::vector<void*> device_;
};

// Who runs a plan, with a stream, scratch memory and a status of its own.
class Caller {
 public:
  Caller(const ls_api& api, ls_backend* self) : api_(api), self_(self) {}
  Caller(const Caller&) = delete;
  ~Caller() {
    if (on_device() && scratch_) api_.free(self_, scratch_);
  }
  void equip(uint64_t scratch_bytes, i32 poison) {
    if (on_device()) code_ = api_.stream(self_, &stream_, &status_.s);
    if (code_ != LS_OK || scratch_bytes == 0) return;
    if (!on_device()) host_scratch_ = ScratchMemory(scratch_bytes, poison);
    scratch_ =
        on_device() ? device_memory(api_, self_, scratch_bytes, &status_.s) : host_scratch_.data();
    if (!scratch_) code_ = LS_RUNTIME;
  }
  void execute(const ls_plan* plan, char* const* in, char* const* out) {
    if (code_ == LS_OK)
      code_ = api_.execute(plan, reinterpret_cast<const void* const*>(in),
                           reinterpret_cast<void* const*>(out), scratch_, stream_, &status_.s);
  }
  void wait() {
    if (code_ == LS_OK && on_device()) code_ = api_.wait(self_, stream_, &status_.s);
  }
  /// Notes outputs in host memory, and whether they are what they were when last noted.
  void note(const Slot* out, int n) {
    std::string now;
    for (int k = 0; k < n; ++k) now.append(out[k].begin, out[k].end);
    unsteady_ = unsteady_ || (!noted_.empty() && noted_ != now);
    noted_ = std::move(now);
  }
  bool unsteady() const { return unsteady_; }
  /// Whether all went well; the reply says what did not.
  bool answer(Reply& r) {
    status_.answer(r, code_);
    if (!host_scratch_.is_intact()) broken(r, "execute() wrote beside its scratch memory");
    return r.code == kOk;
  }

 private:
  bool on_device() const { return api_.alloc != nullptr; }

  const ls_api& api_;
  ls_backend* self_;
  Status status_;
  int32_t code_ = LS_OK;
  void *stream_ = nullptr, *scratch_ = nullptr;
  ScratchMemory host_scratch_;
  std::string noted_;
  bool unsteady_ = false;
};

// Calls f(k) for 0 <= k < n on as many threads, none before all of them are there.
template <class F>
void at_once(int n, const F& f) {
  std::atomic<int> here{0};
  const auto arrive = [&](int k) {
    // Waits awake: who sleeps here would come when the others are done.
    for (++here; here < n;) std::this_thread::yield();
    f(k);
  };
  std::vector<std::thread> others;
  const auto join = [&] {
    for (std::thread& t : others) t.join();
  };
  try {
    for (int k = 1; k < n; ++k) others.emplace_back(arrive, k);
  } catch (const std::system_error&) {
    here = n;
    join();
    throw std::runtime_error("no threads for several callers at once");
  }
  arrive(0);
  join();
}

// Executes a plan on staged tensors.
void run(const ls_api& api, ls_backend* self, ls_plan* plan, uint64_t scratch_bytes,
         Staging& staging, const Question& q, Reply& r) {
  constexpr int kRounds = 3;  // a race is not lost every time
  std::deque<Caller> callers;
  for (int k = 0; k < q.callers; ++k)
    callers.emplace_back(api, self).equip(scratch_bytes, q.poison);
  const auto execute = [&](int k) -> Caller& {
    char* const* tensors = staging.data(k);
    Caller& c = callers[static_cast<std::size_t>(k)];
    c.execute(plan, tensors, tensors + q.in_count);
    return c;
  };
  if (q.callers == 1)
    execute(0);
  else
    at_once(q.callers, [&](int k) {
      // On a device the rounds follow each other on a stream, and only its last is seen.
      for (int round = 0; round < kRounds; ++round)
        execute(k).note(q.slot + q.first(k) + q.in_count, q.out_count);
    });
  for (Caller& c : callers) c.wait();
  for (const Caller& c : callers) r.unsteady = r.unsteady || c.unsteady();
  for (Caller& c : callers)
    if (!c.answer(r)) return;
  Status status;
  status.answer(r, staging.download(&status.s));
}

// A question as the ABI's arguments.
struct Arguments {
  Arguments(Question& q, DLDeviceType device)
      : name(q.op->name),
        attrs(*q.op, {q.attrs, q.attr_count}),
        n_in(static_cast<uint32_t>(q.in_count)),
        n_out(static_cast<uint32_t>(q.out_count)) {
    for (int k = 0; k < q.tensors(); ++k) tensors.push_back(tensor_of(q.slot[k], device));
  }
  std::string name;
  AbiAttributes attrs;
  std::vector<ls_tensor> tensors;
  uint32_t n_in, n_out;
};

void answer_infer(const ls_api& api, ls_backend* self, const Arguments& call, Reply& r) {
  i64 shape[kMaxOutputs][kMaxRank]{};
  ls_tensor out[kMaxOutputs]{};
  for (int k = 0; k < kMaxOutputs; ++k) out[k].dl.shape = shape[k];
  uint32_t n = kMaxOutputs;
  Status status;
  status.answer(r, api.infer(self, call.name.c_str(), call.attrs.data(), call.attrs.size(),
                             call.tensors.data(), call.n_in, out, &n, &status.s));
  if (r.code != kOk) return;
  if (n > kMaxOutputs) return broken(r, "infer() counts more outputs than there is room for");
  r.type_count = static_cast<int>(n);
  for (uint32_t k = 0; k < n; ++k) {
    if (out[k].dl.ndim < 0 || out[k].dl.ndim > kMaxRank)
      return broken(r, "infer() gives an output an impossible rank");
    r.type[k].rank = out[k].dl.ndim;
    r.type[k].precision = out[k].precision;
    std::copy_n(shape[k], kMaxRank, r.type[k].shape);
  }
}

// Prepares the call and, where that is asked, runs it.
void answer_call(const ls_api& api, ls_backend* self, Question& q, Arguments& call, Reply& r) {
  Status status;
  Staging staging(api, self, q);
  if (q.what == Question::execute) {
    status.answer(r, staging.upload(&status.s));
    if (r.code != kOk) return;
    for (uint32_t k = 1; q.constants && k < call.n_in; ++k) {
      call.tensors[k].flags |= LS_CONSTANT;
      call.tensors[k].dl.data = staging.data()[k];
    }
  }
  ls_plan* plan = nullptr;
  uint64_t scratch = 0;
  status.answer(r, api.prepare(self, call.name.c_str(), call.attrs.data(), call.attrs.size(),
                               call.tensors.data(), call.n_in, call.tensors.data() + call.n_in,
                               call.n_out, &plan, &scratch, &status.s));
  if (r.code != kOk) return;
  if (!plan) return broken(r, "prepare() succeeded without a plan");
  if (q.what == Question::execute) {
    copy_text(r.path, sizeof r.path, api.path(plan));
    if (api.threads) r.threads = api.threads(self);
    run(api, self, plan, scratch, staging, q, r);
  }
  api.release(plan);
}

void answer(Library& library, Question& q, Reply& r) {
  ls_backend* self = library.open(q.config, r);
  if (!self) return;
  Arguments call(q, library.api().alloc ? kDLExtDev : kDLCPU);
  if (q.what == Question::infer)
    answer_infer(library.api(), self, call, r);
  else
    answer_call(library.api(), self, q, call, r);
}

// Makes every page around the tensors inaccessible; [first, last) is all memory of the question.
class Guards {
 public:
  void set(const Question& q) {
    std::vector<char*> pages;
    for (int k = 0; k < q.callers * q.tensors(); ++k) {
      if (!q.slot[k].begin) continue;
      pages.push_back(q.slot[k].begin - kPage);
      pages.push_back(q.slot[k].end);
    }
    if (pages == pages_) return;
    for (char* p : pages_) mprotect(p, kPage, PROT_READ | PROT_WRITE);
    for (char* p : pages) mprotect(p, kPage, PROT_NONE);
    pages_ = pages;
  }

 private:
  std::vector<char*> pages_;
};

void refuse(Channel& channel, const std::string& why) {
  copy_text(channel.refusal, sizeof channel.refusal, why.c_str());
  channel.state = Channel::refused;
}

// A backend's own output would mix with the judge's.
void silence() {
  const int null = open("/dev/null", O_RDWR);
  for (int fd : {0, 1, 2}) dup2(null, fd);
  close(null);
}

}  // namespace

void work(const std::string& path, const std::vector<Options>& configs, std::uint64_t memory,
          Channel& channel, int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  silence();
  watch_crashes(channel);
  std::unique_ptr<Library> library;
  try {
    library = std::make_unique<Library>(path, configs);
    const char* manifest = library->api().manifest();
    const std::size_t n = manifest ? std::strlen(manifest) : 0;
    if (n == 0 || n > sizeof channel.manifest) throw std::runtime_error("it has no manifest");
    std::memcpy(channel.manifest, manifest, n);
    channel.manifest_size = n;
    channel.infers = library->api().infer != nullptr;
    channel.has_device = library->api().alloc != nullptr;
    // Drivers of devices reserve more than any machine has, and use a part of it.
    if (!channel.has_device) limit_data(memory);
    channel.state = Channel::ready;
    // Here, where a device has time to wake up. What failed is tried again for every question.
    Reply opened;
    library->open(0, opened);
    if (opened.code == kLogic) {
      refuse(channel, std::string("refuses its options: ") + opened.text);
      channel.state = Channel::unopened;
    } else if (opened.code != kOk) {
      copy_text(channel.failure, sizeof channel.failure, opened.text);
    }
  } catch (const std::exception& e) {
    refuse(channel, std::string("is no backend: ") + e.what());
  }
  Guards guards;
  char byte = 'r';
  const auto asked = [&] {
    await_soon(socket);
    return read(socket, &byte, 1) == 1;
  };
  while (write(socket, &byte, 1) == 1 && asked()) {
    channel.reply = {};
    guards.set(channel.question);
    try {
      answer(*library, channel.question, channel.reply);
    } catch (const std::exception& e) {
      broken(channel.reply, e.what());
    }
  }
  _exit(0);
}

}  // namespace lockstep::judge
