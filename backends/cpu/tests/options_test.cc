// What open() and the manifest say about options and instruction sets.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "backends/cpu/plans.h"
#include "backends/cpu/tests/subject.h"

namespace lockstep::cpu {
namespace {

TEST(Options, RefusesTheUnknownAndTheMeaningless) {
  const struct {
    const char *key, *value, *label, *named;
  } rows[] = {{"colour", "red", "option.unknown", "colour"},
      {"isa", "sparc", "option.isa", "sparc"}, {"isa", "", "option.isa", "portable"},
      {"threads", "0", "option.threads", "0"}, {"threads", "257", "option.threads", "257"},
      {"threads", "2x", "option.threads", "2x"},
      {"threads", "99999999999", "option.threads", "99999999999"},
      {"tuned", "2", "option.tuned", "2"}};
  for (const auto& row : rows) {
    const client::Status status = open_backend({{row.key, row.value}}).status();
    EXPECT_EQ(status.code, LS_LOGIC) << row.key;
    EXPECT_EQ(status.label, row.label);
    EXPECT_NE(status.text.find(row.named), std::string::npos) << status.text;
  }
}

TEST(Options, TakesUpTo256Threads) {
  EXPECT_EQ(open_backend({{"threads", "256"}}).value().threads(), 256U);
}

TEST(Options, TakesBothValuesOfTuned) {
  for (const char* value : {"0", "1"}) {
    const client::Status status = open_backend({{"tuned", value}}).status();
    EXPECT_TRUE(status.ok()) << status.text;
  }
}

TEST(Options, RefusesAnInstructionSetExactlyWhereItCannotRun) {
  for (const Isa& isa : isas()) {
    const std::string name(isa.name);
    const client::Status status = open_backend({{"isa", name}}).status();
    EXPECT_EQ(status.code, isa.runnable ? LS_OK : LS_LOGIC) << name;
    EXPECT_EQ(status.label, isa.runnable ? "" : "option.isa") << name;
  }
}

TEST(Isas, BeginWithOneThatRunsEverywhere) {
  ASSERT_FALSE(isas().empty());
  EXPECT_EQ(isas()[0].name, "portable");
  EXPECT_TRUE(isas()[0].runnable);
  EXPECT_TRUE(best_isa().runnable);
}

#if defined(__x86_64__)
// The operating system lists what it supports, which may be less than the processor does.
TEST(Isas, AgreeWithTheSystem) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (line.find("flags") != 0)
    ASSERT_TRUE(std::getline(cpuinfo, line)) << "a line with the flags of the first processor";
  const struct {
    const char *name, *flag;
  } rows[] = {{"sse4", "sse4_2"}, {"avx2", "avx2"}, {"avxvnni", "avx_vnni"}, {"avx512", "avx512bw"},
      {"avx512vnni", "avx512_vnni"}, {"amx", "amx_int8"}};
  for (const auto& row : rows) {
    const Isa* isa = find_isa(row.name);
    ASSERT_NE(isa, nullptr) << row.name;
    const std::string flag = " " + std::string(row.flag) + " ";
    EXPECT_EQ(isa->runnable, (line + " ").find(flag) != std::string::npos) << row.name;
  }
}
#endif

// Kernels as a file could offer them: one for every machine, one for a single instruction set.
TEST(Candidates, AreThoseOfTheBestInstructionSetThatHasSome) {
  const std::vector<Kernel> kernels = {{"relu", "portable", "plain", {}},
      {"clip", std::string_view(isas().back().name), "own", {}}, {"sum", "portable", "short", {}},
      {"sum", "portable", "long", {}}, {"sum", std::string_view(isas().back().name), "wide", {}}};
  const auto names = [&](std::string_view op, const Isa& most) {
    std::string all;
    for (const Kernel* k : candidates(kernels, op, most)) all += k->name + " ";
    return all;
  };
  const Isa &plainest = isas()[0], &best = isas().back();
  ASSERT_NE(plainest.name, best.name);
  EXPECT_EQ(names("relu", plainest), "plain ");
  EXPECT_EQ(names("relu", best), "plain ") << "nothing better";
  EXPECT_EQ(names("clip", plainest), "") << "nothing as plain";
  EXPECT_EQ(names("clip", best), best.runnable ? "own " : "");
  EXPECT_EQ(names("sum", plainest), "short long ");
  EXPECT_EQ(names("sum", best), best.runnable ? "wide " : "short long ");
  EXPECT_EQ(names("abs", best), "");
}

TEST(Manifest, ListsEveryKernelAndWhetherItRuns) {
  const std::string text = client::Library(lockstep_backend_v1()).manifest();
  EXPECT_NE(text.find(R"({"op": "*", "name": "generic", "isa": "portable", "runnable": true})"),
      std::string::npos);
  std::set<std::string> names;
  for (const Kernel& k : tuned_kernels()) {
    const std::string op(k.op), isa(k.isa);
    const std::string row = R"({"op": ")" + op + R"(", "name": ")" + k.name + R"(", "isa": ")" +
        isa + R"(", "runnable": )" + (find_isa(isa)->runnable ? "true}" : "false}");
    EXPECT_NE(text.find(row), std::string::npos) << row << " in " << text;
    EXPECT_TRUE(names.insert(k.name).second) << k.name << " names two kernels";
  }
  for (const std::string_view isa : kTargetIsas)
    EXPECT_EQ(names.count("transpose_" + std::string(isa)), 1U) << isa;
}

}  // namespace
}  // namespace lockstep::cpu
