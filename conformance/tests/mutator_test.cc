// Mutation of sources: what is changed and what is left alone, and a campaign on a tree of one
// file.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "conformance/cases/case.h"
#include "conformance/mutator/score.h"
#include "conformance/mutator/snapshot.h"
#include "conformance/subjects/process.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {
namespace {

using Strings = std::vector<std::string>;

// Every line that the edits of a line make of it.
Strings mutants(const std::string& text) {
  Strings all;
  for (const Edit& e : edits_of("a.cc", text)) all.push_back(edited(text, e));
  return all;
}

TEST(Edits, ChangeOperatorsBetweenSpaces) {
  EXPECT_EQ(mutants("a < b"), Strings{"a <= b"});
  EXPECT_EQ(mutants("a == b"), Strings{"a != b"});
  EXPECT_EQ(mutants("a + b"), Strings{"a - b"});
  EXPECT_EQ(mutants("a && b"), Strings{"a || b"});
  EXPECT_EQ(mutants("++k;"), Strings{"--k;"});
  EXPECT_EQ(mutants("f<T>(&x, -y, T* z, U&& u)"), Strings{});
}

TEST(Edits, ChangeConstantsByOne) {
  EXPECT_EQ(mutants("x[0]"), Strings{"x[1]"});
  EXPECT_EQ(mutants("1'000u"), (Strings{"1001u", "999u"}));
  EXPECT_EQ(mutants("0xfful"), (Strings{"256ul", "254ul"}));
  EXPECT_EQ(mutants("1.5 99999999999999999999"), Strings{});
}

TEST(Edits, ChangeBoundsTypesConditionsAndJumps) {
  EXPECT_EQ(mutants("min(a, b)"), Strings{"max(a, b)"});
  EXPECT_EQ(mutants("x.min"), Strings{});
  EXPECT_EQ(mutants("i64 a;"), Strings{"i32 a;"});
  EXPECT_EQ(mutants("if (f(a)) continue;"), (Strings{"if (!(f(a))) continue;", "if (f(a)) ;"}));
  EXPECT_EQ(mutants("if (auto x = f(); x) g();"), Strings{});
}

TEST(Edits, LeaveTextCommentsDirectivesAndStaticAssertionsAlone) {
  EXPECT_EQ(mutants("#if 1 < 2\\\n 3 < 4\n"), Strings{});
  EXPECT_EQ(mutants("// 1 < 2\n/* 3\n< 4 */"), Strings{});
  EXPECT_EQ(mutants(R"("1 \" < 2" '<' u8"3" R"x(4 " < 5)x")"), Strings{});
  EXPECT_EQ(mutants("static_assert(f(1) < 2);"), Strings{});
}

// Something of everything that looks like something else.
constexpr const char* kSample = R"_(#define A 1 < 2 \
  3 < 4
  # if 5
x = R"(a " < 1)" < 2, R"y(b)" < 1)y" + L"c\"< 3" - '\'' ; /* 4 */ y = 5u;
if constexpr (a <= b && c == 0x1F) static_assert(f((6), 7) < 8); else z <<= 9;
if (f(a, (b)) || !c) break; else if (int k = 1; k) { break_; continue; }
a ? b - c : d <=> e; p->q; r::s; t -u; v* w; v * w; v *= w ; i64 max(int32_t n); max; true;
n-- ; x # 10 1.5e3 00 2'0ul 18446744073709551614 // 11 < 12
>= != % << >> += -= | & ^ / <
)_";

TEST(Edits, OfASampleAreTheseAndNoOthers) {
  const std::map<int, Strings> expected = {
      {4, {"< <=", "2 3", "2 1", "+ -", "- +", "5u 6u", "5u 4u"}},
      {5, {"<= <", "&& ||", "== !=", "0x1F 32", "0x1F 30", "9 10", "9 8"}},
      {6, {"f(a, (b)) || !c !(f(a, (b)) || !c)", "|| &&", "break ", "1 2", "1 0", "continue "}},
      {7, {"- +", "* +", "*= +=", "i64 i32", "max min", "int32_t int16_t", "true false"}},
      {8,
       {"-- ++", "10 11", "10 9", "00 1", "2'0ul 21ul", "2'0ul 19ul",
        "18446744073709551614 18446744073709551615", "18446744073709551614 18446744073709551613"}},
      {9,
       {">= >", "!= ==", "% /", "<< >>", ">> <<", "+= -=", "-= +=", "| &", "& |", "^ |", "/ *",
        "< <="}}};
  const std::string sample = kSample;
  std::map<int, Strings> found;
  for (const Edit& e : edits_of("a.cc", sample))
    found[e.line].push_back(sample.substr(e.begin, e.end - e.begin) + " " + e.replacement);
  EXPECT_EQ(found, expected);
}

