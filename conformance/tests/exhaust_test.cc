// Tests every value of elementwise operators: by the program, from its journal, and as evidence.
#include "conformance/run/exhaust.h"

#include "conformance/base/sha256.h"
#include "conformance/cases/fill.h"
#include "conformance/tests/verbs.h"
#include "spec/operators.h"
#include "spec/values.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;

// The outputs of one setting, by the loop and by the reference.
TEST(ValuesOf, AreThoseOfTheReference) {
  int settings = 0;
  for (int precision : {1, 2, 9})
    for (const OpInfo* op : operators()) {
      if (!values_of(*op)) continue;
      const ValuePlan plan = plan_values({std::string(op->name)}, {precision});
      for (std::size_t k = 0; k < plan.settings.size(); k += 7) {
        const i64 n = 2 * max_of(precision) + 1;
        const Case c = plan.call(k, 0, n);
        const std::vector<Tensor> in = inputs_of(c);
        const reference::Outcome right = reference::evaluate(*op, c.attributes(), in);
        std::vector<i32> out(in[0].data.size());
        values_of (*op)(c.attributes(), in[0].data.data(), out.data(), n);
        ASSERT_EQ(out, right.out[0].data) << case_id(c);
        ++settings;
      }
    }
  EXPECT_GT(settings, 900);
}

TEST(ValuePlan, HoldsEverySettingOnce) {
  const auto settings = [](const std::string& op, const std::vector<int>& precisions) {
    return plan_values({op}, precisions).settings.size();
  };
  EXPECT_EQ(settings("abs", {}), 32U);
  EXPECT_EQ(settings("cvm_clip", {8}), 64U);  // precision, is_sign
  EXPECT_EQ(settings("cvm_right_shift", {8}), 2048U);
  EXPECT_EQ(plan_values({}, {32}).operators.size(), 8U);
  EXPECT_EQ(plan_values({}, {32}).operators.back()->name, "clip") << "it has no end";
  EXPECT_EQ(plan_values({}, {}).precisions.front(), 32);
  // The ranges of a setting follow each other and hold 2^32 - 1 values.
  i64 next = 0;
  for (const ValuePlan::Range& r : plan_values({"relu"}, {32}).ranges) {
    EXPECT_EQ(r.first, next);
    next += r.values;
  }
  EXPECT_EQ(next, (i64{1} << 32) - 1);
  EXPECT_EQ(words_of<UsageError>([] { plan_values({"sum"}, {}); }),
      "no elementwise operator of one input matches 'sum'");
}

class ExhaustVerb : public ScratchTest {
 protected:
  const std::string journal = scratch.path("journal");
  static Words of(const std::string& backend, const std::string& more) {
    return joined({"exhaust", backend}, words_in(more + " --quiet --jobs 2"));
  }
};

TEST_F(ExhaustVerb, ComparesEveryValue) {
  expect_end(of("cpu", "--op abs,cvm_clip --precision 1,17"), 0,
      {"EXHAUSTED  8,519,680 of 8,519,680 values of 2 operators with 130 settings, 0 wrong; not "
       "all precisions; exit 0 (pass)"});
  const json j = judged(of("cpu", "--op clip --precision 3")).report;
  EXPECT_TRUE(j["complete"]);
  EXPECT_FALSE(j["operators"][0]["every_setting"]);
  expect_contains(j["text"], "of clip only settings at powers of two and their neighbours");
  EXPECT_EQ(j["operators"][0]["digest"],
      judged(of("reference", "--op clip --precision 3")).report["operators"][0]["digest"]);
  expect_end(of("cpu", "--op sum"), 2, {"no elementwise operator of one input matches 'sum'"});
  expect_end(of("cpu", "--precision 33"), 2);
}

// A tier tries this value with a chance of a few in a million.
TEST_F(ExhaustVerb, FindsTheOnlyWrongValue) {
  const Words words =
      of(hostile("misbehaving"), "--op abs,relu --precision 21 --set fault=one_value");
  const Ended e = expect_end(words, 1,
      {"  of 777777: expected 777777, got 777776\n", "FAIL  4,194,302 of 4,194,302 values",
          "2 wrong", "repeat: lockstep repro "});
  const std::string id = e.out.substr(e.out.find("'abs/"), e.out.find("fill=range") - 1);
  expect_end(
      words_in("repro",
          {hostile("misbehaving"), "--set", "fault=one_value", id.substr(1, id.find('\'', 1) - 1)}),
      1, {"violates  matches_reference"});
}

TEST_F(ExhaustVerb, CountsWhatABackendDoesNotAnswer) {
  expect_end(of(hostile("misbehaving"), "--op relu --precision 9 --timeout 0.3 --set fault=hang"),
      1, {"timed_out: no answer", "511 wrong"});
  expect_end(of(hostile("misbehaving"), "--op relu --precision 9 --set fault=before_begin"), 1,
      {"4 bytes before its memory", "1 wrong"});
}

