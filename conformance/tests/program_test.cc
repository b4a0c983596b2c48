// Runs the real program on everything a backend may do wrong, and expects the exit code, the words
// that name the culprit, an end, and a verdict on the cases that were not concerned.
#include <gtest/gtest.h>

#include "conformance/tests/verbs.h"
#include "containers/instrumented.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;

const std::string kAll = std::to_string(operators().size());

// A check of three small operators and its report.
Judged check(const std::string& backend, const Words& more = {}, const Variables& env = {}) {
  return judged(
      joined({"check", backend}, words_in("--tier 0 --op relu,sum,take --jobs 2", more)), env);
}

// A fault of hostile/misbehaving.cc or hostile/device.cc, and the judge's verdict on it.
struct Row {
  const char* fault;
  int exit;
  const char *verdict, *property, *says;
  bool others = true;  // whether some cases pass; else no legal call does
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.fault; }

// Whether a failure of the property says this.
bool says(const json& report, const std::string& property, const std::string& part) {
  for (const json& f : report["failures"]) {
    const std::string text = f["text"].get<std::string>() + f["shrunk_text"].get<std::string>();
    if (f["property"] == property && text.find(part) != std::string::npos) return true;
  }
  return false;
}

i64 legal_calls(const Judged& c) {
  i64 n = 0;
  for (const json& of_operator : c.report["floor"]["executed_legal"]) n += of_operator.get<i64>();
  return n;
}

void expect_row(const Judged& c, const Row& row) {
  ASSERT_EQ(c.end.exit, row.exit) << c.end.out << c.end.err;
  ASSERT_TRUE(c.report.is_object()) << c.end.out << c.end.err;
  EXPECT_EQ(c.report["verdict"], row.verdict);
  EXPECT_EQ(c.report["exit"], row.exit);
  EXPECT_EQ(c.count("selected"),
      c.count("executed") + c.count("not_claimed") + c.count("missing") + c.count("quarantined"));
  EXPECT_EQ(c.count("executed"),
      c.count("passed") + c.count("failed") + c.count("crashed") + c.count("timed_out"));
  EXPECT_TRUE(row.others ? c.count("passed") > 0
                         : legal_calls(c) <= c.count("executed") - c.count("passed"))
      << c.report["counts"];
  if (!*row.property) return;
  EXPECT_TRUE(says(c.report, row.property, row.says)) << c.report["failures"].dump(1);
  expect_contains(c.end.out, row.says);
}

class Misbehaviour : public testing::TestWithParam<Row> {};

TEST_P(Misbehaviour, IsNamedWhileOtherCasesAreJudged) {
  const Row row = GetParam();
  const std::string fault = row.fault;
  if (ndarray::kInstrumented && fault.starts_with("heap_"))
    GTEST_SKIP() << "a sanitizer has a heap of its own";
  // Only a backend that never answers gets a short limit: others may just be slow.
  const char* patience = fault == "spin" || fault == "hang" ? "0.5" : "20";
  // Of two processes, the one that keeps all memory would fail later calls by chance.
  const char* jobs = fault == "leak" ? "1" : "2";
  expect_row(
      judged({"check", hostile("misbehaving"), "--tier", "0", "--op", "relu,sum,take", "--jobs",
                 jobs, "--set", "fault=" + fault, "--timeout", patience, "--memory", "0.125"},
          {{"_", program()}, {"LOCKSTEP_TEST", "1"}}),
      row);
}

// If memory is limited, a process that asks for too much ends.
constexpr const char* kNoMemory = ndarray::kInstrumented ? "CRASH" : "FAIL";
constexpr const char* kNoMemoryText = ndarray::kInstrumented
    ? "the backend's process"
    : "runtime_error memory: there is too little memory";