TEST(Edits, SayWhereTheyAre) {
  const std::string text = "int a;\n  a = b <\n c;\n";
  const std::vector<Edit> edits = edits_of("dir/a.cc", text);
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_EQ(edits[0].file, "dir/a.cc");
  EXPECT_EQ(edits[0].line, 2);
  EXPECT_EQ(line_of(text, edits[0]), "a = b <");
}

TEST(Edits, OfABrokenTextEnd) {
  for (const char* text :
       {"\"", "'", "R\"(", "R\"", "/*", "#", "#\\", "#\\\n", "static_assert", "if (", "1'"})
    EXPECT_LE(tokens(text).size(), 3u) << text;
}

TEST(Edits, AtTheEndsOfATextAndOfALine) {
  const std::pair<const char*, Strings> rows[] = {{" < b", {" <= b"}},
                                                  {"< b", {}},
                                                  {"R < b", {"R <= b"}},
                                                  {"1'0", {"11", "9"}},
                                                  {"/* 1 */ a < b", {"/* 1 */ a <= b"}},
                                                  {"/**/ a < b", {"/**/ a <= b"}},
                                                  {"/*/ 1 < 2 */", {}},
                                                  {"static_assert(1 < 2", {}},
                                                  {"if (a < b", {"if (!(a < )b", "if (a <= b"}},
                                                  {"if (a;", {"if (!(a);"}}};
  for (const auto& [text, expected] : rows) EXPECT_EQ(mutants(text), expected) << text;
  const std::string two = "a < b;\nc < d;";
  const std::vector<Edit> edits = edits_of("a.cc", two);
  ASSERT_EQ(edits.size(), 2u);
  EXPECT_EQ(line_of(two, edits[0]), "a < b;");
  EXPECT_EQ(line_of(two, edits[1]), "c < d;");
}

// What stands behind a text in memory, or before it, is no part of it.
TEST(Edits, OfAPartAreThoseOfItsCopy) {
  const string_view sample = kSample;
  const auto told = [](string_view text) {
    Strings all;
    for (const Token& t : tokens(text))
      all.push_back(std::to_string(t.kind) + " " +
                    std::string(text.substr(t.begin, t.end - t.begin)));
    for (const Edit& e : edits_of("a.cc", text)) all.push_back(edited(text, e));
    return all;
  };
  for (std::size_t end = 0; end <= sample.size(); ++end) {
    const string_view part = sample.substr(0, end);
    EXPECT_EQ(told(part), told(std::string(part))) << part;
  }
  EXPECT_EQ(told(string_view(" < b").substr(1)), told("< b"));
}

TEST(Tokens, OfTextKeepWhatStandsBeforeIt) {
  const auto kinds = [](string_view text) {
    std::vector<int> all;
    for (const Token& t : tokens(text)) all.push_back(t.kind);
    return all;
  };
  const int name = Token::name, literal = Token::literal, number = Token::number;
  EXPECT_EQ(kinds(R"_(a L"b" u8"c" abc"d" R"(e)")_"),
            (std::vector<int>{name, literal, literal, name, literal, literal}));
  EXPECT_EQ(kinds("1' "), (std::vector<int>{number, literal}));
}

// A tree of one program, which passes for 1, 2 and 3 alone.
constexpr const char* kProgram =
    "int main(int n, char**) {\n"
    "  if (n < 4) return 0;\n"   // survives where nobody passes 3 words
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
    room_ = {"room",
             {"-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"},
             {{{"toy"},
               [](const std::string& build) -> std::vector<MutantTest> {
                 return {{"few", {build + "/toy", "1"}}};
               }},
              {{"toy", "twin"},
               [](const std::string& build) -> std::vector<MutantTest> {
                 return {{"many", {"sh", "-c", "! " + build + "/toy 1 2 3 4"}}};
               },
               {"toy"}}}};
  }

  // What became of the mutants, by the lines they made.
  std::map<std::string, SourceFate> run() {
    std::map<std::string, SourceFate> fates;
    for (const SourceFate& f : run_campaign(room_, campaign_)) fates[f.after] = f;
    return fates;
  }

  const Scratch scratch_;
  MutantRoom room_;
  Campaign campaign_;
};

