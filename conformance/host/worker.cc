#include "conformance/host/worker.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>

#include "conformance/host/arena.h"
#include "conformance/host/backends.h"
#include "conformance/host/calls.h"
#include "conformance/host/confine.h"
#include "conformance/host/device_scratch.h"
#include "conformance/host/device_values.h"
#include "conformance/host/heap.h"
#include "conformance/host/other_plan.h"
#include "conformance/host/plant.h"
#include "conformance/host/scratch_memory.h"
#include "conformance/host/staging.h"
#include "conformance/host/team.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

void broken(Reply& r, const char* why) {
  r.code = kBroken;
  copy_text(r.text, why);
}

// How a plan, or a sequence of plans, is executed.
struct Execution {
  template <class P> explicit Execution(const P& plan)
      : scratch_bytes(plan.scratch_bytes()),
        execute([&plan](auto... arguments) { return plan.execute(arguments...); }) {}
  uint64_t scratch_bytes;
  std::function<client::Status(
      std::span<const void* const> in, std::span<void* const> out, void* scratch, void* stream)>
      execute;
};

// One caller of a plan, with a stream, scratch memory and a status of its own.
class Caller {
 public:
  Caller(const client::Backend& backend, const Execution& plan, const Letter& letter)
      : plan_(plan), plant_(letter.plant), scratch_bytes_(plan.scratch_bytes) {
    // Memory of whole cache lines ends at its guard unless the filler is odd.
    if (plant_ == Plant::scratch || plant_ == Plant::ahead || plant_ == Plant::filled)
      scratch_bytes_ = round_up(scratch_bytes_, kPage) + sizeof(i32);
    if (plant_ == Plant::page) scratch_bytes_ = round_up(scratch_bytes_ + 1, kPage);
    if (!take(backend.stream(), stream_) || scratch_bytes_ == 0) return;
    if (!backend.library().has_device())
      host_scratch_ = ScratchMemory(scratch_bytes_, letter.filler);
    else
      status_ = device_scratch_.take(backend, scratch_bytes_, letter.filler);
    scratch_ = host_scratch_.data() ? host_scratch_.data() : device_scratch_.data();
  }
  Caller(const Caller&) = delete;
  void execute(std::span<char* const> in, std::span<char* const> out) {
    if (!status_.ok() || (plant_ == Plant::idle && runs_++ > 0)) return;
    const std::string told = plant_ == Plant::filled ? held() : "";
    status_ = plan_.execute({reinterpret_cast<const void* const*>(in.data()), in.size()},
        {reinterpret_cast<void* const*>(out.data()), out.size()}, scratch_, stream_->handle());
    if (plant_ == Plant::none) return;
    if (plant_ == Plant::filled) {
      status_ = {"execute", LS_LOGIC, "", told};
      return;
    }
    wait();
    auto* const scratch = static_cast<char*>(scratch_);
    commit(plant_, {in, out, scratch, scratch ? scratch + scratch_bytes_ : nullptr, ++runs_});
  }
  void wait() {
    if (status_.ok()) status_ = stream_->wait();
  }
  /// Notes the outputs in host memory, and whether they changed since the last round.
  void note(const Arena& arena, std::span<const Slot> slots, std::size_t first, std::size_t end) {
    std::string now;
    for (std::size_t k = first; k < end; ++k) now.append(arena.own(k), slots[k].bytes);
    unsteady_ = unsteady_ || (!noted_.empty() && noted_ != now);
    noted_ = std::move(now);
  }
  bool unsteady() const { return unsteady_; }
  bool ok() const { return status_.ok(); }
  /// Writes the status into the reply. @return whether it is ok
  bool answer(Reply& r) {
    bool is_intact = host_scratch_.is_intact();
    if (status_.ok() && is_intact) status_ = device_scratch_.compare(is_intact);
    judge::note(r, status_);
    r.beside_scratch = r.beside_scratch || !is_intact;
    return r.code == kOk;
  }

