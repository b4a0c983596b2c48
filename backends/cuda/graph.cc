#include "backends/cuda/graph.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "backends/cpu/arena.h"
#include "backends/cpu/groups.h"
#include "backends/cuda/families.h"

namespace lockstep::cuda {
namespace {

using cpu::Entry, cpu::Entries, cpu::Group, cpu::u64;

/// Where the data of an entry lies during an execution.
struct Home {
  enum { constant, feed, head, arena } kind = arena;
  u64 at = 0;  ///< number of the feed or head, or offset in the arena in bytes
  const i32* data = nullptr;
};

/// One plan of a graph and what it reads and writes.
struct Step {
  std::unique_ptr<DevicePlan> plan;
  Entries in, out;
};

/// The addresses on which an execution depends.
using Addresses = std::vector<const void*>;

/// The kernels of a graph as one launch, for the addresses with which it was made.
class Recording {
 public:
  explicit Recording(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  ~Recording() {
    if (run_) device_->drop(run_);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Calls f(stream), or replays what it did. The first execution with some addresses runs f, the
  /// second one records it. While another thread is in here, f runs.
  template <class F> void play(Addresses addresses, cudaStream_t stream, const F& f) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return f(stream);
    if (addresses != addresses_) {
      forget();
      addresses_ = std::move(addresses);
      return f(stream);
    }
    if (!run_) run_ = device_->record(f);
    device_->replay(run_, stream);
  }

 private:
  void forget() {
    if (run_) device_->drop(run_);
    run_ = nullptr;
  }

  std::shared_ptr<Device> device_;
  std::mutex mutex_;
  Addresses addresses_;
  cudaGraphExec_t run_ = nullptr;
};

class GraphPlan : public DevicePlan {
 public:
  GraphPlan(std::shared_ptr<Device> device, std::vector<Step> steps, std::vector<Home> homes,
      u64 arena, std::vector<std::unique_ptr<DeviceMemory>> folded)
      : recording_(std::move(device)),
        steps_(std::move(steps)),
        homes_(std::move(homes)),
        arena_(arena),
        folded_(std::move(folded)) {
    for (const Step& s : steps_) {
      step_scratch_ = std::max(step_scratch_, s.plan->scratch_bytes());
      is_recordable_ &= !sends_views(*s.plan);
      for (const Entry e : s.in) note(e, Home::feed, feeds_);
      for (const Entry e : s.out) note(e, Home::head, heads_);
    }
  }
  /// Scratch memory holds the arena and the scratch memory of one step.
  void start(
      const int32_t* const* in, int32_t* const* out, void* scratch, void* stream) const override {
    const auto run = [&](cudaStream_t on) { run_steps(in, out, static_cast<char*>(scratch), on); };
    auto* const on = static_cast<cudaStream_t>(stream);
    if (!is_recordable_) return run(on);
    Addresses all = {scratch};
    all.insert(all.end(), in, in + feeds_);
    all.insert(all.end(), out, out + heads_);
    recording_.play(std::move(all), on, run);
  }
  uint64_t scratch_bytes() const override { return arena_ + step_scratch_; }
  const char* path() const override { return "graph"; }

 private:
  void note(Entry e, decltype(Home::kind) kind, u64& count) const {
    if (homes_[e].kind == kind) count = std::max(count, homes_[e].at + 1);
  }
  void run_steps(
      const int32_t* const* in, int32_t* const* out, char* scratch, cudaStream_t stream) const {
    const auto address = [&](Entry e) -> i32* {
      const Home& p = homes_[e];
      if (p.kind == Home::arena) return reinterpret_cast<i32*>(scratch + p.at);
      if (p.kind == Home::head) return out[p.at];
      return const_cast<i32*>(p.kind == Home::feed ? in[p.at] : p.data);
    };
    std::vector<const i32*> from;
    std::vector<i32*> to;
    for (const Step& s : steps_) {
      from.resize(s.in.size());
      to.resize(s.out.size());
      std::transform(s.in.begin(), s.in.end(), from.begin(), address);
      std::transform(s.out.begin(), s.out.end(), to.begin(), address);
      s.plan->start(from.data(), to.data(), scratch + arena_, stream);
    }
  }

  mutable Recording recording_;
  std::vector<Step> steps_;
  std::vector<Home> homes_;
  u64 arena_, step_scratch_ = 0, feeds_ = 0, heads_ = 0;  // feeds and heads that steps use
  bool is_recordable_ = true;
  std::vector<std::unique_ptr<DeviceMemory>> folded_;
};

class Compiler {
 public:
  Compiler(const backend::Graph& g, const Arguments& like)
      : graph_(g),
        like_(like),
        grouping_(
            g, {false, [&](const auto& call) { return product_traits(with(call)).has_value(); }}),
        tensors_(grouping_.tensors()),
        homes_(g.entries.size()),
        packings_(g.entries.size()) {
    for (Entry e = 0; e < tensors_.size(); ++e)
      if (g.is_constant(e))
        homes_[e] = {Home::constant, 0, static_cast<const i32*>(tensors_[e].dl.data)};
    for (std::size_t k = g.heads.size(); k-- > 0;)
      if (!grouping_.is_constant(g.heads[k])) homes_[g.heads[k]] = {Home::head, k};
    for (std::size_t k = 0; k < g.feeds.size(); ++k) homes_[g.feeds[k]] = {Home::feed, k};
    for (const Group& group : grouping_.groups())
      if (group.is_constant) fold(group);
    choose_packings();
    for (const Group& group : grouping_.groups())
      if (!group.is_constant) steps_.push_back(step_of(group));
    copy_heads();
  }

