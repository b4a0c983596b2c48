// Properties that a backend can break although each of its plain answers is right, put to the real
// program: the property alone notices, and without it nothing does.
#include <gtest/gtest.h>

#include <set>

#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;

struct Examined : Judged {
  bool judged(const std::string& op, const std::string& property) const {
    return report["cells"].value(json::json_pointer("/" + op + "/" + property), json()).is_object();
  }
};

Examined examine(const std::string& backend, const Words& more, const Variables& env = {}) {
  const Words brief = words_in("--tier 0 --vectors ''", more);
  return {judged(joined({"check", backend}, brief), env)};
}

constexpr const char* kPlain = "matches_reference,deterministic,writes_all,layout,alignment";

TEST(Properties, NoticeAloneWhatEveryPlainAnswerHides) {
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"threads_leave_rest", "threads", "with threads="},
      {"forgets_threads", "threads", "and the work is shared among 1"},
      {"binds_before_its_turn", "concurrent", " at once: "}};
  for (const auto& [mutant, property, says] : rows) {
    SCOPED_TRACE(mutant);
    const Words set = {"--op", "relu", "--set", std::string("mutant=contract.") + mutant};
    const Examined found = examine("faulty", joined(set, {"--property", property}));
    expect_end(found.end, 1, {says});
    EXPECT_TRUE(found.judged("relu", property));
    expect_end(examine("faulty", joined(set, {"--property", kPlain})).end, 0);
  }
}

TEST(Properties, OfReuseNoticeAPlanThatWearsOut) {
  const std::pair<const char*, const char*> rows[] = {{"clip.thirteenth_run", "run 13 of one plan"},
      {"negative.hundredth_run", "run 100 of one plan"}};
  for (const auto& [mutant, says] : rows) {
    SCOPED_TRACE(mutant);
    const std::string op = std::string(mutant).substr(0, std::string(mutant).find('.'));
    const Words set = {"--op", op, "--set", std::string("mutant=") + mutant};
    expect_end(examine("faulty", joined(set, {"--property", "reuse"})).end, 1,
        {says + std::string(" wrote something else than its first")});
    const std::string others = std::string(kPlain) + ",threads,concurrent,laws";
    expect_end(examine("faulty", joined(set, {"--property", others})).end, 0);
  }
}

TEST(Properties, OfThreadsHoldForABackendThatDoesNotSayHowManyItHas) {
  const Examined silent = examine(hostile("device"), {"--op", "relu", "--property", "threads"});
  expect_end(silent.end, 0);
  EXPECT_TRUE(silent.judged("relu", "threads"));
}

TEST(Properties, OfABatchAreJudgedByTheLawOfTheOperator) {
  const Examined wrong = examine(hostile("misbehaving"),
      {"--set", "fault=batch", "--op", "max_pool2d,relu", "--property", "batch"});
  expect_end(wrong.end, 1, {"the law batchwise ("});
  EXPECT_FALSE(wrong.judged("relu", "batch")) << "it has no batch axis";
  const Examined right = examine(
      hostile("misbehaving"), {"--set", "fault=none", "--op", "max_pool2d", "--property", "batch"});
  expect_end(right.end, 0);
  EXPECT_TRUE(right.judged("max_pool2d", "batch"));
}

TEST(Properties, OfLawsAreJudgedOnTheBackendsOwnOutputs) {
  const Examined wrong =
      examine("faulty", {"--set", "mutant=relu.int8", "--op", "relu", "--property", "laws"});
  expect_end(wrong.end, 1, {"is broken: "});
  const Examined unsupported = examine(hostile("misbehaving"),
      {"--set", "fault=unsupported", "--op", "transpose", "--property", "laws"});
  expect_end(unsupported.end, 1, {"made a call that answered unsupported: no cubes"});
  const Examined exec = examine("exec:lockstep eval --backend reference --cases -",
      {"--op", "relu", "--property", "laws", "--timeout", "20"});
  expect_end(exec.end, 0);
  EXPECT_TRUE(exec.judged("relu", "laws"));
}

TEST(Properties, OfARunIncludeThatAMissingInstructionSetIsRefusedByName) {
  const json kernels = json::parse(
      R"([{"op": "*", "name": "specification", "isa": "portable", "runnable": true},
          {"op": "relu", "name": "wide", "isa": "avx9000", "runnable": false}])");
  json manifest = {{"name", "n"}, {"version", "1"}, {"device", "CPU"},
      {"options", {"fault", "isa"}}, {"kernels", kernels},
      {"claims", {{"operators", {{"*", json::object()}}}, {"errors", "label"}}}};
  const auto judged = [&](const char* fault) {
    return examine(hostile("misbehaving"), {"--set", std::string("fault=") + fault, "--op", "relu"},
        {{"HOSTILE_MANIFEST", manifest.dump()}});
  };
  const Examined careless = judged("none"), picky = judged("picky"), curt = judged("curt");
  expect_end(careless.end, 1,
      {"isa=avx9000, which this machine lacks, was not refused by name: answered ok"});
  expect_end(picky.end, 0);
  EXPECT_TRUE(picky.judged("*", "isa"));
  expect_end(curt.end, 1, {"was not refused by name: answered logic_error: "});
  manifest["kernels"].erase(1);
  EXPECT_EQ(picky.count("calls"), judged("picky").count("calls") + 1);
}

// Each tuned kernel of the CPU backend, broken alone.
TEST(BrokenPaths, FailExactlyWhereTheyAreForced) {
  const Words of = {"--op", "conv2d,dense", "--no-shrink", "--property"};
  const auto judged = [&](const Words& set, const std::string& property) {
    Words words = joined(of, {property});
    for (const std::string& s : set) words.insert(words.end(), {"--set", s});
    return examine(hostile("cpu_breakable"), words);
  };
  const Examined all = judged({}, "isa");
  ASSERT_EQ(all.end.exit, 0) << all.end.out << all.end.err;
  std::set<std::string> isas, tuned;
  for (const json& paths : all.report["paths"])
    for (const auto& [kernel, runs] : paths.items())
      if (kernel != "generic") {
        tuned.insert(kernel);
        isas.insert(kernel.substr(kernel.find('_') + 1));
      }
  ASSERT_EQ(tuned.size(), 2 * isas.size());
  for (const std::string& broken : tuned) {
    const std::string op = broken.substr(0, broken.find('_'));
    const Examined found = judged({"broken=" + broken}, "isa");
    EXPECT_EQ(found.end.exit, 1) << broken;
    ASSERT_EQ(found.report["failures"].size(), 1U) << broken;
    EXPECT_EQ(found.report["failures"][0]["operator"], op);
    expect_contains(found.report["failures"][0]["text"].get<std::string>(),
        "with isa=" + broken.substr(broken.find('_') + 1));
    for (const std::string& isa : isas) {
      const Examined forced = judged({"broken=" + broken, "isa=" + isa}, "matches_reference");
      EXPECT_EQ(forced.end.exit, broken == op + "_" + isa ? 1 : 0) << broken << " with " << isa;
    }
    EXPECT_EQ(judged({"broken=" + broken, "tuned=0"}, "matches_reference").end.exit, 0) << broken;
  }
  EXPECT_EQ(judged({"broken=generic", "tuned=0"}, "matches_reference").end.exit, 1);
}

}  // namespace
}  // namespace lockstep::judge
