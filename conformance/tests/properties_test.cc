// Properties that a backend can break although each of its plain answers is right, put to the real
// program: the property alone notices, and without it nothing does.
#include <gtest/gtest.h>

#include <algorithm>

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

struct Perturbation {
  const char *mutant, *op, *property, *says;
};

void PrintTo(const Perturbation& row, std::ostream* os) { *os << row.mutant; }

class Perturbed : public testing::TestWithParam<Perturbation> {};

TEST_P(Perturbed, IsNoticedByItsPropertyAlone) {
  const Perturbation row = GetParam();
  const Words mutant = {"--set", std::string("mutant=") + row.mutant, "--op", row.op, "--property"};
  const auto judged = [&](const char* property) {
    Words words = mutant;
    words.emplace_back(property);
    return examine("faulty", words);
  };
  const Examined found = judged(row.property), plain = judged(kPlain);
  EXPECT_EQ(found.end.exit, 1) << found.end.out << found.end.err;
  EXPECT_TRUE(found.judged(row.op, row.property));
  expect_contains(found.end.out, row.says);
  EXPECT_EQ(plain.end.exit, 0) << plain.end.out << plain.end.err;
}

INSTANTIATE_TEST_SUITE_P(Mutants, Perturbed,
    testing::Values(Perturbation{"contract.threads_leave_rest", "relu", "threads", "with threads="},
        Perturbation{
            "contract.forgets_threads", "relu", "threads", "and the work is shared among 1"},
        Perturbation{"contract.binds_before_its_turn", "relu", "concurrent", " at once: "}),
    [](const testing::TestParamInfo<Perturbation>& info) {
      return std::string(info.param.mutant).substr(std::string("contract.").size());
    });

TEST(Properties, OfThreadsHoldForABackendThatDoesNotSayHowManyItHas) {
  const Examined silent = examine(hostile("device"), {"--op", "relu", "--property", "threads"});
  EXPECT_EQ(silent.end.exit, 0) << silent.end.out << silent.end.err;
  EXPECT_TRUE(silent.judged("relu", "threads"));
}

TEST(Properties, OfABatchAreJudgedByTheLawOfTheOperator) {
  const Examined wrong = examine(hostile("misbehaving"),
      {"--set", "fault=batch", "--op", "max_pool2d,relu", "--property", "batch"});
  EXPECT_EQ(wrong.end.exit, 1) << wrong.end.out << wrong.end.err;
  expect_contains(wrong.end.out, "the law batchwise (");
  EXPECT_FALSE(wrong.judged("relu", "batch")) << "it has no batch axis";
  const Examined right = examine(
      hostile("misbehaving"), {"--set", "fault=none", "--op", "max_pool2d", "--property", "batch"});
  EXPECT_EQ(right.end.exit, 0) << right.end.out;
  EXPECT_TRUE(right.judged("max_pool2d", "batch"));
}

TEST(Properties, OfLawsAreJudgedOnTheBackendsOwnOutputs) {
  const Examined wrong =
      examine("faulty", {"--set", "mutant=relu.int8", "--op", "relu", "--property", "laws"});
  EXPECT_EQ(wrong.end.exit, 1) << wrong.end.out << wrong.end.err;
  expect_contains(wrong.end.out, "is broken: ");
  const Examined unsupported = examine(hostile("misbehaving"),
      {"--set", "fault=unsupported", "--op", "transpose", "--property", "laws"});
  EXPECT_EQ(unsupported.end.exit, 1) << unsupported.end.out;
  expect_contains(unsupported.end.out, "made a call that answered unsupported: no cubes");
  const Examined exec = examine("exec:lockstep eval --backend reference --cases -",
      {"--op", "relu", "--property", "laws", "--timeout", "20"});
  EXPECT_EQ(exec.end.exit, 0) << exec.end.out << exec.end.err;
  EXPECT_TRUE(exec.judged("relu", "laws"));
}

TEST(Properties, OfARunIncludeThatAMissingInstructionSetIsRefusedByName) {
  const json kernels = json::parse(
      R"([{"op": "*", "name": "specification", "isa": "portable", "runnable": true},
          {"op": "relu", "name": "wide", "isa": "avx9000", "runnable": false}])");
  const json manifest = {{"name", "n"}, {"version", "1"}, {"device", "CPU"},
      {"options", {"fault", "isa"}}, {"kernels", kernels},
      {"claims", {{"operators", {{"*", json::object()}}}, {"errors", "label"}}}};
  const auto judged = [&](const char* fault) {
    return examine(hostile("misbehaving"), {"--set", std::string("fault=") + fault, "--op", "relu"},
        {{"HOSTILE_MANIFEST", manifest.dump()}});
  };
  const Examined careless = judged("none"), picky = judged("picky"), curt = judged("curt");
  EXPECT_EQ(careless.end.exit, 1) << careless.end.out;
  expect_contains(careless.end.out,
      "isa=avx9000, which this machine lacks, was not refused by name: answered ok");
  EXPECT_EQ(picky.end.exit, 0) << picky.end.out << picky.end.err;
  EXPECT_TRUE(picky.judged("*", "isa"));
  EXPECT_EQ(curt.end.exit, 1) << curt.end.out;
  expect_contains(curt.end.out, "was not refused by name: answered logic_error: ");
  json runnable = manifest;
  runnable["kernels"].erase(1);
  const Examined plain = examine(hostile("misbehaving"), {"--set", "fault=picky", "--op", "relu"},
      {{"HOSTILE_MANIFEST", runnable.dump()}});
  EXPECT_EQ(
      picky.report["counts"]["calls"].get<int>(), plain.report["counts"]["calls"].get<int>() + 1);
}

// The kernels that a report says ran.
Words kernel_names(const json& manifest_paths) {
  Words names;
  for (const auto& [op, paths] : manifest_paths.items())
    for (const auto& [path, n] : paths.items()) names.push_back(path);
  return names;
}

// Each tuned kernel of the CPU backend, broken alone.
TEST(BrokenPaths, FailExactlyWhereTheyAreForced) {
  const Words of = {"--op", "conv2d,dense", "--no-shrink", "--property"};
  const auto judged = [&](const Words& set, const std::string& property) {
    Words words;
    for (const std::string& s : set) words.insert(words.end(), {"--set", s});
    words.insert(words.end(), of.begin(), of.end());
    words.push_back(property);
    return examine(hostile("cpu_breakable"), words);
  };
  const Examined all = judged({}, "isa");
  ASSERT_EQ(all.end.exit, 0) << all.end.out << all.end.err;
  Words isas, tuned;
  for (const std::string& kernel : kernel_names(all.report["paths"])) {
    if (kernel == "generic") continue;
    tuned.push_back(kernel);
    const std::string isa = kernel.substr(kernel.find('_') + 1);
    if (std::find(isas.begin(), isas.end(), isa) == isas.end()) isas.push_back(isa);
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
