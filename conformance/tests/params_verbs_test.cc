// The verbs of `lockstep params`, as a user sees them.
#include <gtest/gtest.h>

#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::json;

const std::string kGolden = "containers/tests/golden/";
const std::string kExample = kGolden + "worked_example.params";

Ended params(const Words& words) { return lockstep_says(joined({"params"}, words)); }

Ended expect_params(const Words& words, int exit, const Words& parts = {}) {
  return expect_end(joined({"params"}, words), exit, parts);
}

/// The worked example with one byte replaced.
std::string damaged(const Scratch& scratch, std::size_t offset, char byte) {
  std::string bytes = text_of_file(kExample);
  bytes.at(offset) = byte;
  return scratch.write("damaged.params", bytes);
}

using ParamsVerbs = ScratchTest;

TEST_F(ParamsVerbs, VerifyJudgesEachFileAndFailsForOne) {
  const std::string faulty = damaged(scratch, 79, 9);
  expect_params({"verify", faulty, kExample}, 1,
      {"damaged.params: rejected, dtype_code at byte 79 in tensor \"w\"",
          "worked_example.params: valid, 2 tensors, 17 bytes of data",
          "1 of 2 files valid\nexit 1 (fail)"});
  expect_params({"verify", kExample}, 0);
  const Ended missing = expect_params({"verify", kExample, scratch.path("missing"), faulty}, 2);
  expect_contains(missing.out, "missing: not read: cannot open");
  expect_contains(missing.out, "dtype_code");  // the verb still judges the files after it
}

TEST_F(ParamsVerbs, AFaultyFileFailsWithItsLabelAndAMissingOneIsWrongUsage) {
  const std::string to = scratch.path("to.params");
  const std::tuple<std::size_t, char, std::string> faults[] = {
      {79, 9, "dtype_code"}, {0, 0, "magic"}};
  for (const auto& [offset, byte, label] : faults) {
    const std::string faulty = damaged(scratch, offset, byte);
    const Words rows[] = {{"list", faulty}, {"list", "--json", faulty}, {"dump", faulty},
        {"diff", faulty, kExample}, {"diff", kExample, faulty}, {"convert", faulty, to}};
    for (const Words& words : rows) {
      const Ended e = expect_params(words, 1);
      expect_contains(e.err, "[" + label + "] (exit 1, fail)\n");
      EXPECT_EQ(e.out, "");
    }
    EXPECT_FALSE(std::filesystem::exists(to)) << "nothing is written of a file that is faulty";
  }
  const Words rows[] = {
      {"list", scratch.path("missing")}, {"list"}, {"list", kExample, kExample}, {"verify"}};
  for (const Words& words : rows) expect_params(words, 2);
}

// A file that exists and cannot be read is not the user's mistake, but the program must report it.
TEST_F(ParamsVerbs, WhatCannotBeReadToItsEndIsNamed) {
  const std::string broken = "/proc/self/mem";
  const Ended verified = expect_params({"verify", broken, kExample}, 4);
  for (const std::string& part :
      {broken + ": not read: reading " + broken + " failed: ", std::string("Input/output error"),
          std::string("worked_example.params: valid"), std::string("1 of 2 files valid")})
    expect_contains(verified.out, part);
  expect_params({"list", broken}, 4, {"reading " + broken + " failed: "});
}

TEST_F(ParamsVerbs, LeniencyIgnoresAndCountsTrailingBytes) {
  const std::string longer = scratch.write("longer.params", text_of_file(kExample) + "abc");
  expect_params({"verify", longer}, 1);
  for (const char* verb : {"verify", "list"})
    expect_params({verb, "--lenient", longer}, 0, {"3 trailing bytes ignored"});
  const std::string clean = scratch.path("clean.params");
  expect_params({"convert", "--lenient", longer, clean}, 0);
  EXPECT_EQ(text_of_file(clean), text_of_file(kExample));
}

