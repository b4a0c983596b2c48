// The verbs of `lockstep params`, as a user sees them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::json;

const std::string kGolden = "containers/tests/golden/";
const std::string kExample = kGolden + "worked_example.params";

Ended params(std::vector<std::string> words) {
  words.insert(words.begin(), "params");
  return lockstep_says(words);
}

/// The worked example with one byte replaced.
std::string damaged(const Scratch& scratch, std::size_t offset, char byte) {
  std::string bytes = text_of_file(kExample);
  bytes.at(offset) = byte;
  return scratch.write("damaged.params", bytes);
}

TEST(ParamsVerbs, ListShowsEveryTensor) {
  const Ended e = params({"list", kExample});
  EXPECT_EQ(e.exit, 0) << e.err;
  expect_contains(e.out, "w                                int32    (2, 2)");
  expect_contains(e.out, "2 tensors, 17 bytes of data in 164 bytes");
  EXPECT_EQ(json::parse(params({"list", kExample, "--json"}).out)["tensors"][1]["dtype"], "int8");
}

TEST(ParamsVerbs, VerifyJudgesEachFileAndFailsForOne) {
  const Scratch scratch;
  const std::string faulty = damaged(scratch, 79, 9);
  const Ended e = params({"verify", faulty, kExample});
  EXPECT_EQ(e.exit, 1);
  expect_contains(e.out, "damaged.params: rejected, dtype_code at byte 79 in tensor \"w\"");
  expect_contains(e.out, "worked_example.params: valid, 2 tensors, 17 bytes of data");
  expect_contains(e.out, "1 of 2 files valid\nexit 1 (fail)");
  EXPECT_EQ(params({"verify", kExample}).exit, 0);
  const Ended missing = params({"verify", kExample, scratch.path("missing"), faulty});
  EXPECT_EQ(missing.exit, 2);
  expect_contains(missing.out, "missing: not read: cannot open");
  expect_contains(missing.out, "dtype_code");  // the files after it are judged all the same
}

TEST(ParamsVerbs, EveryVerbFailsForAFaultyFileWithItsLabel) {
  const Scratch scratch;
  const std::string faulty = damaged(scratch, 79, 9), to = scratch.path("to.params");
  const std::vector<std::string> rows[] = {{"list", faulty},           {"list", "--json", faulty},
                                           {"dump", faulty},           {"diff", faulty, kExample},
                                           {"diff", kExample, faulty}, {"convert", faulty, to}};
  for (const std::vector<std::string>& words : rows) {
    const Ended e = params(words);
    EXPECT_EQ(e.exit, 1) << words[0] << e.out << e.err;
    expect_contains(e.err, "[dtype_code] (exit 1, fail)\n");
    EXPECT_EQ(e.out, "");
  }
  EXPECT_EQ(text_of_file(to), "");
}

// A file that is there and cannot be read is nobody's mistake, and no reason to be silent.
TEST(ParamsVerbs, WhatCannotBeReadToItsEndIsNamed) {
  const std::string broken = "/proc/self/mem";
  const Ended e = params({"verify", broken, kExample});
  EXPECT_EQ(e.exit, 4);
  expect_contains(e.out, broken + ": not read: reading " + broken + " failed: ");
  expect_contains(e.out, "Input/output error");
  expect_contains(e.out, "worked_example.params: valid");
  expect_contains(e.out, "1 of 2 files valid");
  const Ended listed = params({"list", broken});
  EXPECT_EQ(listed.exit, 4);
  expect_contains(listed.err, "reading " + broken + " failed: ");
}

TEST(ParamsVerbs, LeniencyIgnoresAndCountsTrailingBytes) {
  const Scratch scratch;
  const std::string longer = scratch.write("longer.params", text_of_file(kExample) + "abc");
  EXPECT_EQ(params({"verify", longer}).exit, 1);
  const Ended e = params({"verify", "--lenient", longer});
  EXPECT_EQ(e.exit, 0);
  expect_contains(e.out, "3 trailing bytes ignored");
  const std::string clean = scratch.path("clean.params");
  EXPECT_EQ(params({"convert", "--lenient", longer, clean}).exit, 0);
  EXPECT_EQ(text_of_file(clean), text_of_file(kExample));
  expect_contains(params({"list", "--lenient", longer}).out, "3 trailing bytes ignored");
}

TEST(ParamsVerbs, DumpShowsChosenValues) {
  const Ended e = params({"dump", kExample});
  EXPECT_EQ(e.exit, 0) << e.err;
  EXPECT_EQ(e.out, "\"w\"  int32 (2, 2)\n  1 2\n  -3 4\n\"b0\"  int8 ()\n  7\n");
  EXPECT_EQ(params({"dump", kExample, "--tensor", "b0"}).out, "\"b0\"  int8 ()\n  7\n");
  EXPECT_EQ(params({"dump", kExample, "--tensor", "w", "--limit", "3"}).out,
            "\"w\"  int32 (2, 2)\n  1 2\n  -3\n  ... 3 of 4 elements\n");
  const Ended none = params({"dump", kExample, "--tensor", "missing"});
  EXPECT_EQ(none.exit, 2);
  expect_contains(none.err, "no tensor \"missing\"");
  EXPECT_EQ(params({"dump", kExample, "--all", "--limit", "1"}).exit, 2);
  EXPECT_EQ(params({"dump", kExample, "--limit", "-1"}).exit, 2);
}

