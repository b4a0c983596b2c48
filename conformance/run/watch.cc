#include "conformance/run/watch.h"

#include <algorithm>

#include "conformance/subjects/library_subject.h"
#include "conformance/trial/properties.h"

namespace lockstep::judge {
namespace {

struct Canary {
  Plant plant;
  const Property* property;  // could not notice such a fault of a backend if this one is missed
  bool (*shows)(const Answer&);
  std::size_t callers = 1;
  int runs = 1;
};

bool is_violated(const Answer& a) { return !closing_violation(a).empty(); }
bool is_broken(const Answer& a) { return a.kind == AnswerKind::protocol; }
bool shows_change(const Answer& a) { return a.changed_run > 0; }
bool shows_output(const Answer& a) { return !a.out_damage.empty(); }
bool shows_input(const Answer& a) { return !a.in_damage.empty(); }

// The last two come last because they end the process.
constexpr Canary kCanaries[] = {{Plant::beside, &kWritesInBounds, shows_output},
    {Plant::input, &kInputsUntouched, shows_input}, {Plant::heap, &kWritesInBounds, is_broken},
    {Plant::freed, &kWritesInBounds, is_broken}, {Plant::scratch, &kWritesInBounds, shows_output},
    {Plant::late, &kWritesInBounds, is_broken},
    {Plant::second_run, &kDeterministic, shows_change, 1, 2},
    {Plant::later_run, &kReuse, shows_change, 2, 4},
    {Plant::later_run, &kConcurrent, [](const Answer& a) { return a.unsteady; }, 2, 1},
    {Plant::beyond, &kWritesInBounds, shows_output}, {Plant::closing, &kCloses, is_violated}};

// A call whose first output is so small that a page behind it lies beyond its memory.
bool is_small(const Item* i) {
  constexpr i64 kMostElements = 256;
  return i->runs() && elements_of(i->call) <= kMostElements;
}

// Whether a sanitizer's heap, with guards of its own, takes the place of the guarded heap.
bool is_elsewhere(const Canary& c) {
  return ndarray::kInstrumented && (c.plant == Plant::heap || c.plant == Plant::freed);
}

Answers answers(Subject& subject, const Case& c, const Canary& canary) {
  if (canary.plant == Plant::closing)
    return subject.ask({{.what = Question::close, .call = &c, .plant = canary.plant}})[0];
  const std::vector<Tensor> in = inputs_of(c);
  return subject.ask({{.call = &c,
      .callers = std::vector<const std::vector<Tensor>*>(canary.callers, &in),
      .out = c.op->infer(c.attributes(), c.types()),
      .run = {.poison = kPoison, .runs = canary.runs},
      .plant = canary.plant}})[0];
}

// Whether the call is answered if no fault is planted. Tries twice, since an idle process may be
// gone.
bool is_answered(Subject& subject, const Case& c) {
  constexpr Canary kNone{Plant::none, nullptr, nullptr};
  return answers(subject, c, kNone)[0].ok() || answers(subject, c, kNone)[0].ok();
}

void plant_all(Report& r, Subject& subject, const Case& c) {
  if (!is_answered(subject, c)) return;
  for (const Canary& canary : kCanaries) {
    if (!is_meant(*canary.property, r.chosen.properties) || is_elsewhere(canary)) continue;
    const Answers all = answers(subject, c, canary);
    // A timeout on a slow machine does not mean that the fault went unnoticed.
    if (all.empty() || all[0].kind == AnswerKind::timed_out) continue;
    Canaries& of = r.canaries[std::string(canary.property->name)];
    ++of.planted;
    of.noticed += std::any_of(all.begin(), all.end(), canary.shows);
  }
}

}  // namespace

void plant_in_process(Report& r, Subject& subject, const std::vector<const Item*>& put) {
  const auto item = std::find_if(put.begin(), put.end(), is_small);
  if (!subject.can_plant() || r.counts.passed < r.counts.executed || item == put.end()) return;
  try {
    plant_all(r, subject, (*item)->call);
  } catch (const LoadCrash&) {
    // The library crashes while it is loaded once more. The property `closes` reports that.
  }
}

}  // namespace lockstep::judge