 private:
  // The first and the last number in scratch memory, of some whole numbers, and where it begins.
  std::string held() const {
    i32 ends[2];
    std::memcpy(&ends[0], scratch_, sizeof(i32));
    std::memcpy(&ends[1], static_cast<char*>(scratch_) + scratch_bytes_ - sizeof(i32), sizeof(i32));
    return "scratch memory held " + std::to_string(ends[0]) + " and " + std::to_string(ends[1]) +
        ", " + std::to_string(reinterpret_cast<std::uintptr_t>(scratch_) % client::kAlignment) +
        " bytes from a cache line";
  }
  template <class T> bool take(client::Result<T> from, std::optional<T>& to) {
    status_ = from.status();
    if (from.ok()) to.emplace(std::move(*from));
    return from.ok();
  }

  const Execution& plan_;
  const Plant plant_;
  uint64_t scratch_bytes_;
  int runs_ = 0;
  client::Status status_;
  std::optional<client::Stream> stream_;
  DeviceScratch device_scratch_;
  ScratchMemory host_scratch_;
  void* scratch_ = nullptr;
  std::string noted_;
  bool unsteady_ = false;
};

// A letter with its tensors, and where its answer goes.
struct Asked {
  const Letter& letter;
  std::span<const Slot> slots;
  Arena& arena;
  char* mail;
  std::atomic<u64>& runs;  // runs of plans that have begun
  Team& team;
  DeviceValues& values;
  Reply& reply;
  std::size_t inputs() const { return static_cast<std::size_t>(letter.in_count); }
  std::size_t outputs() const { return static_cast<std::size_t>(letter.out_count); }
  std::size_t tensors() const { return inputs() + outputs(); }
  bool is_input(std::size_t slot) const { return slot % tensors() < inputs(); }
  /// Whether two tensors have the same type and layout.
  bool same_type(std::size_t a, std::size_t b) const {
    const Slot &x = slots[a], &y = slots[b];
    return x.rank == y.rank && x.precision == y.precision &&
        std::equal(x.shape, x.shape + x.rank, y.shape) &&
        std::equal(x.stride, x.stride + x.rank, y.stride);
  }
};

client::Status of_other(client::Status s) {
  s.text = "another call, made while its plan lived, failed: " + s.text;
  return s;
}

// Runs a plan many times on the memory of the first caller, with the values of each caller in turn,
// the first caller's last, and another plan after the first run. Stops when a run's outputs differ
// from those of an earlier run with the same values.
class Turns {
 public:
  Turns(Caller& caller, Staging& staging, const Asked& q, std::optional<OtherPlan>& other)
      : caller_(caller), staging_(staging), q_(q), other_(other) {}

  client::Status run() {
    const auto callers = static_cast<std::size_t>(q_.letter.callers);
    std::vector<std::string> first(callers), last(callers);
    std::size_t turn = 0;
    for (int run = 1; run <= q_.letter.runs && q_.reply.changed_run == 0; ++run) {
      if (run > 1) ++q_.runs;
      turn = static_cast<std::size_t>(q_.letter.runs - run) % callers;
      // In the other runs the outputs hold what the run before wrote, as in a program that goes on.
      const bool puts_back = static_cast<std::size_t>(run - 1) / callers % 2 == 1 || callers == 1;
      if (client::Status s = lay(turn, puts_back && run > 1); !s.ok()) return s;
      const std::vector<char*> in = inputs(turn);
      if (q_.letter.plant == Plant::turns) note(run, turn, in);
      caller_.execute(in, {staging_.data(q_.inputs()), q_.outputs()});
      caller_.wait();
      if (!caller_.ok()) return {};
      if (client::Status s = fetch(last[turn]); !s.ok()) return s;
      if (other_) {
        if (client::Status s = other_->run(); !s.ok()) return of_other(s);
        if (q_.letter.plant == Plant::turns) noted_[2] = std::to_string(other_->unwritten());
        other_.reset();
      }
      if (first[turn].empty()) first[turn] = last[turn];
      if (first[turn] != last[turn]) q_.reply.changed_run = run;
    }
    if (client::Status s = lay(0, false); turn != 0 && !s.ok()) return s;
    if (q_.letter.plant == Plant::turns)
      return {"execute", LS_LOGIC, "",
          "inputs shared memory in runs" + noted_[0] + ", outputs were put back before" +
              noted_[1] + ", another plan left out " + noted_[2]};
    return hand_out(last);
  }