INSTANTIATE_TEST_SUITE_P(Faults, Misbehaviour,
    testing::Values(Row{"none", 0, "PASS", "", ""},
        Row{"segfault", 1, "CRASH", "matches_reference", "killed by SIGSEGV"},
        Row{"overflow", 1, "CRASH", "matches_reference", "killed by SIGSEGV"},
        Row{"abort", 1, "CRASH", "matches_reference", "killed by SIGABRT"},
        Row{"exit", 1, "CRASH", "matches_reference", "exited with status 0"},
        Row{"close", 1, "CRASH", "matches_reference", "the backend's process"},
        Row{"spin", 1, "TIMEOUT", "matches_reference", "no answer within the time limit"},
        Row{"allocate", 1, kNoMemory, "matches_reference", kNoMemoryText},
        Row{"leak", 1, kNoMemory, "matches_reference", kNoMemoryText},
        Row{"hang", 1, "TIMEOUT", "matches_reference", "no answer within the time limit"},
        Row{"after_end", 1, "CRASH", "writes_in_bounds", "0 bytes after its memory", false},
        Row{"before_begin", 1, "CRASH", "writes_in_bounds", "4 bytes before its memory", false},
        Row{"far", 1, "CRASH", "writes_in_bounds", "bytes after its memory"},
        Row{"padding", 1, "FAIL", "writes_in_bounds", "a padding cell"},
        Row{"scribble", 1, "CRASH", "", ""},
        Row{"scratch_end", 1, "FAIL", "writes_in_bounds", "beside scratch memory"},
        Row{"scratch_begin", 1, "FAIL", "writes_in_bounds", "beside scratch memory"},
        Row{"scratch_guess", 1, "FAIL", "writes_in_bounds", "beside scratch memory"},
        Row{"scratch_far", 1, "CRASH", "matches_reference", "killed by SIGSEGV"},
        Row{"scratch_unset", 1, "NONDETERMINISTIC", "deterministic", "the second time"},
        Row{"heap_end", 1, "FAIL", "matches_reference", "byte 1 after a block of 100 bytes"},
        Row{"heap_begin", 1, "FAIL", "matches_reference", "byte 1 before a block of 100 bytes"},
        Row{"heap_far", 1, "CRASH", "matches_reference", "byte 13 after a block of 100 bytes"},
        Row{"heap_freed", 1, "FAIL", "matches_reference", "byte 7 of a block of 100 bytes"},
        Row{"heap_unset", 1, "NONDETERMINISTIC", "deterministic", "the second time"},
        Row{"input", 1, "FAIL", "inputs_untouched", "input 0 was written, an element of it"},
        Row{"input_again", 1, "FAIL", "inputs_untouched", "input 0 was written, an element of it"},
        Row{"state", 1, "NONDETERMINISTIC", "deterministic", "differently the second time"},
        Row{"otherwise", 1, "NONDETERMINISTIC", "deterministic", "differently the second time"},
        Row{"throw", 1, "FAIL", "matches_reference", "runtime_error: out of patience"},
        Row{"throw_number", 1, "FAIL", "matches_reference", "no std::exception"},
        Row{"garbled", 1, "FAIL", "matches_reference", "<&>"}, Row{"print", 0, "PASS", "", ""},
        Row{"forge", 1, "FAIL", "matches_reference", "it wrote to the judge's socket"},
        Row{"fork", 1, "CRASH", "matches_reference", "because it started a process"},
        Row{"reach", 0, "PASS", "", ""}, Row{"look", 0, "PASS", "", ""},
        Row{"last", 1, "FAIL", "closes", "close(): the backend's process was killed by SIGABRT"},
        Row{"last_late", 1, "FAIL", "closes",
            "close(): the backend's process was killed by SIGABRT"},
        Row{"apart", 1, "FAIL", "alignment", "expected"},
        Row{"pitch", 1, "FAIL", "alignment", "expected"},
        Row{"scratch_place", 1, "NONDETERMINISTIC", "deterministic", "the second time"},
        Row{"late", 1, "FAIL", "matches_reference", "after execute() had returned", false},
        Row{"address", 1, "FAIL", "reuse", "run 3 of one plan wrote something else"},
        Row{"one_plan", 1, "FAIL", "reuse", "in the last of 128 runs of one plan"},
        Row{"packed", 1, "FAIL", "reuse", "in the last of 128 runs of one plan"},
        Row{"kept_shape", 1, "FAIL", "matches_reference", "output 0 at [0", false},
        Row{"unsupported", 1, "FAIL", "matches_reference", "unsupported: no cubes"},
        Row{"refuse_legal", 1, "FAIL", "matches_reference", "logic_error relu.cube"},
        Row{"wrong_label", 1, "FAIL", "rejects", "got the label 'relu.colour'"},
        Row{"accept", 1, "FAIL", "rejects", "the call was accepted"},
        Row{"infer", 1, "FAIL", "infers", "of precision"},
        Row{"infer_rank", 1, "FAIL", "infers", "expected"},
        Row{"path", 1, "FAIL", "paths_covered", "kernel 'secret' ran and is not in the manifest"},
        Row{"status", 1, "FAIL", "matches_reference", "answered the unknown status 77"},
        Row{"no_plan", 1, "FAIL", "matches_reference", "prepare() succeeded without a plan",
            false}),
    [](const auto& info) { return std::string(info.param.fault); });

