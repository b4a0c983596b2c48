// A campaign of mutants of sources, on a tree of one file or three.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "conformance/cases/case.h"
#include "conformance/mutator/campaign.h"
#include "conformance/mutator/snapshot.h"
#include "conformance/subjects/process.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {
namespace {

using Strings = std::vector<std::string>;
using Tests = std::vector<MutantTest>;

// A tree of one program, which accepts only 1, 2 and 3.
constexpr const char* kProgram =
    "int main(int n, char**) {\n"
    "  if (n < 4) return 0;\n"   // survives if no test passes 3 words
    "  const int unused = 7;\n"  // the same program
    "  return n + 1;\n"
    "}\n";

class SourceCampaign : public testing::Test {
 protected:
  SourceCampaign() {
    std::filesystem::create_directories(scratch_.path("tree/room/tests"));
    scratch_.write("tree/room/main.cc", kProgram);
    scratch_.write("tree/room/tests/main_test.cc", "int not_mutated = 1;\n");
    scratch_.write("tree/room/notes.md", "1 < 2\n");  // no source
    scratch_.write("tree/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.20)\nproject(toy CXX)\n"
        "add_executable(toy room/main.cc)\n"
        "add_custom_target(twin COMMAND echo >> ${CMAKE_SOURCE_DIR}/../twin)\n");
    campaign_.tree = scratch_.path("tree");
    campaign_.work = scratch_.path("work");
    campaign_.mutants = 100;
    room_ = {"room", {"-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"},
        {{{"toy"},
             [](auto& build) -> Tests {
               return {{"few", {build + "/toy", "1"}}};
             }},
            {{"toy", "twin"}, [](auto& build) -> Tests {
               return {{"many", {"sh", "-c", "! " + build + "/toy 1 2 3 4"}}};
             }}}};
  }

  // The fates of the mutants, by the lines that they changed.
  std::map<std::string, SourceFate> run() {
    std::map<std::string, SourceFate> fates;
    for (const SourceFate& f : run_campaign(room_, campaign_)) fates[f.after] = f;
    return fates;
  }

