/// @file
/// The operators that move elements and compute nothing, piece by piece (nests.h).
#include "backends/cpu/movement.h"

#include <vector>

#include "backends/cpu/move.h"
#include "backends/cpu/nests.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kBoxElements = i64{1} << 15;  // the second cache holds them in both layouts
constexpr double kElementNs = 0.3;

class Movement : public KernelPlan {
 public:
  Movement(std::string name, const std::shared_ptr<ThreadPool>& pool, const Isa& isa, i64 elements,
      Portions portions)
      : KernelPlan(std::move(name), pool),
        move_(move_box(isa)),
        is_large_(leaves_caches(elements)),
        portions_(std::move(portions)) {
    for (Portion& p : portions_) {
      p.loops.join();
      p.loops.cut(kBoxElements);
    }
  }
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override {
    auto* room = static_cast<i32*>(scratch);
    for (const Portion& p : portions_) {
      const i32* from = (p.input == kScratch ? room : in[p.input]) + p.from;
      i32* to = (p.to_scratch ? room : out[0]) + p.to;
      pool_->run(p.loops.boxes(), kElementNs * static_cast<double>(p.loops.box_volume()),
          [&](i64 begin, i64 end) { move_boxes(p.loops, begin, end, to, from, move_, is_large_); });
    }
  }
  uint64_t scratch_bytes() const override {
    i64 elements = 0;
    for (const Portion& p : portions_)
      if (p.to_scratch) elements += p.loops.volume();
    return static_cast<uint64_t>(elements) * sizeof(i32);
  }

 private:
  MoveBox move_;
  bool is_large_;
  Portions portions_;
};

std::unique_ptr<Plan> movement_plan(const Arguments& a, const Kernel& kernel) {
  return std::make_unique<Movement>(
      kernel.name, a.pool, *find_isa(kernel.isa), volume(a.call.out[0].shape), portions_of(a.call));
}

template <class... Op> std::vector<Kernel> kernels_of(OperatorList<Op...>) {
  std::vector<Kernel> all;
  (add_target_kernels<Op>(all, movement_plan), ...);
  return all;
}

}  // namespace

std::unique_ptr<Plan> copy_plan(
    const View& x, const Out& y, const std::shared_ptr<ThreadPool>& pool, const Isa& isa) {
  return std::make_unique<Movement>("copy", pool, isa, volume(y.shape), copied(x, y));
}

std::vector<Kernel> movement_kernels() { return kernels_of(MovingOperators{}); }

}  // namespace lockstep::cpu