TEST(Device, IsReachedThroughItsOwnFunctionsOnly) {
  const Row rows[] = {{"none", 0, "PASS", "", ""},
      {"alloc", 1, "FAIL", "matches_reference", "no room on the device", false},
      {"mute_alloc", 1, "FAIL", "matches_reference", "alloc() returned nothing", false},
      {"lost", 1, "FAIL", "matches_reference", "lost to this process"},
      {"upload", 1, "FAIL", "matches_reference", "the bus is on strike", false},
      {"download", 1, "FAIL", "matches_reference", "the bus is on strike", false},
      {"stream", 1, "FAIL", "matches_reference", "no stream is free", false},
      {"wait", 1, "FAIL", "matches_reference", "fell off the bus", false},
      {"starts", 1, "CRASH", "matches_reference", "because it started a process too many"},
      {"value", 1, "FAIL", "matches_reference", "output 0 at [0", false},
      {"overrun", 1, "FAIL", "writes_in_bounds", "memory of output 0", false},
      {"scratch_end", 1, "FAIL", "writes_in_bounds", "beside scratch memory", false},
      {"scratch_begin", 1, "FAIL", "writes_in_bounds", "beside scratch memory", false},
      {"scratch_unset", 1, "NONDETERMINISTIC", "deterministic", "the second time", false},
      {"input", 1, "FAIL", "inputs_untouched", "an element of it", false}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.fault);
    expect_row(check(hostile("device"), {"--set", std::string("fault=") + row.fault}), row);
  }
}

TEST(Device, ThatIsLostToAProcessCostsNoOtherCase) {
  const auto failures = [](const char* backend, const std::string& fault) {
    const Words relu = words_in("--tier 0 --op relu --property matches_reference --jobs 1",
        {"--no-shrink", "--set", "fault=" + fault});
    return judged(joined({"check", hostile(backend)}, relu)).count("failed");
  };
  EXPECT_EQ(failures("device", "lost"), failures("misbehaving", "unsupported")) << "both on cubes";
}

TEST(Loading, ThatFailsIsReportedWithTheReason) {
  const std::tuple<std::string, int, const char*> rows[] = {
      {"exits", 1, "exited with status 0 while it was being loaded"},
      {"aborts", 1, "killed by SIGABRT while it was being loaded"},
      {"hangs", 1, "did not finish loading"},
      {"no_symbol", 2, "exports no symbol lockstep_backend_v1"},
      {"no_manifest", 2, "it has no manifest"},
      {"no_device", 2, "cannot run here: open() failed: no toaster"},
      {"no_open", 1, "open() failed: no toaster"}};
  for (const auto& [name, exit, says] : rows)
    expect_end(
        {"check", hostile(name), "--tier", "0", "--start-timeout", name == "hangs" ? "0.5" : "20"},
        exit, {says, hostile(name)});
}