TEST(ParamsVerbs, DumpStopsAtSixteenUnlessAskedForAll) {
  const Scratch scratch;
  std::string many = text_of_file(kExample);
  // "b0" as a vector of 20: its dimension, its extent, its size and its data.
  many.replace(147, 1, 1, 1);
  many = many.substr(0, 155) + std::string("\x14\0\0\0\0\0\0\0\x14\0\0\0\0\0\0\0", 16) +
         std::string(20, '\5');
  const std::string file = scratch.write("many.params", many);
  const auto shown = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"dump", file, "--tensor", "b0", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return json::parse(params(words).out)["tensors"][0]["values"].size();
  };
  EXPECT_EQ(shown({}), 16u);
  EXPECT_EQ(shown({"--all"}), 20u);
  EXPECT_EQ(shown({"--limit", "100"}), 20u);
  EXPECT_EQ(shown({"--limit", "0"}), 0u);
}

TEST(ParamsVerbs, DiffNamesWhatDiffers) {
  const Scratch scratch;
  EXPECT_EQ(params({"diff", kExample, kExample}).exit, 0);
  const Ended e = params({"diff", kExample, damaged(scratch, 115, 9)});
  EXPECT_EQ(e.exit, 1);
  expect_contains(e.out,
                  "values          \"w\"  1 of 4 elements, the first at [1, 0]: -3 and -247");
  expect_contains(e.out, "1 differences\nexit 1 (fail)");
  const Ended types = params({"diff", kExample, kGolden + "every_dtype.params"});
  EXPECT_EQ(types.exit, 1);
  expect_contains(types.out, "only_in_first   \"w\"  int32 (2, 2)");
  expect_contains(types.out, "only_in_second  \"float64\"  float64 (3,)");
}

TEST(ParamsVerbs, ConvertToAnArchiveAndBackIsTheIdentity) {
  const Scratch scratch;
  const std::string archive = scratch.path("a.npz"), back = scratch.path("b.params"),
                    again = scratch.path("c.npz");
  for (const char* name : {"worked_example", "every_dtype", "shapes", "no_tensors"}) {
    const std::string file = kGolden + name + ".params";
    const Ended e = params({"convert", file, archive});
    EXPECT_EQ(e.exit, 0) << e.err;
    EXPECT_EQ(text_of_file(archive).substr(0, 2), "PK") << "an archive is a zip file";
    EXPECT_EQ(params({"diff", file, archive}).exit, 0) << name;
    EXPECT_EQ(params({"convert", archive, back}).exit, 0);
    EXPECT_EQ(text_of_file(back), text_of_file(file)) << name;
    EXPECT_EQ(params({"convert", archive, again}).exit, 0);
    EXPECT_EQ(text_of_file(again), text_of_file(archive)) << name;
  }
  EXPECT_EQ(params({"verify", archive}).exit, 0);
}

TEST(ParamsVerbs, AFaultyFileFailsAndAMissingOneIsWrongUsage) {
  const Scratch scratch;
  const std::string faulty = damaged(scratch, 0, 0), to = scratch.path("to.params");
  for (const auto& words : std::vector<std::vector<std::string>>{{"list", faulty},
                                                                 {"dump", faulty},
                                                                 {"diff", faulty, kExample},
                                                                 {"convert", faulty, to}}) {
    const Ended e = params(words);
    EXPECT_EQ(e.exit, 1) << words[0];
    expect_contains(e.err, "[magic]");
    EXPECT_EQ(e.out, "") << words[0];
  }
  EXPECT_FALSE(std::filesystem::exists(to)) << "nothing is written of a file that is faulty";
  EXPECT_EQ(params({"list", scratch.path("missing")}).exit, 2);
  EXPECT_EQ(params({"list"}).exit, 2);
  EXPECT_EQ(params({"list", kExample, kExample}).exit, 2);
  EXPECT_EQ(params({"verify"}).exit, 2);
}

TEST(ParamsVerbs, ANameThatAnArchiveCannotHoldIsRefused) {
  const Scratch scratch;
  std::string bytes = text_of_file(kExample);
  bytes[32] = '\\';
  const std::string file = scratch.write("backslash.params", bytes), to = scratch.path("to.npz");
  const Ended e = params({"convert", file, to});
  EXPECT_EQ(e.exit, 1);
  expect_contains(e.err, "[npz_name]");
  EXPECT_FALSE(std::filesystem::exists(to));
}

TEST(ParamsVerbs, LabelsAreListedWithTheirMeaning) {
  const Ended e = params({"labels"});
  EXPECT_EQ(e.exit, 0) << e.err;
  expect_contains(e.out, "\nndim                       a tensor must have 0 to 32 dimensions\n");
  expect_contains(e.out,
                  "\nnpy_dtype                  a parameter file has no elements of this type\n");
}

TEST(ParamsVerbs, HelpNamesTheVerbsAndCompletionTheirOptions) {
  const Ended help = params({"--help"});
  const Ended completion = lockstep_says({"completion"});
  for (const char* verb : {"list", "verify", "dump", "diff", "convert", "labels"}) {
    expect_contains(help.out, std::string("\n  ") + verb);
    expect_contains(completion.out, std::string("params-") + verb + ")");
  }
  expect_contains(help.out, "0 valid or equal, 1 a file is faulty or they differ, 2 usage");
}

TEST(ParamsVerbs, CompletionWorksInBash) {
  const Scratch scratch;
  const auto completed = [&](const std::string& words, int at) {
    const std::string script =
        scratch.write("complete.sh", "source <(" + program() + " completion)\nCOMP_WORDS=(" +
                                         words + ")\nCOMP_CWORD=" + std::to_string(at) +
                                         "\n_lockstep\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return run({"bash", script}).out;
  };
  EXPECT_EQ(completed("lockstep par", 1), "params\n");
  EXPECT_EQ(completed("lockstep params di", 2), "diff\n");
  EXPECT_EQ(completed("lockstep params dump --li", 3), "--limit\n");
  EXPECT_EQ(completed("lockstep check --js", 2), "--json\n");
}

}  // namespace
}  // namespace lockstep::judge
