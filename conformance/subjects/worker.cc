#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "backends/call.h"
#include "conformance/subjects/channel.h"
#include "conformance/subjects/process.h"
#include "conformance/subjects/scratch_memory.h"

namespace lockstep::judge {
namespace {

Channel* crash_report = nullptr;

// Notes the faulting address, then lets the signal kill the process.
void note_crash(int number, siginfo_t* what, void*) {
  crash_report->reply.fault = static_cast<const char*>(what->si_addr);
  signal(number, SIG_DFL);
  raise(number);  // a signal sent by a process would not recur
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

void copy_text(char* to, std::size_t room, const std::string& from) {
  std::snprintf(to, room, "%s", from.c_str());
}

void broken(Reply& r, const char* why) {
  r.code = kBroken;
  copy_text(r.text, sizeof r.text, why);
}

// Notes the backend's answer. @return whether it is ok
bool note(Reply& r, const client::Status& s) {
  r.code = s.code == LS_OK       ? kOk
      : s.code == LS_LOGIC       ? kLogic
      : s.code == LS_RUNTIME     ? kRuntime
      : s.code == LS_UNSUPPORTED ? kUnsupported
                                 : kBroken;
  copy_text(r.label, sizeof r.label, s.label);
  copy_text(r.text, sizeof r.text, s.text);
  return s.ok();
}

// The library's backend in each configuration, opened at its first use.
class Backends {
 public:
  Backends(const std::string& path, const std::vector<Options>& configs)
      : library_(client::Library::load(path)), configs_(configs), opened_(configs.size()) {}
  const client::Library& library() const { return library_; }

  /// The backend opened with configuration `i`, or nullptr with the reason in the reply.
  const client::Backend* open(int i, Reply& r) {
    std::optional<client::Backend>& backend = opened_[static_cast<std::size_t>(i)];
    if (backend) return &*backend;
    auto opened = client::Backend::open(library_, configs_[static_cast<std::size_t>(i)]);
    if (note(r, opened.status())) return &backend.emplace(std::move(*opened));
    copy_text(r.text, sizeof r.text, std::string("open() failed: ") + r.text);
    return nullptr;
  }

 private:
  client::Library library_;
  std::vector<Options> configs_;
  std::vector<std::optional<client::Backend>> opened_;
};

// The tensors of an execution, copied to the backend's device where it has one. Whole regions are
// copied, so that the judge also sees what a kernel writes beside a tensor.
class Staging {
 public:
  Staging(const client::Backend& backend, Question& q) : backend_(backend), q_(q) {
    for (int k = 0; k < q.callers * q.tensors(); ++k) data_.push_back(q.slot[k].data);
  }
  Staging(const Staging&) = delete;
  client::Status upload() {
    for (std::size_t k = 0; backend_.library().has_device() && k < data_.size(); ++k) {
      const Slot& slot = q_.slot[k];
      client::Result<client::Memory> memory = backend_.allocate(bytes(slot));
      if (!memory.ok()) return memory.status();
      device_.push_back(std::move(*memory));
      client::Status written = device_[k].write(slot.begin, bytes(slot));
      if (!written.ok()) return written;
      data_[k] = static_cast<char*>(device_[k].data()) + (slot.data - slot.begin);
    }
    return {};
  }
  client::Status download() {
    for (std::size_t k = 0; k < device_.size(); ++k) {
      client::Status read = device_[k].read(q_.slot[k].begin, bytes(q_.slot[k]));
      if (!read.ok()) return read;
    }
    return {};
  }
  /// The tensors of one caller.
  char* const* data(int caller = 0) const { return data_.data() + q_.first(caller); }

 private:
  static uint64_t bytes(const Slot& s) { return static_cast<uint64_t>(s.end - s.begin); }

  const client::Backend& backend_;
  Question& q_;
  std::vector<char*> data_;
  std::vector<client::Memory> device_;
};

// One caller of a plan, with a stream, scratch memory and a status of its own.
class Caller {
 public:
  Caller(const client::Backend& backend, const client::Plan& plan, i32 poison) : plan_(plan) {
    if (!take(backend.stream(), stream_) || plan.scratch_bytes() == 0) return;
    if (!backend.library().has_device())
      host_scratch_ = ScratchMemory(plan.scratch_bytes(), poison);
    else if (take(backend.allocate(plan.scratch_bytes()), device_scratch_))
      scratch_ = device_scratch_->data();
    if (host_scratch_.data()) scratch_ = host_scratch_.data();
  }
  Caller(const Caller&) = delete;
  void execute(std::span<char* const> in, std::span<char* const> out) {
    if (!status_.ok()) return;
    status_ = plan_.execute({reinterpret_cast<const void* const*>(in.data()), in.size()},
        {reinterpret_cast<void* const*>(out.data()), out.size()}, scratch_, stream_->handle());
  }
  void wait() {
    if (status_.ok()) status_ = stream_->wait();
  }
  /// Notes the outputs in host memory, and whether they changed since the last round.
  void note(const Slot* out, int n) {
    std::string now;
    for (int k = 0; k < n; ++k) now.append(out[k].begin, out[k].end);
    unsteady_ = unsteady_ || (!noted_.empty() && noted_ != now);
    noted_ = std::move(now);
  }
  bool unsteady() const { return unsteady_; }
  /// Writes the status into the reply. @return whether it is ok
  bool answer(Reply& r) {
    judge::note(r, status_);
    if (!host_scratch_.is_intact()) broken(r, "execute() wrote beside its scratch memory");
    return r.code == kOk;
  }

 private:
  template <class T> bool take(client::Result<T> from, std::optional<T>& to) {
    status_ = from.status();
    if (from.ok()) to.emplace(std::move(*from));
    return from.ok();
  }

  const client::Plan& plan_;
  client::Status status_;
  std::optional<client::Stream> stream_;
  std::optional<client::Memory> device_scratch_;
  ScratchMemory host_scratch_;
  void* scratch_ = nullptr;
  std::string noted_;
  bool unsteady_ = false;
};

// Calls f(k) for 0 <= k < n on n threads, and starts no call before all threads run.
template <class F> void at_once(int n, const F& f) {
  std::atomic<int> here{0};
  const auto arrive = [&](int k) {
    // Spins: a sleeping thread would wake only after the others have finished.
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
void run(const client::Backend& backend, const client::Plan& plan, Staging& staging,
    const Question& q, Reply& r) {
  constexpr int kRounds = 3;  // a race shows only in some rounds
  std::deque<Caller> callers;
  for (int k = 0; k < q.callers; ++k) callers.emplace_back(backend, plan, q.poison);
  const auto n_in = static_cast<std::size_t>(q.in_count),
             n_out = static_cast<std::size_t>(q.out_count);
  const auto execute = [&](int k) -> Caller& {
    char* const* tensors = staging.data(k);
    Caller& c = callers[static_cast<std::size_t>(k)];
    c.execute({tensors, n_in}, {tensors + n_in, n_out});
    return c;
  };
  if (q.callers == 1)
    execute(0);
  else
    at_once(q.callers, [&](int k) {
      // A device queues the rounds on a stream, so only the last one's outputs are seen.
      for (int round = 0; round < kRounds; ++round)
        execute(k).note(q.slot + q.first(k) + q.in_count, q.out_count);
    });
  for (Caller& c : callers) c.wait();
  for (const Caller& c : callers) r.unsteady = r.unsteady || c.unsteady();
  for (Caller& c : callers)
    if (!c.answer(r)) return;
  note(r, staging.download());
}

// The question as a call of the client.
client::Call call_of(const Question& q) {
  client::Call call{
      std::string(q.op->name), client::attributes_of(*q.op, {q.attrs, q.attr_count}), {}, {}};
  for (int k = 0; k < q.tensors(); ++k) {
    const Slot& s = q.slot[k];
    const auto rank = static_cast<std::size_t>(s.rank);
    (k < q.in_count ? call.in : call.out)
        .push_back({{s.shape, rank}, {s.stride, rank}, s.precision, nullptr});
  }
  return call;
}

void answer_infer(const client::Backend& backend, const client::Call& call, Reply& r) {
  static_assert(client::kRankMax == kMaxRank);
  auto types = backend.infer(call, kMaxOutputs);
  if (!note(r, types.status())) return;
  r.type_count = static_cast<int>(types->size());
  for (std::size_t k = 0; k < types->size(); ++k) {
    const client::TensorType& t = (*types)[k];
    r.type[k].rank = static_cast<int>(t.shape.size());
    r.type[k].precision = t.precision;
    std::copy(t.shape.begin(), t.shape.end(), r.type[k].shape);
  }
}

// Prepares the call and, if the question says so, runs it.
void answer_call(const client::Backend& backend, Question& q, client::Call call, Reply& r) {
  Staging staging(backend, q);
  if (q.what == Question::execute) {
    if (!note(r, staging.upload())) return;
    for (std::size_t k = 1; q.constants && k < call.in.size(); ++k)
      call.in[k].constant = staging.data()[k];
  }
  auto plan = backend.prepare(call);
  if (!note(r, plan.status()) || q.what != Question::execute) return;
  copy_text(r.path, sizeof r.path, plan->path());
  r.threads = backend.threads();
  run(backend, *plan, staging, q, r);
}

void answer(Backends& backends, Question& q, Reply& r) {
  const client::Backend* backend = backends.open(q.config, r);
  if (!backend) return;
  if (q.what == Question::infer)
    answer_infer(*backend, call_of(q), r);
  else
    answer_call(*backend, q, call_of(q), r);
}

// Makes the pages around the tensors of a question inaccessible.
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
  copy_text(channel.refusal, sizeof channel.refusal, why);
  channel.state = Channel::refused;
}

// Discards the backend's output, which would mix with the judge's.
void silence() {
  const int null = open("/dev/null", O_RDWR);
  for (int fd : {0, 1, 2}) dup2(null, fd);
  close(null);
}

// Closes every file but the standard streams and one: a judge's results go through some of them.
void close_all_but(int kept) {
  for (int fd = 3; fd < kept; ++fd) close(fd);
  close_range(static_cast<unsigned>(max(3, kept + 1)), ~0u, 0);
}

}  // namespace

void work(const std::string& path, const std::vector<Options>& configs, std::uint64_t memory,
    Channel& channel, int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  silence();
  close_all_but(socket);
  watch_crashes(channel);
  std::unique_ptr<Backends> backends;
  try {
    backends = std::make_unique<Backends>(path, configs);
    const client::Library& library = backends->library();
    const std::string manifest = library.manifest();
    if (manifest.size() > sizeof channel.manifest) throw std::runtime_error("it has no manifest");
    std::memcpy(channel.manifest, manifest.data(), manifest.size());
    channel.manifest_size = manifest.size();
    channel.infers = library.has_infer();
    channel.has_device = library.has_device();
    // Device drivers reserve far more memory than they use, so no limit applies to them.
    if (!channel.has_device) limit_data(memory);
    channel.state = Channel::ready;
    // Opens now, within the longer start limit. Every question tries again if this failed.
    Reply opened;
    backends->open(0, opened);
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
  u64 number = 0;
  const auto asked = [&] {
    await_soon(socket);
    return read(socket, &number, sizeof number) == sizeof number;
  };
  while (write(socket, &number, sizeof number) == sizeof number && asked()) {
    channel.reply = {};
    guards.set(channel.question);
    try {
      answer(*backends, channel.question, channel.reply);
    } catch (const std::exception& e) {
      broken(channel.reply, e.what());
    }
  }
  _exit(0);
}

}  // namespace lockstep::judge
