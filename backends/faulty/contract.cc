/// @file
/// Contract mutants: right values, but a broken promise of the ABI.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "backends/faulty/mutant.h"

namespace lockstep::faulty {
namespace {

using backend::LogicError;

// The offset of the last element from element 0.
template <class V> i64 last_offset(const V& v) {
  i64 k = 0;
  for (int d = 0; d < v.rank(); ++d) k += (v.dim(d) - 1) * v.stride[d];
  return k;
}

Out output(const LegalCall& call, i32* const* out, std::size_t k = 0) {
  return backend::bound(call.out, out)[k];
}

// The extent that kernels vectorize over.
i64 innermost(const LegalCall& call) {
  const Out& y = call.out[0];
  return y.dim(y.rank() - 1);
}

std::vector<i32> elements(const Out& y) {
  std::vector<i32> all;
  for (i64 k = 0; k < volume(y.shape); ++k) all.push_back(y.element(k));
  return all;
}

template <class V> bool are_compact(const std::vector<V>& views) {
  return std::all_of(views.begin(), views.end(), [](const V& v) { return v.compact; });
}

LegalCall with_compact_outputs(LegalCall call) {
  for (Out& y : call.out) y = Out(y, nullptr);
  return call;
}

// Inputs as a kernel reads them if it ignores the gaps between rows. Gaps may hold any number, but
// sums are proven to fit only for numbers inside the precision.
struct TakenAsCompact {
  LegalCall call;
  std::vector<const i32*> in;
  std::vector<std::vector<i32>> read;

  TakenAsCompact(const LegalCall& legal, const i32* const* given)
      : call(legal), in(given, given + legal.in.size()) {}
  void take(std::size_t k) {
    const View x(call.in[k], in[k]);
    std::vector<i32>& values = read.emplace_back();
    for (i64 i = 0; i < volume(x.shape); ++i)
      values.push_back(static_cast<i32>(saturate(x.element(i), x.precision)));
    in[k] = values.data();
    call.in[k] = View(x, nullptr);
  }
};

using Inputs = const i32* const*;
using Outputs = i32* const*;

// A wrong execution: a function of (self, call, in, out), for which self.run() is the right one.
template <Captureless F> struct Executes : Behaviour {
  void run(const LegalCall& call, Inputs in, Outputs out) const {
    Behaviour::execute(call, in, out);
  }
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    F{}(*this, call, in, out);
  }
};

template <Captureless F>
constexpr Mutant executes(string_view name, string_view kind, string_view provenance, F) {
  return {name, "*", kind, provenance, nullptr, made<Executes<F>>};
}

struct EveryTenthWrong : Behaviour {
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    Behaviour::execute(call, in, out);
    if (++calls_ % 10 == 0) output(call, out).element(0) ^= 1;
  }
  mutable std::atomic<int> calls_{0};
};

struct AlternatesAnswers : Behaviour {
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    Behaviour::execute(call, in, out);
    const Out y = output(call, out);
    if (++calls_ % 2 == 0 && volume(y.shape) > 1) std::swap(y.element(0), y.element(1));
  }
  mutable std::atomic<int> calls_{0};
};

struct RemembersBySize : Behaviour {
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    Behaviour::execute(call, in, out);
    const Out y = output(call, out);
    const std::vector<i32> answer = elements(y);
    const std::lock_guard hold(busy_);
    const auto& first = answers_.try_emplace(answer.size(), answer).first->second;
    for (std::size_t k = 0; k < first.size(); ++k) y.element(static_cast<i64>(k)) = first[k];
  }
  mutable std::mutex busy_;
  mutable std::map<std::size_t, std::vector<i32>> answers_;
};

struct ForgetsThreads : Behaviour {
  int reported_threads() const override { return 1; }
};

// Stores the tensors of a call in the plan before it locks the mutex.
struct BindsBeforeItsTurn : Behaviour {
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    in_ = in;
    out_ = out;
    const std::lock_guard hold(busy_);
    std::this_thread::yield();
    Behaviour::execute(call, in_, out_);
  }
  mutable std::atomic<const i32* const*> in_;
  mutable std::atomic<i32* const*> out_;
  mutable std::mutex busy_;
};

