#include "conformance/cases/order.h"

#include <algorithm>
#include <optional>

#include "conformance/cases/boundary.h"
#include "conformance/cases/item.h"
#include "spec/explain.h"

namespace lockstep::judge {
namespace {

constexpr int kOrdered = 3;  // inputs of a variadic operator with steps of their own

std::vector<Step> steps_of(const OpInfo& op) {
  std::vector<Step> steps;
  const bool variadic = op.inputs[op.inputs.size() - 1].arity == Arity::variadic;
  for (const SharedLabel& l : kSharedLabels)
    if (l.typed && !l.label.starts_with("input.")) steps.push_back({std::string(l.label), -1});
  for (int k = 0; k < (variadic ? kOrdered : op.inputs.size()); ++k)
    for (const SharedLabel& l : kSharedLabels)
      if (l.typed && l.label.starts_with("input.")) steps.push_back({std::string(l.label), k});
  for (const OwnLabel& l : own_labels(op)) steps.push_back({l.label, -1});
  return steps;
}

// One change that makes a legal call illegal.
struct Fault {
  Parameter parameter;
  i64 value = 0;
  std::size_t step = 0;  // that the call then violates
};

// Parameters whose change may remove others, such as a rank, are set last.
int rank_of(const Parameter& k) {
  if (k.what == Parameter::count) return 2;
  return k.what == Parameter::rank || k.what == Parameter::entries || k.what == Parameter::none ? 1
                                                                                                : 0;
}

Case spoilt(Case c, const Fault& a, const Fault& b) {
  const bool a_first = rank_of(a.parameter) <= rank_of(b.parameter);
  for (const Fault* f : {a_first ? &a : &b, a_first ? &b : &a}) set(c, f->parameter, f->value);
  return c;
}

// Whether a call still has a fault after another one was applied.
bool shows(const Case& c, const Fault& f) {
  const std::vector<Parameter> all = parameters(c);
  return std::find(all.begin(), all.end(), f.parameter) != all.end() &&
      value_of(c, f.parameter) == f.value;
}

class Search {
 public:
  explicit Search(const OpInfo& op)
      : steps_(steps_of(op)), seen_(steps_.size()), found_(steps_.size() * steps_.size()) {}

  // Violates two rules at once, every pair that two parameters of a legal call can violate.
  void look(const Case& origin) {
    const std::vector<Fault> faults = faults_of(origin);
    for (const Fault& a : faults)
      for (const Fault& b : faults) {
        if (a.step >= b.step || steps_[a.step].label == steps_[b.step].label) continue;
        std::optional<DoubleViolation>& found = found_[a.step * steps_.size() + b.step];
        if (found) continue;
        Case both = spoilt(origin, a, b);
        if (shows(both, a) && shows(both, b) && step_of(both) == a.step)
          found = {std::move(both), spoilt(origin, a, a), spoilt(origin, b, b), steps_[a.step],
              steps_[b.step]};
      }
  }
  // Whether for each step a call violates it together with the next one.
  bool complete() const {
    for (std::size_t i = 0; i + 1 < steps_.size(); ++i)
      if (!found_[i * steps_.size() + i + 1]) return false;
    return true;
  }
  Order result() && {
    Order order;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (std::size_t j = i + 1; j < steps_.size(); ++j) {
        if (steps_[i].label == steps_[j].label) continue;
        if (std::optional<DoubleViolation>& t = found_[i * steps_.size() + j]) {
          order.calls.push_back(std::move(*t));
          break;
        }
        if (seen_[i] && seen_[j]) order.apart.emplace_back(steps_[i], steps_[j]);
      }
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (!seen_[i]) order.unseen.push_back(steps_[i]);
    return order;
  }

 private:
  // The position of the step that refuses a call, or one beyond the last.
  std::size_t step_of(const Case& c) const {
    const Refusal r = refusal(c);
    std::size_t at = 0;
    while (at < steps_.size() &&
        !(steps_[at].label == r.label() && (steps_[at].input < 0 || steps_[at].input == r.which)))
      ++at;
    return at;
  }
  // For each parameter, the first illegal value, and the last two, which may violate an earlier
  // step.
  std::vector<Fault> faults_of(const Case& origin) {
    constexpr int kPerStep = 4;
    std::vector<Fault> faults;
    std::vector<int> count(steps_.size());
    const auto add = [&](const Parameter& k, i64 v) {
      Case one = origin;
      set(one, k, v);
      const std::size_t step = step_of(one);
      if (step == steps_.size() || ++count[step] > kPerStep) return;
      faults.push_back({k, v, step});
      seen_[step] = true;
    };
    for (const Parameter& k : parameters(origin)) {
      const Range range = turns(origin, k);
      for (i64 end : {range.min, range.max}) {
        const auto edge = boundary_of(origin, k, end);
        if (!edge) continue;
        add(k, edge->illegal);
        add(k, end);
        add(k, end == range.max ? end - 1 : end + 1);
      }
    }
    return faults;
  }

  std::vector<Step> steps_;
  std::vector<bool> seen_;                             // steps that one parameter can violate
  std::vector<std::optional<DoubleViolation>> found_;  // by both steps
};

}  // namespace

std::string Step::text() const {
  return input < 0 ? label : label + " of input " + std::to_string(input);
}

Order order_of(const OpInfo& op, u64 seed) {
  // Enough calls to reach the rarest pair many times.
  constexpr int kTried = 400;
  Search search(op);
  Seeded draw(word(seed, 3, 0));
  for (int n = 0; n < kTried && !search.complete(); ++n)
    search.look(n % 2 == 0 ? draw_case(op, draw) : varied_case(op, draw));
  return std::move(search).result();
}

}  // namespace lockstep::judge
