#include "conformance/trial/trial.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "conformance/subjects/library_subject.h"
#include "conformance/trial/properties.h"

namespace lockstep::judge {

Observations Trial::of(const Property& p) const {
  const auto first =
      std::find_if(seen.begin(), seen.end(), [&](const Observation& o) { return o.by == &p; });
  const auto end =
      std::find_if(first, seen.end(), [&](const Observation& o) { return o.by != &p; });
  return {seen.data() + (first - seen.begin()), seen.data() + (end - seen.begin())};
}

std::span<Observation> Trial::of(const Property& p) {
  const Observations same = std::as_const(*this).of(p);
  return {seen.data() + (same.data() - seen.data()), same.size()};
}

std::vector<Trial::Told> Trial::answers() const {
  std::vector<Told> all;
  if (!item->runs()) return all;
  all.push_back({"", &base, &expected, false});
  for (const Observation& o : seen)
    if (o.answer && o.refused_with.empty())
      all.push_back({o.when, &*o.answer, o.right ? &(this->*o.right) : &expected,
          o.right == &Trial::expected_heads});
  return all;
}

const Answer* Trial::end() const {
  std::vector<const Answer*> all;
  if (item->runs()) all.push_back(&base);
  for (const auto* a : {&refusal, &inferred})
    if (*a) all.push_back(&**a);
  for (const Observation& o : seen)
    if (o.answer) all.push_back(&*o.answer);
  const auto last =
      std::find_if(all.rbegin(), all.rend(), [](const Answer* a) { return a->gone(); });
  return last == all.rend() ? nullptr : *last;
}

TrialPlan plan_for(Subject& subject, const std::vector<std::string>& properties,
    std::set<string_view> graph_operators) {
  TrialPlan plan{{}, subject.offered(), std::move(graph_operators)};
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

// Whether a call gets no answer. A library that crashes as it is loaded again gives none.
static bool is_silent(Subject& subject, const Case& c) {
  try {
    return subject.execute(c, inputs_of(c), c.op->infer(c.attributes(), c.types()), {})
        .takes_long();
  } catch (const LoadCrash&) {
    return true;
  }
}

Silent silent_operators(Subject& subject) {
  constexpr std::size_t kMost = 3;
  Silent silent;
  bool answered = false;
  for (const OpInfo* op : operators()) {
    const Case c = example_case(*op, 0);
    if (!subject.manifest().claims_call(c)) continue;
    if (silent.unanswered.size() >= (answered ? kMost : 1))
      silent.unasked.insert(op->name);
    else if (is_silent(subject, c))
      silent.unanswered.insert(op->name);
    else
      answered = true;
  }
  return silent;
}

void configure(Subject& subject, const TrialPlan& plan) {
  if (subject.offered() != plan.offered)
    throw LoadCrash(
        "the backend states another manifest or offers other functions than in an "
        "earlier process");
  for (const TrialPlan::Way& way : plan.ways)
    for (const Forced& f : way.forced) subject.configure({{f.option, f.value}});
}

std::vector<Trial> perform(
    Subject& subject, const std::vector<const Item*>& items, const TrialPlan& plan) {
  std::vector<Trial> trials(items.size());
  std::deque<Probe> probes;
  for (std::size_t k = 0; k < items.size(); ++k)
    probes.emplace_back(subject, *items[k], plan, trials[k]).ask_all();
  for (;;) {
    std::vector<Question> all;
    std::vector<std::size_t> counts;
    for (std::size_t k = 0; k < probes.size(); ++k) {
      const std::vector<Question> some = probes[k].questions(k);
      all.insert(all.end(), some.begin(), some.end());
      counts.push_back(some.size());
    }
    if (all.empty()) break;
    std::vector<Answers> answers = subject.ask(all);
    auto from = std::make_move_iterator(answers.begin());
    for (std::size_t k = 0; k < probes.size(); from += std::ptrdiff_t(counts[k++]))
      probes[k].take({from, from + std::ptrdiff_t(counts[k])});
  }
  for (Probe& p : probes) p.finish();
  return trials;
}

Trial perform(Subject& subject, const Item& item, const TrialPlan& plan) {
  return std::move(perform(subject, std::vector{&item}, plan)[0]);
}

}  // namespace lockstep::judge
