#include "conformance/subjects/library_subject.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <random>

#include "conformance/cases/layout.h"
#include "conformance/subjects/channel.h"
#include "conformance/subjects/process.h"

namespace lockstep::judge {
namespace {

// How often a new process follows a device's failure; opening a device is slow.
constexpr int kFreshProcesses = 100;
constexpr std::size_t kArena = std::size_t{4} << 30;  // reserved address space

// Shared memory: the channel, then the tensors.
class Memory {
 public:
  Memory() {
    void* m = mmap(
        nullptr, kArena, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED) throw std::runtime_error("no address space for the worker's memory");
    base_ = static_cast<char*>(m);
    channel_ = new (base_) Channel;
  }
  Memory(const Memory&) = delete;
  ~Memory() { munmap(base_, kArena); }
  Channel& channel() { return *channel_; }
  /// Starts the tensors of a new question.
  void clear() { used_ = round_up(sizeof(Channel)); }
  /// Allocates whole pages for this many bytes, with an unused page on both sides.
  char* pages(std::size_t bytes) {
    char* at = base_ + used_ + kPage;
    used_ += kPage + round_up(bytes);
    if (used_ + kPage > kArena) throw std::runtime_error("the tensors of a case exceed 4 GiB");
    return at;
  }
  static std::size_t round_up(std::size_t n) { return (n + kPage - 1) / kPage * kPage; }

 private:
  char* base_ = nullptr;
  Channel* channel_ = nullptr;
  std::size_t used_ = 0;
};

// The judge's own copy of a tensor's slot, placement and initial memory: by the time the tensor is
// read, a backend may have overwritten the shared slot.
struct Placed {
  Slot slot;
  Type type;
  Placement at;
  std::vector<char> before;
  i32* elements() const { return reinterpret_cast<i32*>(slot.data) - at.offset; }
};

std::string describe_memory(const Placed& p, const char* address) {
  const char* first = reinterpret_cast<const char*>(p.elements());
  const char* last = first + p.at.allocated * static_cast<i64>(sizeof(i32));
  if (address < first) return std::to_string(first - address) + " bytes before its memory";
  if (address >= last) return std::to_string(address - last) + " bytes after its memory";
  return "a padding cell, element " + std::to_string((address - first) / 4 - p.at.offset) +
      " from its first";
}

// Whether this machine can run any of the backend's kernels, as its manifest states.
bool runs_here(const Manifest& m) {
  return std::any_of(
      m.kernels.begin(), m.kernels.end(), [](const KernelInfo& k) { return k.runnable; });
}

class LibrarySubject : public Subject {
 public:
  LibrarySubject(const std::string& path, const Limits& limits) : path_(path), limits_(limits) {
    configs_.push_back(limits.set);
    start();
    const Channel& c = memory_.channel();
    try {
      if (c.state == Channel::refused) throw UsageError(c.refusal);
      if (c.state == Channel::unopened) throw RefusedOptions(c.refusal);
      manifest_ = parse_manifest(std::string(c.manifest, c.manifest_size));
      if (c.failure[0] && !runs_here(manifest_))
        throw CannotRun("cannot run here: " + printable(c.failure), manifest_);
    } catch (const RefusedOptions& e) {
      stop();
      throw RefusedOptions("'" + path + "' " + e.what());
    } catch (const CannotRun& e) {
      stop();
      throw CannotRun("'" + path + "' " + e.what(), e.manifest);
    } catch (const UsageError& e) {
      stop();
      throw UsageError("'" + path + "' " + e.what());
    }
    infers_ = c.infers;
  }
  ~LibrarySubject() override { stop(); }

  const Manifest& manifest() const override { return manifest_; }
  bool shares_memory() const override { return true; }
  bool can_infer() const override { return infers_; }
  int configure(const Options& more) override {
    Options o = limits_.set;
    for (const auto& [key, value] : more) o[key] = value;
    configs_.push_back(o);
    stop();  // the next worker gets the new list
    return static_cast<int>(configs_.size()) - 1;
  }

  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run& run) override {
    return execute_for({&in}, c, out, run)[0];
  }