TEST_F(ParamsVerbs, DumpShowsChosenValues) {
  const std::pair<Words, const char*> rows[] = {
      {{}, "\"w\"  int32 (2, 2)\n  1 2\n  -3 4\n\"b0\"  int8 ()\n  7\n"},
      {{"--tensor", "b0"}, "\"b0\"  int8 ()\n  7\n"},
      {{"--tensor", "w", "--limit", "3"},
          "\"w\"  int32 (2, 2)\n  1 2\n  -3\n  ... 3 of 4 elements\n"}};
  const Words dump = {"dump", kExample};
  for (const auto& [more, text] : rows) EXPECT_EQ(expect_params(joined(dump, more), 0).out, text);
  expect_params(joined(dump, {"--tensor", "missing"}), 2, {"no tensor \"missing\""});
  expect_params(joined(dump, {"--all", "--limit", "1"}), 2);
  expect_params(joined(dump, {"--limit", "-1"}), 2);
}

TEST_F(ParamsVerbs, DumpStopsAtSixteenUnlessAskedForAll) {
  std::string many = text_of_file(kExample);
  // "b0" as a vector of 20: its dimension, its extent, its size and its data.
  many.replace(147, 1, 1, 1);
  many = many.substr(0, 155) + std::string("\x14\0\0\0\0\0\0\0\x14\0\0\0\0\0\0\0", 16) +
      std::string(20, '\5');
  const std::string file = scratch.write("many.params", many);
  const auto shown = [&](const Words& more) {
    const Words words = joined({"dump", file, "--tensor", "b0", "--json"}, more);
    return json::parse(params(words).out)["tensors"][0]["values"].size();
  };
  EXPECT_EQ(shown({}), 16u);
  EXPECT_EQ(shown({"--all"}), 20u);
  EXPECT_EQ(shown({"--limit", "100"}), 20u);
  EXPECT_EQ(shown({"--limit", "0"}), 0u);
}

TEST_F(ParamsVerbs, ConvertToAnArchiveAndBackIsTheIdentity) {
  const std::string archive = scratch.path("a.npz"), back = scratch.path("b.params"),
                    again = scratch.path("c.npz");
  for (const char* name : {"worked_example", "every_dtype", "shapes", "no_tensors"}) {
    const std::string file = kGolden + name + ".params";
    expect_params({"convert", file, archive}, 0);
    EXPECT_EQ(text_of_file(archive).substr(0, 2), "PK") << "an archive is a zip file";
    expect_params({"diff", file, archive}, 0);
    expect_params({"convert", archive, back}, 0);
    EXPECT_EQ(text_of_file(back), text_of_file(file)) << name;
    expect_params({"convert", archive, again}, 0);
    EXPECT_EQ(text_of_file(again), text_of_file(archive)) << name;
  }
  expect_params({"verify", archive}, 0);
}

TEST_F(ParamsVerbs, ANameThatAnArchiveCannotHoldIsRefused) {
  std::string bytes = text_of_file(kExample);
  bytes[32] = '\\';
  const std::string file = scratch.write("backslash.params", bytes), to = scratch.path("to.npz");
  expect_contains(expect_params({"convert", file, to}, 1).err, "[npz_name]");
  EXPECT_FALSE(std::filesystem::exists(to));
}

TEST_F(ParamsVerbs, LabelsAreListedWithTheirMeaning) {
  expect_params({"labels"}, 0,
      {"\nndim                       a tensor must have 0 to 32 dimensions\n",
          "\nnpy_dtype                  the elements must be int or uint of 8 to 64 "
          "bits, or float of 16 to 64\n"});
}

TEST_F(ParamsVerbs, CompletionKnowsTheirOptions) {
  const Ended completion = lockstep_says({"completion"});
  for (const char* verb : {"list", "verify", "dump", "diff", "convert", "labels"})
    expect_contains(completion.out, std::string("params-") + verb + ")");
}

}  // namespace
}  // namespace lockstep::judge