TEST_F(SourceCampaign, TellsDeadSurvivingEquivalentAndExplained) {
  const std::string line = "if (n < 4) return 0;";
  campaign_.explanations = {{"room/main.cc", line, "if (n < 3) return 0;", "nobody asks", false},
                            {"room/main.cc", line, "if (n <= 4) return 0;", "nor here", true},
                            {"room/other.cc", line, "if (n < 5) return 0;", "elsewhere", true},
                            {"room/main.cc", "another", "if (n < 5) return 0;", "before", true}};
  const auto fates = run();
  EXPECT_EQ(fates.size(), 10u);
  const SourceFate &dead = fates.at("if (!(n < 4)) return 0;"),
                   &alive = fates.at("if (n < 5) return 0;");
  EXPECT_EQ(dead.state, SourceFate::dead);
  EXPECT_EQ(dead.detail, "few exited with status 3");
  EXPECT_EQ(alive.state, SourceFate::survived);
  EXPECT_EQ(alive.detail, "");
  EXPECT_EQ(fates.at("if (n < 3) return 0;").state, SourceFate::survived);
  EXPECT_EQ(fates.at("if (n < 3) return 0;").detail, "nobody asks");
  EXPECT_EQ(fates.at("if (n <= 4) return 0;").state, SourceFate::equivalent);
  EXPECT_EQ(fates.at("const int unused = 8;").state, SourceFate::equivalent);
  EXPECT_EQ(text_of_file(scratch_.path("tree/room/main.cc")), kProgram);
}

TEST_F(SourceCampaign, BuildsNoFurtherWhatIsDeadAndNothingTwice) {
  i64 further = 1;  // the sources as they are
  for (const auto& [line, fate] : run())
    further += fate.state != SourceFate::not_compiled && !fate.detail.starts_with("few");
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

TEST_F(SourceCampaign, BelievesATestThatFailsTwice) {
  const std::string calls = scratch_.path("calls");
  room_.stages[0].tests = [calls](const std::string&) -> std::vector<MutantTest> {
    return {{"fickle", {"sh", "-c", "echo >>" + calls + "; test $(wc -l <" + calls + ") != 2"}}};
  };
  std::size_t expected = 2;  // of the sources as they are, and again where it failed by chance
  for (const auto& [line, fate] : run()) {
    EXPECT_EQ(fate.detail.find("fickle"), fate.detail.npos);
    expected += fate.state != SourceFate::not_compiled;
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

// A test that is ended, or ends itself, leaves nobody behind, not even who left its group.
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
  // No byte of such a file is written.
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
    return readable_within(ends[0], seconds);
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
  room_.stages[0].tests = [](const std::string&) -> std::vector<MutantTest> {
    return {{"nothing", {"false"}}};
  };
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
  snapshot.restore();
  EXPECT_EQ(text_of_file(longer), "one") << "the time alone does not tell";
  EXPECT_EQ(fs::hard_link_count(same), 2u) << "what did not change is not replaced";
  EXPECT_EQ(text_of_file(a), "one");
  EXPECT_EQ(fs::last_write_time(a), time);
  EXPECT_EQ(text_of_file(b), "two");
}

TEST(Explanations, AreReadOrRefusedWithTheirPlace) {
  const Scratch scratch;
  const std::string good =
      "[[mutant]]\nfile = 'a.cc'\nbefore = 'b'\nafter = 'c'\nreason = 'd'\nequivalent = true\n";
  const auto read = [&](const std::string& text) {
    return read_explanations(scratch.write("list.toml", text));
  };
  EXPECT_TRUE(read("# nothing survives\n").empty());
  const std::vector<Explanation> list = read(good + good);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].after, "c");
  EXPECT_TRUE(list[1].equivalent);
  const std::vector<Explanation> both =
      read("[[mutant]]\nfile = 'a.cc'\nbefore = 'b'\nafter = ['c', 'd']\nreason = 'e'\n");
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].after + both[1].after, "cd");
  EXPECT_EQ(both[1].reason, "e");
  EXPECT_FALSE(both[0].equivalent) << "it has to be said";
  const auto refused = [&](const std::string& text, const std::string& says) {
    expect_throws<UsageError>([&] { read(text); }, says);
  };
  refused("[[mutant]]\nfile = 1\n", "list.toml:2: 'file' is no key of [[mutant]]");
  refused("[[mutant]]\nline = 'x'\n", "list.toml:2: 'line' is no key");
  refused("[[mutant]]\nafter = ['x', 1]\n", "list.toml:2: 'after' is no key");
  refused("[[mutant]]\nfile = true\n", "list.toml:2: 'file' is no key");
  refused("[[mutant]]\nequivalent = 'x'\n", "list.toml:2: 'equivalent' is no key");
  refused("\n[[mutant]]\nfile = 'x'\n", "list.toml:2: a mutant needs");
  for (const std::string left_out : {"file", "before", "after", "reason"}) {
    std::string text = "[[mutant]]\n";
    for (const std::string key : {"file", "before", "after", "reason"})
      if (key != left_out) text += key + " = 'x'\n";
    refused(text, "list.toml:1: a mutant needs");
  }
  refused("other = 1\n" + good, "[[mutant]] tables and nothing else");
  refused("[mutant]\n", "[[mutant]] tables and nothing else");
  refused(good + "[[mutant\n", "list.toml:7: ");
}

