#include <rapidcheck.h>

#include <algorithm>

#include "conformance/run/judge.h"
#include "conformance/run/simpler.h"
#include "conformance/subjects/library_subject.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/causes.h"
#include "conformance/verdict/pattern.h"

namespace lockstep::judge {
namespace {

// Shrinking is limited by counted work, so that slow and fast machines find the same case. A step
// tries one case; a crash counts as several steps for the restart, a hang as many for the timeout.
constexpr i64 kStepsOfCrash = 20, kStepsOfHang = 200;
constexpr i64 kFewElements = 4;  // of a shrunk case that needs no second attempt

// The cost of shrinking: steps, calls put to the backend, and work, which is their elements and
// multiply-adds.
struct Cost {
  i64 steps = 0, calls = 0, work = 0;
  bool reaches(const Cost& limit) const {
    return steps >= limit.steps || calls >= limit.calls || work >= limit.work;
  }
  void add(const Cost& more) {
    steps += more.steps;
    calls += more.calls;
    work += more.work;
  }
};
constexpr i64 kMaxWork = i64{1} << 28;
constexpr Cost kOfFailure{600, 6000, kMaxWork};
constexpr Cost kOfReport{i64{12} * 600, i64{12} * 6000, 12 * kMaxWork};

// The work of a call: the elements of its tensors plus the multiply-adds of its outputs.
i64 work_of(const Case& c) {
  if (what_of(c) != Item::legal) return 1;
  const Inferred y = c.op->infer(c.attributes(), c.types());
  return elements_of(c) + min(c.op->gas(c.attributes(), c.types()), kMaxWork) * volume(y[0].shape);
}

// Tries whether a case shows the failure: returns its finding, or nothing if the case passes or
// fails in another way.
class Predicate {
 public:
  Predicate(Subject& subject, const TrialPlan& plan, const Failure& failure, const Cost& limit,
      const Interruption& interrupted)
      : subject_(subject),
        plan_(plan),
        failure_(failure),
        interrupted_(interrupted),
        limit_(limit),
        label_(refusal(parse_case(failure.id)).label()) {}

  /// Whether the limits of one failure are used up, or the run is to end.
  bool exhausted() const { return cost_.reaches(limit_) || (interrupted_ && interrupted_()); }
  const Cost& cost() const { return cost_; }

  std::optional<std::string> operator()(const Case& c) {
    ++cost_.steps;
    if (refusal(c).label() != label_ || !subject_.manifest().claims_operator(c.op->name))
      return std::nullopt;
    Item item;
    item.what = what_of(c);
    item.call = c;
    item.label = label_;
    try {
      if (label_.empty() && !(subject_.manifest().claims_call(c) && shows_cells(failure_.cells, c)))
        return std::nullopt;
      const ItemResult r = judge_trial(perform(subject_, item, plan_), {failure_.property});
      count(c, r);
      if (r.findings.empty() || !alike(r)) return std::nullopt;
      return r.findings[0].second.text;
    } catch (const LoadCrash&) {
      cost_.steps += kStepsOfCrash - 1;
      return std::nullopt;
    } catch (const Interrupted&) {
      return std::nullopt;  // nothing else is tried either
    }
  }

 private:
  // Whether a result shows this failure and no other: a crash must not take the place of a wrong
  // value, nor a value that is off by one the place of a rounded one.
  bool alike(const ItemResult& r) const {
    const Finding& f = r.findings[0].second;
    const Relation* pattern = relation_of(failure_.pattern.substr(0, failure_.pattern.find(';')));
    return kind_of(r.outcome) == failure_.outcome && name_of(f.kind) == failure_.answer &&
        f.label == failure_.label && (failure_.elements.empty() || !f.elements.empty()) &&
        (!pattern || holds(*pattern, f.elements));
  }
  void count(const Case& c, const ItemResult& r) {
    if (r.outcome == Outcome::crashed) cost_.steps += kStepsOfCrash - 1;
    if (r.outcome == Outcome::timed_out) cost_.steps += kStepsOfHang - 1;
    cost_.calls += r.calls;
    cost_.work += r.calls * work_of(c);
  }

  Subject& subject_;
  const TrialPlan& plan_;
  const Failure& failure_;
  const Interruption& interrupted_;
  const Cost limit_;
  std::string label_;
  Cost cost_;
};

// A failing case and its finding.
struct Shown {
  Case call;
  std::string text;
};

// Steps from a failing case to a simpler failing one until the limits are used up.
class Descent {
 public:
  Descent(Predicate& violates, Case failing)
      : violates_(violates), short_{std::move(failing), {}} {}

  bool fails(const Case& c) {
    if (violates_.exhausted()) return false;
    const std::optional<std::string> shown = violates_(c);
    // Descent passes through cases with long ids, but a reader needs a short one.
    if (shown && case_id(c).size() <= kMaxShown) short_ = {c, *shown};
    return shown.has_value();
  }

  Case from(const Case& failing) {
    auto best = rc::shrinkable::shrinkRecur(
        failing, [](const Case& c) { return rc::seq::fromContainer(simpler(c)); });
    for (bool found = true; found;) {
      found = false;
      auto candidates = best.shrinks();
      while (auto next = candidates.next()) {
        if (violates_.exhausted()) return best.value();
        if (!fails(next->value())) continue;
        best = *next;
        found = true;
        break;
      }
    }
    return best.value();
  }

  /// The last failing case with a readable id.
  const Shown& shown() const { return short_; }

 private:
  Predicate& violates_;
  Shown short_;
};

Case shrink_within(Predicate& violates, const Case& from, std::string& text) {
  Descent down(violates, from);
  const Case small = down.from(from);
  if (elements_of(small) > kFewElements)
    for (const Case& c : near_the_simplest(small))
      if (down.fails(c)) {
        down.from(c);
        break;
      }
  if (!down.shown().text.empty()) text = down.shown().text;
  return down.shown().call;
}

// Failures whose cases can be made smaller, wrong values first: they say most, and cost least.
std::vector<Failure*> in_order(Report& r) {
  std::vector<Failure*> all;
  // The id of a vector is a name, not a call that can be made smaller.
  for (Failure& f : r.failures)
    if (f.id.find('/') != std::string::npos && f.known.empty()) all.push_back(&f);
  const auto rank = [](const Failure* f) {
    return f->outcome != kind_of(Outcome::failed) ? 2 : f->elements.empty();
  };
  std::stable_sort(all.begin(), all.end(),
      [&](const Failure* a, const Failure* b) { return rank(a) < rank(b); });
  return all;
}

}  // namespace

Case shrink(Subject& subject, const TrialPlan& plan, const Failure& failure, std::string& text,
    const Interruption& interrupted) {
  Predicate violates(subject, plan, failure, kOfFailure, interrupted);
  return shrink_within(violates, parse_case(failure.id), text);
}

void shrink_failures(
    Report& r, Subject& subject, const TrialPlan& plan, const Interruption& interrupted) {
  // A backend that never answers fails every case alike.
  if (r.counts.passed + r.counts.failed == 0) return;
  Cost spent;
  for (Failure* f : in_order(r)) {
    if (spent.reaches(kOfReport)) return;
    Predicate violates(subject, plan, *f, kOfFailure, interrupted);
    const std::string id = case_id(shrink_within(violates, parse_case(f->id), f->shrunk_text));
    if (id != f->id) f->shrunk = id;
    spent.add(violates.cost());
  }
}

}  // namespace lockstep::judge
