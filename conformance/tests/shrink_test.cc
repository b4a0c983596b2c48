// Shrinking finds the smallest call that shows a fault: which simpler calls it tries, and for which
// failures of a report.
#include <gtest/gtest.h>

#include "conformance/base/sha256.h"
#include "conformance/reports/report.h"
#include "conformance/run/judge.h"
#include "conformance/selection/select.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {
namespace {

// Notes each call that it gets, in order. Its outputs are right except some elements.
class Noting : public ReferenceSubject {
 public:
  bool (*afraid_of)(i32) = nullptr;
  bool (*dies_of)(i32) = nullptr;
  std::size_t least = 0;  // elements of an output with a fault
  bool mixed = false;     // whether the first input of a fault has different values
  bool refuses = true;
  std::vector<std::string> asked;

  explicit Noting(bool (*of)(i32) = nullptr) : afraid_of(of) {}
  Manifest& manifest_to_change() { return manifest_; }
  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run& run) override {
    asked.push_back(case_id(c));
    Answer a = ReferenceSubject::execute(c, in, out, run);
    const std::vector<i32>& x = in[0].data;
    if (mixed && std::count(x.begin(), x.end(), x[0]) == std::ssize(x)) return a;
    for (i32& y : a.out[0]) {
      if (dies_of && dies_of(y)) return {.kind = AnswerKind::crashed, .message = "SIGSEGV"};
      y += afraid_of && afraid_of(y) && a.out[0].size() >= least;
    }
    return a;
  }
  Answer refuse(const Case& c) override {
    asked.push_back(case_id(c));
    return refuses ? ReferenceSubject::refuse(c) : Answer{};
  }
};

bool seven(i32 y) { return y == 7; }
bool positive_odd(i32 y) { return y > 0 && y % 2 != 0; }
bool large_odd(i32 y) { return y > 1 << 24 && y % 2 != 0; }

const TrialPlan kOnce;

// The smallest call that shows the fault of this one, and its finding.
std::string shrunk(Noting& subject, const std::string& id, std::string* why = nullptr) {
  Failure f;
  f.property = refusal(parse_case(id)).refused() ? "rejects" : "matches_reference";
  f.id = id;
  std::string text;
  const Case small = shrink(subject, kOnce, f, text);
  if (why) *why = text;
  return case_id(small);
}

TEST(Shrink, FindsTheSmallestCall) {
  const std::tuple<bool (*)(i32), const char*, std::string> rows[] = {
      {nullptr, "relu/in=2@8/data=1,7", "relu/in=2@8/data=1,7"},
      {seven, "relu/in=2x3x2@8/data=1,-9,4,7,100,0,-7,2,3,7,5,6/memory=scattered",
          "relu/in=1@8/data=7"},
      {seven, "relu/in=4096@16/fill=range:30000", "relu/in=1@16/data=7"},
      {positive_odd, "relu/in=1@8/data=127", "relu/in=1@8/data=1"},
      {large_odd, "relu/in=1@26/data=33554431", "relu/in=1@26/data=16777217"},
      // Groups tie channels, kernel and padding together: none of them can shrink alone.
      {large_odd,
          "conv2d/channels=2/kernel_size=2,2/padding=1,1/groups=2/in=1x8x1x1@8+2x4x2x2@8+2@27/"
          "data=0,0,0,0,0,0,0,0+0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0+"
          "0,33554431",
          "conv2d/channels=1/kernel_size=1,1/in=1x1x1x1@8+1x1x1x1@8+1@27/data=0+0+16777217"}};
  for (const auto& [afraid_of, from, to] : rows) {
    Noting subject(afraid_of);
    std::string why;
    EXPECT_EQ(shrunk(subject, from, &why), to);
    const std::string last = to.substr(to.find_last_of("=+") + 1);
    EXPECT_EQ(why.find("expected " + last) != std::string::npos, afraid_of != nullptr) << why;
  }
}

TEST(Shrink, WritesNoValuesOfAPrecisionThatHasNone) {
  Noting lenient;
  lenient.refuses = false;
  std::string why;
  EXPECT_EQ(shrunk(lenient, "relu/in=2x3@0", &why), "relu/in=1@0/fill=zero:0");
  EXPECT_NE(why.find("the call was accepted"), std::string::npos) << why;
}