// Waits until a run has noted so many ranges, and kills it and its processes.
void kill_after(const std::string& journal, const Words& words, const std::string& lines) {
  std::string command = program();
  for (const std::string& w : words) command += " '" + w + "'";
  run({"bash", "-c",
      command + " & judge=$!; while [ ! -s " + journal + " ] || [ $(wc -l < " + journal + ") -lt " +
          lines + " ]; do sleep 0.02; done; kill -9 $judge; wait $judge"});
}

TEST_F(ExhaustVerb, GoesOnAfterItWasKilled) {
  const std::string scope = "--op cvm_right_shift --precision 14";
  const json whole = judged(of("reference", scope)).report;
  const Words resumed = joined(of("reference", scope), {"--resume", journal});
  kill_after(journal, resumed, "20");
  const std::size_t before = lines_of(text_of_file(journal)).size();
  ASSERT_GE(before, 20U);
  ASSERT_LT(before, 2049U) << "it was done before it was killed";
  EXPECT_EQ(judged(resumed).report, whole);
  const std::string text = text_of_file(journal);
  EXPECT_EQ(lines_of(text).size(), 2049U);
  EXPECT_EQ(judged(resumed).report, whole);
  EXPECT_EQ(text_of_file(journal), text) << "nothing was put again";
}

TEST_F(ExhaustVerb, RefusesTheJournalOfAnotherBackend) {
  const std::string scope = "--op abs --precision 5";
  const Words resume = {"--resume", journal};
  expect_end(joined(of("reference", scope), resume), 0);
  expect_end(joined(of("null", scope), resume), 2,
      {"it belongs to another run: its backend is \"reference\", not \"null\""});
  expect_end(
      joined(of("reference", "--op abs --precision 6"), resume), 2, {"its precisions is [5]"});
  const std::string good = text_of_file(journal), head = good.substr(0, good.find('\n') + 1);
  for (const char* line : {R"({"n":0,"digest":""})", R"({"n":0,"digest":"x"})", R"({"n":0})"}) {
    scratch.write("journal", head + line + "\n");
    expect_end(joined(of("reference", scope), resume), 2, {"the journal's line of range 0: "});
  }
}

TEST_F(ExhaustVerb, EndsWithWhatIsKnownAtAnInterrupt) {
  std::string command = program();
  for (const std::string& w : of("reference", "--resume " + journal)) command += " '" + w + "'";
  // The widest ranges take longer than the wait.
  const Ended e = run({"bash", "-c",
      command + " & judge=$!; while [ ! -s " + journal +
          " ]; do sleep 0.02; done; kill -INT $judge; wait $judge"});
  expect_end(e, 3, {"INCOMPLETE  0 of ", "exit 3 (incomplete)"});
  expect_end(of("reference", "--deadline 0.5"), 3, {"INCOMPLETE"});
}

class WitnessTest : public ExhaustVerb {
 protected:
  const std::string device = hostile("device");
  Words whole(const std::string& more) const {
    return of(device, "--op relu --witness " + device + " " + more);
  }
};

TEST_F(WitnessTest, GivesTheDigestsOfAComparisonHere) {
  const json there = judged(whole("--precision 17,3")).report;
  EXPECT_EQ(there["witness_sha256"], sha256(text_of_file(device)));
  EXPECT_EQ(
      there["operators"], judged(of(device, "--op relu --precision 17,3")).report["operators"]);
  // The first of all operators is none of those that it claims.
  const json all = judged(of(device, "--precision 17,3 --witness " + device)).report;
  EXPECT_EQ(all["witness_sha256"], there["witness_sha256"]);
  EXPECT_TRUE(all["complete"]);
  const Words early = of("reference", "--deadline 0.001 --json - --witness " + device);
  EXPECT_FALSE(json::parse(lockstep_says(early).out).contains("witness_sha256"));
  // A witness for memory of another kind, and a backend without a device.
  for (const Ended& e : {lockstep_says(whole("--precision 9 --json -"), {{"WITNESS", "elsewhere"}}),
           lockstep_says(of("cpu", "--op relu --precision 9 --json - --witness " + device))}) {
    EXPECT_FALSE(json::parse(e.out).contains("witness_sha256"));
    expect_end(e, 0, {"EXHAUSTED  511 of 511 values"});
  }
}

TEST_F(WitnessTest, FindsTheOnlyWrongValueOnTheDevice) {
  expect_end(whole("--precision 21 --set fault=one_value"), 1,
      {"  of 777: expected 777, got 776\n", "1 wrong", "'relu/in=131072@21/fill=range:1049352'"});
  expect_end(whole("--precision 17 --set fault=large"), 1,
      {"  of -64301: expected 0, got 1\n", "1 wrong"});
  // No smaller call repeats this one.
  expect_end(whole("--precision 21 --set fault=huge"), 1,
      {"  of -1047341: got 1\n", "1 wrong", "'relu/in=2097151@21/fill=range:0'"});
}

