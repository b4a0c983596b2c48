/// @file
/// Mistakes in the operators of detection.
#include "backends/faulty/detect.h"

namespace lockstep::faulty {
namespace {

// A row for the mistake that a switch of `Model` makes.
template <class Op, class Model, bool Model::*kMistake>
constexpr Mutant mistaken(string_view name, string_view kind, string_view provenance) {
  return {name, Op::name, kind, provenance, [](Attributes values, In in, Results out) {
            Model model{};
            model.*kMistake = true;
            model.run(from_attributes<Op>(values), in, out);
          }};
}
template <bool Filter::*kMistake>
constexpr Mutant counts(string_view name, string_view kind, string_view provenance) {
  return mistaken<GetValidCounts, Filter, kMistake>(name, kind, provenance);
}
template <bool Suppression::*kMistake>
constexpr Mutant nms(string_view name, string_view kind, string_view provenance) {
  return mistaken<NonMaxSuppression, Suppression, kMistake>(name, kind, provenance);
}

constexpr Mutant kDetectMutants[] = {
    counts<&Filter::or_equal>("get_valid_counts.or_equal", "BOUNDS", ">= for >"),
    counts<&Filter::score_first>(
        "get_valid_counts.column_0", "BOUNDS", "score_index 0, the default elsewhere"),
    counts<&Filter::keeps_tail>("get_valid_counts.stale_tail", "ORDER",
        "compacted in place: rows behind the last are what they were"),
    counts<&Filter::zero_tail>("get_valid_counts.zero_tail", "ORDER", "cleared with memset to 0"),
    counts<&Filter::backwards>("get_valid_counts.backwards", "ORDER",
        "rows pushed on a stack, as an atomic counter may order them"),
    counts<&Filter::count_runs_on>(
        "get_valid_counts.count_runs_on", "BOUNDS", "the counter is not reset between batches"),
    counts<&Filter::counts_all>(
        "get_valid_counts.counts_all", "BOUNDS", "the count of rows for the count of valid ones"),
    counts<&Filter::last_row_missed>(
        "get_valid_counts.last_row", "BOUNDS", "q < n - 1 in the scan"),
    counts<&Filter::unsigned_scores>(
        "get_valid_counts.unsigned", "SIGN", "scores assumed to be non-negative"),

    nms<&Suppression::later_first>("non_max_suppression.ties", "ORDER",
        "an unstable sort: of equal scores the later row comes first"),
    nms<&Suppression::unsigned_scores>("non_max_suppression.unsigned_scores", "SIGN",
        "a radix sort without the flip of the sign bit"),
    nms<&Suppression::top_k_first>("non_max_suppression.top_k_before_sort", "ORDER",
        "the first top_k rows are sorted instead of all"),
    nms<&Suppression::all_rows>(
        "non_max_suppression.ignores_valid_count", "BOUNDS", "every row is read, padding too"),
    nms<&Suppression::first_batch_count>(
        "non_max_suppression.first_valid_count", "BOUNDS", "valid_count[0] serves every batch"),
    nms<&Suppression::reads_negative_ids>(
        "non_max_suppression.keeps_negative_ids", "BOUNDS", "the test for id < 0 is missing"),
    nms<&Suppression::dropped_suppress>("non_max_suppression.dropped_suppress", "ORDER",
        "a bit matrix of overlaps reduced without its diagonal"),
    nms<&Suppression::skipped_suppress>("non_max_suppression.skipped_suppress", "ORDER",
        "rows of negative id are filtered after suppression"),
    nms<&Suppression::same_id_only>(
        "non_max_suppression.ignores_force_suppress", "BOUNDS", "force_suppress never wired"),
    nms<&Suppression::any_id>(
        "non_max_suppression.ignores_ids", "BOUNDS", "torchvision's nms knows no classes"),
    nms<&Suppression::above_only>("non_max_suppression.above_threshold", "BOUNDS",
        "iou > threshold, as torchvision defines it"),
    nms<&Suppression::in_float>("non_max_suppression.float_iou", "ROUNDING",
        "the ratio in float, rounded to the nearest percent"),
    nms<&Suppression::in_int32>("non_max_suppression.int32_area", "ACC_WIDTH",
        "areas multiplied in 32 bits, as coordinates come"),
    nms<&Suppression::closed_boxes>(
        "non_max_suppression.plus_one", "BOUNDS", "Pascal VOC's area: (x2 - x1 + 1) (y2 - y1 + 1)"),
    nms<&Suppression::signed_overlap>(
        "non_max_suppression.signed_overlap", "SIGN", "two negative overlaps make a positive area"),
    nms<&Suppression::whole_vectors>("non_max_suppression.whole_vectors", "TAIL",
        "compared with kept boxes in vectors of eight, and not with the last ones"),
    nms<&Suppression::one_more>(
        "non_max_suppression.one_more", "BOUNDS", "the limit is tested after a row is kept"),
    nms<&Suppression::zero_is_unlimited>("non_max_suppression.zero_is_unlimited", "BOUNDS",
        "max_output_size <= 0 taken for no limit"),
    nms<&Suppression::keeps_tail>("non_max_suppression.stale_tail", "ORDER",
        "rows behind the kept ones are copied, not filled with -1"),
};

}  // namespace

Span<Mutant> detect_mutants() {
  return {kDetectMutants, static_cast<int>(std::size(kDetectMutants))};
}

}  // namespace lockstep::faulty
