#include "backends/cpu/elementwise.h"

#include <algorithm>

#include "backends/cpu/formulas.h"
#include "backends/cpu/move.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kBoxElements = i64{1} << 14;    // of a box without buffers
constexpr i64 kChainElements = i64{1} << 12;  // of one with results of stages on the stack
constexpr i64 kRoomElements = i64{3} << 13;   // of all copies of a box on the stack
constexpr i64 kShortRow = 32;
constexpr i64 kLine = 16;  // elements of a cache line
constexpr double kElementNs = 0.4;

/// Whether the rows of a nest can be computed where they lie.
bool is_direct(const Loops& loops) {
  if (loops.rank() == 0) return true;
  const LoopAxis& inner = loops[loops.rank() - 1];
  for (int t = 0; t < loops.tensors(); ++t) {
    const i64 stride = inner.stride[static_cast<std::size_t>(t)];
    if (stride != 1 && (stride != 0 || t == 0)) return false;
  }
  return inner.extent >= kShortRow || loops.rank() == 1;
}

class Chain : public KernelPlan {
 public:
  Chain(std::span<const Stage> stages, const Loops& loops, const std::shared_ptr<ThreadPool>& pool,
      const Isa& isa, std::string name)
      : KernelPlan(std::move(name), pool),
        move_(move_box(isa)),
        loops_(loops),
        is_direct_(cpu::is_direct(loops)),
        is_large_(leaves_caches(loops.volume())) {
    for (const Stage& s : stages) steps_.push_back({s, plane_of(s.formula, isa)});
    if (is_direct_)
      loops_.cut_rows(stages.size() == 1 ? kBoxElements : kChainElements);
    else
      loops_.cut(room_elements());
    boxes_ = loops_.boxes();
    box_ns_ =
        kElementNs * static_cast<double>(loops_.box_volume()) * static_cast<double>(stages.size());
    for (int t = 1; t < loops_.tensors(); ++t)
      if (is_direct_ && loops_.rank() > 0 ? inner().stride[at(t)] == 0 : loops_.is_constant(t))
        single_ |= 1U << t;
  }
  void run(const int32_t* const* in, int32_t* const* out, void*) const override {
    // The caches already hold the lines that an output in the place of an input overwrites.
    const bool streams =
        is_large_ && std::find(in, in + loops_.tensors() - 1, out[0]) == in + loops_.tensors() - 1;
    pool_->run(boxes_, box_ns_, [&](i64 begin, i64 end) {
      loops_.visit(begin, end, [&](const LoopBox& box) {
        if (is_direct_)
          compute_direct(box, in, out[0], streams);
        else
          compute_staged(box, in, out[0], streams);
      });
    });
  }
  // A box reads nothing outside of itself, and a row reads each element before storing its output.
  bool works_in_place(std::size_t input) const override {
    return loops_.moves_as_output(static_cast<int>(input) + 1);
  }

 private:
  struct Step {
    Stage stage;
    PlaneOf compute;
  };
  /// Rows in several tensors: where they begin, and how far each moves from row to row.
  struct Operands {
    std::array<const i32*, kLoopTensorsMax> first{};  ///< of the inputs, which count from 1
    PerTensor step{};
  };

  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  /// Elements of the copy of one tensor, in whole cache lines.
  i64 room_elements() const { return kRoomElements / loops_.tensors() / kLine * kLine; }
  const LoopAxis& inner() const { return loops_[loops_.rank() - 1]; }

  /// Computes all stages of `count` rows of n outputs. Results between stages lie in `room`.
  void compute(i64 n, i64 count, const Operands& x, i32* y, i32* room, bool stream) const {
    for (const Step& s : steps_) {
      const bool is_last = &s == &steps_.back();
      Plane plane{n, count, is_last ? x.step[0] : n, {}, 0, stream && is_last};
      const i32* operand[kOperandsMax]{};
      for (int k = 0; k < arity(s.stage.formula); ++k) {
        const int t = s.stage.operand[at(k)];
        operand[k] = t == 0 ? room : x.first[at(t)];
        plane.steps[k] = t == 0 ? n : x.step[at(t)];
        plane.single |= (single_ >> t & 1U) << k;
      }
      s.compute(s.stage.numbers, plane, operand, is_last ? y : room);
    }
  }

