/// @file
/// max_pool2d of cells. An item of parallel work takes the maxima along the lines of some windows,
/// which stay in the first cache, and then along their columns.
#include <memory>
#include <string>

#include "backends/cpu/max_pool2d.h"
#include "backends/cpu/pack.h"
#include "spec/ops/max_pool2d.h"

namespace lockstep::cpu {
namespace {

constexpr i64 kRoom = 4096;  // cells of the maxima of an item
constexpr double kCellNs = 0.2;

class CellPooling : public KernelPlan {
 public:
  explicit CellPooling(const Arguments& a)
      : KernelPlan("max_pool2d_cells", a.pool),
        attrs_(from_attributes<MaxPool2d>(a.call.attributes())),
        dot_(best_dot(*a.isa)),
        x_(a.call.in[0]),
        y_(a.call.out[0]) {}

  /// Whether the loops serve the stride, and a line of maxima fits the stack.
  bool serves() const { return attrs_.strides[1] <= 2 && line_cells() <= kRoom; }

  void run(const int32_t* const* in, int32_t* const* out, void*) const override {
    const i64 planes = ceil_div(y_.dim(1), dot_.terms), rows = kRoom / line_cells();
    const i64 parts = ceil_div(y_.dim(2), rows);
    const double part_ns = kCellNs * static_cast<double>(rows * x_.dim(3) * attrs_.pool_size[0]);
    pool_->run(y_.dim(0) * planes * parts, part_ns, [&](i64 begin, i64 end) {
      for (i64 i = begin; i < end; ++i) {
        const i64 image = i / (planes * parts), row = i / planes % parts * rows, plane = i % planes;
        pool_rows(out[0] + image * y_.stride[0] + plane * y_.stride[1],
            in[0] + image * x_.stride[0] + plane * x_.stride[1], row, min(row + rows, y_.dim(2)));
      }
    });
  }

 private:
  /// A line with its padding, and what vectors read beyond it.
  i64 line_cells() const {
    return x_.dim(3) + 2 * (attrs_.pool_size[1] + attrs_.strides[1] * kLanesMax);
  }

  void pool_rows(i32* y, const i32* x, i64 begin, i64 end) const {
    alignas(64) Word room[kRoom];
    const i64 padding = MaxPool2d::pad(attrs_, 1);
    for (i64 row = begin; row < end; ++row) {
      const i64 top = row * attrs_.strides[0] - MaxPool2d::pad(attrs_, 0);
      const i64 first = max(top, 0), last = min(top + attrs_.pool_size[0], x_.dim(2));
      dot_.pool_lines({x + first * x_.stride[2], last - first, x_.stride[2], x_.dim(3),
          room + (row - begin) * line_cells(), padding, attrs_.pool_size[1]});
    }
    for (i64 row = begin; row < end; ++row)
      dot_.pool_columns({room + (row - begin) * line_cells(), attrs_.pool_size[1],
          attrs_.strides[1], y + row * y_.stride[2], y_.dim(3)});
  }

  MaxPool2dAttrs attrs_;
  const DotKernels& dot_;
  View x_;
  Out y_;
};

}  // namespace

std::unique_ptr<Plan> cell_pooling(const Arguments& a) {
  auto plan = std::make_unique<CellPooling>(a);
  return plan->serves() ? std::move(plan) : nullptr;
}

}  // namespace lockstep::cpu
