// Failing cases are listed, repeated and expected; and what the program says if it cannot write a
// file.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "conformance/base/sha256.h"
#include "conformance/base/write_file.h"
#include "conformance/tests/verbs.h"
#include "conformance/verdict/verdict.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::json;

Words conv2d(const std::string& mutant, const Words& more = {}) {
  return words_in("check faulty --op conv2d,relu --tier 0 --no-shrink --set mutant=" + mutant,
      joined({"--vectors", ""}, more));
}

class Failing : public ScratchTest {};

TEST_F(Failing, AreListedAndJudgedAgainByOneCommand) {
  const std::string file = scratch.path("failing.txt");
  const Judged first = judged(conv2d("conv2d.ignores_groups", {"--failures", file}));
  const std::vector<std::string> ids = lines_of(text_of_file(file));
  ASSERT_GT(ids.size(), 3U);
  EXPECT_EQ(std::ssize(ids), first.count("failed"));
  EXPECT_EQ(ids[0], first.report["failures"][0]["case"]) << "in the order of the run";
  const Judged again =
      judged(words_in("check faulty --set mutant=conv2d.ignores_groups --cases", {file}));
  EXPECT_EQ(again.count("selected"), std::ssize(ids));
  EXPECT_EQ(again.count("failed"), std::ssize(ids));
  expect_end(conv2d("conv2d.ignores_groups", {"--jobs", "3", "--failures", file + "3"}), 1);
  EXPECT_EQ(text_of_file(file + "3"), text_of_file(file));
  expect_end(words_in("check reference --op relu --tier 0 --failures", {file}), 0);
  EXPECT_EQ(text_of_file(file), "");
}

TEST_F(Failing, OfAFileAreRepeatedByTheirHash) {
  std::string sevens = "7";
  for (int k = 1; k < 400; ++k) sevens += ",7";
  const std::string longer = "relu/in=400@8/data=" + sevens, brief = "relu/in=2@8/data=1,2";
  const std::string one = scratch.write("one", longer + "\n"),
                    two = scratch.write("two", brief + "\n" + longer + "\n");
  const Words repro = words_in("repro null --property matches_reference");
  const Ended e = expect_end(joined(repro, {"@" + one}), 1, {"case      relu/in=400@8/data=7,7"});
  EXPECT_EQ(e.out.find(longer), std::string::npos) << "nobody can read it";
  const std::string hash = sha256(longer).substr(0, 16);
  expect_contains(e.out, "...#" + hash + "\n");
  expect_end(joined(repro, {"@" + two + "#" + hash}), 1, {"relu/in=400@8"});
  expect_end(
      joined(repro, {"@" + two}), 2, {"' holds 2 cases; repro takes one: @" + two + "#HASH"});
  expect_end(joined(repro, {"@" + two + "#ffff"}), 2, {"holds 0 cases with the hash ffff"});
  expect_end(joined(repro, {"@" + scratch.path("none")}), 2, {"cannot read"});
  // A run says the same of a case, and its report holds the whole text.
  const Judged j = judged(words_in("check null --no-shrink --cases", {two}));
  EXPECT_EQ(j.end.out.find(longer), std::string::npos);
  expect_contains(j.text, longer);
  for (const auto& f : j.report["failures"])
    EXPECT_LE(f["repeat"].get<std::string>().size(), 400U) << f["repeat"];
  expect_end(words_in("check null --no-shrink --case", {longer}), 1, {"'@failures.txt#" + hash});
}

TEST_F(Failing, ThatAreExpectedMakeNoOtherBugUnseen) {
  const std::string file = scratch.path("known.toml");
  expect_end(conv2d("conv2d.ignores_groups", {"--write-expectations", file}), 1);
  expect_end(conv2d("conv2d.ignores_groups", {"--expectations", file}), 6, {"KNOWN FAILURES"});
  const Judged other = judged(conv2d("conv2d.swaps_padding", {"--expectations", file}));
  expect_end(other.end, 1,
      {"unexpected: " + file + ":", " (conv2d matches_reference) counts ", "AND OTHERS"});
  EXPECT_EQ(other.report["exceeded"].size(), 2U);
  for (const auto& f : other.report["failures"])
    EXPECT_EQ(f["known"] == "", f["property"] != "concurrent") << f;
  // A run of another seed has other cases, so the entries excuse all that they match.
  const Judged seed =
      judged(conv2d("conv2d.ignores_groups", {"--expectations", file, "--seed", "2"}));
  EXPECT_EQ(seed.report["exceeded"].size(), 0U);
  // An entry holds for 90 days.
  expect_end(conv2d("conv2d.ignores_groups",
                 {"--write-expectations", file, "--today", "2027-12-31", "--quiet"}),
      1);
  expect_contains(text_of_file(file), "expires = 2028-03-30\n");
}

