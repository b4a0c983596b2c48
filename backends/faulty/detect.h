/// @file
/// The detection operators written as a backend would write them, with a switch for each mistake.
/// Without a switch they are right; a test checks that.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "backends/faulty/mutant.h"
#include "spec/ops/get_valid_counts.h"
#include "spec/ops/non_max_suppression.h"

namespace lockstep::faulty {

/// get_valid_counts.
struct Filter {
  bool or_equal, score_first, keeps_tail, zero_tail, backwards, count_runs_on, counts_all,
      last_row_missed, unsigned_scores;

  bool passes(const CheckedView& x, i64 b, i64 q, i64 threshold) const {
    if (last_row_missed && q > 0 && q + 1 == x.dim(1)) return false;
    const i64 score = x(b, q, score_first ? 0 : 1);
    if (unsigned_scores) return to_unsigned(score) > to_unsigned(threshold);
    return or_equal ? score >= threshold : score > threshold;
  }
  i64 fill(const CheckedView& x, i64 b, i64 q, i64 k) const {
    return keeps_tail ? x(b, q, k) : zero_tail ? 0 : -1;
  }
  void run(const GetValidCountsAttrs& a, In in, Results out) const {
    const CheckedView& x = in[0];
    i64 total = 0;
    for (i64 b = 0; b < x.dim(0); ++b) {
      std::vector<i64> rows;
      for (i64 q = 0; q < x.dim(1); ++q)
        if (passes(x, b, q, a.score_threshold)) rows.push_back(q);
      if (backwards) std::reverse(rows.begin(), rows.end());
      const auto passed = static_cast<i64>(rows.size());
      total = (count_runs_on ? total : 0) + passed;
      out[0](b) = static_cast<i32>(counts_all ? x.dim(1) : total);
      for (i64 q = 0; q < x.dim(1); ++q)
        for (i64 k = 0; k < x.dim(2); ++k)
          out[1](b, q, k) = static_cast<i32>(
              q < passed ? x(b, rows[static_cast<std::size_t>(q)], k) : fill(x, b, q, k));
    }
  }
};

/// non_max_suppression.
struct Suppression {
  bool later_first, unsigned_scores, top_k_first, all_rows, reads_negative_ids, dropped_suppress,
      skipped_suppress, same_id_only, any_id, above_only, in_float, in_int32, closed_boxes,
      signed_overlap, one_more, zero_is_unlimited, keeps_tail, first_batch_count, whole_vectors;

  using Detection = std::array<i64, 6>;
  using Detections = std::vector<Detection>;
  enum { kId, kScore, kX1, kY1, kX2, kY2 };

  i64 side(i64 from, i64 to) const { return to - from + (closed_boxes ? 1 : 0); }
  i64 area(const Detection& r) const { return side(r[kX1], r[kX2]) * side(r[kY1], r[kY2]); }
  i64 shared(const Detection& p, const Detection& q, int from, int to) const {
    const i64 length = side(max(p[from], q[from]), min(p[to], q[to]));
    return signed_overlap ? length : max(0, length);
  }
  bool overlaps(const Detection& p, const Detection& q, i64 threshold) const {
    const i64 areas = area(p) + area(q), overlap = shared(p, q, kX1, kX2) * shared(p, q, kY1, kY2);
    const i64 both = areas - overlap;
    if (areas <= 0 || both <= 0) return 0 >= threshold;
    i64 percent = overlap > INT64_MAX / 100 ? overlap / max(both / 100, 1) : 100 * overlap / both;
    if (in_int32) percent = to_int32(100 * to_int32(overlap)) / max(to_int32(both), 1);
    if (in_float)
      percent = std::lround(static_cast<float>(overlap) / static_cast<float>(both) * 100);
    return above_only ? percent > threshold : percent >= threshold;
  }
  bool rivals(const NonMaxSuppressionAttrs& a, const Detection& p, const Detection& q) const {
    const bool same = p[kId] == q[kId];
    return any_id || (a.force_suppress && !same_id_only) || same;
  }
  /// The rows of a batch in the order in which they are read.
  Detections sorted(const NonMaxSuppressionAttrs& a, In in, i64 b) const {
    const CheckedView& x = in[0];
    const i64 n = x.dim(1), given = in[1](first_batch_count ? 0 : b);
    const i64 valid = all_rows ? n : clamp(given, 0, n);
    const i64 top = a.top_k < 0 ? valid : min(valid, a.top_k);
    Detections rows;
    for (i64 r = 0; r < (top_k_first ? top : valid); ++r) {
      Detection row{};
      for (int k = 0; k < 6; ++k) row[static_cast<std::size_t>(k)] = x(b, r, k);
      rows.push_back(row);
    }
    if (later_first) std::reverse(rows.begin(), rows.end());
    std::stable_sort(rows.begin(), rows.end(), [&](const Detection& p, const Detection& q) {
      if (unsigned_scores) return to_unsigned(p[kScore]) > to_unsigned(q[kScore]);
      return p[kScore] > q[kScore];
    });
    rows.resize(static_cast<std::size_t>(min(top, static_cast<i64>(rows.size()))));
    return rows;
  }
  /// The rows that are kept.
  Detections kept(const NonMaxSuppressionAttrs& a, const Detections& rows, i64 valid) const {
    i64 most = a.max_output_size < 0 ? valid : min(valid, a.max_output_size);
    if (zero_is_unlimited && a.max_output_size == 0) most = valid;
    if (one_more && a.max_output_size >= 0) most = min(valid, most + 1);
    Detections keep, rivals_of;  // the rows that suppress are the kept ones
    for (const Detection& p : rows) {
      if (static_cast<i64>(keep.size()) >= most) break;
      const bool skipped = p[kId] < 0 && !reads_negative_ids;
      const std::ptrdiff_t rest = whole_vectors ? std::ssize(rivals_of) % 8 : 0;
      const bool dropped = std::any_of(rivals_of.begin(), rivals_of.end() - rest,
          [&](const Detection& q) { return rivals(a, p, q) && overlaps(p, q, a.iou_threshold); });
      if (!skipped && !dropped) keep.push_back(p);
      if (skipped ? skipped_suppress : !dropped || dropped_suppress) rivals_of.push_back(p);
    }
    return keep;
  }
  void run(const NonMaxSuppressionAttrs& a, In in, Results out) const {
    const CheckedView& x = in[0];
    const i64 n = x.dim(1);
    for (i64 b = 0; b < x.dim(0); ++b) {
      const i64 valid = all_rows ? n : clamp(in[1](first_batch_count ? 0 : b), 0, n);
      const Detections rows = kept(a, sorted(a, in, b), valid);
      for (i64 r = 0; r < n; ++r)
        for (int k = 0; k < 6; ++k)
          out[0](b, r, k) = static_cast<i32>(r < static_cast<i64>(rows.size())
                  ? rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(k)]
                  : keeps_tail ? x(b, r, k)
                               : -1);
    }
  }
};

}  // namespace lockstep::faulty
