// Wrong options, commands that are no backends, and the outcome of runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;

Words check_of(const std::string& backend, const Words& more = {}) {
  return joined({"check", backend}, words_in("--tier 0 --op relu,sum,take --vectors ''", more));
}

TEST(Usage, OfWhatDoesNotExist) {
  const std::pair<std::string, std::string> rows[] = {{"", "subcommand is required"},
      {"chekc", "no verb 'chekc'; did you mean 'check'?"}, {"check", "check needs a BACKEND"},
      {"check reference --op nope", "no operator matches 'nope'"},
      {"check reference --property nope", "no property 'nope'"},
      {"check reference --profile nn", "no operator is of the profile 'nn'"},
      {"check reference --profile NN --op relu",
          "no operator has a chosen name and a chosen profile"},
      // The program must look for the backend before it makes the cases, which takes seconds.
      {"check nope --vectors /nowhere", "no backend 'nope'"},
      {"digest nope --vectors /nowhere", "no backend 'nope'"},
      {"check /nowhere/nope.so", "no file '/nowhere/nope.so'"}, {"check /tmp", "'/tmp' is no file"},
      {"check exec:", "exec: needs a command"}, {"show nope", "no operator 'nope'"},
      {"repro reference nope/in=1@8", "no operator 'nope'"},
      {"repro reference relu/axis=1/in=1@8", "relu has no attribute 'axis'"},
      {"repro reference relu/in=1@8/data=300", "300 is outside precision 8"},
      {"check reference --set thread=1", "no option 'thread'"},
      {"check exec:cat --set a=1", "takes no option 'a'"},
      {"check reference --vectors /nowhere", "/nowhere"}};
  for (const auto& [line, says] : rows) expect_end(words_in(line), 2, {says});
  const Scratch part;
  std::filesystem::copy(
      build_directory() / "share" / "lockstep" / "vectors" / "relu.json", part.path("relu.json"));
  expect_end(words_in("check reference --op sum --tier 0 --vectors", {part.path("")}), 2,
      {"no golden vectors of 'sum' in "});
}

TEST(Usage, OfOptionsWithWrongValues) {
  const std::pair<std::string, std::string> rows[] = {{"--tier 4", "--tier"},
      {"--tier x", "--tier"}, {"--timeout 0", "--timeout"}, {"--timeout 1e300", "--timeout"},
      {"--jobs -1", "--jobs"}, {"--set fault", "KEY=VALUE"},
      {"--cases /nowhere/c", "cannot read '/nowhere/c'"},
      {"--json /nowhere/r", "cannot write '/nowhere/r'"},
      {"--junit /nowhere/r", "cannot write '/nowhere/r'"}};
  for (const auto& [line, says] : rows)
    expect_end(check_of("reference", words_in(line)), 2, {says});
}

// Every verb that takes a number, with one that its option refuses.
TEST(Usage, OfNumbersThatAnOptionDoesNotTake) {
  const std::pair<std::string, Words> rows[] = {
      {"--seed -1",
          {"check reference", "fuzz reference", "mutants", "emit", "digest reference", "cover",
              "model make lenet"}},
      {"--seed 18446744073709551616",
          {"check reference", "fuzz reference", "mutants", "emit", "digest reference", "cover",
              "model make lenet"}},
      {"--tier -1", {"check reference", "mutants", "emit", "digest reference", "cover"}},
      {"--budget 0", {"check reference", "mutants", "emit", "digest reference"}},
      {"--budget 9223372036854775808", {"check reference", "mutants", "emit", "digest reference"}},
      {"--jobs -1",
          {"check reference", "fuzz reference", "mutants", "exhaust reference", "digest reference",
              "repro reference relu/in=1@8"}},
      {"--jobs 2147483648", {"check reference", "exhaust reference"}},
      {"--timeout nan",
          {"check reference", "fuzz reference", "mutants", "exhaust reference", "digest reference",
              "repro reference relu/in=1@8", "eval"}},
      {"--start-timeout inf", {"check reference", "mutants"}},
      {"--memory nan", {"check reference", "repro reference relu/in=1@8"}},
      {"--deadline nan", {"check reference", "exhaust reference"}},
      {"--count 0", {"fuzz reference"}}, {"--precision 0", {"exhaust reference"}},
      {"--n 9223372036854775808", {"mutants --source spec"}}, {"--limit -1", {"params dump FILE"}}};
  for (const auto& [option, verbs] : rows)
    for (const std::string& verb : verbs)
      expect_end(words_in(verb + " " + option), 2, {option.substr(0, option.find(' '))});
}

TEST(Usage, OfFilesThatAreNoLibrary) {
  const Scratch scratch;
  const std::string text = scratch.write("text.so", "hello\n"), none = scratch.write("none.so", "");
  for (const std::string& file : {text, none})
    expect_end({"check", file, "--tier", "0"}, 2, {"'" + file + "' is no backend: no library:"});
  expect_end(
      {"check", "reference", "--cases", scratch.write("cases", "# none\n")}, 2, {"no case in"});
}

