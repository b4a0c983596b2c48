// In which ways a trial runs a case on a subject, and what happens to the ways after one that kills
// it.
#include "conformance/trial/trial.h"

#include <gtest/gtest.h>

#include "conformance/run/jobs.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/trials.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/verdict.h"

namespace lockstep::judge {
namespace {

// A subject that shares its memory and notes how each call is run: its layout unless that is
// compact, its configuration, where its tensors lie unless they end at a page, whether its plan
// runs again. It ends at one of them.
class Watching : public ReferenceSubject {
 public:
  std::string asked;
  bool infers = true, shared = true, dies_in_infer = false;
  int dies_at = -1, dies_of_callers = -1;  // a configuration, a caller
  std::size_t callers = 4;

  Watching() { manifest_.strided = true; }
  Manifest& manifest_to_change() { return manifest_; }
  bool shares_memory() const override { return shared; }
  bool can_infer() const override { return infers; }
  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run& run) override {
    constexpr const char* kBases[] = {"", " begin", " unaligned"};
    if (run.layout != Layout::compact) asked += std::string(name_of(run.layout)) + " ";
    asked += std::to_string(run.config) + kBases[static_cast<int>(run.base)] +
        (run.runs > 1 ? " twice" : "") + (run.constants ? " constants, " : ", ");
    return run.config == dies_at ? dead() : ReferenceSubject::execute(c, in, out, run);
  }
  std::vector<Answer> execute_at_once(const Case& c, const std::vector<std::vector<Tensor>>& in,
      const Inferred& out, const Run& run) override {
    std::vector<Answer> all;
    for (std::size_t k = 0; k < std::min(in.size(), callers); ++k)
      all.push_back(static_cast<int>(k) == dies_of_callers
              ? dead()
              : ReferenceSubject::execute(c, in[k], out, run));
    asked += std::to_string(in.size()) + " at once, ";
    others_differ = in.size() == 4 && in[0][0].data == in[2][0].data &&
        in[1][0].data == in[3][0].data && in[0][0].data != in[1][0].data;
    return all;
  }
  Answer infer(const Case&) override {
    asked += "infer, ";
    return dies_in_infer ? dead() : Answer{};
  }
  bool others_differ = false;

