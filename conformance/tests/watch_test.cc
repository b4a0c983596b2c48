// Faults that a backend's process commits in the backend's place: the judge notices all of them,
// and also a process that commits none, for instance because nothing is guarded.
#include "conformance/run/watch.h"

#include <gtest/gtest.h>

#include "conformance/base/places.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/tests/expect.h"

namespace lockstep::judge {
namespace {

// The canaries of a run of one case.
Canaries planted(Subject& subject, Report r = {}, const Limits& limits = {}) {
  Item item;
  item.call = parse_case("elemwise_add/in=2x3@8+2x3@8/fill=dense:1");
  plant_in_process(r, subject, {&item}, limits);
  return all_canaries(r);
}

class Unguarded : public ReferenceSubject {
 public:
  bool can_plant() const override { return true; }
  Answers execute_at_once(const Case& c, const std::vector<std::vector<Tensor>>& in,
      const Inferred& out, const Run& run) override {
    Answers all;
    for (const std::vector<Tensor>& values : in) all.push_back(execute(c, values, out, run));
    return all;
  }
};

TEST(Watch, NoticesEveryFault) {
  const auto library = open_subject("reference", {});
  const Canaries all = planted(*library);
  EXPECT_EQ(all.planted, ndarray::kInstrumented ? 29 : 34);
  EXPECT_EQ(all.noticed, all.planted);
  const Case c = parse_case("relu/in=2@8/data=-1,2");
  const Inferred out = c.op->infer(c.attributes(), c.types());
  EXPECT_EQ(library->execute(c, inputs_of(c), out, {}).out, (std::vector<std::vector<i32>>{{0, 2}}))
      << "the faults must leave nothing behind";
}

TEST(Watch, MissesWhatAProcessDoesNotShow) {
  Unguarded subject;
  const Canaries all = planted(subject);
  EXPECT_GE(all.planted, 8);
  EXPECT_EQ(all.noticed, 0);
}

TEST(Watch, MissesABoundThatIsNotTheAskedOne) {
  const Canaries all = planted(*open_subject("reference", {}), {}, {.memory_gib = 4});
  EXPECT_EQ(all.noticed, all.planted - 1);
}

TEST(Watch, MissesWhatHangsAgain) {
  class Hanging : public Unguarded {
   public:
    Answers answer(const Question& q) {
      return {q.plant == Plant::none ? Answer{} : Answer{.kind = AnswerKind::timed_out}};
    }
    std::vector<Answers> ask(const std::vector<Question>& questions) override {
      std::vector<Answers> all;
      for (const Question& q : questions) all.push_back(answer(q));
      return all;
    }
  } subject;
  const Canaries all = planted(subject);
  EXPECT_GE(all.planted, 20);
  EXPECT_EQ(all.noticed, 0);
}

TEST(Watch, PlantsNothingWhereCasesFailed) {
  Unguarded subject;
  Report failed;
  failed.counts.executed = 1;
  EXPECT_EQ(planted(subject, failed).planted, 0);
}

}  // namespace
}  // namespace lockstep::judge
