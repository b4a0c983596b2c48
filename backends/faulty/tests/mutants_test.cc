/// @file
/// Every mutant can be told from a right backend, and does harm only where it says.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "backends/faulty/detect.h"
#include "backends/faulty/tests/request.h"

namespace lockstep::faulty {
namespace {

struct Witnessed {
  Request request;
  Observed right;
};

// Calls of one operator, its examples and n drawn ones, of which every sixth is disturbed; and how
// a right backend answers them.
std::vector<Witnessed> calls_of(const OpInfo& op, int n) {
  std::vector<Witnessed> all;
  Behaviour right;
  const auto add = [&](Request r) {
    Observed seen = observe(right, r);
    all.push_back({std::move(r), std::move(seen)});
  };
  for (int i = 0; i < op.example_count; ++i) add(example_request(op, i));
  for (int i = 0; i < n; ++i) {
    const auto seed = static_cast<judge::u64>(i);
    Request r = draw_request(op, seed);
    add(i % 6 == 5 ? disturbed(std::move(r), seed) : std::move(r));
  }
  return all;
}

const std::vector<Witnessed>& calls_of(const OpInfo& op) {
  static std::map<string_view, std::vector<Witnessed>> all;
  auto [at, fresh] = all.try_emplace(op.name);
  if (fresh) at->second = calls_of(op, 600);
  return at->second;
}

// How many of the calls of an operator the mutant answers wrongly; each is asked twice.
int differences(const Mutant& m, const OpInfo& op) {
  const auto subject = m.behaviour();
  int n = 0;
  for (const Witnessed& c : calls_of(op)) {
    bool differs = false;
    for (int run = 0; run < 2; ++run) differs = observe(*subject, c.request) != c.right || differs;
    n += differs;
  }
  return n;
}

TEST(Mutants, EachDiffersObservably) {
  for (const Mutant& m : mutants()) {
    if (!m.answers()) continue;
    int n = 0;
    for (const OpInfo* op : operators())
      if (m.op == "*" || m.op == op->name) n += differences(m, *op);
    EXPECT_GT(n, 0) << m.name << " is never wrong";
    RecordProperty(std::string(m.name), n);
  }
}

TEST(Mutants, OtherOperatorsAreRight) {
  for (const Mutant& m : mutants()) {
    const OpInfo* other = operators()[m.op == operators()[0]->name ? 1 : 0];
    if (m.op == "*") continue;
    EXPECT_EQ(differences(m, *other), 0) << m.name << " harms " << other->name;
  }
}

// A first call on which the mutant does not answer.
void ask_until_it_ends(const Mutant& m) {
  const auto subject = m.behaviour();
  for (const OpInfo* op : operators())
    for (int i = 0; i < 100; ++i) observe(*subject, draw_request(*op, static_cast<judge::u64>(i)));
}

TEST(MutantsDeathTest, CrashMutantsEndTheirProcess) {
  EXPECT_EXIT(ask_until_it_ends(*find_mutant("duty.crashes_on_tail")),
              testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(ask_until_it_ends(*find_mutant("duty.aborts_on_rank")),
              testing::KilledBySignal(SIGABRT), "");
  EXPECT_EXIT(ask_until_it_ends(*find_mutant("broadcast_div.traps")),
              testing::KilledBySignal(SIGFPE), "");
}

TEST(MutantsDeathTest, TheHangMutantHangs) {
  EXPECT_EXIT(
      {
        alarm(3);
        ask_until_it_ends(*find_mutant("duty.hangs_on_whole_vectors"));
      },
      testing::KilledBySignal(SIGALRM), "");
}

// The detection operators written once more, without a mistake.
template <class Op, class Model>
Mutant unmistaken() {
  return {"right", Op::name, "", "", [](Attributes values, In in, Results out) {
            Model{}.run(from_attributes<Op>(values), in, out);
          }};
}

TEST(Mutants, DetectionWithoutAMistakeIsRight) {
  EXPECT_EQ(differences(unmistaken<GetValidCounts, Filter>(), info<GetValidCounts>()), 0);
  EXPECT_EQ(differences(unmistaken<NonMaxSuppression, Suppression>(), info<NonMaxSuppression>()),
            0);
}

}  // namespace
}  // namespace lockstep::faulty
