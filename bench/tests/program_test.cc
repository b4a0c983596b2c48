// Runs the program as a user does: it checks every result before it times anything, and does not
// time a call with a wrong result.
#include "conformance/tests/program.h"

#include <gtest/gtest.h>

#include <set>

#include "bench/limits/limits.h"
#include "bench/row.h"
#include "bench/workloads.h"
#include "spec/operators.h"

namespace lockstep::bench {
namespace {

using judge::Ended;
using judge::Scratch;

Ended bench(std::vector<std::string> words) {
  words.insert(words.begin(), (judge::build_directory() / "bin" / "lockstep_bench").string());
  words.insert(words.end(), {"--min-time", "0.00001", "--repetitions", "1"});
  return judge::run(words, "", {}, 250);
}

// The results of a run that ends with this status, and what it printed.
struct Timed {
  Results results;
  std::string out;
};

Timed timed(std::vector<std::string> words, int exit = 0) {
  const Scratch scratch;
  words.insert(words.end(), {"--json", scratch.path("r.json")});
  const Ended e = bench(words);
  EXPECT_EQ(e.exit, exit) << e.out << e.err;
  return {results_of(judge::text_of_file(scratch.path("r.json"))), e.out};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

i64 output_elements(const Workload& w) {
  const Inferred out = w.outputs();
  i64 n = 0;
  for (int k = 0; k < out.count; ++k) n += volume(out[k].shape);
  return n;
}

// Runs all workloads of these operators. Each row must be found right and timed.
void run_every_workload(const std::vector<const OpInfo*>& ops) {
  std::vector<std::string> words;
  for (const OpInfo* op : ops) words.emplace_back(op->name);
  const auto [results, out] = timed(words);
  auto row = results.rows.begin();
  for (const OpInfo* op : ops)
    for (const Workload& w : workloads(*op)) {
      ASSERT_NE(row, results.rows.end()) << w.id();
      ASSERT_EQ(row->id(), w.id());
      EXPECT_EQ(row->call, case_id(w.call));
      EXPECT_EQ(row->compared, output_elements(w)) << w.id();
      EXPECT_EQ(row->trouble, "") << w.id();
      EXPECT_EQ(row->family, family_of(w)) << w.id();
      EXPECT_EQ(row->bytes, w.bytes()) << w.id();
      EXPECT_GT(row->time.median_ns, 0) << w.id();
      EXPECT_TRUE(contains(out, w.id()));
      EXPECT_TRUE(w.unit != Unit::bytes || row->limit == "memcpy") << w.id();
      ++row;
    }
  EXPECT_EQ(row, results.rows.end());
}

TEST(Program, PartsOfNetworksAreCompiledFoundRightAndTimed) {
  const Results results = timed({"graph/mobilenetv2.block3"}).results;
  ASSERT_EQ(results.rows.size(), 1U);
  const Measurement& row = results.rows[0];
  EXPECT_EQ(row.compared, 24 * 56 * 56);
  EXPECT_EQ(row.trouble, "");
  EXPECT_GT(row.time.median_ns, 0);
  ASSERT_EQ(row.peers.size(), 1U);
  EXPECT_EQ(row.peers[0].name, "call by call");
  const Results none = timed({"--backend", "null", "graph/mobilenetv2.block3"}, 1).results;
  ASSERT_EQ(none.rows.size(), 1U);
  EXPECT_EQ(none.rows[0].trouble, "not offered: the backend does not compile graphs");
}

TEST(Program, LayersInOurOwnLayoutStandBesideOthersOwnLayouts) {
  const std::string name = "mobilenetv1.depthwise3";
  const Results results = timed({"conv2d/" + name, "graph/layers." + name}).results;
  ASSERT_EQ(results.rows.size(), 2U);
  const Measurement &layers = results.rows[0], &call = results.rows[1];
  EXPECT_EQ(layers.trouble, "");
  EXPECT_EQ(layers.units, 8 * call.units);
  EXPECT_EQ(layers.compared, call.compared);
  const auto own_layouts = [](const Measurement& row) {
    std::vector<std::string> titles;
    for (const PeerTime& p : row.peers)
      if (p.layout != "int32 rows" && p.name != "call by call") titles.push_back(p.title());
    return titles;
  };
  EXPECT_EQ(own_layouts(layers), own_layouts(call));
}

TEST(Program, AWholeNetworkIsFoundRightAndTimedByOperator) {
  const auto [results, out] = timed({"network/squeezenet"});
  ASSERT_EQ(results.rows.size(), 1U);
  const Measurement& row = results.rows[0];
  EXPECT_EQ(row.trouble, "");
  EXPECT_EQ(row.compared, 1000);
  EXPECT_EQ(row.units / 1'000'000, 349);
  EXPECT_GT(row.scratch_bytes, 0);
  std::set<std::string> ops;
  for (const OperatorTime& o : row.operators) {
    EXPECT_GT(o.ns, 0) << o.op;
    ops.insert(o.op);
  }
  EXPECT_EQ(ops,
      (std::set<std::string>{
          "concatenate", "conv2d", "cvm_right_shift", "max_pool2d", "relu", "sum"}));
  EXPECT_TRUE(contains(out, " of scratch; ")) << out;
}

TEST(Program, ModelsOfDirectoriesAreTimedAlone) {
  const Results results = timed({"--model", "conformance/models/digits"}).results;
  ASSERT_EQ(results.rows.size(), 1U);
  EXPECT_EQ(results.rows[0].id(), "network/digits");
  EXPECT_EQ(results.rows[0].compared, 10);
  const Ended e = bench({"--model", "conformance/models"});
  EXPECT_EQ(e.exit, 2);
  EXPECT_TRUE(contains(e.err, "'conformance/models' holds no model: ")) << e.err;
}

// A test of its own, because the reference takes as long for it as for all others.
TEST(Program, EveryConvolutionIsFoundRightAndTimed) {
  run_every_workload({find_operator("conv2d")});
}

TEST(Program, EveryWorkloadOfTheOtherOperatorsIsFoundRightAndTimed) {
  std::vector<const OpInfo*> others;
  for (const OpInfo* op : operators())
    if (op->name != "conv2d") others.push_back(op);
  run_every_workload(others);
}

TEST(Program, AWrongKernelGetsNoTime) {
  const auto [results, out] = timed(
      {"--backend", "faulty", "--set", "mutant=relu.tail_4", "relu/tiny*", "flatten/vgg16*"}, 1);
  EXPECT_TRUE(contains(out, "WRONG, not timed: output 0: ")) << out;
  EXPECT_TRUE(contains(out, "lockstep repro faulty 'relu/in=2x3@8/fill=dense:1'")) << out;
  for (const Measurement& r : results.rows) {
    EXPECT_EQ(r.failed, r.op == "relu") << r.id();
    EXPECT_EQ(r.time.repetitions > 0, r.op == "flatten") << r.id();
  }
  EXPECT_EQ(bench({"--backend", "faulty", "--set", "mutant=none", "relu"}).exit, 0);
}

TEST(Program, EveryInstructionSetRunsWithEveryNumberOfThreads) {
  const auto [results, out] = timed({"resnet50.fc", "--isa", "all", "--threads", "1,2"});
  std::set<std::string> isas;
  for (const Measurement& r : results.rows) isas.insert(r.isa);
  ASSERT_EQ(results.rows.size(), 2 * isas.size());
  EXPECT_TRUE(isas.count("portable")) << out;
  for (const char* isa : {"sse4", "avx2", "avx512"})
    EXPECT_EQ(isas.count(isa) == 1, int8_probe(isa) != nullptr) << isa;
  for (std::size_t k = 0; k < results.rows.size(); ++k) {
    const Measurement& r = results.rows[k];
    EXPECT_EQ(r.threads, k % 2 == 0 ? 1 : 2) << r.isa;
    EXPECT_TRUE(contains(r.path, "dense_")) << r.path;
    // The limit is that of the instruction set; portable code has none.
    const Probe* probe = int8_probe(r.isa);
    EXPECT_EQ(r.limit, probe ? probe->instructions : "") << r.isa;
    EXPECT_TRUE(contains(out, r.isa));
  }
  const auto one = timed({"resnet50.fc", "--isa", "portable"}).results;
  ASSERT_EQ(one.rows.size(), 1U);
  EXPECT_EQ(one.rows[0].path, "dense_portable");
  EXPECT_EQ(timed({"resnet50.fc", "--set", "isa=portable"}).results.rows[0].isa, "portable");
}

TEST(Program, PrintsMeansAndWritesMarkdown) {
  const Scratch scratch;
  const std::string file = scratch.path("r.md");
  const auto [results, out] = timed({"relu,graph/mobilenetv2.block3", "--markdown", file});
  ASSERT_EQ(results.means.size(), 2U) << "memcpy is the limit too";
  EXPECT_EQ(results.means[0].family, "elementwise");
  EXPECT_EQ(results.means[0].rows, 4) << "a tiny call has no part in it, nor has another layout";
  EXPECT_EQ(results.means[1].family, "layouts");
  EXPECT_TRUE(contains(out, "Geometric means")) << out;
  const std::string text = judge::text_of_file(file);
  EXPECT_TRUE(contains(text, "| elementwise | cpu |")) << text;
  EXPECT_TRUE(contains(text, "| relu/resnet50.conv1_relu |")) << text;
  EXPECT_TRUE(contains(text, "| graph/mobilenetv2.block3 |")) << text;
}

TEST(Program, TimesTensorsInOtherLayoutsAsAFamilyOfTheirOwn) {
  const auto [results, out] = timed({"layouts.concat_padded,layouts.bias_permuted"});
  ASSERT_EQ(results.rows.size(), 2U) << out;
  for (const Measurement& r : results.rows) {
    EXPECT_EQ(r.trouble, "");
    EXPECT_GT(r.compared, 0);
  }
  ASSERT_EQ(results.means.size(), 1U);
  EXPECT_EQ(results.means[0].family, "layouts");
  EXPECT_EQ(results.means[0].rows, 2);
}

TEST(Program, TheLimitsOfTheMachineAreRows) {
  const auto [results, out] = timed({"limit"});
  std::set<std::string> names;
  for (const Measurement& r : results.rows) {
    names.insert(r.workload);
    EXPECT_GT(r.time.median_ns, 0) << r.id();
    EXPECT_GT(r.units, 0) << r.id();
  }
  EXPECT_EQ(names.size(), runnable_probes().size() + 3) << out;
  EXPECT_TRUE(names.count("memcpy.memory")) << out;
  EXPECT_EQ(timed({"limit/memcpy.l2", "--threads", "1,2"}).results.rows.size(), 2U);
}

TEST(Program, TheJudgeIsTimedPropertyByProperty) {
  const auto [results, out] = timed({"judge/rej*"});
  ASSERT_EQ(results.rows.size(), 1U);
  EXPECT_EQ(results.rows[0].workload, "rejects");
  EXPECT_EQ(results.rows[0].unit, "case");
  EXPECT_GT(results.rows[0].units, 0);
}

TEST(Program, ATinyCallAndAWholeRunOfTheJudgeAreTimed) {
  const auto [results, out] = timed({"judge/call", "judge/whole", "--judge-tier", "0"});
  ASSERT_EQ(results.rows.size(), 2U);
  const Measurement &call = results.rows[0], &whole = results.rows[1];
  EXPECT_EQ(call.id(), "judge/call");
  EXPECT_GT(call.time.median_ns, 0);
  EXPECT_EQ(whole.id(), "judge/whole");
  EXPECT_GT(whole.units, 10'000) << "calls";
  EXPECT_GT(whole.peak_bytes, 10 << 20);
  EXPECT_TRUE(contains(out, "memory at most")) << out;
}

TEST(Program, LoadingAndSavingParametersIsTimedBesideTheMachine) {
  const auto [results, out] = timed({"params/????_100MB"});
  ASSERT_EQ(results.rows.size(), 2U);
  EXPECT_EQ(results.rows[0].id(), "params/load_100MB");
  EXPECT_EQ(results.rows[0].limit, "read and memcpy");
  EXPECT_EQ(results.rows[1].id(), "params/save_100MB");
  EXPECT_EQ(results.rows[1].limit, "memcpy and write");
  for (const Measurement& r : results.rows) {
    EXPECT_EQ(r.units, 100'000'000) << r.id();
    EXPECT_EQ(r.compared, r.units) << r.id();
    EXPECT_GT(r.time.median_ns, 0) << r.id();
    EXPECT_GT(r.limit_ns, 0) << r.id();
    EXPECT_TRUE(contains(r.call, "200 tensors")) << r.call;
  }
  EXPECT_EQ(timed({"params/save*"}).results.rows.size(), 1U);
}

TEST(Program, LoadingAModelIsTimedBesideReadingItsParameters) {
  const auto [results, out] = timed({"params/load_model*"});
  ASSERT_EQ(results.rows.size(), 1U);
  const Measurement& r = results.rows[0];
  EXPECT_EQ(r.limit, "read");
  EXPECT_GE(r.compared, 100'000'000);
  EXPECT_GE(r.units, r.compared) << "a file holds names and types, too";
  EXPECT_GT(r.time.median_ns, 0);
  EXPECT_GT(r.limit_ns, 0);
}

TEST(Program, ArraysAndThePoolAreTimedByTheCall) {
  const auto [results, out] = timed({"array", "pool/1mb"});
  ASSERT_EQ(results.rows.size(), 3U);
  for (const std::size_t k : {0, 1}) {
    EXPECT_EQ(results.rows[k].id(), k == 0 ? "array/retain" : "array/view");
    EXPECT_EQ(results.rows[k].unit, "call");
    EXPECT_GT(results.rows[k].time.median_ns, 0);
  }
  EXPECT_EQ(results.rows[2].id(), "pool/1mb");
  EXPECT_EQ(results.rows[2].units, 1'000'000);
  ASSERT_EQ(results.rows[2].peers.size(), 1U);
  EXPECT_EQ(results.rows[2].peers[0].name, "fresh pages");
  EXPECT_GT(results.rows[2].peers[0].time.median_ns, 0);
}

TEST(Program, ASlowerRunFailsTheComparison) {
  const Scratch scratch;
  Results before = timed({"bert_large.attention*"}).results;
  before.rows[0].limit_ns *= 1e-3;
  scratch.write("slow.json", json_of(before));
  const Ended passed = bench({"bert_large.attention*", "--compare", scratch.path("slow.json")});
  EXPECT_EQ(passed.exit, 0) << passed.out;
  EXPECT_TRUE(contains(passed.out, "PASS: 1 compared")) << passed.out;
  before.rows[0].limit_ns *= 1e6;
  scratch.write("fast.json", json_of(before));
  const Ended failed = bench({"bert_large.attention*", "--compare", scratch.path("fast.json")});
  EXPECT_EQ(failed.exit, 1) << failed.out;
  EXPECT_TRUE(contains(failed.out, "FAIL: 1 compared, 1 slower")) << failed.out;
}

TEST(Program, TakesTimesThatWereMeasuredElsewhere) {
  const Scratch scratch;
  const std::string times = scratch.write("t", "1.50 one_header_changed touch a; ninja b\n");
  const Ended e = bench({"build", "--times", times});
  EXPECT_EQ(e.exit, 0) << e.err;
  EXPECT_TRUE(contains(e.out, "build/one_header_changed")) << e.out;
  EXPECT_TRUE(contains(e.out, "1.500 s")) << e.out;
  EXPECT_EQ(bench({"build", "--times", scratch.write("u", "soon x\n")}).exit, 2);
}

TEST(Program, SaysWhatItsDeadlineCutOff) {
  const Results late =
      timed({"relu", "graph/mobilenetv2.block3", "--deadline", "0.000001"}, 1).results;
  ASSERT_EQ(late.rows.size(), workloads(*find_operator("relu")).size() + 1);
  for (const Measurement& r : late.rows) {
    EXPECT_EQ(r.trouble, "not timed: the deadline has passed") << r.id();
    EXPECT_FALSE(r.failed) << r.id();
  }
  EXPECT_EQ(late.rows.front().id(), "graph/mobilenetv2.block3");
}

TEST(Program, ListsWorkloadsAndPrintsItsSchema) {
  EXPECT_TRUE(contains(bench({"--list", "conv2d"}).out, "conv2d/resnet50.conv2_3x3"));
  EXPECT_FALSE(contains(bench({"--list", "dense"}).out, "conv2d"));
  EXPECT_EQ(bench({"--schema"}).out, results_schema());
}

TEST(Program, RefusesWhatItDoesNotUnderstand) {
  const Scratch scratch;
  const std::vector<std::string> usages[] = {{"no_such_operator"},
      {"relu/resnet50.conv4_relu", "no_such_operator"}, {"--backend", "no_such_backend", "relu"},
      {"--set", "threads", "relu"}, {"--set", "isa=z80", "relu"}, {"--isa", "z80", "relu"},
      {"--markdown", "/no/such/directory/r.md", "relu"}, {"--no-such-option"},
      {"--compare", scratch.path("absent"), "relu"},
      {"--compare", scratch.write("x", "[]"), "relu"},
      {"--json", "/no/such/directory/r.json", "relu"}};
  for (const auto& words : usages) {
    const Ended e = bench(words);
    EXPECT_EQ(e.exit, 2) << words[0] << ": " << e.err;
    EXPECT_NE(e.err, "") << words[0];
  }
}

}  // namespace
}  // namespace lockstep::bench
