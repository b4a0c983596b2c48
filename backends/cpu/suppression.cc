/// @file
/// non_max_suppression: rows sorted by packed keys; each box is compared with a vector of kept ones
/// at once, in floating point with a margin, and the specification decides about the few that come
/// near the threshold.
#include <algorithm>
#include <bit>
#include <memory>

#include "backends/cpu/kernels.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/targets.h"
#include "spec/ops/non_max_suppression.h"

#ifndef LOCKSTEP_SUPPRESSION
#define LOCKSTEP_SUPPRESSION
namespace lockstep::cpu {
namespace {

using u64 = std::uint64_t;

constexpr i64 kLanesMax = 16;  // readable after the last box of a table

/// Boxes by column. Those that are kept come first; candidates follow.
struct Boxes {
  i32* group;          ///< boxes suppress each other within one
  i32* coordinate[4];  ///< x1, y1, x2, y2
  float* share;        ///< its part of the overlap that is too much, rounded down
  i32* row;            ///< of the input

  /// Coordinates as the specification reads them.
  i32 operator()(i64, i64 box, int column) const {
    return coordinate[column - NonMaxSuppression::kX1][box];
  }
  void move(i64 to, i64 from) const {
    group[to] = group[from];
    for (i32* c : coordinate) c[to] = c[from];
    share[to] = share[from];
    row[to] = row[from];
  }
};

}  // namespace
}  // namespace lockstep::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/suppression.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Whether one of the boxes begin .. end - 1 suppresses box p.
//
// It does only if overlap * (100 + threshold) >= threshold * (area + area of p), but for 2^-40 of
// it where the specification divides first. So the overlap exceeds the sum of their shares, which
// lack a part of 2^-20: five roundings of 2^-24 on the way here cannot hide that.
bool is_suppressed(const Boxes& boxes, i64 begin, i64 end, i64 p, i64 threshold) {
  const hn::ScalableTag<i32> all;
  const hn::RebindToFloat<decltype(all)> floats;
  static_assert(hn::MaxLanes(all) <= kLanesMax);
  const auto zero = hn::Zero(all), group = hn::Set(all, boxes.group[p]);
  const auto share = hn::Set(floats, boxes.share[p]);
  const auto [x1, y1, x2, y2] = boxes.coordinate;
  const auto left = hn::Set(all, x1[p]), top = hn::Set(all, y1[p]);
  const auto right = hn::Set(all, x2[p]), bottom = hn::Set(all, y2[p]);
  const auto shared = [&](auto low, auto high, const i32* from, const i32* to) HWY_ATTR {
    const auto first = hn::Max(low, hn::LoadU(all, from)), last = hn::Min(high, hn::LoadU(all, to));
    return hn::ConvertTo(floats, hn::Max(zero, hn::Sub(last, first)));
  };
  for (i64 q = begin; q < end; q += static_cast<i64>(hn::Lanes(all))) {
    const auto overlap =
        hn::Mul(shared(left, right, x1 + q, x2 + q), shared(top, bottom, y1 + q, y2 + q));
    const auto is_much = hn::Gt(overlap, hn::Add(share, hn::LoadU(floats, boxes.share + q)));
    const auto is_rival = hn::Eq(group, hn::LoadU(all, boxes.group + q));
    const auto doubtful = hn::And(is_rival, hn::RebindMask(all, is_much));
    if (hn::AllFalse(all, doubtful)) continue;
    u64 lanes = 0;
    hn::StoreMaskBits(all, doubtful, reinterpret_cast<std::uint8_t*>(&lanes));
    for (; lanes != 0; lanes &= lanes - 1) {
      const i64 box = q + std::countr_zero(lanes);
      if (box < end && NonMaxSuppression::overlap_percent(boxes, 0, p, box) >= threshold)
        return true;
    }
  }
  return false;
}

}  // namespace
}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lockstep::cpu {
namespace {

using Op = NonMaxSuppression;
using IsSuppressed = bool (*)(const Boxes&, i64 begin, i64 end, i64 p, i64 threshold);

IsSuppressed is_suppressed_on(const Isa& most) {
  static constexpr Target<bool(const Boxes&, i64, i64, i64, i64)> kTargets[] = {
      LOCKSTEP_TARGETS(is_suppressed)};
  return best_target(kTargets, most);
}

/// A row's key: its score, the best first, then its number.
u64 key_of(i32 score, i64 row) {
  constexpr std::uint32_t kBest = 0x7fffffff;
  return u64{kBest - static_cast<std::uint32_t>(score)} << 32 | static_cast<u64>(row);
}

/// Sorts keys, of which the lower halves ascend. @return where they are: in `a` or in `b`.
u64* sorted(u64* a, u64* b, i64 n) {
  constexpr i64 kFew = 256;
  if (n < kFew) {
    std::sort(a, a + n);
    return a;
  }
  const auto [least, most] = std::minmax_element(a, a + n);
  const u64 base = *least >> 32 << 32;
  const int end = 64 - std::countl_zero(*most - base);
  for (int shift = 32; shift < end; shift += 8) {
    const auto digit = [&](u64 key) { return (key - base) >> shift & 0xff; };
    i64 place[257] = {};
    for (i64 i = 0; i < n; ++i) ++place[digit(a[i]) + 1];
    for (int d = 0; d < 255; ++d) place[d + 1] += place[d];
    for (i64 i = 0; i < n; ++i) b[place[digit(a[i])]++] = a[i];
    std::swap(a, b);
  }
  return a;
}

class Suppression : public Plan {
 public:
  Suppression(const Arguments& a, const Kernel& kernel)
      : name_(kernel.name),
        pool_(a.pool),
        is_suppressed_(is_suppressed_on(*find_isa(kernel.isa))),
        attrs_(from_attributes<Op>(a.call.attributes())),
        x_(a.call.in[Op::X]),
        valid_(a.call.in[Op::Valid]),
        y_(a.call.out[0]) {
    const auto t = static_cast<double>(attrs_.iou_threshold);
    share_ = t / (100 + t) * (1 - 0x1p-20);
  }
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override {
    pool_->run(x_.dim(0), kRowNs * static_cast<double>(x_.dim(1)), [&](i64 begin, i64 end) {
      for (i64 b = begin; b < end; ++b) {
        const i64 valid = clamp(in[Op::Valid][b * valid_.stride[0]], 0, x_.dim(1));
        const i32* x = in[Op::X] + b * x_.stride[0];
        i32* y = out[0] + b * y_.stride[0];
        char* room = static_cast<char*>(scratch) + b * batch_bytes();
        fill_rows(y_, y, suppress(x, y, valid, room));
      }
    });
  }
  uint64_t scratch_bytes() const override {
    return static_cast<uint64_t>(x_.dim(0) * batch_bytes());
  }
  const char* path() const override { return name_.c_str(); }

 private:
  static constexpr double kRowNs = 20, kPairNs = 0.2;
  static constexpr i64 kCandidates = 512;  ///< that threads compare with kept boxes at once

  /// Entries of each array in the scratch memory: whole cache lines, and room to read beyond.
  i64 entries() const { return ceil_div(x_.dim(1), kLanesMax) * kLanesMax + kLanesMax; }
  i64 batch_bytes() const {
    constexpr i64 kKeys = 2 * sizeof(u64), kColumns = 7 * sizeof(i32);
    return entries() * (kKeys + kColumns);
  }
  Boxes boxes_in(char* room) const {
    const auto column = [&](i64 k) { return reinterpret_cast<i32*>(room) + k * entries(); };
    return {column(0), {column(1), column(2), column(3), column(4)},
        reinterpret_cast<float*>(column(5)), column(6)};
  }

  i64 suppress(const i32* x, i32* y, i64 valid, char* room) const {
    auto* const keys = reinterpret_cast<u64*>(room);
    for (i64 r = 0; r < valid; ++r)
      keys[r] = key_of(x[r * x_.stride[1] + Op::kScore * x_.stride[2]], r);
    const u64* const order = sorted(keys, keys + entries(), valid);
    const Boxes boxes = boxes_in(room + 2 * entries() * static_cast<i64>(sizeof(u64)));
    const i64 kept = keep(boxes, x, order, valid);
    for (i64 k = 0; k < kept; ++k)
      for (i64 c = 0; c < Op::kColumns; ++c)
        y[k * y_.stride[1] + c * y_.stride[2]] = x[boxes.row[k] * x_.stride[1] + c * x_.stride[2]];
    return kept;
  }

  /// Leaves the kept boxes in the order of their scores. @return their number.
  i64 keep(const Boxes& boxes, const i32* x, const u64* order, i64 valid) const {
    const i64 read = attrs_.top_k < 0 ? valid : min(valid, attrs_.top_k);
    const i64 most = attrs_.max_output_size < 0 ? valid : min(valid, attrs_.max_output_size);
    i64 kept = 0;
    for (i64 p = 0; p < read && kept < most; p += kCandidates) {
      const i64 before = kept, end = load(boxes, x, order + p, min(kCandidates, read - p), kept);
      const auto is_dropped = [&](i64 first, i64 last, i64 box) {
        return is_suppressed_(boxes, first, last, box, attrs_.iou_threshold);
      };
      bool dropped[kCandidates];
      pool_->run(end - before, kPairNs * static_cast<double>(before), [&](i64 i, i64 last) {
        for (; i < last; ++i) dropped[i] = is_dropped(0, before, before + i);
      });
      for (i64 box = before; box < end && kept < most; ++box)
        if (!dropped[box - before] && !is_dropped(before, kept, box)) boxes.move(kept++, box);
    }
    return kept;
  }

  /// Appends the rows whose id is not negative to `count` boxes. @return the number of all.
  i64 load(const Boxes& boxes, const i32* x, const u64* order, i64 rows, i64 count) const {
    for (i64 i = 0; i < rows; ++i) {
      const auto row = static_cast<i32>(order[i] & 0xffffffff);
      const auto at = [&](i64 c) { return x[row * x_.stride[1] + c * x_.stride[2]]; };
      if (at(Op::kId) < 0) continue;
      boxes.group[count] = attrs_.force_suppress ? 0 : at(Op::kId);
      // Legal coordinates have 31 bits; others must not overflow.
      for (int c = 0; c < 4; ++c)
        boxes.coordinate[c][count] = static_cast<i32>(saturate(at(Op::kX1 + c), 31));
      const auto side = [&](int from, int to) {
        return static_cast<double>(boxes(0, count, to) - boxes(0, count, from));
      };
      const double area = side(Op::kX1, Op::kX2) * side(Op::kY1, Op::kY2);
      boxes.share[count] = static_cast<float>(std::max(0.0, area * share_));
      boxes.row[count++] = row;
    }
    return count;
  }

  std::string name_;
  std::shared_ptr<ThreadPool> pool_;
  IsSuppressed is_suppressed_;
  NonMaxSuppressionAttrs attrs_;
  View x_, valid_;
  Out y_;
  double share_;  ///< of the sum of two areas: the overlap that is too much
};

std::unique_ptr<Plan> plan(const Arguments& a, const Kernel& kernel) {
  return std::make_unique<Suppression>(a, kernel);
}

}  // namespace

std::vector<Kernel> suppression_kernels() {
  std::vector<Kernel> all;
  add_target_kernels<NonMaxSuppression>(all, plan);
  return all;
}

}  // namespace lockstep::cpu
#endif