 private:
  // Notes whether two inputs share memory and whether outputs hold what they held at first.
  void note(int run, std::size_t turn, const std::vector<char*>& in) {
    const std::size_t k = q_.inputs();
    const char* const sent = q_.mail + q_.slots[turn * q_.tensors() + k].image;
    if (in[0] == in[1]) noted_[0] += " " + std::to_string(run);
    if (std::memcmp(q_.arena.own(k), sent, q_.slots[k].bytes) == 0)
      noted_[1] += " " + std::to_string(run);
  }
  // In the runs of every other caller, inputs of equal types share memory.
  std::vector<char*> inputs(std::size_t turn) const {
    std::vector<char*> all(staging_.data(), staging_.data() + q_.inputs());
    for (std::size_t k = 0; turn % 2 == 1 && k < all.size(); ++k)
      for (std::size_t same = k; same-- > 0;)
        if (q_.same_type(same, k)) all[k] = all[same];
    return all;
  }
  // Writes the inputs of a caller, and if `outputs` what its outputs held at first, into the memory
  // of the first caller.
  client::Status lay(std::size_t turn, bool outputs) {
    const std::size_t end = outputs ? q_.tensors() : q_.inputs();
    client::Status status;
    for (std::size_t k = 0; k < end && status.ok(); ++k)
      status = staging_.write(k, q_.mail + q_.slots[turn * q_.tensors() + k].image);
    return status;
  }
  client::Status fetch(std::string& outputs) {
    outputs.clear();
    client::Status status;
    for (std::size_t k = q_.inputs(); k < q_.tensors() && status.ok(); ++k) {
      status = staging_.read(k);
      outputs.append(q_.arena.own(k), q_.slots[k].bytes);
    }
    return status;
  }
  // Puts the outputs of each caller where it expects them.
  client::Status hand_out(const std::vector<std::string>& outputs) {
    client::Status status;
    for (std::size_t c = 0; c < outputs.size(); ++c) {
      const char* from = outputs[c].data();
      for (std::size_t k = q_.inputs(); k < q_.tensors() && status.ok(); ++k) {
        if (!outputs[c].empty()) status = staging_.write(c * q_.tensors() + k, from);
        from += q_.slots[k].bytes;
      }
    }
    return status;
  }

  Caller& caller_;
  Staging& staging_;
  const Asked& q_;
  std::optional<OtherPlan>& other_;
  std::string noted_[3];  // for Plant::turns
};