  std::vector<Answer> execute_at_once(const Case& c, const std::vector<std::vector<Tensor>>& in,
      const Inferred& out, const Run& run) override {
    if (in.size() * (c.in.size() + static_cast<std::size_t>(out.count)) > kMaxSlots) return {};
    std::vector<const std::vector<Tensor>*> callers;
    for (const auto& values : in) callers.push_back(&values);
    return execute_for(callers, c, out, run);
  }

  Answer refuse(const Case& c) override {
    Question& q = question(Question::refuse, c, 0);
    types_only(q, c);
    // Outputs of an illegal call have no types, so each port gets a placeholder of rank 1.
    q.out_count = c.op->outputs.size();
    for (int k = 0; k < q.out_count; ++k) {
      q.slot[q.in_count + k] = {};
      q.slot[q.in_count + k].rank = 1;
      q.slot[q.in_count + k].precision = 32;
      q.slot[q.in_count + k].shape[0] = q.slot[q.in_count + k].stride[0] = 1;
    }
    return ask();
  }

  Answer infer(const Case& c) override {
    Question& q = question(Question::infer, c, 0);
    types_only(q, c);
    return ask();
  }

 private:
  // The tensors of one caller.
  struct Tensors {
    std::vector<Placed> in, out;
  };

  std::vector<Answer> execute_for(const std::vector<const std::vector<Tensor>*>& callers,
      const Case& c, const Inferred& out, const Run& run) {
    Question& q = question(Question::execute, c, run.config);
    q.constants = run.constants;
    q.poison = run.poison;
    q.out_count = out.count;
    q.callers = static_cast<int>(callers.size());
    std::vector<Tensors> all;
    for (std::size_t k = 0; k < callers.size(); ++k)
      all.push_back(lay_call(q.slot + q.first(static_cast<int>(k)), c, *callers[k], out, run));
    Answer answer = ask();
    for (const Tensors& t : all) {
      explain_fault(answer, t.in, "input");
      explain_fault(answer, t.out, "output");
    }
    std::vector<Answer> answers(all.size(), answer);
    for (std::size_t k = 0; answer.ok() && k < all.size(); ++k) take(answers[k], all[k]);
    return answers;
  }

  Tensors lay_call(Slot* slot, const Case& c, const std::vector<Tensor>& in, const Inferred& out,
      const Run& run) {
    Tensors t;
    for (int k = 0; k < static_cast<int>(in.size()); ++k) {
      const Type& type = in[static_cast<std::size_t>(k)].type;
      t.in.push_back(lay(*slot++, type, place_input(type, run.layout, c.seed, k), run.base));
    }
    for (int k = 0; k < out.count; ++k)
      t.out.push_back(lay(*slot++, out[k], place_output(out[k], run.layout, c.seed, k), run.base));
    for (std::size_t k = 0; k < in.size(); ++k) write(t.in[k], in[k].data, ~run.poison);
    for (Placed& p : t.out) write(p, {}, ~run.poison, run.poison);
    for (auto* side : {&t.in, &t.out})
      for (Placed& p : *side) p.before.assign(p.slot.begin, p.slot.end);
    return t;
  }

  // Takes a caller's outputs from its memory after the call.
  static void take(Answer& a, Tensors& t) {
    for (std::size_t k = 0; k < t.out.size(); ++k) a.out.push_back(collect(t.out[k], k, a));
    for (std::size_t k = 0; k < t.in.size() && a.in_damage.empty(); ++k)
      if (const char* at = changed(t.in[k]))
        a.in_damage = "input " + std::to_string(k) + " was written, " + describe_input(t.in[k], at);
  }