TEST_F(Failing, ThatComeAndGoAreNotExpected) {
  const std::string file = scratch.path("known.toml");
  const Words words = words_in("check null --op relu --tier 0 --no-shrink", {"--vectors", ""});
  expect_end(joined(words, {"--write-expectations", file}), 1);
  EXPECT_EQ(text_of_file(file).find("\"deterministic\""), std::string::npos);
  const std::string entry = scratch.write("flaky.toml",
      "[[expect]]\noperator = \"relu\"\nproperty = \"deterministic\"\nkind = \"fail\"\n"
      "reason = \"x\"\nexpires = 2030-01-01\n");
  expect_end(joined(words, {"--expectations", entry}), 2, {"come and go cannot be expected"});
}

TEST_F(Failing, ThatComeAndGoAreExcusedByNoEntry) {
  const std::tuple<const char*, const char*, const char*, int, const char*> rows[] = {
      {"padding", "writes_in_bounds", "fail", 6, "KNOWN FAILURES"},
      {"abort", "matches_reference", "crash", 6, "KNOWN FAILURES"},
      {"last", "closes", "fail", 6, "KNOWN FAILURES"},
      {"last_sometimes", "closes", "fail", 1, kNotAgain},
      {"wears", "reuse", "fail", 1, "run 3 of one plan wrote something else"},
      {"wears", "concurrent", "fail", 1, "made its call again, and it wrote something else"},
      {"scratch_unset", "deterministic", "fail", 1, "differently the second time"},
      {"seldom", "matches_reference", "fail", 1, kNotAgain},
      {"wanders", "matches_reference", "fail", 1, kNotAgain},
      {"wanders_apart", "layout", "fail", 1, kNotAgain}, {"seldom", "layout", "fail", 1, kNotAgain},
      {"sometimes", "matches_reference", "crash", 1, kNotAgain},
      // A fault of two processes while they load the library.
      {"none", "matches_reference", "crash", 1, "while it was being loaded"}};
  for (const auto& [fault, property, kind, exit, says] : rows) {
    SCOPED_TRACE(std::string(fault) + " " + property);
    const auto counts = [&, f = fault](const char* run) -> Variables {
      return {{"HOSTILE_COUNTS", scratch.path(std::string(f) + run)},
          {"HOSTILE_DIES", f == std::string("none") ? "2" : "0"}};
    };
    const Words words = words_in("check --op relu --tier 0 --no-shrink --jobs 1 --vectors ''",
        {hostile("misbehaving"), "--set", std::string("fault=") + fault, "--property", property});
    const std::string entry = scratch.write("known.toml",
        fmt::format("[[expect]]\noperator = \"*\"\nproperty = \"{}*\"\nkind = \"{}\"\n"
                    "reason = \"x\"\nexpires = 2030-01-01\n",
            property, kind));
    expect_end(joined(words, {"--expectations", entry}), exit, {says}, counts("excusing"));
    const std::string written = scratch.path("written.toml");
    expect_end(joined(words, {"--write-expectations", written}), 1, {}, counts("writing"));
    EXPECT_EQ(text_of_file(written).find("[[expect]]") != std::string::npos, exit == 6);
  }
}

TEST_F(Failing, ExpectationsThatCountSayOfWhat) {
  const std::string begin =
      "[[expect]]\noperator = \"relu\"\nproperty = \"layout\"\nkind = \"fail\"\nreason = \"x\"\n"
      "expires = 2030-01-01\n";
  const std::string ids = "ids = \"" + std::string(64, 'a') + "\"\n";
  const std::pair<std::string, const char*> rows[] = {{"count = 0\n" + ids, "'count' must be 1"},
      {"count = 1\n", "needs 'ids'"},
      {"count = 1\nids = \"abc\"\n", "must be 64 hexadecimal digits"}, {ids, "needs 'count'"},
      {"seed = 3\n", "needs 'count'"}, {"count = 1\nseed = -3\n" + ids, "'seed' must be"},
      {"count = 1\nseed = \"3x\"\n" + ids, "'seed' must be"}};
  for (const auto& [lines, says] : rows)
    expect_end(words_in("check reference --op relu --tier 0 --expectations",
                   {scratch.write("known.toml", begin + lines)}),
        2, {"known.toml:", says});
}