  std::unique_ptr<DevicePlan> plan() {
    const u64 arena = place_results();
    return std::make_unique<GraphPlan>(
        like_.device, std::move(steps_), std::move(homes_), arena, std::move(folded_));
  }

 private:
  const i32* constant(Entry e) const {
    return homes_[e].kind == Home::constant ? homes_[e].data : nullptr;
  }
  Arguments with(const backend::LegalCall& call) const {
    Arguments a = like_;
    a.call = call;
    a.constants.assign(call.in.size(), nullptr);
    return a;
  }

  /// A step for a group that reads and writes what is packed as choose_packings() says.
  Step step_of(const Group& g) const {
    Arguments a = with(g.call);
    for (std::size_t k = 0; k < a.constants.size(); ++k) a.constants[k] = constant(g.in[k]);
    if (g.finish) {
      Out y = backend::view_of<Out>(tensors_[g.out[0]]);
      std::copy_n(y.stride, y.rank(), a.call.out[0].stride);
      a.fusion = {g.finish->finish(), {}, packings_[g.in[0]], {}, packings_[g.out[0]]};
      for (const Entry e : g.added()) {
        a.fusion.added = backend::view_of<View>(tensors_[e]);
        a.fusion.addend = packings_[e];
      }
    }
    return {plan_of(a), g.in, g.out};
  }

  /// Computes a call of constants now; its results become constants.
  void fold(const Group& g) {
    const Step s = step_of(g);
    std::vector<const i32*> in;
    std::vector<i32*> out;
    for (const Entry e : s.in) in.push_back(constant(e));
    for (const Entry e : s.out) {
      const auto& memory =
          folded_.emplace_back(std::make_unique<DeviceMemory>(like_.device, bytes_of(e)));
      out.push_back(static_cast<i32*>(memory->get()));
      homes_[e] = {Home::constant, 0, out.back()};
    }
    const DeviceMemory scratch(like_.device, s.plan->scratch_bytes());
    like_.device->use_at_once(
        [&](cudaStream_t stream) { s.plan->start(in.data(), out.data(), scratch.get(), stream); });
  }

  /// Packs results where all groups that write or read them are products that can use them packed,
  /// with padding that suffices for all of these.
  void choose_packings() {
    std::vector<std::array<i64, 2>> padding(tensors_.size());
    const std::vector<bool> can = grouping_.inner_results([&](const Group& g, Entry e) {
      const std::optional<ProductTraits> t = g.finish ? product_traits(with(g.call)) : std::nullopt;
      const Entries added = g.added();
      const bool is_stored =
          g.out[0] == e || std::find(added.begin(), added.end(), e) != added.end();
      if (!t || g.has_parameter(e) || (is_stored && !t->writes)) return false;
      if (g.in[0] != e) return true;
      for (std::size_t d = 0; t->padding && d < 2; ++d)
        padding[e][d] = std::max(padding[e][d], (*t->padding)[d]);
      return t->padding.has_value();
    });
    for (Entry e = 0; e < tensors_.size(); ++e) {
      if (!can[e]) continue;
      Packing p(backend::type_of(tensors_[e]).shape);
      std::copy_n(padding[e].begin(), 2, p.padding);
      if (p.bytes() <= kBytesMax) packings_[e] = p;
    }
  }

  /// Copies each head that is also a feed, a constant or another head.
  void copy_heads() {
    for (std::size_t k = 0; k < graph_.heads.size(); ++k) {
      const Entry e = graph_.heads[k];
      if (homes_[e].kind == Home::head && homes_[e].at == k) continue;
      homes_.push_back({Home::head, k});
      steps_.push_back({copy_plan(backend::view_of<View>(tensors_[e]),
                            backend::view_of<Out>(graph_.entries[e]), like_.device),
          {e}, {static_cast<Entry>(homes_.size() - 1)}});
    }
  }

  /// Gives each result memory from the step that writes it to the last one that reads it.
  /// @return the bytes of all
  u64 place_results() {
    std::vector<std::size_t> last(homes_.size());
    for (std::size_t k = 0; k < steps_.size(); ++k)
      for (const Entries& all : {steps_[k].out, steps_[k].in})
        for (const Entry e : all) last[e] = k;
    cpu::Arena arena;
    for (std::size_t k = 0; k < steps_.size(); ++k)
      for (const Entry e : steps_[k].out)
        if (homes_[e].kind == Home::arena) homes_[e].at = arena.place(bytes_of(e), k, last[e]);
    return arena.bytes();
  }
  u64 bytes_of(Entry e) const {
    if (packings_[e]) return static_cast<u64>(packings_[e]->bytes());
    return grouping_.extent(e) * sizeof(i32);
  }

  const backend::Graph& graph_;
  const Arguments& like_;
  const cpu::Grouping grouping_;
  const std::vector<ls_tensor>& tensors_;
  std::vector<Home> homes_;  // of entries, then of the targets of copies
  std::vector<std::optional<Packing>> packings_;
  std::vector<std::unique_ptr<DeviceMemory>> folded_;
  std::vector<Step> steps_;
};

}  // namespace

std::unique_ptr<DevicePlan> graph_plan(const backend::Graph& graph, const Arguments& like) {
  return Compiler(graph, like).plan();
}

}  // namespace lockstep::cuda