TEST(Simpler, CallsAreTriedInTurn) {
  Noting subject;
  const std::string from = "relu/in=2x3@0/fill=dense:5/memory=scattered";
  EXPECT_EQ(shrunk(subject, from), from) << "none of them fails";
  EXPECT_EQ(text_of_lines(subject.asked),
      "relu/in=3@0/fill=dense:5/memory=scattered\n"
      "relu/in=2@0/fill=dense:5/memory=scattered\n"
      "relu/in=1x3@0/fill=dense:5/memory=scattered\n"
      "relu/in=2x1@0/fill=dense:5/memory=scattered\n"
      "relu/in=2x2@0/fill=dense:5/memory=scattered\n"
      "relu/in=2x2@0/fill=dense:5/memory=scattered\n"
      "relu/in=1x3@0/fill=dense:5/memory=scattered\n"
      "relu/in=2x1@0/fill=dense:5/memory=scattered\n"
      "relu/in=2x2@0/fill=dense:5/memory=scattered\n"
      "relu/in=2x2@0/fill=dense:5/memory=scattered\n"
      "relu/in=2x3@0/fill=dense:5\n"
      "relu/in=2x3@0/fill=dense:5/memory=padded\n"
      "relu/in=2x3@0/fill=dense:5/memory=offset\n"
      "relu/in=2x3@0/fill=dense:5/memory=permuted\n"
      "relu/in=2x3@0/fill=zero:5/memory=scattered\n"
      "relu/in=2x3@0/fill=one:5/memory=scattered\n"
      "relu/in=2x3@0/fill=max:5/memory=scattered\n");
}

TEST(Simpler, CallsAreTriedFromTheFirstThatFails) {
  Noting subject(seven);
  EXPECT_EQ(shrunk(subject, "relu/in=2x3@8/data=7,0,-100,0,7,100"), "relu/in=1@8/data=7");
  EXPECT_EQ(text_of_lines(subject.asked),
      "relu/in=1x3@8/data=0,7,100\n"
      "relu/in=3@8/data=0,7,100\n"
      "relu/in=2@8/data=7,100\n"
      "relu/in=1@8/data=100\n"
      "relu/in=1@8/data=7\n"
      "relu/in=1@8/data=0\n"
      "relu/in=1@8/data=0\n"
      "relu/in=1@8/data=1\n"
      "relu/in=1@8/data=4\n"
      "relu/in=1@8/data=5\n"
      "relu/in=1@8/data=6\n");
}