 private:
  static Answer dead() { return {.kind = AnswerKind::crashed, .message = "gone"}; }
};

// All properties except laws, which make calls of their own.
TrialPlan all_ways() {
  TrialPlan p = plan_of({&kDeterministic, &kAlignment, &kLayout, &kConstants, &kIsa, &kThreads,
      &kConcurrent, &kInfers});
  p.ways[4].forced = {{"isa", "a", 1}, {"isa", "b", 2}};
  p.ways[5].forced = {{"threads", "1", 3}, {"threads", "2", 4}, {"threads", "7", 5}};
  return p;
}

std::string asked(Watching& subject, const std::string& id, const TrialPlan& plan) {
  subject.asked.clear();
  const Item item = item_of_case(id);
  const Trial t = perform(subject, item, plan);
  // Each concurrent call counts.
  const int at_once =
      count_of(subject.asked, "at once, ") * (static_cast<int>(subject.callers) - 1);
  EXPECT_EQ(t.calls, count_of(subject.asked, ", ") + at_once) << subject.asked;
  return subject.asked;
}

const std::string kTwoCalls = "0, 0 begin, ", kUnaligned = "0 unaligned, ";
const std::string kSpelledOut =
    kTwoCalls + "0 twice, " + kUnaligned;  // of a case that is spelled out
const std::string kForced = "1, 2, 3, 4, 5, ";

// g++ 12 cannot compare addresses of functions while compiling with sanitizers.
TEST(PropertiesOfATrial, HaveACanaryOfTheirOwn) {
  for (const Property* p : kProperties) EXPECT_NE(p->of_run(), p->plant != nullptr) << p->name;
}

TEST(TrialOfACase, ChoosesBySeed) {
  const std::string again = "0 twice, " + kUnaligned;
  const std::string rows[] = {
      again + "padded 0, padded 0 constants, 1, 2, 4, infer, ",
      kUnaligned + "offset 0, 0 constants, 1 constants, 2 constants, 4, infer, ",
      again + "permuted 0, permuted 0 constants, 1, 2, 4, infer, ",
      again + "scattered 0, 0 constants, 1 constants, 2 constants, 4, infer, ",
      kUnaligned + "scattered_in 0, scattered_in 0 constants, 1, 2, 5, infer, ",
      kUnaligned + "scattered_out 0, 0 constants, 1 constants, 2 constants, 3, infer, ",
      kUnaligned + "padded 0, padded 0 constants, 1, 2, 3, infer, ",
      kUnaligned + "offset 0, 0 constants, 1 constants, 2 constants, 4, 4 at once, infer, ",
  };
  Watching subject;
  for (std::size_t seed = 0; seed < std::size(rows); ++seed)
    EXPECT_EQ(
        asked(subject, "take/axis=0/in=2x3@8+2@8/fill=dense:" + std::to_string(seed), all_ways()),
        kTwoCalls + rows[seed])
        << seed;
  EXPECT_TRUE(subject.others_differ) << "every second caller has other values";
}

TEST(TrialOfACase, TriesAllOfOneThatIsSpelledOut) {
  Watching subject;
  const std::string relu = "relu/in=2@8/data=1,-1", take = "take/axis=0/in=2@8+1@8/data=3,4+1";
  EXPECT_EQ(asked(subject, relu, all_ways()),
      kSpelledOut + "padded 0, " + kForced + "4 at once, infer, ");
  EXPECT_EQ(asked(subject, take, all_ways()),
      kSpelledOut + "padded 0, padded 0 constants, " + kForced + "4 at once, infer, ");
  EXPECT_EQ(asked(subject, relu + "/memory=scattered", all_ways()),
      kSpelledOut + "scattered 0, " + kForced + "4 at once, infer, ");
  subject.manifest_to_change().strided = false;
  EXPECT_EQ(asked(subject, take, all_ways()),
      kSpelledOut + "0 constants, " + kForced + "4 at once, infer, ");
  subject.shared = false;
  EXPECT_EQ(asked(subject, take, all_ways()), "0, 0 begin, " + kForced + "infer, ");
  subject.infers = false;
  EXPECT_EQ(asked(subject, take, all_ways()), "0, 0 begin, " + kForced);
}

TEST(TrialOfACase, LeavesOutWhatIsNotPlanned) {
  Watching subject;
  const TrialPlan none, inferring = plan_of({&kInfers});
  const std::string relu = "relu/in=2@8/data=1,-1";
  EXPECT_EQ(asked(subject, relu, none), "0, ");
  EXPECT_EQ(asked(subject, relu, inferring), "0, infer, ");
  EXPECT_EQ(asked(subject, "relu/in=4@8/fill=range:0", all_ways()), "0, ");
  // For an illegal call, only how the subject refuses it.
  EXPECT_EQ(perform(subject, item_of_case("relu/in=0@8/fill=one:0"), all_ways()).calls, 2);
  EXPECT_EQ(perform(subject, item_of_case("relu/in=0@8/fill=one:0"), none).calls, 1);
  Item typed = item_of_case(relu);
  typed.what = Item::typed;
  const Trial t = perform(subject, typed, all_ways());
  EXPECT_TRUE(t.inferred);
  EXPECT_EQ(t.calls, 1);
}

// For a large call, only the ways that change what a kernel does, and two numbers of threads.
TEST(TrialOfACase, PutsALargeOneInFewWays) {
  Watching subject;
  subject.manifest_to_change().kernels = {{"take", "own", "b", true}, {"*", "any", "a", true}};
  const auto ways = [&](const std::string& rows) {
    const std::string take = "take/axis=0/in=" + rows + "@8+1@8/fill=dense:7";
    return asked(subject, take, all_ways());
  };
  // 2^17 elements, and one more.
  EXPECT_EQ(ways("131070"),
      kTwoCalls + kUnaligned +
          "offset 0, 0 constants, 1 constants, 2 constants, 4, 4 at once, infer, ");
  EXPECT_EQ(ways("131071"), "0, 0 begin, offset 0, 0 constants, 2 constants, 3, 4, infer, ");
}

// The plans of about one small call in twelve run many times.
TEST(TrialOfACase, ReusesPlansOfSomeSmallOnes) {
  const auto calls = [](const std::string& id) {
    Watching subject;
    const Trial t = perform(subject, item_of_case(id), plan_of({&kReuse}));
    for (const Observation& o : t.of(kReuse))
      EXPECT_TRUE(o.when.starts_with("in the last of 128 runs of one plan, ")) << o.when;
    return t.calls;
  };
  int reused = 0;
  for (int seed = 0; seed < 60; ++seed)
    reused += calls("relu/in=512@8/fill=dense:" + std::to_string(seed)) - 1;
  EXPECT_EQ(reused, 2 * 5) << "with two sets of values";
  for (const char* id : {"relu/in=2@8/data=1,-1", "relu/in=20@8/fill=constant:1"})
    EXPECT_EQ(calls(id), 1 + 2) << "it is spelled out";
  for (int seed = 0; seed < 60; ++seed)
    EXPECT_EQ(calls("relu/in=513@8/fill=dense:" + std::to_string(seed)), 1) << "it is not small";
}

// A subject that reads attributes as text, and wrongly where they are spelled with blanks.
class Reading : public Watching {
 public:
  std::vector<AttrTexts> read;
  bool takes_text() const override { return true; }
  Answer execute_text(const Case& c, const AttrTexts& attrs, const std::vector<Tensor>& in,
      const Inferred& out) override {
    read.push_back(attrs);
    Answer a = Watching::execute(c, in, out, {});
    a.out[0][0] ^= attrs.contains("axis") && attrs.at("axis").starts_with(" ");
    return a;
  }
};

TEST(TrialOfACase, SpellsTheAttributesOfSomeOtherwise) {
  const TrialPlan plan = plan_of({&kSpellings});
  const auto spellings = [&](const std::string& id) {
    Reading subject;
    perform(subject, item_of_case(id), plan);
    return subject.read.size();
  };
  std::size_t some = 0;
  for (int seed = 0; seed < 60; ++seed)
    some += spellings("sum/axis=0/in=2x3@8/fill=dense:" + std::to_string(seed));
  EXPECT_GT(some, 8U);
  EXPECT_LT(some, 24U);
  EXPECT_EQ(spellings("sum/axis=0/in=2x3@8/data=1,2,3,4,5,6"), kSpellingWays);
  EXPECT_EQ(spellings("relu/in=2@8/data=1,-1"), 0U) << "it has no attributes";
  EXPECT_EQ(spellings("sum/axis=0/in=131073@8/fill=constant:1"), 0U) << "it is large";
  Reading unclaimed;
  unclaimed.manifest_to_change().reads_text = false;
  perform(unclaimed, item_of_case("sum/axis=0/in=2x3@8/data=1,2,3,4,5,6"), plan);
  EXPECT_EQ(unclaimed.read.size(), 0U);
  Watching deaf;
  EXPECT_EQ(perform(deaf, item_of_case("sum/axis=0/in=2x3@8/data=1,2,3,4,5,6"), plan).calls, 1);
}

TEST(Spellings, TellTheTextThatIsMisread) {
  Reading subject;
  const Item item = item_of_case("sum/axis=0/in=1x1@8/data=1");
  const ItemResult r = judge_trial(perform(subject, item, plan_of({&kSpellings})), {});
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].first, "spellings");
  const std::string& text = r.findings[0].second.text;
  EXPECT_TRUE(text.starts_with("with ") && text.find("axis=' ") != text.npos) << text;
  EXPECT_NE(text.find(": output 0 at [0]: expected 1 "), text.npos) << text;
}