  void start() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::runtime_error("no socket for the worker");
    memory_.channel().state = Channel::starting;
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("no process for the worker");
    if (pid_ == 0) {
      close(ends[0]);
      work(path_, configs_, bytes_of_gib(limits_.memory_gib), memory_.channel(), ends[1]);
    }
    close(ends[1]);
    socket_ = ends[0];
    u64 number = 0;
    const bool in_time = readable_within(socket_, limits_.start_s);
    if (in_time && read(socket_, &number, sizeof number) == sizeof number) return;
    close(socket_);
    const std::string how = in_time ? reap_process(pid_) : end_process(pid_);
    pid_ = 0;
    throw LoadCrash("the backend '" + path_ + "' " +
        (in_time ? how + " while it was being loaded" : "did not finish loading"));
  }
  void stop() {
    if (!pid_) return;
    close(socket_);
    end_process(pid_);
    pid_ = 0;
  }

  Question& question(Question::What what, const Case& c, int config) {
    if (!pid_) start();
    Question& q = memory_.channel().question;
    memory_.clear();
    q.what = what;
    q.op = c.op;
    q.config = config;
    q.callers = 1;
    q.attr_count = static_cast<int>(c.attrs.size());
    std::copy(c.attrs.begin(), c.attrs.end(), q.attrs);
    q.in_count = std::min(static_cast<int>(c.in.size()), kMaxSlots - kMaxOutputs);
    q.out_count = 0;
    return q;
  }

  void types_only(Question& q, const Case& c) {
    for (int k = 0; k < q.in_count; ++k) {
      const Type& t = c.in[static_cast<std::size_t>(k)];
      Slot& s = q.slot[k] = {};
      s.rank = std::min(t.rank(), kMaxRank + 1);
      s.precision = t.precision;
      i64 n = 1;
      for (int d = s.rank - 1; d >= 0; --d) {
        s.shape[d] = d < kMaxRank ? t.dim(d) : 1;
        s.stride[d] = n;
        // Saturates, because illegal extents must not overflow the judge's arithmetic.
        n = s.shape[d] > 0 && n <= kMaxVolume ? n * std::min(s.shape[d], kMaxExtent * 2) : n;
      }
    }
  }

  Placed lay(Slot& s, const Type& t, const Placement& at, Base base) {
    Placed p{{}, t, at, {}};
    s = {};
    s.rank = t.rank();
    s.precision = t.precision;
    std::copy(t.shape.begin(), t.shape.end(), s.shape);
    std::copy(p.at.stride, p.at.stride + kMaxRank, s.stride);
    const auto bytes = static_cast<std::size_t>(p.at.allocated) * sizeof(i32);
    // Room beside the tensor reveals small overruns that do not reach the guard page.
    const std::size_t pages = Memory::round_up(bytes + 256);
    s.begin = memory_.pages(pages);
    s.end = s.begin + pages;
    char* first = base == Base::end ? s.end - bytes
        : base == Base::begin       ? s.begin
                                    : s.begin + sizeof(i32);
    s.data = first + p.at.offset * static_cast<i64>(sizeof(i32));
    p.slot = s;
    return p;
  }

  static void write(Placed& p, const std::vector<i32>& values, i32 beside, i32 inside = 0) {
    std::fill(reinterpret_cast<i32*>(p.slot.begin), reinterpret_cast<i32*>(p.slot.end), beside);
    i32* e = p.elements();
    std::size_t k = 0;
    for_each_address(p.type, p.at, [&](i64 at) { e[at] = values.empty() ? inside : values[k++]; });
  }

  // The first address whose content changed, or nullptr.
  static const char* changed(const Placed& p) {
    if (std::memcmp(p.before.data(), p.slot.begin, p.before.size()) == 0) return nullptr;
    return std::mismatch(p.before.begin(), p.before.end(), p.slot.begin).second;
  }

  static std::string describe_input(const Placed& p, const char* at) {
    const char* first = reinterpret_cast<const char*>(p.elements());
    const i64 k = (at - first) / static_cast<i64>(sizeof(i32));
    bool element = false;
    if (at >= first) for_each_address(p.type, p.at, [&](i64 a) { element = element || a == k; });
    return element ? "an element of it" : describe_memory(p, at);
  }