// An illegal call shrinks to calls that are illegal for the same reason: an attribute out of range
// is judged first, so every other change keeps the reason and is tried.
TEST(Simpler, CallsAreTriedInEveryWay) {
  // How many calls shrinking tries for one that alone fails, and the beginning of a hash of their
  // lines.
  const std::tuple<const char*, std::size_t, const char*> rows[] = {
      {"relu/in=5@0/fill=edges:7/memory=padded", 19, "b7af38741ab71946"},
      {"relu/in=9@0/fill=dense:7/memory=offset", 17, "83588022e0ac2d6f"},
      {"broadcast_add/in=5@0+5@0/fill=range:9", 23, "ed5bb9dd24fd55f4"},
      {"broadcast_add/in=5@0+4@0/fill=range:9", 19, "3ba20074da7aed44"},
      {"relu/in=3x2@0/fill=range:9", 13, "aae67d7677f29f05"},
      {"relu/in=8589934592@8/fill=edges:0", 102, "699362be6a901de2"},
      {"relu/in=4@0/data=8589934592,-5,0,1", 43, "cfd1ba1728fc2df0"},
      {"conv2d/channels=9/kernel_size=5,2/padding=9,8589934592/groups=0/use_bias=false"
       "/out_dtype=same/in=5x9@8+7x3@8+3@0/fill=max:7/memory=permuted",
          111, "3716422e38b00ad9"},
      {"strided_slice/begin=3,-2/end=8589934592,1/stride=2/in=5x3x1x1x1x5@5/fill=minus"
       "_one:1/memory=offset",
          76, "b2d52e0d01a6c9df"},
      {"sum/axis=7,100/exclude=true/in=7x2@0/fill=one:0", 32, "95e34ed7acff02d3"},
      {"clip/a_min=8589934592/a_max=7/in=70@1/fill=one:0", 57, "a30ff94ae8d3a2c0"},
      {"concatenate/axis=0/in=5x2@3+5x2@4/data=1,-2,3,0,0,0,0,0,0,0+0,0,0,-3,0,0,0,0,0"
       ",-7",
          50, "2469b4487113aaf4"},
      {"relu/in=2x1x3@32/data=5,-5,0,2147483647,1,-1", 111, "f0780788d5d19f82"},
      {"dense/units=5/in=1x2@8+5x2@8+5@8/data=1,0+0,0,0,0,9,0,0,0,0,0+0,0,0,0,-3", 42,
          "6a1f3bbca4d9a7b7"},
      {"reshape/shape=5,4/in=4x5@4/data=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1", 75,
          "7f4ba5f8de15a2ae"},
      {"reshape/shape=4,5/in=5x4@4/data=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1", 75,
          "16052bcb18fee03f"},
      {"broadcast_add/in=2@8+1@8/data=5,-5+0", 73, "c071dd34befd55aa"},
      {"relu/in=2@8/data=-1,100", 13, "2ff2cdac9f362e22"},
      {"relu/in=3@8/data=-1,100,0", 50, "ea41916436129042"},
      {"relu/in=2@8/data=0,0", 2, "93b03202362f67a1"},
      {"relu/in=8x8@2/fill=one:0", 79, "c8b8b1f677465858"},
      {"relu/in=13x5@2/fill=one:0", 85, "fd11a13f62d75470"},
      {"relu/in=1@1/fill=dense:1", 4, "af1b3acee64120ea"},
      {"relu/in=1@32/fill=dense:1/memory=scattered_in", 8, "699e94c6c366e671"},
      {"max_pool2d/pool_size=2,2/strides=2,1/padding=1/in=1x2x3x4@8/fill=zero:3/memory"
       "=padded",
          79, "620dd81a096db406"}};
  for (const auto& [from, calls, hash] : rows) {
    Noting subject;
    EXPECT_EQ(shrunk(subject, from), from);
    EXPECT_EQ(subject.asked.size(), calls) << from;
    const std::string tried = text_of_lines(subject.asked);
    EXPECT_EQ(sha256(tried).substr(0, 16), hash) << from << "\n" << tried;
  }
}

TEST(Simpler, CallsAreTriedUpToALimit) {
  Noting subject;
  std::string from = "relu/in=1x40@31/data=1073741823";
  for (int k = 1; k < 40; ++k) from += ",1073741823";
  EXPECT_EQ(shrunk(subject, from), from);
  EXPECT_EQ(subject.asked.size(), 600U);
}

TEST(Simpler, CallsAreThoseThatTheBackendClaims) {
  Noting narrow, none;
  narrow.manifest_to_change().claims = {{"*", {2, 2}, {1, 32}, {1, 2}, {}}};
  shrunk(narrow, "relu/in=1x2@8/fill=zero:0");
  EXPECT_EQ(text_of_lines(narrow.asked),
      "relu/in=1x1@8/fill=zero:0\n"
      "relu/in=1x1@8/fill=zero:0\n"
      "relu/in=1x2@8/data=0,0\n");
  none.manifest_to_change().claims = {{"sum", {1, 6}, {1, 32}, {1, 2}, {}}};
  shrunk(none, "relu/in=2@8/data=1,2");
  shrunk(none, "relu/in=2@0/data=1,2");
  EXPECT_EQ(text_of_lines(none.asked), "");
}

Failure failure_of(const std::string& id) {
  return {"relu", "matches_reference", id, {}, 0, {}, {}, {}};
}