TEST_F(WitnessTest, SeesWhatIsWrittenBesideTensors) {
  expect_end(whole("--precision 17 --set fault=overrun"), 1,
      {"words written beside the output: 1\n", "1 wrong"});
  expect_end(whole("--precision 21 --set fault=huge_input"), 1,
      {"words written beside the output: 1\n", "1 wrong"});
  expect_end(whole("--precision 21 --set fault=huge_scratch"), 1,
      {"memory beside scratch memory was written", "1 wrong"});
}

TEST_F(WitnessTest, IsNotBelievedAlone) {
  expect_end(whole("--precision 17 --set fault=value"), 1, {"1 wrong"}, {{"WITNESS", "tires"}});
  expect_end(whole("--precision 17"), 2, {"the witness: no range of values has such a tally"},
      {{"WITNESS", "lies"}});
  for (const char* fault : {"blind", "miscounts"})
    expect_end(whole("--precision 17"), 4,
        {"the witness '" + device + "' misses a wrong output of relu, or sees one that is right"},
        {{"WITNESS", fault}});
  expect_end(whole("--precision 17"), 1,
      {"runtime_error: the values cannot be compared: the witness is ill", "131,071 wrong"},
      {{"WITNESS", "ill"}});
  expect_end(of(device, "--op relu --witness nowhere.so"), 2, {"there is no witness 'nowhere.so'"});
  expect_end(of(device, "--op relu --witness " + hostile("misbehaving")), 2,
      {"the witness: ", "misbehaving.so has no lockstep_witness_v1"});
}

TEST_F(WitnessTest, CountsWhatTheDeviceDoesNotAnswer) {
  expect_end(whole("--precision 9 --set fault=wait"), 1,
      {"runtime_error: the device fell off the bus", "511 wrong"});
}

TEST_F(WitnessTest, HasAJournalOfItsOwn) {
  const Words resume = {"--resume", journal};
  expect_end(joined(whole("--precision 9"), resume), 0, {"0 wrong; compared on the device; not"});
  expect_end(joined(whole("--precision 9"), resume), 0, {"EXHAUSTED  511 of 511 values"});
  expect_end(joined(of(device, "--op relu --precision 9 --witness ''"), resume), 2,
      {"it belongs to another run: its witness_sha256"});
}

class ValueEvidence : public ExhaustVerb {
 protected:
  const std::string directory = scratch.path("evidence");
  Ended attest(const std::string& backend, const std::string& file) {
    return lockstep_says(joined({"report", "attest", backend, directory},
        words_in("--tier 0 --op relu --quiet --values " + file)));
  }
};

TEST_F(ValueEvidence, StatesWhatTheJournalKnows) {
  expect_end(joined(of("reference", "--op abs --precision 11"), {"--resume", journal}), 0);
  std::ofstream(journal, std::ios::app) << R"({"n":)";  // as a killed run leaves it
  expect_end(attest("null", journal), 2, {"it is about another backend, 'reference'"});
  EXPECT_FALSE(std::filesystem::exists(directory));
  expect_end(attest("reference", journal), 0);
  const json statement = json::parse(text_of_file(directory + "/statement.json"));
  const std::string line =
      "EXHAUSTED  2,047 of 2,047 values of 1 operator with 1 setting, 0 wrong; not all precisions";
  EXPECT_EQ(statement["predicate"]["values"], line);
  const Words verify = {"report", "verify", directory};
  expect_end(verify, 0, {"values: " + line + "; 0 ranges were put again"});
  expect_end(joined(verify, words_in("reference --rerun 5 --quiet")), 0,
      {"values: " + line + "; 1 ranges were put again"});
  std::ofstream(directory + "/values.jsonl", std::ios::app) << "\n";
  expect_end(verify, 2, {"values.jsonl is not the one that statement.json names"});
}

TEST_F(ValueEvidence, OfOtherOutputsIsRefuted) {
  expect_end(joined(of("reference", "--op abs --precision 11"), {"--resume", journal}), 0);
  std::string text = text_of_file(journal);
  const std::size_t digest = text.rfind("\"digest\":\"") + 10;
  scratch.write("journal", text.replace(digest, 64, std::string(64, 'a')));
  expect_end(attest("reference", journal), 0);
  expect_end({"report", "verify", directory, "reference", "--rerun", "5", "--quiet"}, 1,
      {"refuted: range 0 of the values: declared 0 wrong, this time 0, with other outputs"});
}

TEST_F(ValueEvidence, OfAWrongValueIsNoPass) {
  const std::string liar = hostile("misbehaving"), fault = " --set fault=one_value";
  expect_end(joined(of(liar, "--op abs --precision 21" + fault), {"--resume", journal}), 1);
  expect_end(attest(liar, journal + fault), 1, {"PASS"});
  expect_end({"report", "verify", directory}, 1, {"values: FAIL  2,097,151 of 2,097,151 values"});
}

}  // namespace
}  // namespace lockstep::judge
