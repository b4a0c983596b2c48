// What check finds in a library of other authors, without a hint where to look.
#include <gtest/gtest.h>

#include "conformance/cases/case.h"
#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;

class Findings : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(build_directory() / "lib" / "lockstep" / "onednn.so"))
      GTEST_SKIP() << "this build has no oneDNN";
  }
  static json of_one_dnn(const std::string& op) {
    return judged(words_in("check onednn --tier 0 --property matches_reference --set threads=1 "
                           "--set max_isa=avx2 --jobs 2 --timeout 20 --start-timeout 60 --op",
                      {op}))
        .report;
  }
  // The first failure of an operator that oneDNN gets wrong, shrunk to `most` elements of inputs.
  static std::string found_in(const std::string& op, i64 most) {
    const json report = of_one_dnn(op);
    EXPECT_TRUE(report.is_object()) << op;
    EXPECT_EQ(report["verdict"], "FAIL") << op;
    EXPECT_LE(report["failures"].size(), 3u) << op;
    if (report["failures"].empty()) return "nothing was found";
    const json failure = report["failures"][0];
    i64 elements = 0;
    for (const Type& t : parse_case(failure["shrunk"]).in) elements += volume(t.shape);
    EXPECT_LE(elements, most) << failure["shrunk"];
    return failure["shrunk_text"];
  }
};

TEST_F(Findings, EightBitProductsWithoutVnniLoseBits) {
  // oneDNN halves weights and doubles results, or its sums of two products saturate.
  expect_contains(found_in("conv2d", 2), "expected ");
  expect_contains(found_in("dense", 6), "expected ");
}

TEST_F(Findings, IntegersOf32BitsPassThroughFloat) {
  for (const char* op : {"relu", "negative"})
    expect_contains(found_in(op, 1), "16777217 (0x01000001), got 16777216 (0x01000000)");
  expect_contains(found_in("elemwise_add", 2), "; 1 of 1 elements differ");
  expect_contains(found_in("max_pool2d", 64), "expected ");
}

TEST_F(Findings, AreNotMadeUpWhereItIsRight) {
  for (const char* op : {"broadcast_*", "sum,max"}) {
    const json report = of_one_dnn(op);
    EXPECT_EQ(report["verdict"], "PASS") << report["failures"].dump(1);
    EXPECT_GT(report["counts"]["passed"], 50);
  }
}

TEST_F(Findings, NameAnInstructionSetThatCannotBeHad) {
  expect_end(words_in("check onednn --tier 0 --op relu --set max_isa=avx1024 --start-timeout 60"),
      2, {"no isa 'avx1024'; oneDNN has sse41 avx avx2 avx512_core"});
}

}  // namespace
}  // namespace lockstep::judge
