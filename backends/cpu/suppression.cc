/// @file
/// non_max_suppression: sorts rows by packed keys, those of one id together. Compares each box with
/// a vector of kept ones at once, in floating point with a margin; the specification decides about
/// the few that come near the threshold.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>

#include "backends/cpu/kernels.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/targets.h"
#include "spec/ops/non_max_suppression.h"

#ifndef LOCKSTEP_SUPPRESSION
#define LOCKSTEP_SUPPRESSION
namespace lockstep::cpu {
namespace {

using u64 = std::uint64_t;

/// The most boxes that are compared at once; as many entries are readable after the last one.
constexpr i64 kLanesMax = 16;

/// Boxes that may suppress each other, by column. Those that are kept come first; candidates
/// follow.
struct Boxes {
  i32* coordinate[4];  ///< x1, y1, x2, y2
  float* share;        ///< its part of an overlap that is too large, rounded down
  i32* place;          ///< in the order of scores

  /// Coordinates as the specification reads them.
  i32 operator()(i64, i64 box, int column) const {
    return coordinate[column - NonMaxSuppression::kX1][box];
  }
  void move(i64 to, i64 from) const {
    for (i32* c : coordinate) c[to] = c[from];
    share[to] = share[from];
    place[to] = place[from];
  }
};

/// Whether the overlap with one of the boxes q + lane before `end` reaches the threshold. It is not
/// inlined, so that the loop that seldom calls it keeps its registers.
[[gnu::noinline]] bool is_reached(
    const Boxes& boxes, i64 q, u64 lanes, i64 end, i64 p, i64 threshold) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const i64 box = q + std::countr_zero(lanes);
    if (box < end && NonMaxSuppression::overlap_percent(boxes, 0, p, box) >= threshold) return true;
  }
  return false;
}

}  // namespace
}  // namespace lockstep::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/suppression.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Which of the boxes from q on may suppress box p, as bits. No box that does is missing: its
// overlap * (100 + threshold) is at least threshold * (area + area of p), but for 2^-40 of that
// where the specification divides first. So the overlap exceeds the sum of the shares, which lack a
// part of 2^-20: the five roundings of 2^-24 in shares, sides, product and sum are less.
#if HWY_TARGET == HWY_SCALAR
constexpr i64 kStep = 16;  // boxes that compilers compare at once