TEST(Deadline, EndsARunOfHangs) {
  const Judged c = check(
      hostile("misbehaving"), {"--set", "fault=hang", "--timeout", "1000", "--deadline", "3"});
  expect_end(c.end, 3, {"INCOMPLETE"});
  // On a busy machine making the cases may take that long.
  EXPECT_TRUE(c.count("missing") > 0 || c.report.contains("ended_early"));
  EXPECT_EQ(c.count("timed_out"), 0);
}

// What hangs outside of a case: loading, the answer to an absent instruction set, and close().
TEST(Deadline, EndsARunThatHangsBeforeOrAfterItsCases) {
  const std::string after =
      "ended early, after the cases, while the backend was asked about the run";
  const std::string manifest =
      R"({"name": "m", "version": "1", "device": "cpu", "options": ["fault", "isa"], "kernels": [
          {"op": "*", "name": "specification", "isa": "portable", "runnable": true},
          {"op": "*", "name": "absent", "isa": "avx9000", "runnable": false}],
          "claims": {"operators": {"relu": {}}}})";
  const auto ends = [](const std::string& backend, const std::string& fault, const Variables& env,
                        const std::string& says) {
    const Judged c = check(backend,
        words_in("--budget 3 --vectors '' --timeout 1000 --start-timeout 1000 --deadline 6",
            {"--set", "fault=" + fault}),
        env);
    expect_end(c.end, 3, {"INCOMPLETE", says});
    EXPECT_EQ(c.report["verdict"], "INCOMPLETE") << fault;
    EXPECT_FALSE(c.report["ended_early"].get<std::string>().empty()) << fault;
  };
  ends(hostile("hangs"), "none", {}, "ended early, while the backend was opened");
  ends(hostile("misbehaving"), "hang_close", {}, after);
  ends(hostile("misbehaving"), "hang_isa", {{"HOSTILE_MANIFEST", manifest}}, after);
}

TEST(Deadline, EndsTheMakingOfCases) {
  const Judged c = judged(words_in("check reference --tier 3 --deadline 1"));
  expect_end(c.end, 3,
      {"INCOMPLETE", "whole claim (no case selected yet)",
          "ended early, while the cases were made"});
}

TEST(Addresses, ThatAreLimitedAreNotBlamedOnTheBackend) {
  if (ndarray::kInstrumented) GTEST_SKIP() << "a sanitizer reserves more addresses";
  const Ended e = run({"bash", "-c",
      "ulimit -v 50000000; " + program() + " check reference --op relu --tier 0 --quiet"});
  expect_end(e, 4,
      {"a process that holds a backend needs 412090368 KiB of addresses (ulimit -v allows "
       "50000000)"});
  EXPECT_EQ(e.err.find("reference"), std::string::npos) << e.err;
}