  void compute_direct(const LoopBox& box, const i32* const* in, i32* y, bool streams) const {
    alignas(64) i32 room[kChainElements];
    const int rank = loops_.rank();
    const i64 n = rank > 0 ? box.extent[at(rank - 1)] : 1;
    const i64 count = rank > 1 ? box.extent[at(rank - 2)] : 1;
    Operands x;
    if (rank > 1) x.step = loops_[rank - 2].stride;
    loops_.planes(box, [&](const PerTensor& from) {
      for (int t = 1; t < loops_.tensors(); ++t) x.first[at(t)] = in[t - 1] + from[at(t)];
      compute(n, count, x, y + from[0], room, streams);
    });
  }

  void compute_staged(const LoopBox& box, const i32* const* in, i32* y, bool streams) const {
    alignas(64) i32 rooms[kRoomElements];
    const i64 each = room_elements();
    Move m{.rank = loops_.rank(), .extent = box.extent};
    const i64 n = lay_out(m);
    Operands x;
    for (int t = 1; t < loops_.tensors(); ++t) {
      x.first[at(t)] = in[t - 1] + box.offset[at(t)];
      if ((single_ >> t & 1U) != 0 || loops_.is_compact(box, t)) continue;
      m.from = strides_of(t);
      i32* room = rooms + t * each;
      move_(m, room, x.first[at(t)], false);
      x.first[at(t)] = room;
    }
    i32* to = y + box.offset[0];
    if (loops_.is_compact(box, 0)) return compute(n, 1, x, to, rooms, false);
    compute(n, 1, x, rooms, rooms, false);
    Move back;
    for (int d = 0; d < m.rank; ++d) back.add(m.extent[at(d)], loops_[d].stride[0], m.to[at(d)]);
    move_(back, to, rooms, streams);
  }

  /// Makes the target of a box compact. @return the number of its elements
  static i64 lay_out(Move& m) {
    i64 n = 1;
    for (int d = m.rank - 1; d >= 0; --d) {
      m.to[at(d)] = n;
      n *= m.extent[at(d)];
    }
    return n;
  }
  std::array<i64, kLoopAxesMax> strides_of(int tensor) const {
    std::array<i64, kLoopAxesMax> all{};
    for (int d = 0; d < loops_.rank(); ++d) all[at(d)] = loops_[d].stride[at(tensor)];
    return all;
  }

  std::vector<Step> steps_;
  MoveBox move_;
  Loops loops_;
  bool is_direct_, is_large_;
  unsigned single_ = 0;  // the tensors of which one element serves a row, as a bit set
  i64 boxes_ = 0;
  double box_ns_ = 0;
};

std::unique_ptr<Plan> elementwise_plan(const Arguments& a, const Kernel& k) {
  const std::optional<Stage> stage = stage_of(a.call);
  return chain_plan(
      {&*stage, 1}, chain_inputs(a.call), a.call.out[0], a.pool, *find_isa(k.isa), k.name);
}

template <class... Op> std::vector<Kernel> kernels_of(OperatorList<Op...>) {
  std::vector<Kernel> all;
  (add_target_kernels<Op>(all, elementwise_plan), ...);
  return all;
}

}  // namespace

std::unique_ptr<Plan> chain_plan(std::span<const Stage> stages, std::span<const ChainInput> in,
    const Out& y, const std::shared_ptr<ThreadPool>& pool, const Isa& isa, std::string name) {
  return std::make_unique<Chain>(stages, loops_of(y, in), pool, isa, std::move(name));
}

std::vector<Kernel> elementwise_kernels() { return kernels_of(ElementwiseOperators{}); }

}  // namespace lockstep::cpu
