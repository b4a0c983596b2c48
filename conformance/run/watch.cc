#include "conformance/run/watch.h"

#include <algorithm>

#include "conformance/trial/properties.h"

namespace lockstep::judge {
namespace {

struct Canary {
  Plant plant;
  const Property* property;  // that could not notice such a fault of a backend either
  bool (*shows)(const Answer&);
  std::size_t callers = 1;
  int runs = 1;
};

bool is_broken(const Answer& a) { return a.kind == AnswerKind::protocol; }
bool shows_output(const Answer& a) { return !a.out_damage.empty(); }
bool shows_input(const Answer& a) { return !a.in_damage.empty(); }

constexpr Canary kCanaries[] = {{Plant::beside, &kWritesInBounds, shows_output},
    {Plant::beyond, &kWritesInBounds, shows_output}, {Plant::input, &kInputsUntouched, shows_input},
    {Plant::heap, &kWritesInBounds, is_broken}, {Plant::late, &kWritesInBounds, is_broken},
    {Plant::later_run, &kReuse, [](const Answer& a) { return a.changed_run > 0; }, 2, 4},
    {Plant::later_run, &kConcurrent, [](const Answer& a) { return a.unsteady; }, 2, 1}};

// A call whose first output is so small that a page behind it lies beyond its memory.
bool is_small(const Item* i) {
  constexpr i64 kMostElements = 256;
  return i->runs() && elements_of(i->call) <= kMostElements;
}

}  // namespace

void plant_in_process(Report& r, Subject& subject, const std::vector<const Item*>& put) {
  const auto item = std::find_if(put.begin(), put.end(), is_small);
  if (!subject.can_plant() || r.counts.passed < r.counts.executed || item == put.end()) return;
  const Case& c = (*item)->call;
  const std::vector<Tensor> in = inputs_of(c);
  const std::vector<std::string>& chosen = r.chosen.properties;
  for (const Canary& canary : kCanaries) {
    // A sanitizer's heap has guards of its own.
    if (!is_meant(*canary.property, chosen) ||
        (ndarray::kInstrumented && canary.plant == Plant::heap))
      continue;
    const std::vector<const std::vector<Tensor>*> callers(canary.callers, &in);
    const Answers a = subject.ask({{.call = &c,
        .callers = callers,
        .out = c.op->infer(c.attributes(), c.types()),
        .run = {.poison = kPoison, .runs = canary.runs},
        .plant = canary.plant}})[0];
    Canaries& all = r.canaries[std::string(canary.property->name)];
    ++all.planted;
    all.noticed += std::any_of(a.begin(), a.end(), canary.shows);
  }
}

}  // namespace lockstep::judge