// The numbers of those processes in a file that still exist, and how many the file lists. A killed
// process disappears when the system next runs it, which may take a while on a busy machine.
bool is_soon_gone(pid_t pid) {
  for (int k = 0; k < 200 && kill(pid, 0) == 0; ++k) usleep(100'000);
  return kill(pid, 0) != 0;
}

std::pair<int, int> alive_of(const std::string& file) {
  std::pair<int, int> n;
  std::ifstream in(file);
  for (pid_t pid; in >> pid; ++n.second) n.first += !is_soon_gone(pid);
  return n;
}

// The memory that processes share counts as files, although no disk holds it.
TEST(FileSizes, ThatAreLimitedKeepNobodyFromJudging) {
  const auto limited = [](const std::string& limit) {
    const std::string check = " check reference --op relu --tier 0 --quiet | tail -n 1; ";
    return run({"bash", "-o", "pipefail", "-c", limit + "; " + program() + check});
  };
  expect_end(limited("ulimit -S -f 1"), 0, {"exit 0 (pass)"});
  expect_end(
      limited("ulimit -f 1"), 4, {"no memory to share with a backend (ulimit -f forbids it)"});
}

TEST(Loading, StartsNoMoreProcessesThanItMay) {
  const auto ends = [](const char* number, int exit, const char* says) {
    expect_end(check(hostile("misbehaving"), {"--start-timeout", "60", "--budget", "3"},
                   {{"HOSTILE_STARTS", number}})
                   .end,
        exit, {says});
  };
  ends("100", 0, "exit 0 (pass)");
  ends("700", 1,
      "was killed by SIGSYS, because it started a process too many while it was being loaded");
}

TEST(Loading, LeavesNoProcessBehind) {
  const Scratch scratch;
  const std::string library = scratch.path("library"), command = scratch.path("command");
  expect_end(check(hostile("misbehaving"), {}, {{"HOSTILE_LEAVES", library}}).end, 0);
  expect_end(check("exec:setsid sleep 999 & echo $! >>" + command +
                     "; lockstep eval --backend reference --cases -",
                 {"--start-timeout", "20", "--timeout", "20"})
                 .end,
      0);
  for (const std::string& file : {library, command}) {
    const auto [alive, all] = alive_of(file);
    EXPECT_GT(all, 0) << file;
    EXPECT_EQ(alive, 0) << file;
  }
}

TEST(Loading, ThatEndsItsKeeperLeavesNoProcessBehind) {
  const Scratch scratch;
  const auto left = [&](const char* file, const Variables& more, int exit) {
    Variables env = more;
    env["HOSTILE_DESERTS"] = scratch.path(file);
    expect_end(check(hostile("misbehaving"), {"--start-timeout", "3"}, env).end, exit);
    const auto [alive, all] = alive_of(scratch.path(file));
    EXPECT_GT(all, 0) << file;
    return alive;
  };
  EXPECT_EQ(left("goes on", {}, 0), 0);
  EXPECT_EQ(left("hangs", {{"HOSTILE_HANGS", "1"}}, 1), 0);
}

TEST(Loading, ThatKillsIsReportedAsACrash) {
  const Scratch scratch;
  const Judged c = check(hostile("exits"), {"--junit", scratch.path("junit.xml")});
  const std::string why = "'" + hostile("exits") + "' exited with status 0 while it was being";
  expect_end(c.end, 1, {"\nCRASH  " + hostile("exits")});
  EXPECT_EQ(c.report["verdict"], "CRASH");
  EXPECT_EQ(c.report["exit"], 1);
  EXPECT_EQ(c.count("executed"), 0);
  EXPECT_GT(c.count("selected"), 0);
  EXPECT_EQ(c.count("quarantined"), c.count("selected"));
  EXPECT_EQ(c.report["scope"]["operators_claimed"], 0);
  expect_contains(c.report["quarantine"].dump(), why);
  for (const char* part : {"CRASH", "exited with status 0 while"})
    expect_contains(text_of_file(scratch.path("junit.xml")), part);
}

TEST(Loading, ThatKillsLaterIsReportedAsACrash) {
  const Scratch scratch;
  const auto checked = [&](const char* once) {
    return check(hostile("misbehaving"), {}, {{"HOSTILE_ONCE", scratch.path(once)}});
  };
  const Judged c = checked("loaded.once");
  expect_end(c.end, 1, {"exited with status 0 while it was being loaded"});
  EXPECT_EQ(c.report["verdict"], "CRASH");
  EXPECT_EQ(c.count("passed"), 0);
  EXPECT_GT(c.count("quarantined"), 0);
  // A library that does not claim text is given no illegal text.
  EXPECT_EQ(
      c.count("executed") + c.count("quarantined") + c.count("not_claimed"), c.count("selected"));
  // The backend computed nothing, so the digest is that of no outputs.
  EXPECT_EQ(c.report["digest"], checked("loaded.twice").report["digest"]);
}

TEST(Loading, StatesTheSameManifestInEachProcess) {
  const Scratch scratch;
  const std::string says =
      "states another manifest or offers other functions than in an earlier process";
  const auto expect_crash = [](const Judged& c, const std::string& text) {
    expect_end(c.end, 1, {text});
    EXPECT_EQ(c.report["verdict"], "CRASH");
    return c.count("passed");
  };
  const auto offering = [&](const char* infers) -> Variables {
    return {{"HOSTILE_COUNTS", scratch.path(infers)}, {"HOSTILE_INFERS", infers}};
  };
  const std::string library = hostile("misbehaving");
  EXPECT_EQ(expect_crash(check(library, {}, {{"HOSTILE_RENAMES", "1"}}), says), 0);
  EXPECT_EQ(expect_crash(check(library, {}, offering("1")), says), 0) << "none of them judges";
  // A crash costs the process that still offered infer().
  const Words crashes = words_in(
      "--tier 0 --op relu --property matches_reference --jobs 1 --no-shrink --set fault=abort");
  expect_crash(
      judged(joined({"check", library}, crashes), offering("2")), "'" + library + "' " + says);
}

// A manifest with these members instead of the usual ones.
std::string manifest(const json& more) {
  json m = json::parse(R"({"name": "n", "version": "1", "device": "CPU", "options": ["fault"],
    "kernels": [{"op": "*", "name": "specification", "isa": "portable", "runnable": true}],
    "claims": {"operators": {"*": {}}, "layouts": ["compact", "strided"], "errors": "label"}})");
  m.merge_patch(more);
  return m.dump();
}

