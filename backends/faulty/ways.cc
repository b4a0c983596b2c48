/// @file
/// Contract mutants that are wrong in one way of being called only, so that a single property sees
/// them: at certain addresses, with strides, with constants, by a fourth caller, after other calls.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "backends/faulty/mutant.h"
#include "spec/ops/max_pool2d.h"
#include "spec/ops/sum.h"

namespace lockstep::faulty {
namespace {

using Inputs = const i32* const*;
using Outputs = i32* const*;

bool any_constant(const Call& call) {
  return std::any_of(
      call.in.begin(), call.in.end(), [](const ls_tensor& t) { return t.flags & LS_CONSTANT; });
}

// A right execution, of which a function of (self, call, in, out) may spoil the first element.
template <Captureless F> struct Spoiled : Behaviour {
  LegalCall prepare(const Call& call) override {
    has_constants = any_constant(call);
    return Behaviour::prepare(call);
  }
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    const bool wrong = F{}(*this, call, in, out);
    Behaviour::execute(call, in, out);
    if (wrong) backend::bound(call.out, out)[0].element(0) ^= 1;
  }
  // Of the call prepared last. The calls of a plan run before another call is prepared.
  std::atomic<bool> has_constants{false};
};

template <Captureless F> constexpr Mutant spoiled(string_view name, string_view provenance, F) {
  return {name, "*", "WAY", provenance, nullptr, made<Spoiled<F>>};
}

std::uintptr_t place_in_page(const i32* p) { return reinterpret_cast<std::uintptr_t>(p) % 4096; }

// The elements of an input, in order.
std::vector<i32> values_of(const LegalCall& call, Inputs in, std::size_t k) {
  const View x = backend::bound(call.in, in)[k];
  std::vector<i32> all;
  for (i64 i = 0; i < volume(x.shape); ++i) all.push_back(x.element(i));
  return all;
}

// A cache of one operator, keyed by rows: takes a batch of other size, but of rows that were in the
// batch before it, for a part of that.
template <class Op> struct Continues : Behaviour {
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    Behaviour::execute(call, in, out);
    if (call.op->name != Op::name) return;
    const std::lock_guard hold(busy_);
    const std::vector<i32> now = values_of(call, in, 0);
    Shape item = call.in[0].shape;
    item[0] = 1;
    const bool varied =
        std::adjacent_find(now.begin(), now.end(), std::not_equal_to<>()) != now.end();
    if (varied && item == item_ && now.size() != batch_.size() && is_known(now))
      backend::bound(call.out, out)[0].element(0) ^= 1;
    item_ = item, batch_ = now;
  }
  // Whether each row was in the batch before.
  bool is_known(const std::vector<i32>& now) const {
    const i64 size = volume(item_);
    for (auto row = now.begin(); row != now.end(); row += size) {
      auto old = batch_.begin();
      while (old != batch_.end() && !std::equal(row, row + size, old)) old += size;
      if (old == batch_.end()) return false;
    }
    return true;
  }
  mutable std::mutex busy_;
  mutable Shape item_;
  mutable std::vector<i32> batch_;
};

template <class Op> constexpr Mutant continues(string_view name, string_view provenance) {
  return {name, Op::name, "WAY", provenance, nullptr, made<Continues<Op>>};
}

// Does nothing in the second run of a plan if the first one had the same tensors and values, unless
// the output holds what one held before the first call of all, as memory does that is new.
struct SkipsUnchanged : Behaviour {
  void execute_run(const LegalCall& call, Inputs in, Outputs out, i64 run) const override {
    const std::lock_guard hold(busy_);
    std::vector<std::vector<i32>> now;
    for (std::size_t k = 0; k < call.in.size(); ++k) now.push_back(values_of(call, in, k));
    const i32 held = backend::bound(call.out, out)[0].element(0);
    if (!new_) new_ = held;
    if (run == 2 && held != *new_ && out[0] == to_ && now == last_) return;
    Behaviour::execute(call, in, out);
    to_ = out[0], last_ = std::move(now);
  }
  mutable std::mutex busy_;
  mutable std::optional<i32> new_;
  mutable const i32* to_ = nullptr;
  mutable std::vector<std::vector<i32>> last_;
};