TEST(ShrinkFailures, LeavesVectorsAndKnownOnesAsTheyAre) {
  const std::string id = "relu/in=2@8/data=0,7", smallest = "relu/in=1@8/data=7";
  Noting subject(seven);
  Report r;
  r.counts.passed = r.counts.failed = 1;
  r.failures = {failure_of("relu-0007"), failure_of(id), failure_of(smallest)};
  r.failures[1].known = "it is afraid";
  for (int k = 0; k < 12; ++k) r.failures.push_back(failure_of(id));
  shrink_failures(r, subject, kOnce);
  EXPECT_EQ(r.failures[0].shrunk_text + r.failures[1].shrunk_text, "");
  EXPECT_EQ(r.failures[0].shrunk + r.failures[1].shrunk, "");
  EXPECT_EQ(r.failures[2].shrunk, "") << "it is the smallest";
  for (std::size_t k = 3; k < 15; ++k) EXPECT_EQ(r.failures[k].shrunk, smallest) << k;
}

// A step is a case; a failure has 600 of them, and a report twelve times as many.
TEST(ShrinkFailures, EndsWithTheWorkOfAReport) {
  Noting subject([](i32 y) { return y > 1 << 29; });
  std::string id = "relu/in=1x40@31/data=1073741823";
  for (int k = 1; k < 40; ++k) id += ",0";
  Report r;
  r.counts.failed = 1;
  for (int k = 0; k < 400; ++k) r.failures.push_back(failure_of(id));
  shrink_failures(r, subject, kOnce);
  const auto done = std::count_if(
      r.failures.begin(), r.failures.end(), [](const Failure& f) { return !f.shrunk.empty(); });
  EXPECT_LT(done, 400);
  EXPECT_GT(done, 12);
  EXPECT_GE(subject.asked.size(), 12U * 600);
  EXPECT_LT(subject.asked.size(), 13U * 600);
}

TEST(ShrinkFailures, BeginsWithWrongValues) {
  Noting subject(seven);
  Report r;
  r.counts.failed = 1;
  r.failures = {failure_of("relu/in=2@8/data=0,7"), failure_of("relu/in=3@8/data=0,7,0"),
      failure_of("relu/in=4@8/data=0,7,0,0")};
  r.failures[0].outcome = "crash", r.failures[0].answer = "crashed";
  r.failures[2].elements = {{0, {1}, 7, 8}};
  shrink_failures(r, subject, kOnce);
  EXPECT_EQ(subject.asked.front(), "relu/in=2@8/data=0,0") << "a half of the third";
  EXPECT_EQ(r.failures[0].shrunk, "") << "nothing crashes";
}

TEST(Shrink, ChangesNotWhatFails) {
  const auto odd = [](i32 y) { return y % 2 != 0; };
  const auto small = [](i32 y) { return 0 < y && y < 16; };
  Noting subject(odd);
  subject.dies_of = small;
  Failure f = failure_of("relu/in=2@8/data=0,101");
  std::string text;
  EXPECT_EQ(case_id(shrink(subject, kOnce, f, text)), "relu/in=1@8/data=17") << "no crash";
  f.id = "relu/in=2@8/data=0,9", f.outcome = "crash", f.answer = "crashed";
  EXPECT_EQ(case_id(shrink(subject, kOnce, f, text)), "relu/in=1@8/data=1") << "no wrong value";
  EXPECT_NE(text.find("SIGSEGV"), std::string::npos) << text;
}

TEST(Shrink, KeepsHowValuesAreWrongAndTheAttributesToBlame) {
  Noting subject(seven);
  std::string text;
  Failure f = failure_of("relu/in=2@8/data=0,7");
  f.pattern = "off by one; every element";
  EXPECT_EQ(case_id(shrink(subject, kOnce, f, text)), "relu/in=1@8/data=7");
  f.pattern = "the sign is wrong";
  EXPECT_EQ(case_id(shrink(subject, kOnce, f, text)), f.id);
  f = failure_of("sum/axis=0/exclude=true/in=2x2@8/data=7,0,0,0");
  EXPECT_EQ(case_id(shrink(subject, kOnce, f, text)), "sum/in=1@8/data=7");
  f.cells = {{"attribute exclude", {"true"}}, {"memory", {"padded"}}};
  EXPECT_EQ(
      case_id(shrink(subject, kOnce, f, text)).find("exclude=true") != std::string::npos, true);
}