// A check of a backend that has this manifest.
Judged with_manifest(const std::string& text, const Words& more = {}) {
  return check(hostile("misbehaving"), more, {{"HOSTILE_MANIFEST", text}});
}

// The same for every operator.
Ended whole_with_manifest(const std::string& text) {
  return lockstep_says(joined({"check", hostile("misbehaving")}, words_in("--tier 0 --vectors ''")),
      {{"HOSTILE_MANIFEST", text}});
}

TEST(Manifests, ThatAreNoneAreUsageErrors) {
  expect_end(whole_with_manifest(manifest({{"name", nullptr}})), 2,
      {"'" + hostile("misbehaving") + "' has a wrong manifest: 'name' must be a string"});
}

TEST(Manifests, ThatClaimNothingAreNoPass) {
  const Judged c = with_manifest(manifest({{"claims", nullptr}}));
  expect_end(c.end, 3);
  EXPECT_EQ(c.report["verdict"], "INCOMPLETE");
  EXPECT_EQ(c.count("executed"), 0);
  EXPECT_EQ(c.count("not_claimed"), c.count("selected"));
}

TEST(Manifests, ThatClaimOneOperatorAreJudgedByIt) {
  const std::string relu_only =
      manifest({{"claims", {{"operators", {{"*", nullptr}, {"relu", json::object()}}}}}});
  expect_end(whole_with_manifest(relu_only), 0,
      {"PASS  n 1  whole claim (1 of " + kAll + " operators), determinism D0"});
  const Judged c = with_manifest(relu_only);
  expect_end(c.end, 0,
      {"SUBSET (1 of " + kAll + " operators)", " not claimed (6", "% of the legal calls)"});
  EXPECT_EQ(c.count("executed") + c.count("not_claimed"), c.count("selected"));
  EXPECT_GT(c.count("not_claimed"), c.count("executed"));
  EXPECT_EQ(c.report["scope"]["operators_claimed"], 1);
  EXPECT_TRUE(c.report["cells"].contains("relu"));
  EXPECT_FALSE(c.report["cells"].contains("sum")) << "not even its illegal calls";
}

