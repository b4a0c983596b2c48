#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "conformance/base/places.h"
#include "conformance/cli/verbs.h"
#include "conformance/mutator/campaign.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Warnings are no errors, except those of lockstep_refuse_narrowing: a mutant with an unused
// variable still counts as a program.
const Words kConfigured = {"-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
    "-DLOCKSTEP_WARNINGS=", "-DLOCKSTEP_CUDA=OFF", "-DLOCKSTEP_BENCH=OFF", "-DLOCKSTEP_DOCS=OFF",
    "-DLOCKSTEP_TESTS=ON"};

MutantTest check(const std::string& judge, const std::string& backend, int tier) {
  return {fmt::format("check at tier {}", tier),
      {judge, "check", backend, "--tier", std::to_string(tier), "--no-shrink", "--quiet",
          "--timeout", "10", "--start-timeout", "60"}};
}

// A test program, run in the tree's copy until the first failure.
MutantTest program(const std::string& build, const std::string& name) {
  return {name,
      {"cmake", "-E", "chdir", build + "/../tree", build + "/tests/" + name, "--gtest_brief=1",
          "--gtest_fail_fast"}};
}

// All test programs that were built.
std::vector<MutantTest> programs(const std::string& build) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(build + "/tests"))
    if (entry.is_regular_file()) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  std::vector<MutantTest> all;
  for (const std::string& name : names) all.push_back(program(build, name));
  return all;
}

// The CPU backend is judged by the running program, then by its own tests.
MutantRoom cpu_room() {
  const auto judged = [](const std::string& build) {
    const std::string judge = program_directory() + "/lockstep";
    const std::string product = build + "/lib/lockstep/cpu.so";
    return std::vector<MutantTest>{check(judge, product, 0), check(judge, product, 1)};
  };
  return {
      "backends/cpu", kConfigured, {{{"lockstep_backend_cpu"}, judged}, {{"cpu_test"}, programs}}};
}

// The CUDA backend runs in emulated blocks on a fake runtime. Its own tests come first, because
// they name the kernel.
MutantRoom cuda_room() {
  const auto tests = [](const std::string& build) {
    MutantTest own = program(build, "cuda_test");
    own.command.insert(own.command.begin(), {"cmake", "-E", "env", "EXPECT_ALL_KERNELS=1"});
    return std::vector<MutantTest>{
        own, check(program_directory() + "/lockstep", build + "/tests/cuda_emulated.so", 0)};
  };
  return {"backends/cuda", kConfigured, {{{"cuda_test", "cuda_emulated"}, tests}}};
}

// The specification is judged by the judge built from it, by the vectors, by an independent
// implementation on fresh calls, then by its own tests and those of parameter files.
MutantRoom spec_room() {
  const auto judged = [](const std::string& build) {
    const std::string judge = build + "/bin/lockstep", tree = build + "/../tree";
    return std::vector<MutantTest>{check(judge, "cpu", 0), check(judge, "cpu", 1),
        {"vectors check", {judge, "vectors", "check"}},
        {"fresh calls",
            {"python3", "-B", tree + "/reference/crosscheck", "fresh", "independent", judge}},
        {"cover", {judge, "cover"}}};
  };
  // Nearly every source includes these headers; unity builds compile them less often.
  Words configured = kConfigured;
  configured.push_back("-DCMAKE_UNITY_BUILD=ON");
  return {"spec", configured,
      {{{"lockstep", "lockstep_backend_cpu", "lockstep_backend_reference"}, judged},
          {{"vectors_test", "tests_of_spec", "ndarray_params"}, programs}}};
}

