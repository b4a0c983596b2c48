// What repro --bundle leaves for people who have no lockstep.
#include <gtest/gtest.h>

#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

// A shift that rounds ties away from zero, and the smallest call that shows it.
const std::string kTie = "cvm_right_shift/precision=6/shift_bit=5/in=2x2@12/data=0,0,-560,0";
const Words kWrong = {"faulty", kTie, "--set", "mutant=cvm_right_shift.ties_away"};

Words bundling(const Words& words, const std::string& directory) {
  return joined(joined({"repro"}, words), {"--bundle", directory});
}

// Builds a bundle's program, with further sources, and runs it.
Ended shown(const std::string& directory, const std::string& more = "") {
  const std::string compile = "cc -std=c11 -Wall -Wextra -Werror -pedantic ";
  return run({"/bin/sh", "-c",
      "cd '" + directory + "' && " + compile + more + " show.c -o show && ./show"});
}

class Bundle : public ScratchTest {
 protected:
  const std::string directory = scratch.path("bundle");
};

TEST_F(Bundle, ShowsTheDifferenceWithoutThisProgram) {
  expect_end(bundling(kWrong, directory), 1, {"bundle    " + directory});
  const Ended c = shown(directory);
  expect_end(c, 1);
  EXPECT_EQ(c.out,
      "case: " + kTie +
          "\ninput 0: 4 elements\nanswer: the first answer\n"
          "expected 0 [1,0]: expected -17 (0xffffffef), got -18 (0xffffffee)\n"
          "expected 0: 1 of 4 elements differ\n");
  expect_contains(text_of_file(directory + "/README.txt"),
      "lockstep repro faulty --set mutant=cvm_right_shift.ties_away '" + kTie + "'");
}

TEST_F(Bundle, JudgesAFunctionOfOnesOwn) {
  lockstep_says(bundling(kWrong, directory));
  const auto judged = [&](const std::string& half) {
    std::ofstream(directory + "/mine.c")
        << "#include <stdint.h>\n"
           "void mine(const int32_t *const *in, int32_t *const *out);\n"
           "void mine(const int32_t *const *in, int32_t *const *out) {\n"
           "  for (int i = 0; i < 4; ++i) out[0][i] = (in[0][i] "
        << half << ") >> 5;\n}\n";
    return shown(directory, "-DKERNEL=mine mine.c");
  };
  EXPECT_EQ(judged("+ 16").exit, 0);
  expect_end(judged("+ 15"), 1, {"expected -17 (0xffffffef), got -18 (0xffffffee)"});
}

TEST_F(Bundle, HasTheCallAsALine) {
  lockstep_says(bundling(kWrong, directory));
  // The reference answers the case as expected.
  const Ended answer = lockstep_says({"eval"}, {}, text_of_file(directory + "/call.jsonl"));
  expect_contains(answer.out, "\"data\":[0,0,-17,0]");
}

TEST_F(Bundle, HoldsTheAnswerThatIsWrong) {
  // Answers rightly the first time, and wrongly every second time.
  lockstep_says(bundling(
      {hostile("misbehaving"), "relu/in=2@8/data=4,5", "--set", "fault=otherwise"}, directory));
  expect_end(shown(directory), 1,
      {"answer: the answer the second time\n",
          "expected 0 [0]: expected 4 (0x00000004), got 5 (0x00000005)"});
}

TEST_F(Bundle, OfACrashSaysSo) {
  expect_end(bundling({hostile("misbehaving"), "relu/in=2x2x2@8/fill=one", "--set", "fault=abort"},
                 directory),
      1);
  const Ended c = shown(directory);
  EXPECT_EQ(c.exit, 2) << c.out << c.err;
  for (const char* part : {"crashed: ", "SIGABRT"}) expect_contains(c.out, part);
  EXPECT_FALSE(fs::exists(directory + "/got_0.npy"));
}

TEST_F(Bundle, OfAnIllegalCallIsTheCall) {
  expect_end(bundling({"reference", "relu/in=0@8"}, directory), 0);
  expect_contains(text_of_file(directory + "/README.txt"), "refused with input.extent");
  expect_contains(text_of_file(directory + "/call.jsonl"), "\"shape\":[0]");
  EXPECT_FALSE(fs::exists(directory + "/show.c"));
}

TEST_F(Bundle, IsWrittenWholeOrNotAtAll) {
  scratch.write("file", "mine");
  expect_end(bundling({"reference", "relu/in=1@8/data=1"}, scratch.path("")), 2,
      {"is there already, and not empty"});
  expect_end(bundling({"reference", "relu/in=1048576@8/fill=one"}, scratch.path("huge")), 2,
      {"a bundle holds 1048576 elements at most, this case has 3145728"});
  const Words nowhere = bundling({"reference", "relu/in=1@8/data=1"}, "/proc/nowhere/b");
  EXPECT_NE(lockstep_says(nowhere).exit, 0);
  for (const auto& entry : fs::directory_iterator(scratch.path("")))
    EXPECT_EQ(entry.path().filename(), "file");
}

}  // namespace
}  // namespace lockstep::judge