// A backend with a special path for constants: their views in a prepared call have data.
struct KnowsConstants : Behaviour {
  LegalCall prepare(const Call& call) override {
    LegalCall legal = Behaviour::prepare(call);
    for (std::size_t k = 0; k < legal.in.size(); ++k)
      if (call.in[k].flags & LS_CONSTANT)
        legal.in[k].data = static_cast<const i32*>(call.in[k].dl.data);
    return legal;
  }
  // The memory of constant k, with the gaps between its rows.
  static std::vector<i32> cells(const View& x) { return {x.data, x.data + last_offset(x) + 1}; }
};

struct CompactConstants : KnowsConstants {
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    TakenAsCompact compact(call, in);
    for (std::size_t k = 0; k < call.in.size(); ++k)
      if (call.in[k].data) compact.take(k);
    Behaviour::execute(compact.call, compact.in.data(), out);
  }
};

struct ConstantsAreBytes : KnowsConstants {
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    std::vector<std::vector<i32>> packed(call.in.size());
    std::vector<const i32*> from(in, in + call.in.size());
    for (std::size_t k = 0; k < from.size(); ++k) {
      if (!call.in[k].data) continue;
      packed[k] = cells(call.in[k]);
      for (i32& v : packed[k]) v = static_cast<i32>(to_int8(v));
      from[k] = packed[k].data();
    }
    Behaviour::execute(call, from.data(), out);
  }
};

struct KeepsFirstConstants : KnowsConstants {
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    const std::lock_guard hold(busy_);
    std::vector<const i32*> from(in, in + call.in.size());
    for (std::size_t k = 0; k < from.size(); ++k) {
      if (!call.in[k].data) continue;
      std::vector<i32> now = cells(call.in[k]);
      std::vector<i32>& kept = packed_[std::string(call.op->name) + std::to_string(k)];
      if (kept.size() < now.size()) kept = std::move(now);
      from[k] = kept.data();
    }
    Behaviour::execute(call, from.data(), out);
  }
  mutable std::mutex busy_;
  mutable std::map<std::string, std::vector<i32>> packed_;
};

struct UnlistedPath : Behaviour {
  const char* path() const override { return isa_is_chosen ? Behaviour::path() : "avx512"; }
};

struct AbortsOnRank : Behaviour {
  LegalCall prepare(const Call& call) override {
    for (const ls_tensor& t : call.in)
      if (t.dl.ndim > 5) std::abort();
    return Behaviour::prepare(call);
  }
};
// A backend whose infer() drops leading extents of 1.
struct DropsLeadingOnes : Behaviour {
  std::vector<TensorType> infer(const Call& call) override {
    std::vector<TensorType> y = Behaviour::infer(call);
    for (TensorType& t : y)
      while (t.shape.size() > 1 && t.shape[0] == 1) t.shape.erase(t.shape.begin());
    return y;
  }
};

// A wrong answer to an illegal call: a function of (call, right error), which throws another error
// or accepts the call.
template <Captureless F> struct Refuses : Behaviour {
  LegalCall prepare(const Call& call) override {
    try {
      return Behaviour::prepare(call);
    } catch (const LogicError& e) {
      F{}(call, e);
      return {};  // accepted
    }
  }
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    if (call.op) Behaviour::execute(call, in, out);
  }
};

template <Captureless F> constexpr Mutant refuses(string_view name, string_view provenance, F) {
  return {name, "*", "CONTRACT", provenance, nullptr, made<Refuses<F>>};
}

// A backend that refuses some legal calls: those for which a function throws.
template <Captureless F> struct TurnsDown : Behaviour {
  LegalCall prepare(const Call& call) override {
    LegalCall legal = Behaviour::prepare(call);
    F{}(legal);
    return legal;
  }
};

template <Captureless F> constexpr Mutant turns_down(string_view name, string_view provenance, F) {
  return {name, "*", "CONTRACT", provenance, nullptr, made<TurnsDown<F>>};
}

constexpr Mutant contract(
    string_view name, string_view provenance, std::unique_ptr<Behaviour> (*make)()) {
  return {name, "*", "CONTRACT", provenance, nullptr, make};
}