// The judge is judged first by its program's output and verdicts, then by its own tests, which take
// long to link.
MutantRoom conformance_room() {
  const auto said = [](const std::string& build) {
    const std::string judge = build + "/bin/lockstep", room = build + "/../tree/conformance";
    return std::vector<MutantTest>{check(judge, "cpu", 0), check(judge, "cpu", 1),
        {"vectors check", {judge, "vectors", "check"}},
        {"junit", {"python3", "-B", room + "/tests/junit_form.py", judge}},
        {"schemas",
            {"python3", "-B", room + "/tests/schemas.py", judge,
                room + "/../containers/tests/golden"}},
        {"mutants", {judge, "mutants", "relu.*", "--tier", "0", "--quiet"}},
        {"lines",
            {"python3", "-B", build + "/../tree/reference/crosscheck", "lines", judge, "--count",
                "2000"}}};
  };
  const auto transcripts = [](const std::string& build) {
    return std::vector<MutantTest>{program(build, "transcript_test")};
  };
  return {"conformance", kConfigured,
      {{{"lockstep", "lockstep_backend_cpu"}, said}, {{"transcript_test"}, transcripts},
          {{"tests_of_conformance"}, programs}}};
}

// A room in which only `check` judges, and nothing is built for other tests.
MutantRoom judged_by_check(MutantRoom room) {
  room.stages.resize(1);
  room.stages[0].tests = [all = room.stages[0].tests](const std::string& build) {
    std::vector<MutantTest> tests = all(build);
    std::erase_if(tests, [](const MutantTest& t) { return !t.name.starts_with("check "); });
    return tests;
  };
  return room;
}

std::vector<MutantRoom> rooms() {
  return {cpu_room(), cuda_room(), spec_room(), conformance_room()};
}

}  // namespace

void add_source_mutants(CLI::App& verb, SourceMutants& s) {
  Words names;
  for (const MutantRoom& r : rooms()) names.push_back(r.path);
  const std::set<std::string> shared = {"help", "seed", "json", "schema", "quiet"};
  const std::vector<CLI::Option*> others = verb.get_options(
      [&](const CLI::Option* o) { return !shared.contains(o->get_single_name()); });
  CLI::Option* source = verb.add_option("--source", s.room,
                                "mutate these sources instead: one random mistake at a "
                                "time, built and tested")
                            ->check(CLI::IsMember(names));
  // excludes() would list every option in --help.
  verb.parse_complete_callback([source, others] {
    for (const CLI::Option* o : others)
      if (source->count() > 0 && o->count() > 0)
        throw CLI::ExcludesError(o->get_name(), source->get_name());
  });
  verb.add_option("--n", s.mutants, "with --source: how many that compile and are not equivalent")
      ->needs(source)
      ->check(positive())
      ->capture_default_str();
  verb.add_option("--files", s.files,
          "with --source: only in these files, as conformance/trial/*; * and ? match")
      ->needs(source)
      ->delimiter(',');
  verb.add_flag("--check-alone", s.check_alone, "with --source: run only `check`, no other tests")
      ->needs(source);
  verb.add_option("--tree", s.tree, "with --source: the project's sources")
      ->needs(source)
      ->capture_default_str();
  verb.add_option("--work", s.work,
          "with --source: where a copy is built (default: TREE/build/mutants/ROOM)")
      ->needs(source);
}

int run_source_mutants(const SourceMutants& s, u64 seed, bool quiet) {
  Campaign c;
  c.tree = fs::absolute(s.tree).lexically_normal().string();
  c.work = fs::absolute(s.work.empty() ? c.tree + "/build/mutants/" + s.room : s.work).string();
  c.files = s.files;
  c.seed = seed;
  c.mutants = s.mutants;
  const bool is_text = s.json_file != "-";
  if (!quiet && is_text)
    c.told = [](const SourceFate& f) {
      fmt::print("{}", fate_text(f));
      std::fflush(stdout);
    };
  std::vector<SourceFate> fates;
  for (const MutantRoom& room : rooms())
    if (room.path == s.room) fates = run_campaign(s.check_alone ? judged_by_check(room) : room, c);
  if (is_text) fmt::print("{}", score_text(s.room, seed, fates));
  if (!s.json_file.empty()) write_output(s.json_file, fates_json(s.room, seed, fates));
  return static_cast<int>(score_of(fates).exit());
}

}  // namespace lockstep::judge
