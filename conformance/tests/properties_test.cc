// Runs the real program on backends whose plain answers are all right, but which break a property:
// that property alone notices, and without it nothing does.
#include "conformance/trial/properties.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "conformance/selection/select.h"
#include "conformance/tests/verbs.h"
#include "conformance/trial/poison.h"
#include "spec/operators.h"

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

// The properties under which a run of all properties failed.
std::set<std::string> failed(const json& report) {
  std::set<std::string> names;
  for (const auto& [op, row] : report["cells"].items())
    for (const auto& [property, cell] : row.items())
      if (cell["failed"] > 0) names.insert(property);
  return names;
}

TEST(Properties, EachNoticesAMutantThatNoOtherNotices) {
  struct Row {
    const char *property, *mutant, *says;
    const char* op = "relu,broadcast_add";
    const char* tier = "0";
  };
  const Row rows[] = {
      {"matches_vectors", "non_max_suppression.float_iou", "expected ", "non_max_suppression"},
      {"matches_reference", "abs.streams_whole_vectors", "expected ", "abs", "1"},
      {"deterministic", "contract.streams_pages", "the second time"},
      {"writes_all", "contract.skips_unchanged", "never written in the second run of one plan"},
      {"writes_in_bounds", "contract.fills_row_padding", "was written"},
      {"inputs_untouched", "contract.tidies_strided_inputs", "was written"},
      {"alignment", "contract.splits_pairs", "expected "},
      {"layout", "contract.ignores_inner_stride", "expected "},
      {"layout", "contract.takes_in_gaps", "expected "},
      {"constants", "contract.compact_constants", "expected "},
      {"isa", "contract.wide_constants", "with isa=wide"},
      {"threads", "contract.threads_leave_rest", "with threads="},
      {"threads", "contract.forgets_threads", "and the work is shared among 1"},
      {"concurrent", "contract.binds_before_its_turn", " at once: "},
      {"concurrent", "contract.three_callers", " at once: "},
      {"graphs", "contract.narrows_between_calls", "compiled"},
      {"graphs", "contract.frees_after_one_reader", "compiled"},
      {"graphs", "contract.forgets_inner_heads", "compiled"},
      {"graphs", "contract.forgets_third_head", "compiled"},
      {"graphs", "contract.keeps_two_plans", "call by call: "},
      {"refuses_graphs", "contract.trusts_graphs", "a graph of the call alone"},
      {"reuse", "clip.thirteenth_run", "run 13 of one plan wrote something else", "clip"},
      {"reuse", "negative.hundredth_run", "run 100 of one plan wrote something else", "negative"},
      {"batch", "max_pool2d.continues_batches", "the law batchwise (", "max_pool2d"},
      {"spellings", "contract.reads_octal", "expected ", "clip"},
      {"laws", "sum.continues_rows", "is broken", "sum"},
      {"rejects", "contract.no_label", "got the label ''"},
      {"infers", "contract.infers_squeezed", "output 0: expected "},
      {"paths_covered", "contract.unlisted_path", "is not in the manifest"},
      {"closes", "contract.closes_twice", "SIGABRT"}};
  std::set<string_view> missing;
  for (const Property* p : kProperties) missing.insert(p->name);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.mutant);
    const Judged found = judged({"check", "faulty", "--tier", row.tier, "--jobs", "1",
        "--no-shrink", "--op", row.op, "--set", std::string("mutant=") + row.mutant});
    expect_end(found.end, 1, {row.says});
    EXPECT_EQ(failed(found.report), (std::set<std::string>{row.property}));
    missing.erase(row.property);
  }
  EXPECT_EQ(missing, std::set<string_view>());
}

TEST(Properties, NoticeMistakesInWhatLiesBesideTensorsAndInTheSecondOutput) {
  struct Row {
    const char *mutant, *says, *op;
    std::set<std::string> properties;
  };
  const Row rows[] = {{"contract.loads_whole_vectors",
                          "SIGSEGV touching memory of input 0, 0 bytes after its memory", "relu",
                          {"matches_reference"}},
      {"contract.takes_in_what_follows", "the second time", "relu",
          {"alignment", "deterministic", "graphs"}},
      {"contract.writes_beside_scratch", "memory beside scratch memory was written", "relu",
          {"writes_in_bounds"}},
      {"contract.first_output_only", "output 1 at [", "get_valid_counts",
          {"batch", "laws", "matches_reference", "writes_all"}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.mutant);
    const Examined found = examine("faulty",
        {"--op", row.op, "--jobs", "1", "--no-shrink", "--set",
            std::string("mutant=") + row.mutant});
    expect_end(found.end, 1, {row.says});
    EXPECT_EQ(failed(found.report), row.properties);
  }
}

TEST(Properties, OfGraphsNameASmallOneWithTheHeadThatIsWrong) {
  const Examined found = examine("faulty",
      {"--op", "broadcast_add,conv2d,dense,where", "--no-shrink", "--set",
          "mutant=contract.forgets_third_head"});
  expect_end(found.end, 1);
  EXPECT_GT(found.report["failures"].size(), 3U);
  for (const json& failure : found.report["failures"]) {
    const auto text = failure["text"].get<std::string>();
    EXPECT_TRUE(std::regex_search(text, std::regex("heads e\\d+, e\\d+, e\\d+: output 2 ")))
        << text;
    EXPECT_LE(count_of(text, " = "), 3) << text;
  }
}

