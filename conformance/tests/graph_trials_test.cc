// In which ways a trial runs graphs, and what their answers tell.
#include <gtest/gtest.h>

#include "conformance/subjects/reference_subject.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/trials.h"

namespace lockstep::judge {
namespace {

// A subject whose graphs write wrong results in one of their runs, or in one configuration, or call
// by call. It notes the configurations of compiled graphs.
class Compiling : public ReferenceSubject {
 public:
  int changed = 0, wrong_at = -1, by_call = 0, copies = 0, hangs = 0;
  std::size_t wrong_from = 99, hangs_from = 99;  // calls of a graph that runs call by call
  string_view hangs_with = {};                   // an operator, call by call
  bool compiles = true, hangs_a_little_smaller = false;
  std::string graphs, networks;
  bool shares_memory() const override { return true; }
  bool can_compile() const override { return compiles; }
  std::vector<Answers> ask(const std::vector<Question>& questions) override {
    std::vector<Answers> all;
    for (const Question& q : questions) {
      if (!q.graph) {
        all.push_back(ReferenceSubject::ask({q})[0]);
        continue;
      }
      EXPECT_EQ(q.run.runs, 3);
      const auto& nodes = q.graph->nodes;
      const bool has_hanging = std::any_of(nodes.begin(), nodes.end(),
          [&](const CallGraph::Node& n) { return n.op->name == hangs_with; });
      if (q.graph->one_by_one && (nodes.size() >= hangs_from || has_hanging)) {
        ++hangs;
        if (hangs_a_little_smaller) hangs_from = nodes.size() - 1;
        all.push_back({{.kind = AnswerKind::timed_out, .message = "no answer"}});
        continue;
      }
      Answer& a = all.emplace_back(Answers{{.changed_run = changed}})[0];
      for (std::size_t k = 0; k < q.graph->heads.size(); ++k) {
        a.out.push_back(q.graph->entries[static_cast<std::size_t>(q.graph->heads[k])].data);
        copies += q.graph->one_by_one && same_tensor(*q.graph, k);
      }
      a.out[0][0] ^=
          q.run.config == wrong_at || (q.graph->one_by_one && q.graph->nodes.size() >= wrong_from);
      if (q.graph->one_by_one)
        ++by_call;
      else
        (q.graph->has_network ? networks : graphs) += std::to_string(q.run.config) + ", ";
    }
    return all;
  }
};

TEST(Graphs, WriteTheSameInEachRun) {
  for (const int changed : {0, 2}) {
    Compiling subject;
    subject.changed = changed;
    const Item item = item_of_case("relu/in=2@8/data=1,-1");
    const ItemResult r = judge_trial(perform(subject, item, plan_of({&kGraphs})), {"graphs"});
    ASSERT_EQ(r.findings.size(), changed == 0 ? 0U : 1U);
    if (changed > 0) {
      EXPECT_EQ(r.findings[0].second.text,
          "run 2 of one plan wrote something else for the same values: "
          "it is right, and an earlier run was not");
    }
  }
}

TEST(Graphs, TellOfACallThatIsWrongByItself) {
  Compiling subject;
  subject.compiles = false;
  subject.wrong_from = 1;
  const Item item = item_of_case("relu/in=2@8/data=1,-1");
  const ItemResult r = judge_trial(perform(subject, item, plan_of({&kGraphs})), {"graphs"});
  EXPECT_EQ(r.findings.size(), 0U);
  ASSERT_EQ(r.wrong_calls.size(), 1U);
  const WrongCall& call = r.wrong_calls[0];
  EXPECT_EQ(parse_case(call.id).op->name, call.op);
  expect_contains(call.text, "1 of 2 elements differ");
}

TEST(Graphs, RunInForcedWays) {
  TrialPlan plan = plan_of({&kGraphs});
  plan.ways[0].forced = {{"isa", "a", 1}, {"isa", "b", 2}, {"threads", "7", 3}};
  Compiling subject;
  constexpr int kSeeds = 400;
  for (int seed = 0; seed < kSeeds; ++seed)
    perform(subject,
        item_of_case("conv2d/channels=1/kernel_size=1,1/use_bias=false/"
                     "in=1x1x1x1@8+1x1x1x1@8/fill=dense:" +
            std::to_string(seed)),
        plan);
  for (const char* config : {"1, ", "2, ", "3, "})
    EXPECT_GT(count_of(subject.graphs, config), kSeeds / 12) << config;
  EXPECT_GT(count_of(subject.graphs, "0, "), kSeeds / 3);
  // The graph as it is, with each instruction set, and in one of all ways.
  const int networks = count_of(subject.networks, "0, 2, 1, ");
  EXPECT_GT(networks, 2);
  EXPECT_EQ(count_of(subject.networks, ", "), 4 * networks) << subject.networks;
  for (const char* config : {"0, 2, 1, 1, ", "0, 2, 1, 2, "})
    EXPECT_GT(count_of(subject.networks, config), 0) << subject.networks;
  subject.graphs.clear();
  perform(subject, item_of_case("relu/in=2@8/data=1,-1"), plan);
  EXPECT_EQ(count_of(subject.graphs, "0, 3, 2, 1, "), 1) << "all of one that is spelled out";
}

TEST(Graphs, RunCallByCallWhereTheyAreNotCompiledAndInFewOtherCases) {
  constexpr int kSeeds = 400;
  for (const bool compiles : {false, true}) {
    Compiling subject;
    subject.compiles = compiles;
    for (int seed = 0; seed < kSeeds; ++seed)
      perform(subject, item_of_case("elemwise_add/in=2@8+2@8/fill=dense:" + std::to_string(seed)),
          plan_of({&kGraphs}));
    EXPECT_GT(subject.by_call, compiles ? kSeeds / 16 : kSeeds - 1);
    EXPECT_LE(subject.by_call, compiles ? kSeeds / 4 : kSeeds);
    EXPECT_EQ(count_of(subject.graphs, "0, "), compiles ? kSeeds : 0);
    EXPECT_EQ(subject.copies, 0) << "no call copies a head";
  }
}

TEST(Graphs, SayThatTheyAreWrongCallByCallUnlessACallIsSoByItself) {
  for (const std::size_t wrong_from : {1U, 2U}) {
    Compiling subject;
    subject.compiles = false;
    subject.wrong_from = wrong_from;
    int found = 0;
    for (int seed = 0; seed < 40; ++seed) {
      const Item item = item_of_case("elemwise_add/in=2@8+2@8/fill=dense:" + std::to_string(seed));
      const ItemResult r = judge_trial(perform(subject, item, plan_of({&kGraphs})), {"graphs"});
      for (const auto& [property, f] : r.findings) {
        ++found;
        EXPECT_TRUE(f.text.starts_with("call by call: ")) << f.text;
        EXPECT_EQ(count_of(f.text, " = "), 2) << f.text;
      }
    }
    EXPECT_EQ(found > 20, wrong_from == 2);
    EXPECT_EQ(found == 0, wrong_from == 1);
  }
}

TEST(Graphs, HangCallByCallUnlessACallHangsByItself) {
  for (const string_view with : {"", "clip"}) {
    int found = 0, blamed = 0;
    for (int seed = 0; seed < 40; ++seed) {
      Compiling subject;
      subject.compiles = false;
      subject.hangs_with = with;
      subject.hangs_from = with.empty() ? 2 : 99;
      const Item item = item_of_case("elemwise_add/in=2@8+2@8/fill=dense:" + std::to_string(seed));
      const ItemResult r = judge_trial(perform(subject, item, plan_of({&kGraphs})), {"graphs"});
      found += r.outcome == Outcome::timed_out;
      blamed += !r.hung.empty();
      EXPECT_LE(subject.hangs, 2) << "the graph, and a call or the smallest graph";
      EXPECT_EQ(r.hung, with.empty() || subject.hangs == 0 ? "" : "clip");
      for (const auto& [property, f] : r.findings) EXPECT_EQ(count_of(f.text, " = "), 2) << f.text;
    }
    EXPECT_EQ(found > 20, with.empty()) << found;
    EXPECT_EQ(found == 0, with == "clip") << found;
    EXPECT_EQ(blamed > 5, with == "clip") << blamed;
  }
}

TEST(Graphs, ThatHangStayAsTheyAreAfterAFewSteps) {
  int most = 0;
  for (int seed = 0; seed < 40; ++seed) {
    Compiling subject;
    subject.compiles = false, subject.hangs_a_little_smaller = true, subject.hangs_from = 8;
    const Item item = item_of_case("elemwise_add/in=2@8+2@8/fill=dense:" + std::to_string(seed));
    const ItemResult r = judge_trial(perform(subject, item, plan_of({&kGraphs})), {"graphs"});
    EXPECT_EQ(r.outcome, subject.hangs > 0 ? Outcome::timed_out : Outcome::passed);
    most = std::max(most, subject.hangs);
  }
  EXPECT_EQ(most, 5);
}

TEST(Graphs, DoNotRunCallByCallWithOperatorsThatDoNotAnswer) {
  for (const char* op : {"elemwise_add", "conv2d"}) {
    Compiling subject;
    subject.compiles = false;
    TrialPlan plan = plan_of({&kGraphs});
    plan.silent.unanswered = {op};
    const Trial t = perform(subject, item_of_case("elemwise_add/in=2@8+2@8/fill=dense:1"), plan);
    EXPECT_EQ(subject.by_call > 0, op == std::string("conv2d")) << op;
    EXPECT_EQ(t.seen.empty(), op == std::string("elemwise_add")) << "nothing is judged";
  }
}

// A subject that does not answer calls of some operators.
class Taciturn : public ReferenceSubject {
 public:
  std::set<std::string> silent;
  int asked = 0;
  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run& run) override {
    ++asked;
    if (silent.contains(std::string(c.op->name))) return {.kind = AnswerKind::timed_out};
    return ReferenceSubject::execute(c, in, out, run);
  }
};

TEST(SilentOperators, AreThoseThatDoNotAnswerAndAllAfterThree) {
  const auto all = static_cast<int>(operators().size());
  const auto of = [](const std::set<std::string>& silent, int asked) {
    Taciturn subject;
    subject.silent = silent;
    const Silent found = silent_operators(subject);
    EXPECT_EQ(subject.asked, asked);
    EXPECT_EQ(std::set<std::string>(found.unanswered.begin(), found.unanswered.end()), silent);
    return std::ssize(found.unanswered) + std::ssize(found.unasked);
  };
  const auto name = [](std::size_t k) { return std::string(operators()[k]->name); };
  EXPECT_EQ(of({}, all), 0);
  EXPECT_EQ(of({name(3), name(9)}, all), 2);
  EXPECT_EQ(of({name(1), name(2), name(3)}, 4), all - 1);
  EXPECT_EQ(of({name(0)}, 1), all) << "the first one may be slow to start";
}

TEST(Graphs, TellTheWayInWhichTheyAreWrong) {
  TrialPlan plan = plan_of({&kGraphs});
  plan.ways[0].forced = {{"isa", "a", 1}, {"threads", "7", 2}};
  const std::pair<int, std::string> rows[] = {
      {0, "compiled: "}, {1, "compiled with isa=a: "}, {2, "compiled with threads=7: "}};
  for (const auto& [config, says] : rows) {
    Compiling subject;
    subject.wrong_at = config;
    const Item item = item_of_case("relu/in=2@8/data=1,-1");
    const ItemResult r = judge_trial(perform(subject, item, plan), {"graphs"});
    ASSERT_EQ(r.findings.size(), 1U);
    EXPECT_TRUE(r.findings[0].second.text.starts_with(says)) << r.findings[0].second.text;
  }
}

}  // namespace
}  // namespace lockstep::judge