TEST(Vacuous, SelectionsAreIncomplete) {
  const Words rows[] = {check_of("reference", {"--property", "matches_vectors"}),
      check_of("reference", {"--property", "isa"}), check_of("null", {"--property", "infers"}),
      check_of(hostile("device"), {"--op", "sum", "--property", "rejects"}),
      {"check", hostile("device"), "--case", "sum/in=1@8/fill=zero:0"}};
  for (const Words& words : rows) expect_end(words, 3, {"exit 3 (incomplete)"});
}

// Commands, the verdict on each, and its reason.
TEST(Commands, ThatAreNoBackendFail) {
  const std::tuple<std::string, std::string, const char*> rows[] = {
      {"cat", "FAIL", "the line is not an answer"}, {"sleep 999", "TIMEOUT", "no answer in time"},
      {"nonexistent-command", "CRASH", "nonexistent-command: not found"}};
  for (const auto& [command, verdict, says] : rows)
    expect_end(
        check_of("exec:" + command, {"--start-timeout", command == "sleep 999" ? "0.5" : "20"}), 1,
        {"\n" + verdict + "  " + command, says});
}

// The program's own answers, every tenth of which this filter spoils.
std::string spoiled(const std::string& change) {
  return "exec:lockstep eval --backend reference --cases - | sed -u '10~10 " + change + "'";
}

TEST(Commands, ThatAreRightNineTimesInTenFail) {
  const std::pair<const char*, const char*> rows[] = {
      {R"(s/"data":\[/&1,/)", "broken_channel: "},
      {R"(s/"prec":/&1/)", "of precision"},
      {R"(s/"shape":\[/&1,/)", "expected ("},
      {R"(s/"status":"ok".*/"status":"unsupported","message":"not today"}/)", "not today"},
  };
  const Words brief = words_in("--property matches_reference,infers --timeout 20 --no-shrink");
  for (const auto& [change, says] : rows) expect_end(check_of(spoiled(change), brief), 1, {says});
  expect_end(check_of(spoiled("s/a/a/"), {"--timeout", "20"}), 0);
}

TEST(Coverage, OfAnOperatorIsComplete) {
  EXPECT_EQ(json::parse(expect_end(words_in("cover --op relu --json -"), 0).out)["complete"], true);
  expect_end(words_in("cover --op nope"), 2);
}

TEST(Reports, DoNotDependOnHowTheWorkIsShared) {
  const auto misbehaving = [](const std::string& fault) {
    return check_of(hostile("misbehaving"), {"--set", "fault=" + fault});
  };
  // The judge quarantines an operator that crashes too often at the same case, whichever process
  // finds it. With vectors, operators come in turns, so some process is always at a case of a
  // quarantined operator.
  const Words in_turns = joined(
      {"check", hostile("misbehaving")}, words_in("--tier 0 --op relu,sum --set fault=segfault"));
  for (const Words& words : {check_of("reference"), check_of("null"), misbehaving("infer"),
           misbehaving("padding"), misbehaving("segfault"), misbehaving("after_end"), in_turns}) {
    std::string first;
    for (const char* jobs : {"1", "1", "2", "3"}) {
      const Words shared = words_in("--json - --no-shrink --jobs", {jobs});
      const std::string report = lockstep_says(joined(words, shared)).out;
      if (first.empty()) first = report;
      EXPECT_GT(report.size(), 100U);
      EXPECT_EQ(report, first) << words.back() << " with " << jobs << " jobs";
    }
  }
}

TEST(Reports, SayHowToRepeatWhatTheyShow) {
  for (const Words& more : {Words{"--json", "-"}, Words{"--json", "-", "--no-shrink"}}) {
    const json report = json::parse(lockstep_says(check_of("null", more)).out);
    ASSERT_GE(report["failures"].size(), 3U);
    for (const json& f : report["failures"]) {
      const std::string repeat = f["repeat"];
      ASSERT_TRUE(repeat.starts_with("lockstep repro null ")) << repeat;
      expect_end(run({"sh", "-c", program() + repeat.substr(repeat.find(' '))}), 1,
          {"violates  " + f["property"].get<std::string>()});
    }
  }
}

TEST(Reports, OfMutantsStandAloneOnStandardOutput) {
  const Words brief = words_in("mutants relu.* --op relu --tier 0 --until-dead --json -");
  const json fates = json::parse(lockstep_says(brief).out);
  EXPECT_GE(fates["mutants"].size(), 3U);
}

TEST(Reports, HaveNoColourInAPipe) {
  for (const char* backend : {"reference", "null", "exec:true"}) {
    const Ended e = lockstep_says(check_of(backend), {{"TERM", "xterm-256color"}});
    EXPECT_EQ((e.out + e.err).find('\033'), std::string::npos);
  }
}

TEST(Reports, HaveNoControlCharactersOfABackend) {
  const Ended e = lockstep_says(check_of(hostile("misbehaving"), {"--set", "fault=garbled"}));
  for (char c : e.out) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 32);
}

