#include "conformance/trial/trial.h"

#include <algorithm>

#include "conformance/trial/properties.h"

namespace lockstep::judge {
namespace {

About kind_of(Item::What what) {
  constexpr About kKinds[] = {kLegal, kIllegal, kVectors, kTyped};
  return kKinds[what];
}

// Puts the case again in the way of each property of the plan, until the backend's process ends.
void ask_again(Probe& probe, const Trial& t, const TrialPlan& plan) {
  for (const TrialPlan::Way& way : plan.ways)
    if (way.property->is_about(kind_of(t.item->what)) && !probe.put(way)) return;
}

}  // namespace

bool Probe::put(const TrialPlan::Way& way) {
  way_ = &way;
  return way.property->ask(*this);
}

Observations Trial::of(const Property& p) const {
  const auto first =
      std::find_if(seen.begin(), seen.end(), [&](const Observation& o) { return o.by == &p; });
  const auto end =
      std::find_if(first, seen.end(), [&](const Observation& o) { return o.by != &p; });
  return {first, end};
}

std::vector<std::pair<std::string, const Answer*>> Trial::answers() const {
  std::vector<std::pair<std::string, const Answer*>> all;
  if (!item->runs()) return all;
  all.emplace_back("", &base);
  for (const Observation& o : seen)
    if (o.answer) all.emplace_back(o.when, &*o.answer);
  return all;
}

TrialPlan plan_for(Subject& subject, const std::vector<std::string>& properties) {
  TrialPlan plan;
  if (!subject.live()) return plan;
  for (const Property* p : kProperties) {
    const bool needed =
        std::any_of(std::begin(kProperties), std::end(kProperties), [&](const Property* q) {
          return (q == p || q->observes == p) && is_meant(*q, properties);
        });
    if (!p->ask || !needed) continue;
    plan.ways.push_back({p, p->forced ? p->forced(subject.manifest()) : std::vector<Forced>{}});
    for (Forced& f : plan.ways.back().forced) f.config = subject.configure({{f.option, f.value}});
  }
  return plan;
}

void configure(Subject& subject, const TrialPlan& plan) {
  for (const TrialPlan::Way& way : plan.ways)
    for (const Forced& f : way.forced) subject.configure({{f.option, f.value}});
}

Trial perform(Subject& subject, const Item& item, const TrialPlan& plan) {
  Trial t;
  t.item = &item;
  t.manifest = &subject.manifest();
  t.watched = subject.shares_memory();
  subject.about(item.id);
  Probe probe(subject, t);
  const bool once = item.runs() && item.call.fill == Fill::range;
  if (probe.begin() && !once) ask_again(probe, t, plan);
  return t;
}

}  // namespace lockstep::judge