// The run judges no other property, so it compares nothing with the reference.
TEST(Properties, OfVectorsNoticeAMutantOfEveryOperator) {
  for (const OpInfo* op : operators()) {
    const std::string name(op->name);
    const Judged found = judged({"mutants", name + ".*", "--op", name, "--property",
        "matches_vectors", "--tier", "0", "--until-dead", "--quiet"});
    ASSERT_TRUE(found.report.is_object()) << found.end.err;
    EXPECT_GT(found.report["dead"], 0) << found.end.out;
  }
}

TEST(Properties, OfClosingAreJudgedAfterALargeCall) {
  const Words brief =
      words_in("--set fault=last_large --op relu --tier 1 --no-shrink --vectors ''");
  const Judged found = judged(joined({"check", hostile("misbehaving")}, brief));
  expect_end(found.end, 1, {"close(): the backend's process was killed by SIGABRT"});
  EXPECT_EQ(failed(found.report), (std::set<std::string>{"closes"}));
}

TEST(Properties, OfThreadsHoldForABackendThatDoesNotSayHowManyItHas) {
  const Examined silent = examine(hostile("device"), {"--op", "relu", "--property", "threads"});
  expect_end(silent.end, 0);
  EXPECT_TRUE(silent.judged("relu", "threads"));
}

TEST(Properties, OfReuseHoldForInputsThatShareMemory) {
  const Ended e = lockstep_says({"repro", hostile("misbehaving"), "--set", "fault=shared",
      "--property", "reuse", "elemwise_add/in=2@8+2@8/data=1,2+3,4"});
  expect_end(e, 1, {"other values, equal inputs sharing memory: output 0 at [0"});
}

TEST(Properties, OfReuseNoticeInputsThatShareMemoryForEveryOperator) {
  std::set<std::string> operators;
  for (const Item& item : select_cases({.tier = 0}))
    for (std::size_t k = 1; item.runs() && k < item.call.in.size(); ++k)
      if (item.call.in[k] == item.call.in[0]) operators.insert(std::string(item.call.op->name));
  EXPECT_GT(operators.size(), 9U);
  const Judged found = judged({"check", "faulty", "--no-shrink", "--tier", "0", "--property",
      "reuse", "--set", "mutant=contract.one_tensor_twice"});
  expect_end(found.end, 1);
  for (const std::string& op : operators)
    EXPECT_GT(found.report["cells"][op]["reuse"]["failed"], 0) << op;
}

TEST(Properties, HoldForAnOutputThatEqualsPoison) {
  const std::string call = fmt::format("flatten/in=1x2@32/data=1,{}", kOtherPoison);
  expect_end(lockstep_says({"repro", "reference", call}), 0);
}

// A command, and a library that claims to read text. Without the claim a library gets no text.
TEST(Properties, OfSpellingsAreJudgedWhereTextIsRead) {
  const Examined command =
      examine("exec:sed -u s/+/x/g | lockstep eval --backend reference --cases -",
          {"--op", "sum,clip", "--timeout", "20", "--no-shrink"});
  expect_end(command.end, 1, {"with ", "='+", "answered logic_error attr.syntax"});
  EXPECT_EQ(failed(command.report), (std::set<std::string>{"spellings"}));
  const auto library = [](const char* fault, const char* attributes, const char* vectors) {
    const json manifest = {{"name", "n"}, {"version", "1"}, {"device", "CPU"},
        {"options", {"fault"}},
        {"kernels", {{{"op", "*"}, {"name", "specification"}, {"isa", "any"}, {"runnable", true}}}},
        {"claims",
            {{"operators", {{"*", json::object()}}}, {"errors", "label"},
                {"attributes", {"values", attributes}}}}};
    return Examined{
        judged({"check", hostile("misbehaving"), "--tier", "0", "--op", "sum,clip", "--no-shrink",
                   "--vectors", vectors, "--set", std::string("fault=") + fault},
            {{"HOSTILE_MANIFEST", manifest.dump()}})};
  };
  const char* const all = "conformance/vectors";
  const Examined right = library("none", "text", all), silent = library("none", "values", all);
  expect_end(right.end, 0);
  EXPECT_TRUE(right.judged("sum", "spellings"));
  EXPECT_FALSE(silent.judged("sum", "spellings"));
  EXPECT_EQ(right.count("not_claimed"), 0);
  EXPECT_GT(silent.count("not_claimed"), 0) << "illegal text";
  EXPECT_EQ(failed(library("no_signs", "text", "").report), (std::set<std::string>{"spellings"}));
  EXPECT_EQ(failed(library("trusts_text", "text", all).report), (std::set<std::string>{"rejects"}));
  expect_end(library("trusts_text", "values", all).end, 0);
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
  expect_end(unsupported.end, 1, {"made a call: the backend answered unsupported: no cubes"});
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
  const Examined untuned = judged({"broken=generic"}, "isa");
  EXPECT_EQ(untuned.end.exit, 1);
  expect_contains(untuned.report["failures"][0]["text"].get<std::string>(), "with tuned=0");
}

}  // namespace
}  // namespace lockstep::judge