TEST(Reports, HaveNoControlCharactersOfACommand) {
  const std::string command = "exec:false\n# \033[31m 'red' \\ \t\x7f";
  for (const char* way : {"--no-shrink", "--quiet"}) {
    const Ended e = lockstep_says(check_of(command, {way, "--start-timeout", "20"}));
    EXPECT_EQ(e.exit, 1) << e.err;
    for (char c : e.out)
      EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 32 && c != 127));
    expect_contains("\n" + e.out, "\nCRASH  false?# ?[31m 'red' \\ ?? unknown  SUBSET (");
  }
  const json report = json::parse(lockstep_says(check_of(command, {"--json", "-"})).out);
  EXPECT_EQ(report["backend"]["argument"], command);
  const std::string repeat = report["failures"][0]["repeat"];
  EXPECT_EQ(repeat.find('\n'), std::string::npos);
  // The shell turns the quoted text into the same command.
  const Ended words = run({"sh", "-c", "lockstep() { printf '%s' \"$2\"; }; " + repeat});
  EXPECT_EQ(words.out, command);
}

TEST(Reports, NameVectorsSoThatTheyCanBeRepeated) {
  const Words words = words_in("check null --op relu --tier 0 --property matches_vectors");
  const json failures = judged(words).report["failures"];
  ASSERT_EQ(failures.size(), 1U);
  expect_contains(failures[0]["case"], "relu-");
  const std::string repeat = failures[0]["repeat"];
  expect_end(run({"sh", "-c", program() + repeat.substr(repeat.find(' '))}), 1,
      {"violates  matches_vectors"});
}

// The verbs that completion knows; a verb of a group has the name of the group and a dash before
// it.
std::vector<Words> every_verb() {
  std::vector<Words> all;
  for (const std::string& line : lines_of(lockstep_says({"completion"}).out)) {
    const std::size_t end = line.find(") COMPREPLY=");
    if (end == std::string::npos) continue;
    const std::string name = line.substr(line.find_first_not_of(' '), end - 4);
    const std::size_t dash = name.find('-');
    all.push_back({name.substr(0, dash)});
    if (dash != std::string::npos) all.back().push_back(name.substr(dash + 1));
  }
  return all;
}

TEST(Verbs, RefuseAWrongOptionAsWrongUsage) {
  const auto verbs = every_verb();
  EXPECT_GT(verbs.size(), 30U);
  for (const Words& verb : verbs)
    EXPECT_NE(expect_end(joined(verb, {"--no-such-option"}), 2).err, "") << verb.back();
}

TEST(Verbs, RefuseAFaultyFileThatIsNoModelAsWrongUsage) {
  const Scratch scratch;
  const std::string faulty = scratch.write("faulty.json", "{\"schema\":");
  scratch.write("relu.json", "{");
  const std::string vectors = std::filesystem::path(faulty).parent_path();
  // Where FILE is the faulty file, and DIR its directory.
  for (const char* line : {"report html FILE", "report markdown FILE", "report junit FILE",
           "report text FILE", "report digest FILE", "report merge FILE --output -",
           "report agree FILE FILE", "report verify DIR", "diff FILE FILE", "spec diff FILE FILE",
           "check null --expectations FILE --quiet", "check null --cases FILE --quiet",
           "check null --resume FILE --op relu --tier 0 --quiet",
           "check null --vectors DIR --op relu --tier 0 --quiet", "emit --cases FILE",
           "digest reference --cases FILE --quiet", "repro null relu-0001 --vectors DIR",
           "vectors add DIR FILE"}) {
    Words words = words_in(line);
    std::replace(words.begin(), words.end(), std::string("FILE"), faulty);
    std::replace(words.begin(), words.end(), std::string("DIR"), vectors);
    expect_end(words, 2, {" (exit 2, usage)\n"});
  }
  expect_end({"vectors", "check", vectors}, 1,
      {"faulty.json: it is no JSON\nrelu.json: it is no JSON\n", "FAIL  0 tests, "});
}

TEST(Completion, IsBash) {
  const std::tuple<const char*, const char*, std::string> rows[] = {
      {"lockstep check --ti", "2", "--tier --timeout\n"}, {"lockstep rep", "1", "repro report\n"},
      {"lockstep par", "1", "params\n"}, {"lockstep params di", "2", "diff\n"},
      {"lockstep params dump --li", "3", "--limit\n"}, {"lockstep check --js", "2", "--json\n"}};
  for (const auto& [words, at, replies] : rows) {
    const std::string use = std::string("; COMP_WORDS=(") + words + "); COMP_CWORD=" + at +
        "; _lockstep; echo ${COMPREPLY[@]}";
    const Ended e = run({"bash", "-uec", "source <(" + program() + " completion)" + use});
    EXPECT_EQ(e.out, replies) << e.err;
  }
}

}  // namespace
}  // namespace lockstep::judge