  // The values of an output. Notes any other change in its memory.
  static std::vector<i32> collect(Placed& p, std::size_t k, Answer& a) {
    std::vector<i32> values;
    values.reserve(static_cast<std::size_t>(volume(p.type.shape)));
    i32* e = p.elements();
    i32* old = reinterpret_cast<i32*>(p.before.data()) + (e - reinterpret_cast<i32*>(p.slot.begin));
    for_each_address(p.type, p.at, [&](i64 at) {
      values.push_back(e[at]);
      e[at] = old[at];
    });
    if (const char* at = changed(p); at && a.out_damage.empty())
      a.out_damage =
          "memory of output " + std::to_string(k) + " was written, " + describe_memory(p, at);
    return values;
  }

  void explain_fault(Answer& a, const std::vector<Placed>& tensors, const char* what) {
    const char* fault = memory_.channel().reply.fault;
    if (a.kind != AnswerKind::crashed || !fault) return;
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      const Slot& s = tensors[k].slot;
      if (fault < s.begin - kPage || fault >= s.end + kPage) continue;
      a.message += " touching memory of " + std::string(what) + " " + std::to_string(k) + ", " +
          describe_memory(tensors[k], fault);
      if (std::string(what) == "output") a.out_damage = a.message;
    }
  }

  Answer ask() {
    Answer a;
    Reply& r = memory_.channel().reply;
    r = {};
    const u64 number = word(secret_, ++asked_, 0);
    const bool sent = ::write(socket_, &number, sizeof number) == sizeof number;
    await_soon(socket_);
    const bool in_time = sent && readable_within(socket_, limits_.timeout_s);
    u64 numbers[2] = {};  // room for more than the answer
    const ssize_t got = in_time ? recv(socket_, numbers, sizeof numbers, 0) : 0;
    if (got > 0 && (got != sizeof number || numbers[0] != number)) {
      stop();
      return {.kind = AnswerKind::protocol, .message = "it wrote to the judge's socket"};
    }
    if (got > 0) {
      read_reply(a, r);
      // After a device error every later call of the process may fail, so a fresh process starts.
      if (a.kind == AnswerKind::runtime_error && memory_.channel().has_device &&
          ++device_failures_ <= kFreshProcesses)
        stop();
      return a;
    }
    close(socket_);
    a.kind = sent && !in_time ? AnswerKind::timed_out : AnswerKind::crashed;
    const std::string how =
        a.kind == AnswerKind::timed_out ? end_process(pid_) : reap_process(pid_);
    pid_ = 0;
    a.message = a.kind == AnswerKind::timed_out ? "no answer within the time limit"
                                                : "the backend's process " + how;
    return a;
  }

  // Checks every field: the backend may have overwritten the reply.
  static void read_reply(Answer& a, const Reply& r) {
    constexpr AnswerKind kKinds[] = {AnswerKind::ok, AnswerKind::logic_error,
        AnswerKind::runtime_error, AnswerKind::unsupported, AnswerKind::protocol};
    const auto text = [](const auto& s) { return printable({s, strnlen(s, sizeof s)}); };
    a.kind = r.code >= 0 && r.code < static_cast<int>(std::size(kKinds)) ? kKinds[r.code]
                                                                         : AnswerKind::protocol;
    a.label = text(r.label);
    a.message = text(r.text);
    a.path = text(r.path);
    a.threads = r.threads;
    a.unsteady = r.unsteady;
    for (int k = 0; k < min(r.type_count, kMaxOutputs); ++k) {
      if (r.type[k].rank < 0 || r.type[k].rank > kMaxRank) continue;
      a.types.push_back({{r.type[k].shape, r.type[k].shape + r.type[k].rank}, r.type[k].precision});
    }
  }

  std::string path_;
  Limits limits_;
  Memory memory_;
  std::vector<Options> configs_;
  Manifest manifest_;
  bool infers_ = false;
  int device_failures_ = 0;
  pid_t pid_ = 0;
  int socket_ = -1;
  // The number of each question comes back with its answer. A backend cannot foresee it.
  const u64 secret_ = u64{std::random_device()()} << 32 | std::random_device()();
  u64 asked_ = 0;
};

}  // namespace

std::unique_ptr<Subject> open_library(const std::string& path, const Limits& limits) {
  return std::make_unique<LibrarySubject>(path, limits);
}

}  // namespace lockstep::judge
