/// @file
/// Verbs of the program: their words, how they end, and the report that a run leaves.
#pragma once
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {

using Words = std::vector<std::string>;

/// A test with a directory of its own.
class ScratchTest : public testing::Test {
 protected:
  const Scratch scratch;
};

/// The words of one list after those of another.
inline Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The words of a line, divided at its blanks, and more after them; '' is a word without letters.
inline Words words_in(const std::string& line, const Words& more = {}) {
  Words words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word == "''" ? "" : word);
  return joined(words, more);
}

/// Expects an exit code, and each part in the output: in the error output if no run was possible
/// (2) or the judge broke (4).
inline void expect_end(const Ended& e, int exit, const Words& parts = {}) {
  EXPECT_EQ(e.exit, exit) << e.out << e.err;
  for (const std::string& part : parts)
    expect_contains(exit == 2 || exit == 4 ? e.err : e.out, part);
}

/// Runs `lockstep` with these words and expects how it ends.
inline Ended expect_end(
    const Words& words, int exit, const Words& parts = {}, const Variables& env = {}) {
  SCOPED_TRACE(words.empty() ? "" : words[0] + " ... " + words.back());
  Ended e = lockstep_says(words, env);
  expect_end(e, exit, parts);
  return e;
}

/// How a verb that writes JSON into a file ended, and what it has written.
struct Judged {
  Ended end;
  std::string text;
  nlohmann::json report;
  int count(const char* what) const { return report["counts"][what]; }
};

/// Runs a verb that has the option `--json`.
inline Judged judged(const Words& words, const Variables& env = {}) {
  const Scratch scratch;
  const std::string file = scratch.path("report.json");
  Judged j{lockstep_says(joined(words, {"--json", file}), env), text_of_file(file), {}};
  j.report = nlohmann::json::parse(j.text, nullptr, false);
  return j;
}

}  // namespace lockstep::judge
