/// @file
/// Every mutant differs visibly from a right backend, and only where its name says.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

#include "backends/faulty/detect.h"
#include "backends/faulty/tests/request.h"
#include "conformance/cases/large.h"

namespace lockstep::faulty {
namespace {

constexpr int kThreads = 3;

struct Witnessed {
  Request request;
  Observed right;
};

// Calls of one operator: its examples, its calls with long rows, and n drawn calls, every sixth of
// which is disturbed; and how a right backend answers them.
std::vector<Witnessed> calls_of(const OpInfo& op, int n) {
  std::vector<Witnessed> all;
  Behaviour right;
  right.threads = kThreads;
  const auto add = [&](Request r) {
    Observed seen = observe(right, r);
    all.push_back({std::move(r), std::move(seen)});
  };
  for (int i = 0; i < op.example_count; ++i) add({judge::example_case(op, i)});
  for (judge::Case& c : judge::long_row_cases(op, 1)) add({std::move(c)});
  for (int i = 0; i < n; ++i) {
    const auto seed = static_cast<u64>(i);
    Request r = draw_request(op, seed);
    add(i % 6 == 5 ? disturbed(std::move(r), seed) : std::move(r));
  }
  return all;
}

const std::vector<Witnessed>& calls_of(const OpInfo& op) {
  static std::map<string_view, std::vector<Witnessed>> all;
  auto [at, fresh] = all.try_emplace(op.name);
  if (fresh) at->second = calls_of(op, 800);
  return at->second;
}

// Whether the mutant answers a call of an operator wrongly; every nth call is asked, twice.
bool differs(const Mutant& m, const OpInfo& op, std::size_t nth = 1) {
  const auto subject = m.behaviour();
  subject->threads = kThreads;
  const std::vector<Witnessed>& calls = calls_of(op);
  for (std::size_t k = 0; k < calls.size(); k += nth)
    for (int run = 0; run < 2; ++run)
      if (observe(*subject, calls[k].request) != calls[k].right) return true;
  return false;
}

TEST(Mutants, EachDiffersObservably) {
  for (const Mutant& m : mutants()) {
    if (!m.answers() || m.kind == "RACE" || m.kind == "SCALE" || m.kind == "WAY") continue;
    const auto wrong = [&](const OpInfo* op) {
      return (m.op == "*" || m.op == op->name) && differs(m, *op);
    };
    EXPECT_TRUE(std::any_of(operators().begin(), operators().end(), wrong)) << m.name;
  }
}

TEST(Mutants, OtherOperatorsAreRight) {
  for (const Mutant& m : mutants()) {
    const OpInfo* other = operators()[m.op == operators()[0]->name ? 1 : 0];
    if (m.op == "*") continue;
    EXPECT_FALSE(differs(m, *other)) << m.name << " harms " << other->name;
  }
}

// How many of several concurrent callers of one relu find another's values, or none, in their
// output.
int losers(Behaviour& subject) {
  constexpr std::size_t kCallers = 4;
  const Type type{{64}, 8};
  std::vector<Memory> in, out;
  std::vector<const i32*> from;
  std::vector<i32*> to;
  for (std::size_t k = 0; k < kCallers; ++k) {
    for (auto* side : {&in, &out}) side->emplace_back(type, false);
    for (i64 i = 0; i < 64; ++i) in[k].data()[i] = static_cast<i32>(k + 1);
  }
  for (std::size_t k = 0; k < kCallers; ++k) {
    from.push_back(in[k].data()), to.push_back(out[k].data());
  }
  const client::TensorView from_view = in[0].view(false), to_view = out[0].view(false);
  const std::vector<ls_tensor> x = client::rows_of({&from_view, 1}),
                               y = client::rows_of({&to_view, 1});
  const LegalCall call = subject.prepare({"relu", {}, x, y});
  std::atomic<std::size_t> here{0};
  std::vector<std::thread> callers;
  for (std::size_t k = 0; k < kCallers; ++k)
    callers.emplace_back([&, k] {
      for (++here; here < kCallers;) std::this_thread::yield();
      subject.execute(call, &from[k], &to[k]);
    });
  for (std::thread& t : callers) t.join();
  int n = 0;
  for (std::size_t k = 0; k < kCallers; ++k)
    for (i64 i = 0; i < 64; ++i) n += out[k].data()[i] != static_cast<i32>(k + 1);
  return n;
}

TEST(Mutants, RacesAreLostBySeveralCallersOnly) {
  Behaviour right;
  int races = 0;
  for (const Mutant& m : mutants()) {
    if (m.kind != "RACE") continue;
    ++races;
    int together = 0;
    // Some yield in each call, which takes long on a busy machine.
    for (const OpInfo* op : operators())
      EXPECT_FALSE(differs(m, *op, 40)) << m.name << " is wrong for one caller of " << op->name;
    const auto subject = m.behaviour();
    for (int round = 0; round < 20 || (together == 0 && round < 200); ++round) {
      together += losers(*subject);
      ASSERT_EQ(losers(right), 0);
    }
    EXPECT_GT(together, 0) << m.name << " is right for several";
  }
  EXPECT_GT(races, 0);
}

// Whether the mutant answers a call wrongly in some run of the plan.
bool errs(const Mutant& m, const char* id, i64 run = 1) {
  const auto subject = m.behaviour();
  subject->threads = kThreads;
  Behaviour right;
  right.threads = kThreads;
  const Request r{judge::parse_case(id)};
  return observe(*subject, r, run) != observe(right, r, run);
}

TEST(Mutants, OfScaleAreWrongOnlyForLargeCallsOrInLateRuns) {
  struct Row {
    const char *mutant, *right, *wrong;
    i64 run = 1;  // of the wrong call
  };
  const Row rows[] = {{"abs.streams_whole_vectors", "abs/in=1048576@8", "abs/in=1048577@8"},
      {"elemwise_add.chunks_start_late", "elemwise_add/in=1048576@8+1048576@8",
          "elemwise_add/in=1048577@8+1048577@8"},
      {"sum.whole_blocks", "sum/in=65536@8", "sum/in=65537@8"},
      {"dense.whole_blocks", "dense/units=1/use_bias=false/in=1x4096@8+1x4096@8",
          "dense/units=1/use_bias=false/in=1x4097@8+1x4097@8"},
      {"conv2d.depth_of_16_bits",
          "conv2d/channels=1/kernel_size=1,1/use_bias=false/in=1x65535x1x1@7+1x65535x1x1@7",
          "conv2d/channels=1/kernel_size=1,1/use_bias=false/in=1x65537x1x1@7+1x65537x1x1@7"},
      {"elemwise_add.late_large_run", "elemwise_add/in=32769@8+32769@8",
          "elemwise_add/in=32769@8+32769@8", 101},
      {"clip.thirteenth_run", "clip/a_min=0/a_max=9/in=3@8", "clip/a_min=0/a_max=9/in=3@8", 13},
      {"negative.hundredth_run", "negative/in=3@8", "negative/in=3@8", 100}};
  std::size_t scales = 0;
  for (const Mutant& m : mutants()) scales += m.kind == "SCALE";
  EXPECT_EQ(scales, std::size(rows));
  for (const Row& row : rows) {
    const Mutant* m = find_mutant(row.mutant);
    ASSERT_TRUE(m) << row.mutant;
    EXPECT_FALSE(differs(*m, *find_operator(m->op))) << row.mutant << " is wrong for a drawn call";
    EXPECT_FALSE(errs(*m, row.right, max(1, row.run - 1))) << row.mutant;
    EXPECT_TRUE(errs(*m, row.wrong, row.run)) << row.mutant;
  }
}

// Puts calls to the mutant until it ends this process.
void ask_until_it_ends(const Mutant& m) {
  const auto subject = m.behaviour();
  for (const OpInfo* op : operators())
    for (int i = 0; i < 100; ++i) observe(*subject, draw_request(*op, static_cast<u64>(i)));
}

TEST(MutantsDeathTest, CrashMutantsEndTheirProcess) {
  EXPECT_EXIT(ask_until_it_ends(*find_mutant("contract.crashes_on_tail")),
      testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(ask_until_it_ends(*find_mutant("contract.aborts_on_rank")),
      testing::KilledBySignal(SIGABRT), "");
  EXPECT_EXIT(
      ask_until_it_ends(*find_mutant("broadcast_div.traps")), testing::KilledBySignal(SIGFPE), "");
}

TEST(MutantsDeathTest, TheHangMutantHangs) {
  EXPECT_EXIT(
      {
        alarm(3);
        ask_until_it_ends(*find_mutant("contract.hangs_on_whole_vectors"));
      },
      testing::KilledBySignal(SIGALRM), "");
}

// The detection operators written once more, without a mistake.
template <class Op, class Model> Mutant unmistaken() {
  return {"right", Op::name, "", "", [](Attributes values, In in, Results out) {
            Model{}.run(from_attributes<Op>(values), in, out);
          }};
}

TEST(Mutants, DetectionWithoutAMistakeIsRight) {
  EXPECT_FALSE(differs(unmistaken<GetValidCounts, Filter>(), info<GetValidCounts>()));
  EXPECT_FALSE(differs(unmistaken<NonMaxSuppression, Suppression>(), info<NonMaxSuppression>()));
}

}  // namespace
}  // namespace lockstep::faulty