// A subject whose plans give other results in their last run.
class Changing : public Watching {
 public:
  int changed = 0;
  i32 first = 1, last = 1;
  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run& run) override {
    Answer a = Watching::execute(c, in, out, run);
    a.out[0][0] = first;
    return a;
  }
  std::vector<Answer> execute_at_once(const Case& c, const std::vector<std::vector<Tensor>>& in,
      const Inferred& out, const Run& run) override {
    EXPECT_EQ(run.runs, kReuses);
    std::vector<Answer> all = Watching::execute_at_once(c, in, out, run);
    all[0].out[0][0] = last;
    for (Answer& a : all) a.changed_run = changed;
    return all;
  }
};

TEST(Reuse, TellsTheRunThatChanged) {
  const auto told = [](int changed, i32 first, i32 last) -> std::string {
    Changing subject;
    subject.changed = changed, subject.first = first, subject.last = last;
    const Item item = item_of_case("relu/in=1@8/data=1");
    const ItemResult r = judge_trial(perform(subject, item, plan_of({&kReuse})), {"reuse"});
    return r.findings.empty() ? "" : r.findings[0].second.text;
  };
  const std::string changed = "run 13 of one plan wrote something else for the same values: ";
  EXPECT_EQ(told(0, 1, 1), "");
  EXPECT_EQ(told(13, 1, 5),
      changed +
          "in the last of 128 runs of one plan, other values and another plan in between: output 0 "
          "at [0]: expected 1 (0x00000001), got 5 (0x00000005); 1 of 1 elements differ");
  EXPECT_EQ(told(13, 1, 1), changed + "it is right, and an earlier run was not");
  EXPECT_EQ(told(0, 5, 5), "") << "matches_reference judges that";
}

