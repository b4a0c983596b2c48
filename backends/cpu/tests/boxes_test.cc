// Tests get_valid_counts and non_max_suppression: equal scores, thresholds that an overlap reaches
// exactly, extreme coordinates, sets that are empty or full, any layout.
#include <array>

#include "backends/cpu/tests/modes.h"
#include "spec/ops/get_valid_counts.h"
#include "spec/ops/non_max_suppression.h"

namespace lockstep::cpu {
namespace {

class Detections : public InEachMode {
 protected:
  const std::string path = GetParam().path("non_max_suppression");
};

INSTANTIATE_TEST_SUITE_P(
    Modes, Detections, testing::ValuesIn(modes()), [](const auto& p) { return name_of(p.param); });

using Row = std::array<i64, NonMaxSuppression::kColumns>;

// Makes a batch for each valid count, with the rows of make_row(batch, row).
template <class F> TestCall suppression(const NonMaxSuppressionAttrs& a, i64 rows, int precision,
    const std::vector<i64>& valid, Draw& draw, F make_row) {
  const auto batches = static_cast<i64>(valid.size());
  TestCall c = call_of<NonMaxSuppression>(
      a, {{{batches, rows, NonMaxSuppression::kColumns}, precision}, {{batches}, 32}}, draw);
  auto to = c.in[NonMaxSuppression::X].data.begin();
  for (i64 b = 0; b < batches; ++b) {
    c.in[NonMaxSuppression::Valid].data[static_cast<std::size_t>(b)] =
        static_cast<i32>(valid[static_cast<std::size_t>(b)]);
    for (i64 r = 0; r < rows; ++r)
      for (const i64 v : make_row(b, r)) *to++ = static_cast<i32>(v);
  }
  return c;
}

NonMaxSuppressionAttrs drawn_attrs(i64 rows, Draw& draw) {
  NonMaxSuppressionAttrs a;
  a.iou_threshold = draw(0, 9) == 0 ? kIntMax : draw(1, 101);
  a.force_suppress = draw.coin();
  if (draw(0, 3) == 0) a.top_k = draw(0, rows + 1);
  if (draw(0, 3) == 0) a.max_output_size = draw(0, rows + 1);
  return a;
}

// Small boxes that overlap, few ids and scores, numbers of rows beside vectors and blocks.
TEST_P(Detections, SuppressBoxesThatOverlap) {
  constexpr i64 kRows[] = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 255, 256, 257, 300};
  judge_drawn(200, path, [&](Draw& draw) {
    const i64 rows = kRows[draw(0, std::size(kRows) - 1)], room = draw(3, 60), ids = draw(0, 5);
    const std::vector<i64> valid = {rows, draw(-1, rows + 1)};
    return suppression(drawn_attrs(rows, draw), rows, 10, valid, draw, [&](i64, i64) {
      const i64 x = draw(0, room), y = draw(0, room);
      return Row{draw(-1, ids), draw(-3, 6), x, y, x + draw(-1, 9), y + draw(-1, 9)};
    });
  });
}

// Corners of the plane: sides, areas and overlaps as large as 31 bits allow, and inside out.
TEST_P(Detections, CompareBoxesOfExtremeCoordinates) {
  judge_drawn(200, path, [&](Draw& draw) {
    const i64 rows = draw(2, 40), most = max_of(31);
    const i64 edges[] = {-most, 1 - most, -most / 2, -1, 0, 1, most / 3, most - 1, most};
    const auto edge = [&] { return edges[draw(0, std::size(edges) - 1)]; };
    return suppression(drawn_attrs(rows, draw), rows, 31, {rows}, draw, [&](i64, i64) {
      return Row{draw(0, 1), edge(), edge(), edge(), edge(), edge()};
    });
  });
}

// A box and a part of it that covers a percentage, or one unit less or more, in both kinds of
// arithmetic: 100 times the overlap fits 64 bits, or does not.
TEST_P(Detections, DropABoxAtTheThresholdAndKeepItBelow) {
  Seeded draw(3);
  const i64 most = max_of(31);
  for (const i64 unit : {i64{1}, i64{7}, i64{1000}, i64{21'474'836}})
    for (const i64 height : {i64{1}, i64{4096}, 2 * most})
      for (const i64 percent : {1, 10, 29, 50, 57, 70, 99, 100})
        for (const i64 beside : {-1, 0, 1}) {
          const auto make_row = [&](i64 b, i64 r) {
            const i64 width = r == 0 ? 100 * unit : percent * unit + b - 1;
            return Row{0, -r, -most, -most, width - most, height - most};
          };
          const TestCall c = suppression(
              {.iou_threshold = max(1, percent + beside)}, 2, 31, {2, 2, 2}, draw, make_row);
          EXPECT_EQ(judge(backend, c, draw), path);
          if (HasFailure()) return;
        }
}

// Batches of a grid whose boxes touch their neighbours and suppress none, or all of them, with
// scores that need every digit of a sort.
TEST_P(Detections, KeepAllOrOneOfManyBoxes) {
  Seeded draw(4);
  const i64 rows = 2500, most = max_of(31);
  for (const i64 threshold : {1, 50}) {
    const TestCall c = suppression(
        {.iou_threshold = threshold}, rows, 31, {rows, rows - 1}, draw, [&](i64 b, i64 r) {
          const i64 x = b == 0 ? r % 50 * 20 : 0, y = b == 0 ? r / 50 * 20 : 0;
          return Row{3, draw(-most, most), x, y, x + 22, y + 22};
        });
    EXPECT_EQ(judge(backend, c, draw), path);
  }
}

TEST_P(Detections, SortScoresInTiesAndWithoutDifference) {
  Seeded draw(5);
  const i64 rows = 700;
  for (const i64 scores : {1, 2, 300, 70'000}) {
    const TestCall c = suppression({}, rows, 31, {rows}, draw, [&](i64, i64 r) {
      return Row{r % 7 - 1, draw(0, scores - 1) - scores / 2, 3 * r, 0, 3 * r + 2, 1};
    });
    EXPECT_EQ(judge(backend, c, draw), path) << scores;
  }
}

TEST_P(Detections, CountRowsOfAnyWidth) {
  judge_drawn(400, GetParam().path("get_valid_counts"), [](Draw& draw) {
    const i64 rows = draw(1, 40), kind = draw(0, 4);
    const i64 threshold = kind == 0 ? kIntMax : kind == 1 ? -kIntMax : draw(-2, 2);
    TestCall c = call_of<GetValidCounts>(
        {.score_threshold = threshold}, {{{draw(1, 3), rows, draw(2, 31)}, 32}}, draw);
    for (i32& v : c.in[0].data)
      v = static_cast<i32>(kind > 2 ? draw(-3, 3) : draw.coin() ? kIntMax : -kIntMax);
    return c;
  });
}

}  // namespace
}  // namespace lockstep::cpu