TEST_F(Failing, RunsSayTheVerdictWhereNothingCanBeWritten) {
  const Words check = words_in("check reference --op relu --tier 0 --vectors ''");
  const std::string page = scratch.path("page.html"), none = scratch.path("none/report.json");
  const Ended e = expect_end(joined(check, {"--json", "/dev/full", "--html", page, "--quiet"}), 4,
      {"lockstep: cannot write '/dev/full': No space left on device"});
  EXPECT_TRUE(e.out.starts_with("PASS  ")) << e.out;
  expect_contains(text_of_file(page), "PASS");
  expect_end(joined(check, {"--json", none}), 2, {"cannot write '" + none + "': No such file"});
  const std::string full = program() + " check reference --op relu --tier 0 --vectors ''";
  for (const char* more : {" --quiet", "", " --json -"}) {
    const Ended lost = run({"sh", "-c", full + more + " >/dev/full"});
    expect_end(lost, 4, {"PASS  ", "cannot write to standard output: No space left on device"});
  }
  expect_end(run({"sh", "-c", program() + " --help >/dev/full"}), 4, {"cannot write to standard"});
  for (const char* verb : {"cover --op relu --json", "report markdown report.json --output"}) {
    const std::string file = scratch.path("report.json");
    expect_end(joined(check, {"--json", file, "--quiet"}), 0);
    const Ended lost = run({"sh", "-c",
        "cd " + scratch.path("") + " && " + std::filesystem::absolute(program()).string() + " " +
            verb + " /dev/full"});
    expect_end(lost, 4, {"cannot write '/dev/full': No space left on device"});
  }
}

using Files = ScratchTest;

std::size_t files_in(const std::string& directory) {
  const std::filesystem::directory_iterator all(directory);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST_F(Files, KeepWhatTheyHadWhereNotAllCanBeWritten) {
  const std::string file = scratch.write("report", "old"), fresh = scratch.path("fresh");
  const std::string much(100'000, 'x');
  std::filesystem::permissions(file, std::filesystem::perms(0640));
  const int status = status_of([&] {
    const rlimit small{50'000, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &small);
    signal(SIGXFSZ, SIG_IGN);
    for (const std::string& f : {file, fresh})
      if (words_of<std::runtime_error>([&] { write_file(f, much); }) !=
          "cannot write '" + f + "': File too large")
        _exit(1);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text_of_file(file), "old");
  EXPECT_EQ(files_in(scratch.path("")), 1U);
  write_file(file, much);
  EXPECT_EQ(text_of_file(file), much);
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0640));
  EXPECT_EQ(files_in(scratch.path("")), 1U);
}

TEST_F(Files, AreWrittenBehindLinksAndOpenOnesAsTheyAre) {
  const std::string file = scratch.write("report", "old"), link = scratch.path("link");
  std::filesystem::create_symlink("report", link);
  write_file(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(text_of_file(file), "new");
  const std::string cover = program() + " cover --op relu --json /dev/stdout";
  expect_end(run({"sh", "-c", cover + " | cat"}), 0, {"\"complete\": true"});
  expect_end(run({"sh", "-c", cover + " > " + file}), 0);
  // What the program prints goes to the file that the shell has open.
  expect_contains(text_of_file(file), "COMPLETE");
}

TEST_F(Failing, ASmallCallBeforeTheCasesIsNotForgotten) {
  expect_end(words_in("check --op relu --tier 0 --timeout 0.5 --vectors '' --set fault=hang_first",
                 {hostile("misbehaving")}),
      1, {" violates graphs", "a small call before the cases got no answer"},
      {{"HOSTILE_COUNTS", scratch.path("counts")}});
}

// Its calls are wrong in the third run of a plan, which only a graph has among these properties.
TEST_F(Failing, ACallThatIsWrongOnlyInGraphsIsNotForgotten) {
  const Words words = words_in("check --op relu --tier 0 --vectors ''",
      {hostile("misbehaving"), "--set", "fault=wears", "--property", "graphs,matches_reference"});
  expect_end(words, 1,
      {"relu violates graphs", "a call of a graph was wrong by itself, and no case was: relu"});
}

TEST(Verdicts, SayWhyAProgramDoesNotStart) {
  expect_end(words_in("check exec:/nonexistent/program --op relu --tier 0 --quiet --vectors ''"), 1,
      {"/nonexistent/program: not found", "\nCRASH  "});
  const Ended hung = expect_end(
      words_in("check --op relu --tier 0 --quiet --timeout 0.2 --vectors '' --set fault=hang",
          {hostile("misbehaving")}),
      1);
  expect_contains("\n" + hung.out, "\nTIMEOUT  misbehaving");
}

}  // namespace
}  // namespace lockstep::judge