  const Scratch scratch_;
  MutantRoom room_;
  Campaign campaign_;
};

TEST_F(SourceCampaign, TellsDeadSurvivingAndEquivalent) {
  const auto fates = run();
  EXPECT_EQ(fates.size(), 10u);
  const SourceFate &dead = fates.at("if (!(n < 4)) return 0;"),
                   &alive = fates.at("if (n < 5) return 0;");
  EXPECT_EQ(dead.state, SourceFate::dead);
  EXPECT_EQ(dead.noticed_by, "few");
  EXPECT_EQ(dead.detail, "exited with status 3");
  EXPECT_EQ(alive.state, SourceFate::survived);
  EXPECT_EQ(alive.detail, "");
  const SourceFate& equal = fates.at("const int unused = 8;");
  EXPECT_EQ(equal.state, SourceFate::equivalent);
  EXPECT_EQ(equal.detail, "the same object code");
  EXPECT_EQ(text_of_file(scratch_.path("tree/room/main.cc")), kProgram);
}

// Two programs that share a header; each is built and tested in a stage of its own.
TEST_F(SourceCampaign, LetsTheCompilerDecideEquivalence) {
  scratch_.write("tree/CMakeLists.txt",
      "cmake_minimum_required(VERSION 3.20)\nproject(toy CXX)\n"
      "add_executable(toy room/main.cc)\nadd_executable(late room/late.cc)\n");
  scratch_.write("tree/room/main.cc",
      "#include \"shared.h\"\nint main(int n, char**) {\n"
      "  return n < 4 && n < 9 ? 0 : 1;\n}\n");
  scratch_.write(
      "tree/room/late.cc", "#include \"shared.h\"\nint main() { return seven() - 7; }\n");
  scratch_.write(
      "tree/room/shared.h", "inline int seven() { return 7; }\ninline int spare() { return 8; }\n");
  const std::string calls = scratch_.path("calls");
  room_.stages[0].tests = [&](auto& build) -> Tests {
    return {{"few", {"sh", "-c", "echo >>" + calls + "; " + build + "/toy 1"}}};
  };
  room_.stages[1] = {{"late"}, [](auto& build) -> Tests { return {{"late", {build + "/late"}}}; }};
  const auto fates = run();
  Strings equal;
  for (const auto& [line, fate] : fates)
    if (fate.state == SourceFate::equivalent) equal.push_back(line);
  EXPECT_EQ(equal,
      (Strings{"inline int spare() { return 7; }", "inline int spare() { return 9; }",
          "return n < 4 && n < 10 ? 0 : 1;", "return n < 4 && n < 8 ? 0 : 1;",
          "return n < 4 && n <= 9 ? 0 : 1;"}));
  EXPECT_EQ(fates.at("return n <= 4 && n < 9 ? 0 : 1;").state, SourceFate::survived);
  EXPECT_EQ(fates.at("inline int seven() { return 8; }").noticed_by, "late");
  // The sources as they are, seven changes of the first program, and again the one that fails.
  EXPECT_EQ(lines_of(text_of_file(calls)).size(), 9u) << "what is equal is not tested";
}

TEST_F(SourceCampaign, BuildsNoFurtherWhatIsDeadAndNothingTwice) {
  i64 further = 1;  // the sources as they are
  for (const auto& [line, fate] : run())
    further += fate.state != SourceFate::not_compiled && fate.noticed_by != "few";
  EXPECT_EQ(std::ssize(text_of_file(scratch_.path("work/twin"))), further);
  const std::string log = scratch_.path("log");
  EXPECT_FALSE(run_logged({"ninja", "-n", "-C", scratch_.path("work/build"), "toy"}, 60, log));
  EXPECT_NE(text_of_file(log).find("no work to do"), std::string::npos) << text_of_file(log);
}

TEST_F(SourceCampaign, DrawsTheSameMutantsFromASeed) {
  campaign_.mutants = 2;
  const auto first = run(), again = run();
  campaign_.seed = 2;
  const auto other = run();
  const auto lines = [](const auto& fates) {
    Strings all;
    for (const auto& [line, fate] : fates) all.push_back(line);
    return all;
  };
  EXPECT_EQ(lines(first), lines(again));
  EXPECT_NE(lines(first), lines(other));
}

TEST_F(SourceCampaign, LeavesOtherFilesAlone) {
  scratch_.write("tree/room/other.h", "inline int other() { return 1 < 2; }\n");
  campaign_.files = {"nothing", "room/m?in.*"};
  EXPECT_EQ(run().size(), 10u);
  campaign_.files = {"room/tests/*", "main.cc"};
  expect_throws<UsageError>([&] { run(); }, "room has no such files to mutate");
}

TEST_F(SourceCampaign, BelievesATestThatFailsTwice) {
  const std::string calls = scratch_.path("calls");
  room_.stages[0].tests = [&](auto&) -> Tests {
    return {{"fickle", {"sh", "-c", "echo >>" + calls + "; test $(wc -l <" + calls + ") != 2"}}};
  };
  std::size_t expected = 2;  // of the sources as they are, and again where it failed by chance
  for (const auto& [line, fate] : run()) {
    EXPECT_NE(fate.noticed_by, "fickle");
    expected += fate.state == SourceFate::dead || fate.state == SourceFate::survived;
  }
  EXPECT_EQ(lines_of(text_of_file(calls)).size(), expected) << "what passes is not asked again";
}

TEST_F(SourceCampaign, CopiesTheTreeOfTodayAndNothingOfGitOrBuilds) {
  namespace fs = std::filesystem;
  for (const char* directory : {"tree/.git", "tree/build"}) {
    fs::create_directory(scratch_.path(directory));
    scratch_.write(std::string(directory) + "/file", "not copied");
  }
  campaign_.mutants = 0;
  EXPECT_TRUE(run().empty());
  const std::string copy = scratch_.path("work/tree/");
  for (const char* left_out : {".git", "build"}) EXPECT_FALSE(fs::exists(copy + left_out));
  const auto time = fs::last_write_time(copy + "room/main.cc");
  fs::remove(scratch_.path("tree/room/notes.md"));
  scratch_.write("tree/room/tests/main_test.cc", "int changed = 2;\n");
  EXPECT_TRUE(run().empty());
  EXPECT_FALSE(fs::exists(copy + "room/notes.md"));
  EXPECT_EQ(text_of_file(copy + "room/tests/main_test.cc"), "int changed = 2;\n");
  EXPECT_EQ(fs::last_write_time(copy + "room/main.cc"), time) << "what is equal is not built anew";
}

// A test that is ended, or ends itself, leaves no process behind, not even one that left its group.
TEST(Commands, EndWithEverythingThatTheyStarted) {
  const Scratch scratch;
  for (const char* last : {"wait", "exit 3"}) {
    const std::string number = scratch.path("number");
    EXPECT_TRUE(run_logged({"sh", "-c",
                               "setsid sh -c 'sleep 999 & echo $! >" + number +
                                   "; wait' & while ! [ -s " + number + " ]; do :; done; " + last},
        3, scratch.path("log")));
    const pid_t pid = std::stoi(text_of_file(number));
    EXPECT_EQ(kill(pid, 0), -1) << last;
    std::filesystem::remove(number);
  }
}

TEST(Commands, LeaveWhatTheyPrintInAFileOfBoundedSize) {
  const Scratch scratch;
  const std::string log = scratch.path("log"), large = scratch.path("large");
  EXPECT_FALSE(run_logged({"sh", "-c", "echo out; echo err >&2"}, 20, log));
  EXPECT_EQ(text_of_file(log), "out\nerr\n");
  const mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(static_cast<mode_t>(std::filesystem::status(log).permissions()), 0666 & ~mask);
  EXPECT_EQ(run_logged({"no_such_program_anywhere"}, 20, log), "exited with status 127");
  // The system writes no byte of such a file.
  EXPECT_FALSE(run_logged({"truncate", "-s", "1073741824", large}, 20, log));
  EXPECT_TRUE(run_logged({"truncate", "-s", "1073741825", large}, 20, log));
}

// A signal with a handler neither ends the waiting nor prolongs it.
TEST(ReadableWithin, IsNotEndedBySignals) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, nullptr);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto interrupted = [&](double seconds) {
    ualarm(50000, 0);
    return readable_within(ends[0], seconds, {});
  };
  EXPECT_FALSE(interrupted(0.3));
  std::thread writer([&] {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(write(ends[1], "x", 1), 1);
  });
  EXPECT_TRUE(interrupted(30));
  writer.join();
  close(ends[0]);
  close(ends[1]);
}