// The cells that a load of whole vectors takes in after the last element of an input.
struct Excess {
  const i32* begin;
  i64 count;
  bool leaves_page() const {
    constexpr std::uintptr_t kPage = 4096;
    const std::uintptr_t at = place_in_page(begin);
    return at == 0 || at + static_cast<std::uintptr_t>(count) * sizeof(i32) > kPage;
  }
};
Excess excess(const View& x, const i32* first) {
  constexpr i64 kVector = 16;
  i64 last = 0;
  for (int d = 0; d < x.rank(); ++d) last += (x.dim(d) - 1) * x.stride[d];
  return {first + last + 1, (kVector - volume(x.shape) % kVector) % kVector};
}
bool any_set(const Excess& e) {
  return std::any_of(e.begin, e.begin + e.count, [](const volatile i32& v) { return v != 0; });
}

// Loads the last vector of every input whole.
struct LoadsWholeVectors : Behaviour {
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    Behaviour::execute(call, in, out);
    for (std::size_t k = 0; k < call.in.size(); ++k) any_set(excess(call.in[k], in[k]));
  }
};

// Has buffers for three threads; further threads share the last one.
struct ThreeCallers : Behaviour {
  LegalCall prepare(const Call& call) override {
    callers_.clear();
    return Behaviour::prepare(call);
  }
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    Behaviour::execute(call, in, out);
    const std::lock_guard hold(busy_);
    callers_.insert(std::this_thread::get_id());
    if (callers_.size() > 3) backend::bound(call.out, out)[0].element(0) ^= 1;
  }
  mutable std::mutex busy_;
  mutable std::set<std::thread::id> callers_;
};

struct ClosesTwice : Behaviour {
  void close() override { std::abort(); }
};

// Numbers as strtol reads them when it finds out the base itself: octal after a leading 0.
std::string with_octal_numbers(const char* text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string read;
  while (*text != '\0') {
    if (!is_digit(*text)) {
      read += *text++;
      continue;
    }
    read += std::to_string(std::strtol(text, nullptr, 0));
    while (is_digit(*text)) ++text;
  }
  return read;
}

struct ReadsOctal : Behaviour {
  LegalCall prepare(const Call& call) override {
    std::vector<ls_attr> attrs(call.attrs.begin(), call.attrs.end());
    std::list<std::string> texts;
    for (ls_attr& a : attrs)
      if (a.kind == LS_TEXT) a.text = texts.emplace_back(with_octal_numbers(a.text)).c_str();
    Call read = call;
    read.attrs = attrs;
    return Behaviour::prepare(read);
  }
};

struct WritesBesideScratch : Behaviour {
  i64 scratch_bytes() const override { return 24; }
  void use(void* scratch) const override { static_cast<char*>(scratch)[24] = 0; }
};

// A plan finds its packed weights overwritten where two others, prepared earlier, have run since it
// ran last.
struct KeepsTwoPlans : Behaviour {
  LegalCall prepare(const Call& call) override {
    const std::lock_guard hold(busy_);
    ran_.clear();
    return Behaviour::prepare(call);
  }
  void execute(const LegalCall& call, Inputs in, Outputs out) const override {
    Behaviour::execute(call, in, out);
    const std::lock_guard hold(busy_);
    const auto place = std::find(ran_.begin(), ran_.end(), &call);
    if (place != ran_.end()) {
      if (ran_.end() - place > 2) backend::bound(call.out, out)[0].element(0) ^= 1;
      ran_.erase(place);
    }
    ran_.push_back(&call);
  }
  mutable std::mutex busy_;
  mutable std::vector<const LegalCall*> ran_;  // since a call was prepared, the last one last
};

// Calls are right, and compiled graphs have a mistake.
template <bool GraphHabits::*mistake>
constexpr Mutant compiles(string_view name, string_view provenance) {
  return {name, "*", "WAY", provenance, nullptr, [] {
            auto b = std::make_unique<Behaviour>();
            b->graph.*mistake = true;
            return b;
          }};
}