TEST(Manifests, HoldABackendToItsKernels) {
  const json kernel = {{"op", "relu"}, {"name", "fast"}, {"isa", "portable"}, {"runnable", true}};
  const json usual = json::parse(manifest(json::object()))["kernels"][0];
  expect_end(with_manifest(manifest({{"kernels", json::array({usual, kernel})}})).end, 1,
      {"kernel 'fast' (isa portable) never ran"});
  json elsewhere = kernel;
  elsewhere["runnable"] = false;
  expect_end(with_manifest(manifest({{"kernels", json::array({usual, elsewhere})}})).end, 0);
}

TEST(Manifests, WithoutKernelsNameNoneThatRan) {
  const std::pair<const char*, const char*> rows[] = {
      {"none", "kernel 'specification' ran and is not in the manifest"},
      {"no_path", "kernel '' ran and is not in the manifest"}};
  for (const auto& [fault, says] : rows) {
    const Judged c = with_manifest(manifest({{"kernels", json::array()}}),
        {"--set", std::string("fault=") + fault, "--no-shrink"});
    expect_end(c.end, 1, {says});
    EXPECT_EQ(c.report["verdict"], "FAIL");
    const json cell = c.report.value(json::json_pointer("/cells/relu/paths_covered"), json());
    EXPECT_EQ(cell, (json{{"judged", 1}, {"failed", 1}}));
  }
}

TEST(Manifests, OfACommandAreAbsentAndNameNoKernels) {
  const Judged c = check("exec:lockstep eval --backend reference --cases -",
      {"--start-timeout", "20", "--timeout", "20"});
  expect_end(c.end, 0);
  EXPECT_TRUE(c.report["paths"].empty());
}

TEST(Manifests, HoldABackendToItsInstructionSets) {
  // The kernel that runs, of isa portable, beside one of avx2 for `op`.
  const auto forced = [](const char* op) {
    const json kernels = {
        {{"op", "relu"}, {"name", "specification"}, {"isa", "portable"}, {"runnable", true}},
        {{"op", op}, {"name", "fast"}, {"isa", "avx2"}, {"runnable", true}}};
    const json relu = {{"operators", {{"*", nullptr}, {"relu", json::object()}}}};
    return with_manifest(
        manifest({{"kernels", kernels}, {"options", {"fault", "isa"}}, {"claims", relu}}),
        {"--property", "isa"})
        .end;
  };
  expect_end(forced("relu"), 1,
      {"isa=avx2 was asked for, and kernel 'specification' of isa portable ran"});
  EXPECT_EQ(forced("clip").exit, 0) << "relu has no kernel of avx2";
}

// If the judge forces instruction sets, it starts the last process of a run only to close it.
TEST(Loading, ThatKillsAtTheEndCostsNoReport) {
  const Scratch scratch;
  const json kernels = {
      {{"op", "*"}, {"name", "specification"}, {"isa", "portable"}, {"runnable", true}},
      {{"op", "take"}, {"name", "fast"}, {"isa", "avx2"}, {"runnable", true}}};
  const auto checked = [&](const std::string& survive) {
    const Words brief = words_in("--tier 0 --op relu --jobs 1 --vectors '' --no-shrink");
    return judged(joined({"check", hostile("misbehaving")}, brief),
        {{"HOSTILE_ONCE", scratch.path(survive)}, {"HOSTILE_LOADS", survive},
            {"HOSTILE_MANIFEST", manifest({{"kernels", kernels}, {"options", {"fault", "isa"}}})}});
  };
  const Judged whole = checked("1000");
  expect_end(whole.end, 0);
  const auto loads = text_of_file(scratch.path("1000")).size();
  const Judged c = checked(std::to_string(loads - 1));
  expect_end(c.end, 1, {"exited with status 0 while it was being loaded"});
  EXPECT_EQ(c.count("passed"), whole.count("passed"));
  EXPECT_TRUE(says(c.report, "closes", "close(): the backend '"));
}

}  // namespace
}  // namespace lockstep::judge