TEST_F(SourceCampaign, RefusesATreeThatFailsAsItIs) {
  room_.stages[0].tests = [](auto&) -> Tests { return {{"nothing", {"false"}}}; };
  expect_throws<std::runtime_error>([&] { run(); }, "nothing the unchanged sources exited with");
  room_.path = "nowhere";
  expect_throws<UsageError>([&] { run(); }, "has no nowhere to mutate");
}

TEST(Snapshots, BringBackWhatChangedOrWent) {
  namespace fs = std::filesystem;
  const Scratch scratch;
  fs::create_directories(scratch.path("live/deep"));
  const std::string a = scratch.write("live/a", "one"), b = scratch.write("live/deep/b", "two");
  const auto time = fs::last_write_time(a) - std::chrono::hours(1);
  fs::last_write_time(a, time);
  const std::string longer = scratch.write("live/longer", "one"),
                    same = scratch.write("live/same", "one");
  fs::last_write_time(longer, time);
  const Snapshot snapshot(scratch.path("live"), scratch.path("kept"));
  fs::create_hard_link(same, scratch.path("link"));
  scratch.write("live/a", "two");
  scratch.write("live/longer", "longer");
  fs::last_write_time(longer, time);
  fs::remove_all(scratch.path("live/deep"));
  EXPECT_FALSE(snapshot.holds());
  snapshot.restore();
  EXPECT_EQ(text_of_file(longer), "one") << "the time alone does not tell";
  EXPECT_EQ(fs::hard_link_count(same), 2u) << "what did not change is not replaced";
  EXPECT_EQ(text_of_file(a), "one");
  EXPECT_EQ(fs::last_write_time(a), time);
  EXPECT_EQ(text_of_file(b), "two");
  EXPECT_TRUE(snapshot.holds());
}

