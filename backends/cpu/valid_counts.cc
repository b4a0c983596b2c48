/// @file
/// get_valid_counts: moves rows that lie in order of memory without a branch.
#include <algorithm>
#include <cstring>
#include <memory>

#include "backends/cpu/kernels.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/targets.h"
#include "spec/ops/get_valid_counts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/valid_counts.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr i64 kScore = 1;     // column
constexpr i64 kBlock = 8;     // elements that move at once, in the registers of the target
constexpr i64 kUnrolled = 8;  // rows

#if HWY_TARGET == HWY_SCALAR
void copy_block(i32* to, const i32* from) { std::memcpy(to, from, kBlock * sizeof(i32)); }
#else
void copy_block(i32* to, const i32* from) {
  const hn::CappedTag<i32, kBlock> d;
  for (std::size_t k = 0; k < kBlock; k += hn::Lanes(d))
    hn::StoreU(hn::LoadU(d, from + k), d, to + k);
}
#endif

// Moves the rows that pass to the front. @return their number.
//
// Writes every row, in whole blocks, behind those that passed before it: the next row, or the fill,
// overwrites a row that does not pass and what is too much of a block.
template <int kBlocks>
i64 keep_rows_of(i32* y, const i32* x, i64 rows, i64 columns, i32 threshold) {
  const i64 beyond = kBlocks * kBlock - columns, inside = rows - ceil_div(beyond, columns);
  const i32* const first = y;
  const auto step = [&] { return -i64{x[kScore] > threshold} & columns; };
  i64 q = 0;
  for (; q + kUnrolled <= inside; q += kUnrolled) {
    i64 filled = 0;
    for (i64 r = 0; r < kUnrolled; ++r, x += columns) {
      for (i64 k = 0; k < kBlocks * kBlock; k += kBlock) copy_block(y + filled + k, x + k);
      filled += step();
    }
    y += filled;
  }
  for (; q < rows; ++q, x += columns) {
    std::copy_n(x, columns, y);
    y += step();
  }
  return (y - first) / columns;
}

i64 keep_rows(i32* y, const i32* x, i64 rows, i64 columns, i32 threshold) {
  const auto keep = columns <= kBlock ? keep_rows_of<1>
      : columns <= 2 * kBlock         ? keep_rows_of<2>
      : columns <= 3 * kBlock         ? keep_rows_of<3>
                                      : keep_rows_of<4>;
  return keep(y, x, rows, columns, threshold);
}

}  // namespace
}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lockstep::cpu {
namespace {

using KeepRows = i64 (*)(i32* y, const i32* x, i64 rows, i64 columns, i32 threshold);

KeepRows keep_rows_on(const Isa& most) {
  static constexpr Target<i64(i32*, const i32*, i64, i64, i32)> kTargets[] = {
      LOCKSTEP_TARGETS(keep_rows)};
  return best_target(kTargets, most);
}

class ValidCounts : public KernelPlan {
 public:
  ValidCounts(const Arguments& a, const Kernel& kernel)
      : KernelPlan(kernel.name, a.pool),
        keep_rows_(keep_rows_on(*find_isa(kernel.isa))),
        threshold_(
            static_cast<i32>(from_attributes<GetValidCounts>(a.call.attributes()).score_threshold)),
        x_(a.call.in[0]),
        count_(a.call.out[0]),
        rows_(a.call.out[1]),
        is_compact_(has_whole_rows(x_) && has_whole_rows(rows_)) {}
  void run(const int32_t* const* in, int32_t* const* out, void*) const override {
    const i64 rows = x_.dim(1), columns = x_.dim(2);
    pool_->run(
        x_.dim(0), kElementNs * static_cast<double>(rows * columns), [&](i64 begin, i64 end) {
          for (i64 b = begin; b < end; ++b) {
            const i32* x = in[0] + b * x_.stride[0];
            i32* y = out[1] + b * rows_.stride[0];
            const i64 passed =
                is_compact_ ? keep_rows_(y, x, rows, columns, threshold_) : keep_any_rows(y, x);
            out[0][b * count_.stride[0]] = static_cast<i32>(passed);
            fill_rows(rows_, y, passed);
          }
        });
  }

 private:
  static constexpr double kElementNs = 0.1;
  static constexpr i64 kScore = 1;

  i64 keep_any_rows(i32* y, const i32* x) const {
    const i64 rows = x_.dim(1), columns = x_.dim(2);
    i64 passed = 0;
    for (i64 q = 0; q < rows; ++q, x += x_.stride[1]) {
      for (i64 k = 0; k < columns; ++k)
        y[passed * rows_.stride[1] + k * rows_.stride[2]] = x[k * x_.stride[2]];
      passed += x[kScore * x_.stride[2]] > threshold_;
    }
    return passed;
  }

  KeepRows keep_rows_;
  i32 threshold_;
  View x_;
  Out count_, rows_;
  bool is_compact_;
};

std::unique_ptr<Plan> plan(const Arguments& a, const Kernel& kernel) {
  return std::make_unique<ValidCounts>(a, kernel);
}

}  // namespace

std::vector<Kernel> valid_counts_kernels() {
  std::vector<Kernel> all;
  add_target_kernels<GetValidCounts>(all, plan);
  return all;
}

}  // namespace lockstep::cpu
#endif
