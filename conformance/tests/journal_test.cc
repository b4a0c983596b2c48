// The journal of a run: what the judge writes, what it reads again, and which files it refuses.
#include "conformance/run/journal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "conformance/cases/case.h"
#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

const nlohmann::ordered_json kRun = {{"seed", 7}};
const std::string kFirst = R"({"lockstep_journal":1,"run":{"seed":7}})";

std::string journal_refusal(const std::string& file, std::size_t cases = 9) {
  return words_of<UsageError>([&] { Journal(file, kRun, cases); });
}

using Journals = ScratchTest;

TEST_F(Journals, KnowsTheLinesThatWereAdded) {
  const std::string file = scratch.path("journal");
  const mode_t masked = umask(0);
  Journal(file, kRun, 9).add(R"({"n":8})");
  umask(masked);
  struct stat made {};
  ASSERT_EQ(stat(file.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 07777, 0666U);
  // More than one read takes, and a line that was cut off.
  const std::string filler(100000, 'x');
  Journal(file, kRun, 9).add(R"({"n":0,"x":")" + filler + R"("})");
  std::ofstream(file, std::ios::app) << R"({"n":1,"x")";
  Journal(file, kRun, 9).add(R"({"n":2})");
  const Journal again(file, kRun, 9);
  const std::map<std::size_t, std::string> known = {
      {0, R"({"n":0,"x":")" + filler + R"("})"}, {2, R"({"n":2})"}, {8, R"({"n":8})"}};
  EXPECT_EQ(again.known(), known);
  EXPECT_EQ(journal_refusal(file), "journal '" + file + "': another run is using it");
}

TEST_F(Journals, RefusesLinesThatAreNone) {
  const char *runless = "its first line does not describe a run",
             *second = "line 2 is no result of this run",
             *third = "line 3 is no result of this run";
  const std::pair<std::string, const char*> rows[] = {{"a text", "it is no journal"},
      {"{\"lockstep_journal\":1,\n", runless}, {"{\"lockstep_journal\":1,\"x\":2}\n", runless},
      {"{\"lockstep_journal\":1,\"run\":7}\n", runless},
      {"{\"lockstep_journal\":1,\"run\":{\"seed\":8}}\n",
          "it belongs to another run: its seed is 8, not 7"},
      {kFirst + "\n7\n", second}, {kFirst + "\n{\"n\":1}\n{\"x\":1}\n", third},
      {kFirst + "\n{\"n\":-1}\n", second}, {kFirst + "\n{\"n\":\"1\"}\n", second},
      {kFirst + "\n{\"n\":9}\n", second}, {kFirst + "\n\n", second},
      {kFirst + "\n{\"n\":1}\n{\"n\":1}\n", third}};
  for (const auto& [text, says] : rows) {
    const std::string file = scratch.write("journal", text);
    EXPECT_EQ(journal_refusal(file), "journal '" + file + "': " + says) << text;
  }
  EXPECT_EQ(journal_refusal(scratch.write("journal", kFirst + "\n{\"n\":8}\n")), "");
  expect_contains(journal_refusal(scratch.path("none/journal")), "No such file or directory");
}

TEST_F(Journals, MayHaveTheNumberOfStandardInput) {
  const int input = dup(0);
  close(0);
  EXPECT_EQ(journal_refusal(scratch.path("journal")), "");
  dup2(input, 0);
  close(input);
}

// How a process ends whose files may have so many bytes: 0 where add() says that it cannot write.
int status_where_files_end(const std::string& file, rlim_t bytes) {
  return status_of([&] {
    Journal journal(file, kRun, 9);
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string says =
        words_of<std::system_error>([&] { journal.add(R"({"n":1,"x":"0123456789"})"); });
    if (says.find("cannot write '" + file + "'") == std::string::npos) _exit(1);
  });
}

TEST_F(Journals, SaysThatItCannotBeWritten) {
  // Of the second line nothing, and a part.
  for (const std::size_t room : {std::size_t{0}, std::size_t{5}}) {
    const std::string file = scratch.path("journal" + std::to_string(room));
    EXPECT_EQ(status_where_files_end(file, kFirst.size() + 1 + room), 0) << room;
  }
}

}  // namespace
}  // namespace lockstep::judge