constexpr Mutant kContractMutants[] = {
    executes("contract.last_element_unwritten", "CONTRACT",
        "a grid rounded down leaves the last element as it was",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          const Out y = output(call, out);
          i32& last = y.element(volume(y.shape) - 1);
          const i32 before = last;
          self.run(call, in, out);
          last = before;
        }),
    executes("contract.accumulates_into_output", "CONTRACT",
        "beta = 1: adds to an output assumed to be zero",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          const Out y = output(call, out);
          const std::vector<i32> before = elements(y);
          self.run(call, in, out);
          for (std::size_t k = 0; k < before.size(); ++k) {
            i32& e = y.element(static_cast<i64>(k));
            e = static_cast<i32>(to_unsigned(e) + to_unsigned(before[k]));
          }
        }),
    executes("contract.first_output_only", "CONTRACT",
        "a call has one output, the interface was built for that",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          std::vector<std::vector<i32>> lost;
          std::vector<i32*> results(out, out + call.out.size());
          for (std::size_t k = 1; k < call.out.size(); ++k) {
            lost.emplace_back(static_cast<std::size_t>(last_offset(call.out[k]) + 1));
            results[k] = lost.back().data();
          }
          self.run(call, in, results.data());
        }),
    executes("contract.whole_vectors_past_end", "CONTRACT",
        "stores the last vector whole, past the end of the output",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          self.run(call, in, out);
          for (std::size_t k = 0; k < call.out.size(); ++k) {
            const i64 n = volume(call.out[k].shape), end = last_offset(call.out[k]) + 1;
            for (i64 i = 0; (n + i) % 8 != 0; ++i) out[k][end + i] = 0;
          }
        }),
    executes("contract.fills_row_padding", "CONTRACT",
        "stores the last vector of each row whole, into the padding",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          const Out y = output(call, out);
          const int d = y.rank() - 1;
          // Row by row, as a kernel writes: the next row overwrites a part of this row's excess.
          for (i64 row = 0; y.stride[d] == 1 && row + 1 < volume(y.shape) / y.dim(d); ++row)
            (&y.element(row * y.dim(d)))[y.dim(d)] = 0;
          self.run(call, in, out);
        }),
    executes("contract.compact_outputs", "CONTRACT", "ignores the strides of outputs",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          self.run(with_compact_outputs(call), in, out);
        }),
    executes("contract.compact_inputs", "CONTRACT", "ignores the strides of inputs",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          TakenAsCompact compact(call, in);
          for (std::size_t k = 0; k < call.in.size(); ++k) compact.take(k);
          self.run(compact.call, compact.in.data(), out);
        }),
    executes("contract.looks_at_inputs_alone", "CONTRACT",
        "a fast path that never asks for the strides of outputs",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          self.run(are_compact(call.in) ? with_compact_outputs(call) : call, in, out);
        }),
    executes("contract.looks_at_outputs_alone", "CONTRACT",
        "a fast path that never asks for the strides of inputs",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          TakenAsCompact taken(call, in);
          for (std::size_t k = 0; are_compact(call.out) && k < call.in.size(); ++k) taken.take(k);
          self.run(taken.call, taken.in.data(), out);
        }),
    executes("contract.forgets_rest_of_peeling", "CONTRACT",
        "peels to a 64-byte boundary, then counts whole vectors",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          const Out y = output(call, out);
          const i64 n = volume(y.shape);
          const bool peels = y.compact && reinterpret_cast<std::uintptr_t>(out[0]) % 64 != 0;
          i32& last = y.element(n - 1);
          const i32 before = last;
          self.run(call, in, out);
          if (peels && n % 16 == 0) last = before;
        }),
    executes("contract.works_in_place", "CONTRACT",
        "takes the storage of input 0, which others may still read",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          self.run(call, in, out);
          const View x = backend::bound(call.in, in)[0];
          const Out y = output(call, out);
          if (volume(x.shape) != volume(y.shape)) return;
          for (i64 k = 0; k < volume(x.shape); ++k) const_cast<i32&>(x.element(k)) = y.element(k);
        }),
    contract("contract.tenth_answer", "a race that is lost one time in ten", made<EveryTenthWrong>),
    contract("contract.second_answer", "a scratch buffer not cleared between runs of a plan",
        made<AlternatesAnswers>),
    contract("contract.remembers_by_size", "a cache of answers keyed by the output's size alone",
        made<RemembersBySize>),
    contract("contract.compact_constants", "packs weights as if their rows followed each other",
        made<CompactConstants>),
    contract("contract.constants_are_bytes", "packs every constant as int8, a wide bias too",
        made<ConstantsAreBytes>),
    contract("contract.keeps_first_constants",
        "packed weights cached by operator alone, if there are enough of them",
        made<KeepsFirstConstants>),
    executes("contract.threads_leave_rest", "CONTRACT",
        "count / threads elements each, and nobody takes the remainder",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          const Out y = output(call, out);
          const std::vector<i32> before = elements(y);
          const auto n = static_cast<i64>(before.size());
          self.run(call, in, out);
          for (i64 k = n - n % self.threads; k < n; ++k)
            y.element(k) = before[static_cast<std::size_t>(k)];
        }),
    contract(
        "contract.forgets_threads", "an option that is read and never used", made<ForgetsThreads>),
    {"contract.binds_before_its_turn", "*", "RACE",
        "pointers noted in the plan before the lock is held", nullptr, made<BindsBeforeItsTurn>},
    contract("contract.unlisted_path", "dispatches to a kernel that the manifest does not name",
        made<UnlistedPath>),
    refuses("contract.labels_first_rule", "one message for all rules of an operator",
        [](auto& call, auto& e) {
          const OpInfo* op = find_operator(call.op);
          const std::string own = op ? std::string(op->name) + "." : "";
          if (!op || op->rules.size() == 0 || !e.label.starts_with(own)) throw e;
          throw LogicError(own + std::string(op->rules[0].label), e.what());
        }),
    refuses("contract.no_label", "an error without its identity",
        [](auto&, auto& e) { throw LogicError("", e.what()); }),
    refuses("contract.own_fault",
        "the deployed runtime: CHECK for VERIFY, a user's mistake as its own",
        [](auto&, auto& e) { throw std::runtime_error(e.what()); }),
    refuses("contract.precision_unchecked", "accepts calls whose result may need more than 32 bits",
        [](auto&, auto& e) {
          if (!e.label.ends_with(".precision")) throw e;
        }),
    refuses("contract.rules_unchecked",
        "the deployed runtime trusts attributes: weight shapes unchecked",
        [](auto& call, auto& e) {
          if (!e.label.starts_with(std::string(call.op) + ".")) throw e;
        }),
    turns_down("contract.refuses_rank_6", "five axes, as many libraries have",
        [](auto& call) {
          for (const View& x : call.in)
            if (x.rank() == kMaxRank)
              throw LogicError("input.rank", "an input has more than 5 axes");
        }),
    turns_down("contract.refuses_last_value", "a range without its upper end",
        [](auto& call) {
          for (int i = 0; i < call.op->attrs.size(); ++i)
            for (i64 v : call.attrs[static_cast<std::size_t>(i)].ints)
              if (call.op->attrs[i].kind != AttrKind::boolean && v == call.op->attrs[i].range.max)
                throw LogicError("attr.range", "an attribute reaches its limit");
        }),
    turns_down("contract.unsupported_wide", "UNSUPPORTED for wide inputs inside the claim",
        [](auto& call) {
          for (const View& x : call.in)
            if (x.precision > 16) throw backend::Unsupported("only 8 and 16 bits are built in");
        }),
    turns_down("contract.exhausts_pool", "a fixed pool: larger outputs are a runtime error",
        [](auto& call) {
          if (volume(call.out[0].shape) > 256) throw std::runtime_error("the pool is exhausted");
        }),

    executes("contract.crashes_on_tail", "CRASH", "an aligned load past the last row, into no page",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          if (innermost(call) % 16 == 15) std::raise(SIGSEGV);
          self.run(call, in, out);
        }),
    {"contract.aborts_on_rank", "*", "CRASH", "an assertion for an error: abort on a sixth axis",
        nullptr, made<AbortsOnRank>},
    executes("contract.hangs_on_whole_vectors", "HANG", "waits for a remainder that never comes",
        [](auto& self, auto& call, Inputs in, Outputs out) {
          // The watchdog must end this call.
          if (innermost(call) % 32 == 0) std::this_thread::sleep_for(std::chrono::hours(24));
          self.run(call, in, out);
        }),

    contract(
        "contract.infers_squeezed", "leading extents of 1 are dropped", made<DropsLeadingOnes>),
};

}  // namespace

Span<Mutant> contract_mutants() {
  return {kContractMutants, static_cast<int>(std::size(kContractMutants))};
}

}  // namespace lockstep::faulty
