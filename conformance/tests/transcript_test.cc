// The program's output, word for word. Each file of transcripts/ holds commands, and below each
// command what it prints, or a hash of output that nobody would read. After a change on purpose,
// LOCKSTEP_TRANSCRIBE=1 writes the files anew. To hash the output of a new command, put "# sha256"
// below.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "conformance/tests/program.h"
#include "containers/instrumented.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

const std::string kPrompt = "$ ", kHashed = "# sha256";
constexpr double kLimit = 600;  // seconds of a command, more than the slowest build takes

// Replaces the words that depend on the machine, the build or the number of operators.
std::string without_place(std::string text, const std::string& scratch) {
  static const std::pair<std::regex, const char*> kOwn[] = {
      {std::regex(R"re(\b(\w*sha256|system|machine|processor)": "[^"]*")re"), R"($1": "...")"},
      {std::regex("(library|manifest)(</dt><dd><code>|: )\\w{64}( -> \\w{64})?"), "$1$2..."},
      {std::regex("<dt>run by</dt>.*"), "<dt>run by</dt>..."},
      {std::regex(R"re("operators_(claimed|all)": \d+)re"), R"("operators_$1": N)"},
      {std::regex("of \\d+ operators\\)"), "of N operators)"},
      // On a slow machine long work also prints its progress. What a terminal shows of it stays:
      // `cat -v` marks that by '^'.
      {std::regex("[^\n]+ of \\d+ (cases|calls), \\d+ failed, \\d+/s, \\d+ s left\n"), ""},
      {std::regex("(^|\n)([^\n^]+ of \\d+ (cases|calls), \\d+ failed\n)+"), "$1"}};
  const std::pair<std::string, const char*> places[] = {{scratch, "SCRATCH/"},
      {build_directory(), "BUILD"}, {fs::current_path(), "TREE"}, {LOCKSTEP_VERSION, "VERSION"}};
  for (const auto& [what, with] : places)
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;)
      text.replace(at, what.size(), with);
  for (const auto& [what, with] : kOwn) text = std::regex_replace(text, what, with);
  // A build that limits no memory by default says so in its help.
  static const std::regex kDefault(R"re((--memory FLOAT:FLOAT in \[\S+ - \S+\]=)0)re");
  return ndarray::kInstrumented ? std::regex_replace(text, kDefault, "$018") : text;
}

// A shell runs the command where the ones before it have left their files.
std::string said(const std::string& command, const Scratch& scratch) {
  const char* path = std::getenv("PATH");
  const Ended e = run({"sh", "-c", "cd " + scratch.path("") + " && exec 2>&1\n" + command}, "",
      {{"PATH", (build_directory() / "bin").string() + ":" + (path ? path : "")},
          {"BUILD", build_directory()}, {"TREE", fs::current_path()}},
      kLimit);
  std::string text = e.out;
  if (!text.empty() && text.back() != '\n') text += "\n(no newline)\n";
  if (e.exit != 0) text += "(exit " + std::to_string(e.exit) + ")\n";
  return without_place(std::move(text), scratch.path(""));
}

std::string hash_line(const std::string& text) {
  return kHashed + " " + run({"sha256sum"}, text).out.substr(0, 64) + " of " +
      std::to_string(lines_of(text).size()) + " lines\n";
}

// The transcript as it is today. What stands before the first command is a comment.
std::string transcribed(const std::string& transcript) {
  const Scratch scratch;
  const std::vector<std::string> lines = lines_of(transcript);
  std::string today;
  bool begun = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool command = lines[i].starts_with(kPrompt);
    begun = begun || command;
    if (command || !begun) today += lines[i] + "\n";
    if (!command) continue;
    const std::string text = said(lines[i].substr(kPrompt.size()), scratch);
    const std::string below = i + 1 < lines.size() ? lines[i + 1] + "\n" : "";
    const bool hashed = below.starts_with(kHashed);
    today += hashed ? hash_line(text) : text;
    if (hashed) {
      // A hash does not show what has changed.
      EXPECT_TRUE(today.ends_with(below)) << lines[i] << "\nsays now:\n" << text;
    }
  }
  return today;
}

const fs::path kTranscripts = "conformance/tests/transcripts";

std::vector<std::string> transcripts() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kTranscripts))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  if (names.empty()) throw std::runtime_error("no transcripts");
  return names;
}

class Transcript : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(
    Files, Transcript, testing::ValuesIn(transcripts()), [](const auto& i) { return i.param; });

TEST_P(Transcript, IsWhatTheProgramSays) {
  const std::string file = kTranscripts / (GetParam() + ".txt");
  const std::string text = text_of_file(file), today = transcribed(text);
  if (std::getenv("LOCKSTEP_TRANSCRIBE")) std::ofstream(file) << today;
  const std::vector<std::string> now = lines_of(today), before = lines_of(text);
  const auto [n, b] = std::mismatch(now.begin(), now.end(), before.begin(), before.end());
  EXPECT_EQ(n == now.end() ? "the end" : *n, b == before.end() ? "the end" : *b)
      << file << ":" << b - before.begin() + 1 << " (LOCKSTEP_TRANSCRIBE=1 writes it)";
}

// The first page shows two runs; the one that takes little time is held to the program.
TEST(ReadMe, ShowsWhatTheProgramSaysOfAMistake) {
  const std::string page = text_of_file("README.md");
  const std::size_t command = page.find("lockstep check faulty ");
  ASSERT_NE(command, page.npos);
  const std::size_t printed = page.find('\n', page.find("\\\n", command) + 2) + 1;
  const Scratch scratch;
  EXPECT_EQ(said(page.substr(command, printed - command), scratch),
      without_place(page.substr(printed, page.find("```", printed) - printed), "SCRATCH/") +
          "(exit 1)\n");
}

}  // namespace
}  // namespace lockstep::judge