// Arithmetic may wrap: values after the last box are arbitrary and are ignored.
i32 difference(i32 a, i32 b) {
  return static_cast<i32>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

u64 doubtful(const Boxes& boxes, i64 p, i64 q) {
  const auto [x1, y1, x2, y2] = boxes.coordinate;
  const i32 left = x1[p], top = y1[p], right = x2[p], bottom = y2[p];
  const float share = boxes.share[p];
  i32 much[kStep], any = 0;
  for (i64 k = 0; k < kStep; ++k) {
    const i32 width = difference(std::min(right, x2[q + k]), std::max(left, x1[q + k]));
    const i32 height = difference(std::min(bottom, y2[q + k]), std::max(top, y1[q + k]));
    const float overlap =
        static_cast<float>(std::max(0, width)) * static_cast<float>(std::max(0, height));
    much[k] = overlap > share + boxes.share[q + k] ? 1 : 0;
    any |= much[k];
  }
  u64 lanes = 0;
  for (i64 k = 0; any != 0 && k < kStep; ++k) lanes |= static_cast<u64>(much[k]) << k;
  return lanes;
}
#else
const hn::ScalableTag<i32> kAll;
const hn::RebindToFloat<hn::ScalableTag<i32>> kFloats;
constexpr i64 kStep = hn::MaxLanes(kAll);

u64 doubtful(const Boxes& boxes, i64 p, i64 q) {
  const auto shared = [&](const i32* from, const i32* to) HWY_ATTR {
    const auto first = hn::Max(hn::Set(kAll, from[p]), hn::LoadU(kAll, from + q));
    const auto last = hn::Min(hn::Set(kAll, to[p]), hn::LoadU(kAll, to + q));
    return hn::ConvertTo(kFloats, hn::Max(hn::Zero(kAll), hn::Sub(last, first)));
  };
  const auto [x1, y1, x2, y2] = boxes.coordinate;
  const auto share = hn::Add(hn::Set(kFloats, boxes.share[p]), hn::LoadU(kFloats, boxes.share + q));
  const auto much = hn::Gt(hn::Mul(shared(x1, x2), shared(y1, y2)), share);
  u64 lanes = 0;
  if (!hn::AllFalse(kFloats, much))
    hn::StoreMaskBits(kFloats, much, reinterpret_cast<std::uint8_t*>(&lanes));
  return lanes;
}
#endif

static_assert(kStep <= kLanesMax);

// Whether one of the boxes begin .. end - 1 suppresses box p.
bool is_suppressed(const Boxes& boxes, i64 begin, i64 end, i64 p, i64 threshold) {
  for (i64 q = begin; q < end; q += kStep)
    if (const u64 lanes = doubtful(boxes, p, q);
        lanes != 0 && is_reached(boxes, q, lanes, end, p, threshold))
      return true;
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

/// A key for the order of `high`, then of `low`.
u64 key_of(i64 high, i64 low) { return static_cast<u64>(high) << 32 | static_cast<u64>(low); }
i32 low_of(u64 key) { return static_cast<i32>(key & 0xffffffff); }

/// Sorts keys whose lower halves ascend. @return where they are: in `a` or in `b`.
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

class Suppression : public KernelPlan {
 public:
  Suppression(const Arguments& a, const Kernel& kernel)
      : KernelPlan(kernel.name, a.pool),
        is_suppressed_(is_suppressed_on(*find_isa(kernel.isa))),
        attrs_(from_attributes<Op>(a.call.attributes())),
        x_(a.call.in[Op::X]),
        valid_(a.call.in[Op::Valid]),
        y_(a.call.out[0]) {
    const auto t = static_cast<double>(attrs_.iou_threshold);
    share_ = t / (100 + t) * (1 - 0x1p-20);
    if (pool_->threads() > 1) slots_ = clamp(scratch_most(a.call) / batch_bytes(), 1, x_.dim(0));
  }
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override {
    const i64 batches = x_.dim(0);
    const double ns =
        kRowNs * static_cast<double>(batches * x_.dim(1)) / static_cast<double>(slots_);
    pool_->run(slots_, ns, [&](i64 begin, i64 end) {
      for (i64 b = batches * begin / slots_, s = begin; s < end; ++s) {
        char* const room = static_cast<char*>(scratch) + s * batch_bytes();
        for (; b < batches * (s + 1) / slots_; ++b) {
          const i64 valid = clamp(in[Op::Valid][b * valid_.stride[0]], 0, x_.dim(1));
          const i32* x = in[Op::X] + b * x_.stride[0];
          i32* y = out[0] + b * y_.stride[0];
          fill_rows(y_, y, suppress(x, y, valid, room));
        }
      }
    });
  }
  uint64_t scratch_bytes() const override { return static_cast<uint64_t>(slots_ * batch_bytes()); }

 private:
  static constexpr double kRowNs = 20, kPairNs = 0.15;
  static constexpr std::size_t kCandidates = 256;  ///< that threads compare with kept boxes at once

  /// Entries of each array in the scratch memory: whole cache lines, and room to read beyond.
  i64 entries() const { return ceil_div(x_.dim(1), kLanesMax) * kLanesMax + kLanesMax; }
  i64 batch_bytes() const {
    constexpr i64 kKeys = 2 * sizeof(u64), kColumns = 7 * sizeof(i32);
    return entries() * (kKeys + kColumns);
  }

  i32 at(const i32* x, i64 row, i64 column) const {
    return x[row * x_.stride[1] + column * x_.stride[2]];
  }

  /// Fills the first rows of a batch of Y. @return how many.
  i64 suppress(const i32* x, i32* y, i64 valid, char* room) const {
    const i64 read = attrs_.top_k < 0 ? valid : min(valid, attrs_.top_k);
    const i64 most = attrs_.max_output_size < 0 ? valid : min(valid, attrs_.max_output_size);
    auto* const keys = reinterpret_cast<u64*>(room);
    u64* const spare = keys + entries();
    const auto column = [&](i64 k) {
      return reinterpret_cast<i32*>(spare + entries()) + k * entries();
    };
    const Boxes boxes{{column(0), column(1), column(2), column(3)},
        reinterpret_cast<float*>(column(4)), column(5)};
    i32* const rows = column(6);  // by score; kept ones are complemented

    for (i64 r = 0; r < valid; ++r) keys[r] = key_of(kIntMax - i64{at(x, r, Op::kScore)}, r);
    const u64* const by_score = sorted(keys, spare, valid);
    std::transform(by_score, by_score + read, rows, low_of);
    i64 candidates = 0;
    for (i64 p = 0; p < read; ++p)
      if (const i32 id = at(x, rows[p], Op::kId); id >= 0)
        keys[candidates++] = key_of(attrs_.force_suppress ? 0 : id, p);
    const u64 *group = sorted(keys, spare, candidates), *const end = group + candidates;
    while (group != end) {
      const u64* const next =
          std::find_if(group, end, [&](u64 key) { return key >> 32 != *group >> 32; });
      const i64 kept = keep(boxes, x, rows, {group, next}, most);
      for (i64 k = 0; k < kept; ++k) rows[boxes.place[k]] = ~rows[boxes.place[k]];
      group = next;
    }
    i64 filled = 0;
    for (i64 p = 0; p < read && filled < most; ++p) {
      if (rows[p] >= 0) continue;
      for (i64 c = 0; c < Op::kColumns; ++c)
        y[filled * y_.stride[1] + c * y_.stride[2]] = at(x, ~rows[p], c);
      ++filled;
    }
    return filled;
  }

  /// Leaves the kept ones of a group in `boxes`, by score, and stops at `most`, because no further
  /// one can be among those kept of all groups. @return their number.
  i64 keep(const Boxes& boxes, const i32* x, const i32* rows, std::span<const u64> group,
      i64 most) const {
    const auto is_dropped = [&](i64 first, i64 last, i64 box) {
      return is_suppressed_(boxes, first, last, box, attrs_.iou_threshold);
    };
    i64 kept = 0;
    while (!group.empty() && kept < most) {
      const auto candidates = group.first(std::min(group.size(), kCandidates));
      group = group.subspan(candidates.size());
      const i64 before = kept, end = load(boxes, x, rows, candidates, kept);
      bool dropped[kCandidates];
      pool_->run(end - before, kPairNs * static_cast<double>(before), [&](i64 i, i64 last) {
        for (; i < last; ++i) dropped[i] = is_dropped(0, before, before + i);
      });
      for (i64 box = before; box < end && kept < most; ++box)
        if (!dropped[box - before] && !is_dropped(before, kept, box)) boxes.move(kept++, box);
    }
    return kept;
  }

  /// Appends candidates to `count` boxes. @return the number of all.
  i64 load(const Boxes& boxes, const i32* x, const i32* rows, std::span<const u64> candidates,
      i64 count) const {
    for (const u64 key : candidates) {
      boxes.place[count] = low_of(key);
      // Legal coordinates have 31 bits; others must not overflow.
      for (int c = 0; c < 4; ++c)
        boxes.coordinate[c][count] =
            static_cast<i32>(saturate(at(x, rows[low_of(key)], Op::kX1 + c), 31));
      const auto side = [&](int from, int to) {
        return static_cast<double>(boxes(0, count, to) - boxes(0, count, from));
      };
      const double area = side(Op::kX1, Op::kX2) * side(Op::kY1, Op::kY2);
      boxes.share[count++] = static_cast<float>(std::max(0.0, area * share_));
    }
    return count;
  }

  IsSuppressed is_suppressed_;
  NonMaxSuppressionAttrs attrs_;
  View x_, valid_;
  Out y_;
  i64 slots_ = 1;  ///< parts of the batches, each of which has scratch memory for one
  double share_;   ///< the part of the sum of two areas that is too large an overlap
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