constexpr Mutant kWayMutants[] = {
    spoiled("contract.splits_pairs",
        "an even number of elements is loaded in pairs, of which one spans two lines",
        [](auto&, auto& call, Inputs in, Outputs out) {
          return place_in_page(in[0]) == sizeof(i32) && place_in_page(out[0]) % 8 == sizeof(i32) &&
              call.in[0].compact && call.out[0].compact && volume(call.out[0].shape) % 2 == 0;
        }),
    spoiled("contract.streams_pages", "tensors that begin pages are stored past the cache",
        [](auto&, auto& call, Inputs in, Outputs out) {
          const auto begins_page = [](const i32* p) { return place_in_page(p) == 0; };
          return volume(call.out[0].shape) % 1024 != 0 && begins_page(out[0]) &&
              std::all_of(in, in + call.in.size(), begins_page);
        }),
    spoiled("contract.ignores_inner_stride", "strides are read where weights are packed only",
        [](auto& self, auto& call, Inputs, Outputs) {
          return !self.has_constants && !call.in[0].compact;
        }),
    spoiled("contract.wide_constants", "weights packed for one instruction set, read by another",
        [](auto& self, auto&, Inputs, Outputs) { return self.wide && self.has_constants; }),
    spoiled("contract.tidies_strided_inputs", "writes back what it read, where rows have gaps",
        [](auto&, auto& call, Inputs in, Outputs) {
          if (!call.in[0].compact) const_cast<volatile i32&>(*in[0]) = *in[0];
          return false;
        }),
    spoiled("contract.one_tensor_twice",
        "two inputs that are one tensor are taken for in-place work",
        [](auto&, auto& call, Inputs in, Outputs) {
          const auto* const end = in + call.in.size();
          for (auto x = in; x != end; ++x)
            if (std::find(in, x, *x) != x) return true;
          return false;
        }),
    continues<MaxPool2d>(
        "max_pool2d.continues_batches", "a prefix cache: images seen before go on"),
    continues<Sum>("sum.continues_rows", "a prefix cache: rows seen before go on"),
    {"contract.skips_unchanged", "*", "WAY",
        "nothing has changed since the last run, so its result must still be there", nullptr,
        made<SkipsUnchanged>},
    {"contract.loads_whole_vectors", "*", "CRASH",
        "the last vector of an input is loaded whole, into the page behind it", nullptr,
        made<LoadsWholeVectors>},
    spoiled("contract.takes_in_what_follows",
        "the last vector is loaded whole where that leaves no page, and not masked",
        [](auto&, auto& call, Inputs in, Outputs) {
          const Excess e = excess(call.in[0], in[0]);
          return call.in[0].compact && !e.leaves_page() && any_set(e);
        }),
    spoiled("contract.takes_in_gaps", "the last vector of a row is not masked, gaps are taken in",
        [](auto& self, auto& call, Inputs in, Outputs) {
          const View& x = call.in[0];
          const int d = x.rank() - 1;
          const bool has_gap =
              d > 0 && x.dim(d - 1) > 1 && x.stride[d] == 1 && x.stride[d - 1] > x.dim(d);
          return has_gap && !self.has_constants && any_set({in[0] + x.dim(d), 1});
        }),
    {"contract.three_callers", "*", "WAY", "buffers for three threads", nullptr,
        made<ThreeCallers>},
    {"contract.writes_beside_scratch", "*", "WAY", "a vector store at the end of scratch memory",
        nullptr, made<WritesBesideScratch>},
    {"contract.keeps_two_plans", "*", "WAY", "a pool of packed weights with room for two", nullptr,
        made<KeepsTwoPlans>},
    compiles<&GraphHabits::narrows>("contract.narrows_between_calls",
        "activations between layers are bytes, whatever their precision"),
    compiles<&GraphHabits::frees_early>("contract.frees_after_one_reader",
        "memory is planned by the first reader of a result, not by the last"),
    compiles<&GraphHabits::keeps_read_heads>("contract.forgets_inner_heads",
        "what a fused chain passes on stays in registers, heads included"),
    compiles<&GraphHabits::holds_two_heads>("contract.forgets_third_head",
        "a graph has room for as many outputs as a call can have, which is two"),
    compiles<&GraphHabits::drops_signs>(
        "contract.unsigned_constants", "weights are loaded as plain char, which Arm has unsigned"),
    compiles<&GraphHabits::trusts_calls>(
        "contract.trusts_graphs", "whoever made a graph has checked its calls"),
    {"contract.closes_twice", "*", "CRASH", "frees its pool again when it is closed", nullptr,
        made<ClosesTwice>},
    {"contract.reads_octal", "*", "WAY", "strtol with base 0: 010 is 8", nullptr, made<ReadsOctal>},
};

}  // namespace

Span<Mutant> way_mutants() { return {kWayMutants, static_cast<int>(std::size(kWayMutants))}; }

}  // namespace lockstep::faulty