std::vector<SourceFate> fates_of(int dead, int survived, const std::string& explained) {
  std::vector<SourceFate> all;
  for (int k = 0; k < dead + survived; ++k) {
    const bool died = k < dead;
    all.push_back({{"a.cc", 0, 1, "0", "constant", 7},
                   died ? SourceFate::dead : SourceFate::survived,
                   "return 1;",
                   "return 0;",
                   died ? "few exited with status 1" : explained});
  }
  all.push_back({{"a.cc", 0, 1, "0", "constant", 8}, SourceFate::equivalent, "b", "c", "same"});
  all.push_back({{"a.cc", 0, 1, "0", "type", 9}, SourceFate::not_compiled, "d", "e", {}});
  all.push_back(all.back());
  return all;
}

TEST(SourceScores, CountWhatDiedOfWhatWasJudged) {
  const SourceScore s = score_of(fates_of(19, 1, "why"));
  EXPECT_EQ(s.tenths(), 950);
  EXPECT_EQ(s.exit(), Exit::pass);
  EXPECT_EQ(score_text("room", 5, s),
            "room: 19 of 20 mutants are dead, 95.0 % of at least 95 %; 0 survived unexplained\n"
            "1 equivalent, 2 did not compile; seed 5\nexit 0 (pass)\n");
  const SourceScore unexplained = score_of(fates_of(39, 1, ""));
  EXPECT_EQ(unexplained.exit(), Exit::fail);
  EXPECT_EQ(score_text("room", 5, unexplained),
            "room: 39 of 40 mutants are dead, 97.5 % of at least 95 %; 1 survived unexplained\n"
            "1 equivalent, 2 did not compile; seed 5\nexit 1 (fail)\n");
  EXPECT_EQ(score_of(fates_of(18, 1, "why")).tenths(), 947);
  EXPECT_EQ(score_of(fates_of(18, 1, "why")).exit(), Exit::fail);
  EXPECT_EQ(score_of(fates_of(0, 0, "")).exit(), Exit::incomplete);
  EXPECT_EQ(score_of(fates_of(0, 0, "")).tenths(), 0);
  EXPECT_EQ(score_of(fates_of(1, 0, "")).tenths(), 1000);
}

TEST(SourceScores, AreToldMutantByMutant) {
  const std::vector<SourceFate> fates = fates_of(1, 1, "");
  EXPECT_EQ(fate_text(fates[0]),
            "dead         a.cc:7 constant\n    - return 1;\n    + return 0;\n"
            "    few exited with status 1\n");
  EXPECT_EQ(fate_text(fates[1]),
            "SURVIVED     a.cc:7 constant\n    - return 1;\n    + return 0;\n");
  const auto j = nlohmann::json::parse(fates_json("room", 5, fates));
  EXPECT_EQ(j["source"], "room");
  EXPECT_EQ(j["seed"], 5);
  const std::vector<int> counts = {j["dead"], j["survived"], j["equivalent"], j["not_compiled"]};
  EXPECT_EQ(counts, (std::vector<int>{1, 1, 1, 2}));
  ASSERT_EQ(j["mutants"].size(), 5U);
  EXPECT_EQ(j["mutants"][0].dump(),
            R"_({"after":"return 0;","before":"return 1;","detail":"few exited with status 1",)_"
            R"_("file":"a.cc","kind":"constant","line":7,"state":"dead"})_");
}

}  // namespace
}  // namespace lockstep::judge