TEST(Snapshots, HoldWhereTheBytesAreTheSame) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path("live"));
  scratch.write("live/a", "one");
  scratch.write("live/.ninja_log", "early");
  const Snapshot snapshot(scratch.path("live"), scratch.path("kept"));
  const auto later =
      std::filesystem::last_write_time(scratch.path("live/a")) + std::chrono::hours(1);
  const auto write = [&](const std::string& text) {
    std::filesystem::last_write_time(scratch.write("live/a", text), later);
  };
  scratch.write("live/.ninja_log", "late");
  scratch.write("live/new", "of no interest");
  write("one");
  EXPECT_TRUE(snapshot.holds());
  for (const char* other : {"two", "longer"}) {
    write(other);
    EXPECT_FALSE(snapshot.holds()) << other;
  }
  std::filesystem::remove(scratch.path("live/a"));
  EXPECT_FALSE(snapshot.holds());
}

std::vector<SourceFate> fates_of(int dead, int survived) {
  std::vector<SourceFate> all;
  for (int k = 0; k < dead + survived; ++k) {
    const bool died = k < dead;
    all.push_back({{"a.cc", 0, 1, "0", "constant", 7},
        died ? SourceFate::dead : SourceFate::survived, "return 1;", "return 0;",
        died ? (k == 1 ? "late" : "few") : "", died ? "exited with status 1" : ""});
  }
  all.push_back({{"a.cc", 0, 1, "0", "constant", 8}, SourceFate::equivalent, "b", "c", {}, "same"});
  all.push_back({{"a.cc", 0, 1, "0", "type", 9}, SourceFate::not_compiled, "d", "e", {}, {}});
  all.push_back(all.back());
  return all;
}

TEST(SourceScores, CountWhatDiedOfWhatWasJudged) {
  const std::vector<SourceFate> fates = fates_of(19, 1);
  EXPECT_EQ(score_of(fates).tenths(), 950);
  EXPECT_EQ(score_of(fates).exit(), Exit::pass);
  EXPECT_EQ(score_text("room", 5, fates),
      "\nNo test noticed:\n"
      "SURVIVED     a.cc:7 constant\n    - return 1;\n    + return 0;\n"
      "noticed first by few 18, late 1\n"
      "room: 19 of 20 mutants are dead, 95.0 % of at least 95 %; 1 survived\n"
      "1 equivalent, 2 did not compile; seed 5\nexit 0 (pass)\n");
  EXPECT_EQ(score_text("room", 5, fates_of(3, 0)),
      "noticed first by few 2, late 1\n"
      "room: 3 of 3 mutants are dead, 100.0 % of at least 95 %; 0 survived\n"
      "1 equivalent, 2 did not compile; seed 5\nexit 0 (pass)\n");
  EXPECT_EQ(score_of(fates_of(18, 1)).tenths(), 947);
  EXPECT_EQ(score_of(fates_of(18, 1)).exit(), Exit::fail);
  EXPECT_EQ(score_of(fates_of(0, 0)).exit(), Exit::incomplete);
  EXPECT_EQ(score_of(fates_of(0, 0)).tenths(), 0);
  EXPECT_EQ(score_of(fates_of(1, 0)).tenths(), 1000);
}

TEST(SourceScores, AreToldMutantByMutant) {
  const std::vector<SourceFate> fates = fates_of(1, 1);
  EXPECT_EQ(fate_text(fates[0]),
      "dead         a.cc:7 constant\n    - return 1;\n    + return 0;\n"
      "    few exited with status 1\n");
  EXPECT_EQ(
      fate_text(fates[1]), "SURVIVED     a.cc:7 constant\n    - return 1;\n    + return 0;\n");
  const auto j = nlohmann::json::parse(fates_json("room", 5, fates));
  EXPECT_EQ(j["source"], "room");
  EXPECT_EQ(j["seed"], 5);
  EXPECT_EQ(j["percent_dead"], "50.0");
  const std::vector<int> counts = {j["dead"], j["survived"], j["equivalent"], j["not_compiled"]};
  EXPECT_EQ(counts, (std::vector<int>{1, 1, 1, 2}));
  ASSERT_EQ(j["mutants"].size(), 5U);
  EXPECT_EQ(j["mutants"][0].dump(),
      R"_({"after":"return 0;","before":"return 1;","detail":"exited with status 1",)_"
      R"_("file":"a.cc","kind":"constant","line":7,"noticed_by":"few","state":"dead"})_");
}

}  // namespace
}  // namespace lockstep::judge