// Executes a plan on staged tensors.
void run(const client::Backend& backend, const Execution& plan, Staging& staging, const Asked& q,
    std::optional<OtherPlan>& other) {
  constexpr int kRounds = 3;  // a race shows only in some rounds
  const bool in_turns = q.letter.runs > 1;
  std::deque<Caller> callers;
  for (int k = 0; k < (in_turns ? 1 : q.letter.callers); ++k)
    callers.emplace_back(backend, plan, q.letter);
  const auto execute = [&](std::size_t k) -> Caller& {
    char* const* tensors = staging.data(k * q.tensors());
    callers[k].execute({tensors, q.inputs()}, {tensors + q.inputs(), q.outputs()});
    return callers[k];
  };
  if (in_turns) {
    if (client::Status s = Turns(callers[0], staging, q, other).run(); !s.ok()) {
      note(q.reply, s);
      return;
    }
  } else if (q.letter.callers == 1) {
    execute(0);
  } else {
    q.team.at_once(q.letter.callers, [&](int caller) {
      const auto k = static_cast<std::size_t>(caller);
      const std::size_t end = (k + 1) * q.tensors();
      // A device queues the rounds on a stream, so here only the outputs of the last round are
      // compared.
      for (int round = 0; round < kRounds; ++round)
        execute(k).note(q.arena, q.slots, end - q.outputs(), end);
    });
  }
  for (Caller& c : callers) c.wait();
  for (const Caller& c : callers) q.reply.unsteady = q.reply.unsteady || c.unsteady();
  for (Caller& c : callers)
    if (!c.answer(q.reply)) return;
  note(q.reply, staging.download());
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

// Prepares the calls of a graph and runs them in order.
void answer_sequence(const client::Backend& backend, const Asked& q, Staging& staging) {
  auto sequence = prepared_one_by_one(backend, q.letter, q.mail, staging.data());
  if (!note(q.reply, sequence.status())) return;
  q.reply.one_by_one = true;
  std::optional<OtherPlan> none;
  run(backend, Execution(*sequence), staging, q, none);
  q.arena.take(q.slots, q.mail);
}

// Prepares the call, or compiles the graph, and runs it if the letter says so.
void answer_call(const client::Backend& backend, const Asked& q) {
  const bool runs = q.letter.what == Letter::execute;
  Staging staging(backend, q.arena, q.slots);
  if (runs && !note(q.reply, staging.upload())) return;
  if (is_sequence(q.letter, q.mail)) return answer_sequence(backend, q, staging);
  auto plan = (q.letter.graph ? compiled : prepared)(backend, q.letter, q.mail, staging.data());
  if (!note(q.reply, plan.status()) || !runs) return;
  if (!q.letter.graph) copy_text(q.reply.path, plan->path());
  q.reply.threads = backend.threads();
  std::optional<OtherPlan> other;
  if (const u64 at = q.letter.between; at != 0) {
    other.emplace(backend, *reinterpret_cast<const Letter*>(q.mail + at), q.mail);
    if (!other->status().ok()) {
      note(q.reply, of_other(other->status()));
      return;
    }
  }
  run(backend, Execution(*plan), staging, q, other);
  // Takes the tensors before the plan is released: what release() writes comes too late.
  q.arena.take(q.slots, q.mail);
}

void answer(Backends& backends, const Asked& q) {
  if (q.letter.what == Letter::close) {
    // Threads that outlive their backend get time to end the process.
    constexpr useconds_t kAfterwards = 100'000;
    q.values.release();
    backends.close();
    if (backends.open_ones() > 0) broken(q.reply, "its backend is still open");
    commit(q.letter.plant, {});
    usleep(kAfterwards);
    return;
  }
  auto backend = backends.open(q.letter.config);
  if (!note(q.reply, backend.status())) return;
  if (q.letter.what == Letter::tally) return q.values.answer(**backend, q.letter, q.mail, q.reply);
  if (q.letter.what != Letter::infer) return answer_call(**backend, q);
  const std::vector<Slot> types = types_of(q.letter, q.mail);
  answer_infer(**backend, call_of(q.letter, types, q.mail), q.reply);
}

void refuse(Channel& channel, const std::string& why) {
  copy_text(channel.refusal, why);
  channel.state = Channel::refused;
}

// Loads the library, describes it, and opens it within the longer limit for starting.
std::optional<Backends> start(const Work& work, Channel& channel) {
  std::optional<Backends> backends;
  channel.left = channel.leaves ? leave_processes() : 0;
  try {
    backends.emplace(work.library, work.configs);
    const client::Library& library = backends->library();
    const std::string manifest = library.manifest();
    if (manifest.size() > sizeof channel.manifest) throw std::runtime_error("it has no manifest");
    std::memcpy(channel.manifest, manifest.data(), manifest.size());
    channel.manifest_size = manifest.size();
    channel.infers = library.has_infer();
    channel.compiles = library.has_compile();
    channel.reads_int8 = library.has_int8_constants();
    channel.has_device = library.has_device();
    // A device's driver reserves far more memory than it uses, and may start processes.
    if (!channel.has_device) {
      limit_data(work.memory);
      forbid_processes();
    }
    // If this fails, every question tries again.
    const client::Status opened = backends->open(0).status();
    if (opened.code == LS_LOGIC) {
      refuse(channel, "refuses its options: " + opened.text);
      channel.state = Channel::unopened;
    } else if (!opened.ok()) {
      copy_text(channel.failure, opened.text);
    }
    // Blocks that a library keeps from its start could fill the guarded heap, so they are not
    // guarded. A device's driver keeps far more.
    if (!channel.has_device) heap::guard();
  } catch (const std::exception& e) {
    refuse(channel, std::string("is no backend: ") + e.what());
  }
  return backends;
}

// What outlives a letter.
struct Tools {
  Arena arena;
  Team team;
  DeviceValues values;
};

// Answers the letters in the order in which they stand.
void answer_letters(Backends& backends, const Work& work, const std::string& beginning,
    Tools& tools, Channel& channel) {
  Arena& arena = tools.arena;
  char* const mail = reinterpret_cast<char*>(&channel);
  channel.answered = 0;
  for (u64 at = channel.letters; at != 0;) {
    auto& letter = *reinterpret_cast<Letter*>(mail + at);
    Reply& r = letter.reply;
    ++channel.begun;
    arena.watch(r);
    try {
      const auto* slots = reinterpret_cast<const Slot*>(mail + letter.slots);
      const Asked q{letter,
          {slots,
              static_cast<std::size_t>(letter.callers) *
                  static_cast<std::size_t>(letter.tensors())},
          arena, mail, channel.runs, tools.team, tools.values, r};
      const bool runs = letter.what == Letter::execute;
      if (runs) arena.lay(q.slots, mail, [&](std::size_t k) { return !q.is_input(k); });
      heap::fill(static_cast<char>(letter.filler));
      answer(backends, q);
      if (letter.plant == Plant::bounds)
        broken(r,
            (beginning + ", " + bounds_of_process(work.memory) + ", opened again " +
                std::to_string(backends.opens() - backends.open_ones()))
                .c_str());
      if (letter.plant == Plant::allocated) broken(r, allocations().c_str());
      if (letter.plant == Plant::together && channel.begun > 1) std::abort();
      if (letter.plant == Plant::late) *arena.own(q.inputs()) ^= 1;
      if (letter.plant == Plant::stale) *(arena.seen(2 * q.slots.size() - 1) - 1) = 1;
      if (runs && r.code == kOk && !arena.holds(q.slots, mail))
        broken(r, "it wrote to a tensor after execute() had returned");
      if (const auto beside = heap::damage())
        broken(r, ("it wrote " + heap::text(*beside)).c_str());
    } catch (const std::exception& e) {
      broken(r, e.what());
    }
    channel.answered += letter.plant == Plant::uncounted ? 0 : 1;
    // A device that failed once may fail all later calls of this process.
    at = channel.has_device && r.code == kRuntime ? 0 : letter.next;
  }
}

}  // namespace

void serve(const Work& work) {
  void* mail =
      mmap(nullptr, kMail, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, kMailFile, 0);
  if (mail == MAP_FAILED) _exit(1);
  close(kMailFile);
  auto& channel = *static_cast<Channel*>(mail);
  Tools tools;
  watch_faults(tools.arena);
  const std::string beginning = beginning_of_process();
  std::optional<Backends> backends = start(work, channel);
  u64 number = 0;
  while (write(kSocketFile, &number, sizeof number) == sizeof number &&
      read(kSocketFile, &number, sizeof number) == sizeof number && backends)
    answer_letters(*backends, work, beginning, tools, channel);
  _exit(0);
}

}  // namespace lockstep::judge
