/// @file
/// get_valid_counts: rows in order of memory are moved without a branch.
#include <algorithm>
#include <cstring>
#include <memory>

#include "backends/cpu/kernels.h"
#include "backends/cpu/rows.h"
#include "spec/ops/get_valid_counts.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kBlock = 8;  // elements that move at once
constexpr int kScore = 1;

/// Moves the rows that pass to the front. @return their number.
using KeepRows = i64 (*)(i32* y, const i32* x, i64 rows, i64 columns, i64 threshold);

/// Rows of whole blocks: what a row brings along, the next one or the fill replaces.
template <int kBlocks> i64 keep_rows(i32* y, const i32* x, i64 rows, i64 columns, i64 threshold) {
  const i64 beyond = kBlocks * kBlock - columns, inside = rows - ceil_div(beyond, columns);
  i64 passed = 0, q = 0;
  for (; q < inside; ++q, x += columns) {
    for (i64 k = 0; k < kBlocks; ++k)
      std::memcpy(y + passed * columns + k * kBlock, x + k * kBlock, kBlock * sizeof(i32));
    passed += x[kScore] > threshold;
  }
  for (; q < rows; ++q, x += columns) {
    std::copy_n(x, columns, y + passed * columns);
    passed += x[kScore] > threshold;
  }
  return passed;
}

constexpr KeepRows kKeepRows[] = {keep_rows<1>, keep_rows<2>, keep_rows<3>, keep_rows<4>};

class ValidCounts : public Plan {
 public:
  ValidCounts(const Arguments& a, const Kernel& kernel)
      : name_(kernel.name),
        pool_(a.pool),
        threshold_(from_attributes<GetValidCounts>(a.call.attributes()).score_threshold),
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
            const i64 passed = is_compact_
                ? kKeepRows[(columns - 1) / kBlock](y, x, rows, columns, threshold_)
                : keep_any_rows(y, x);
            out[0][b * count_.stride[0]] = static_cast<i32>(passed);
            fill_rows(rows_, y, passed);
          }
        });
  }
  const char* path() const override { return name_.c_str(); }

 private:
  static constexpr double kElementNs = 0.1;

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

  std::string name_;
  std::shared_ptr<ThreadPool> pool_;
  i64 threshold_;
  View x_;
  Out count_, rows_;
  bool is_compact_;
};

std::unique_ptr<Plan> plan(const Arguments& a, const Kernel& kernel) {
  return std::make_unique<ValidCounts>(a, kernel);
}

}  // namespace

std::vector<Kernel> valid_counts_kernels() {
  return {{GetValidCounts::name, "portable", "get_valid_counts_portable", plan}};
}

}  // namespace lockstep::cpu