TEST(TrialOfACase, EndsWhereTheSubjectDoes) {
  const std::string relu = "relu/in=2@8/data=1,-1", first = kSpelledOut + "padded 0, ";
  const std::pair<int, std::string> rows[] = {
      {0, "0, "}, {1, first + "1, "}, {2, first + "1, 2, "}, {4, first + "1, 2, 3, 4, "}};
  for (const auto& [at, says] : rows) {
    Watching subject;
    subject.dies_at = at;
    EXPECT_EQ(asked(subject, relu, all_ways()), says) << at;
  }
  Watching one;
  one.dies_of_callers = 0;
  EXPECT_EQ(asked(one, relu, all_ways()), first + kForced + "4 at once, ");
  Watching none;
  none.callers = 0;
  perform(none, item_of_case(relu), all_ways());
  EXPECT_EQ(none.asked, first + kForced + "4 at once, infer, ") << "they cannot share a plan";
}

TEST(TrialOfACase, TellsItsAnswersApart) {
  Watching subject;
  const Item item = item_of_case("take/axis=0/in=2@8+1@8/data=3,4+1");
  const Trial t = perform(subject, item, all_ways());
  std::string all;
  for (const Trial::Told& a : t.answers()) all += a.when + "\n";
  EXPECT_EQ(all,
      "\nthe second time\nin the second run of one plan\nwith unaligned tensors\n"
      "in another layout\nwith constants\n"
      "with isa=a\nwith isa=b\nwith threads=1\nwith threads=2\nwith threads=7\n"
      "to caller 1 of 4 at once\nto caller 2 of 4 at once\nto caller 3 of 4 at once\n"
      "to caller 4 of 4 at once\n");
}

TEST(TrialOfACase, PutsLawsToSomeSmallOnes) {
  // For each seed from 0, whether the trial asks for batches, and how many calls it makes.
  const std::tuple<std::string, bool, std::vector<int>> rows[] = {
      {"sum/axis=0/in=2x3@8", false,
          {1, 1, 1, 1, 1, 3, 1, 1, 1, 3, 3, 1, 2, 1, 1, 1, 1, 1, 1, 3, 3, 2, 1, 1}},
      {"max_pool2d/pool_size=2,2/in=3x1x3x3@8", true,
          {1, 1, 3, 1, 1, 3, 1, 1, 1, 3, 1, 1, 3, 1, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1}},
      {"relu/in=8192@8", false, {1, 1, 1, 1, 1, 3, 1, 1, 1, 4, 4, 1}},
      {"relu/in=8193@8", false, std::vector<int>(12, 1)}};
  for (const auto& [call, batch, calls] : rows)
    for (std::size_t seed = 0; seed < calls.size(); ++seed) {
      const TrialPlan plan = plan_of({batch ? &kBatch : &kLaws});
      ReferenceSubject subject;
      const Item item = item_of_case(call + "/fill=dense:" + std::to_string(seed));
      EXPECT_EQ(perform(subject, item, plan).calls, calls[seed]) << item.id;
      EXPECT_EQ(perform(subject, item, {}).calls, 1) << item.id;
    }
}

// Answers the calls that laws make with an element too few.
class Short : public ReferenceSubject {
 public:
  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run& run) override {
    Answer a = ReferenceSubject::execute(c, in, out, run);
    if (begun_) a.out[0].pop_back();
    begun_ = true;
    return a;
  }

 private:
  bool begun_ = false;
};

TEST(TrialOfACase, FindsAnswersToLawsThatAreNone) {
  Short subject;
  const Item item = item_of_case("sum/axis=0/in=1x3@8/data=1,2,3");
  const Trial t = perform(subject, item, plan_of({&kLaws}));
  const Observations laws = t.of(kLaws);
  ASSERT_FALSE(laws.empty());
  for (const Observation& o : laws) {
    ASSERT_TRUE(o.answer) << o.law->law->label;
    EXPECT_EQ(o.answer->kind, AnswerKind::protocol);
    EXPECT_TRUE(o.answer->message.starts_with("output 0 has ")) << o.answer->message;
  }
  EXPECT_EQ(laws[0].answer->message, "output 0 has 2 elements instead of 3");
}

TEST(Printable, HasNoControlCharacters) {
  EXPECT_EQ(printable("a\x1f \x7e\x7f\x01\n~\xff"), "a? \x7e???~\xff");
}

TEST(JudgeTrial, TellsADeathInInfer) {
  Watching subject;
  subject.dies_in_infer = true;
  const Item item = item_of_case("relu/in=2@8/data=1,-1");
  const ItemResult r = judge_trial(perform(subject, item, all_ways()), {"alignment"});
  EXPECT_EQ(r.outcome, Outcome::crashed);
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].first, "matches_reference");
  EXPECT_EQ(r.findings[0].second.text, "crashed: gone");
}

}  // namespace
}  // namespace lockstep::judge