TEST(Shrink, EndsWithARecipeWhereManyValuesAreEqual) {
  Noting subject(seven);
  subject.least = 12;
  std::string text, sevens = "7";
  for (int k = 1; k < 16; ++k) sevens += ",7";
  Case small = shrink(subject, kOnce, failure_of("relu/in=4x4@8/data=" + sevens), text);
  EXPECT_EQ(case_id(small), "relu/in=3x4@8/fill=constant:7");
  EXPECT_EQ(inputs_of(parse_case(case_id(small)))[0].data, std::vector<i32>(12, 7));
  Noting deep([](i32 y) { return y > 5'000'000; });
  small = shrink(deep, kOnce,
      failure_of("dense/units=2/use_bias=false/in=1x512@8+2x512@8/fill=critical:2"), text);
  EXPECT_EQ(case_id(small), "dense/units=1/use_bias=false/in=1x311@8+1x311@8/fill=max:2");
}

// Shrinking may pass through long calls, but must end with a readable one.
TEST(Shrink, EndsWithAReadableId) {
  Noting subject([](i32 y) { return y == -1; });  // a row of output that holds no box
  subject.least = std::size_t{30} * 6;
  subject.mixed = true;
  const std::string id = "non_max_suppression/iou_threshold=50/in=1x30x6@13+1@13/fill=hinted:3";
  std::string text;
  const Case small = shrink(subject, kOnce, failure_of(id), text);
  EXPECT_LE(case_id(small).size(), kMaxShown);
  EXPECT_NE(small.fill, Fill::literal) << "180 values";
}

// If there are as many rows as columns, cutting every axis of that extent makes no legal call.
TEST(Shrink, CutsRowsAndBatchesAlone) {
  Noting subject([](i32 y) { return y == 77; });
  subject.mixed = true;
  std::string text, rows;
  for (int row = 0; row < 12; ++row)
    rows += (row ? ",0," : "0,") + std::to_string(row == 10 ? 77 : row) + ",0,0,5,5";
  const std::string id = "non_max_suppression/iou_threshold=50/in=2x6x6@13+2@13/data=";
  const Case small = shrink(subject, kOnce, failure_of(id + rows + "+0,5"), text);
  EXPECT_EQ(case_id(small), "non_max_suppression/in=1x1x6@13+1@13/data=0,77,0,0,0,0+1");
}

// Of many boxes two overlap: the shrunk call has written values, but only a few rows.
TEST(Shrink, KeepsTheRowsOfBoxesThatMatter) {
  std::string rows, id;
  for (int row = 0; row < 75; ++row) {
    const int at = row == 50 ? 200 : 20 * row;
    rows += (row ? "," : "") + std::string("0,") + std::to_string(100 - row) + "," +
        std::to_string(at) + ",0," + std::to_string(at + 10) + ",10";
  }
  const std::tuple<const char*, const char*, bool (*)(i32)> rows_of[] = {
      {"non_max_suppression/iou_threshold=50", "+75", [](i32 y) { return y == 210; }},
      {"get_valid_counts/score_threshold=30", "", [](i32 y) { return y >= 2; }}};
  for (const auto& [name, count, of] : rows_of) {
    id = std::string(name) + "/in=1x75x6@13" + (count[0] ? "+1@13" : "") + "/data=" + rows + count;
    Noting subject(of);
    std::string text;
    const Case small = shrink(subject, kOnce, failure_of(id), text);
    EXPECT_LE(volume(small.in[0].shape), 12) << case_id(small);
    EXPECT_LE(case_id(small).size(), kMaxShown);
  }
}

TEST(ShrinkFailures, AsksNothingOfABackendThatNeverAnswered) {
  for (const auto& [passed, failed, asked] :
      {std::tuple{i64{0}, i64{0}, false}, {i64{0}, i64{1}, true}, {i64{1}, i64{0}, true}}) {
    Noting subject;
    Report r;
    r.counts.passed = passed;
    r.counts.failed = failed;
    r.failures = {failure_of("relu/in=2@8/data=0,7")};
    shrink_failures(r, subject, kOnce);
    EXPECT_EQ(!subject.asked.empty(), asked) << passed << " " << failed;
  }
}

}  // namespace
}  // namespace lockstep::judge
