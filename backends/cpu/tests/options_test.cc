// What open() and the manifest say about options and instruction sets.
#include <gtest/gtest.h>

#include <fstream>

#include "backends/cpu/isa.h"
#include "backends/cpu/tests/subject.h"

namespace lockstep::cpu {
namespace {

TEST(Options, RefusesTheUnknownAndTheMeaningless) {
  const struct {
    ls_text option;
    const char *label, *named;
  } rows[] = {{{"colour", "red"}, "option.unknown", "colour"},
              {{"isa", "sparc"}, "option.isa", "sparc"},
              {{"isa", ""}, "option.isa", "portable"},
              {{"threads", "0"}, "option.threads", "0"},
              {{"threads", "257"}, "option.threads", "257"},
              {{"threads", "2x"}, "option.threads", "2x"},
              {{"threads", "99999999999"}, "option.threads", "99999999999"},
              {{"tuned", "2"}, "option.tuned", "2"}};
  for (const auto& row : rows) {
    const Subject subject(std::vector<ls_text>{row.option});
    EXPECT_EQ(subject.code, LS_LOGIC) << row.option.key;
    EXPECT_EQ(subject.label, row.label);
    EXPECT_NE(subject.text.find(row.named), std::string::npos) << subject.text;
  }
}

TEST(Options, TakesUpTo256Threads) {
  const Subject subject(std::vector<ls_text>{{"threads", "256"}});
  ASSERT_EQ(subject.code, LS_OK) << subject.text;
  EXPECT_EQ(subject.api->threads(subject.self), 256);
}

TEST(Options, TakesBothValuesOfTuned) {
  for (const char* value : {"0", "1"}) {
    const Subject subject(std::vector<ls_text>{{"tuned", value}});
    EXPECT_EQ(subject.code, LS_OK) << subject.text;
  }
}

TEST(Options, RefusesAnInstructionSetExactlyWhereItCannotRun) {
  for (const Isa& isa : isas()) {
    const std::string name(isa.name);
    const Subject subject(std::vector<ls_text>{{"isa", name.c_str()}});
    EXPECT_EQ(subject.code, isa.runnable ? LS_OK : LS_LOGIC) << name;
    EXPECT_EQ(subject.label, isa.runnable ? "" : "option.isa") << name;
  }
}

TEST(Isas, BeginWithOneThatRunsEverywhere) {
  ASSERT_FALSE(isas().empty());
  EXPECT_EQ(isas()[0].name, "portable");
  EXPECT_TRUE(isas()[0].runnable);
  EXPECT_TRUE(best_isa().runnable);
}

#if defined(__x86_64__)
// The system lists what it can run, not what the processor could.
TEST(Isas, AgreeWithTheSystem) {
  const Isa* avx2 = find_isa("avx2");
  ASSERT_NE(avx2, nullptr) << "this processor family has kernels of its own";
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (line.find("flags") != 0)
    ASSERT_TRUE(std::getline(cpuinfo, line)) << "a line with the flags of the first processor";
  EXPECT_EQ(avx2->runnable, (line + " ").find(" avx2 ") != std::string::npos);
}
#endif

TEST(Manifest, ListsEveryKernelAndWhetherItRuns) {
  const Subject subject;
  const std::string text = subject.api->manifest();
  EXPECT_NE(text.find(R"({"op": "*", "name": "generic", "isa": "portable", "runnable": true})"),
            std::string::npos);
  for (const Isa& isa : isas())
    for (const std::string op : {"conv2d", "dense"}) {
      const std::string name(isa.name);
      std::string row = R"({"op": ")";
      row.append(op).append(R"(", "name": ")").append(op).append("_").append(name);
      row.append(R"(", "isa": ")").append(name).append(R"(", "runnable": )");
      row.append(isa.runnable ? "true}" : "false}");
      EXPECT_NE(text.find(row), std::string::npos) << row << " in " << text;
    }
}

}  // namespace
}  // namespace lockstep::cpu
