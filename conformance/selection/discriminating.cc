#include <utility>

#include "conformance/cases/boundary.h"
#include "conformance/cases/combinations.h"
#include "conformance/selection/select.h"

namespace lockstep::judge {
namespace {

// The t-way combinations that the legal calls among an operator's items show.
class CombinationCover {
 public:
  CombinationCover(const std::vector<Item>& items, const OpInfo& op)
      : items_(items), combinations_(op) {
    for (std::size_t k = 0; k < items.size(); ++k)
      if (items[k].what == Item::legal && elements_of(items[k].call) <= kMaxRun)
        add(k, combinations_.shown_by(items[k].call, inputs_of(items[k].call)), unknown);
  }

  // The reached calls that show combinations which the items do not show.
  std::vector<std::size_t> missing(const Reached& r) {
    std::vector<bool> set(combinations_.size());
    for (std::size_t k = 0; k < places_.size(); ++k)
      if (combinations_.count_new(classes_[k], set) > 0 && counts(k))
        combinations_.add_to(set, classes_[k]);
    return discriminating_order(
        combinations_, r.classes, [](std::size_t) { return true; }, set);
  }

  // Adds an item whose outputs are known to vary.
  void add(std::size_t place, const std::vector<int>& classes) { add(place, classes, varied); }

  // The places of the items that show new combinations, in discriminating order.
  std::vector<std::size_t> order() {
    std::vector<bool> set(combinations_.size());
    std::vector<std::size_t> order = discriminating_order(
        combinations_, classes_, [&](std::size_t k) { return counts(k); }, set);
    for (std::size_t& k : order) k = places_[k];
    return order;
  }

 private:
  enum Outputs { unknown, constant, varied };
  void add(std::size_t place, std::vector<int> classes, Outputs outputs) {
    places_.push_back(place);
    classes_.push_back(std::move(classes));
    outputs_.push_back(outputs);
  }
  bool counts(std::size_t k) {
    if (outputs_[k] == unknown) {
      const Case& c = items_[places_[k]].call;
      const auto out = reference::outputs(*c.op, c.attributes(), inputs_of(c));
      outputs_[k] = is_constant(out) ? constant : varied;
    }
    return outputs_[k] == varied;
  }

  const std::vector<Item>& items_;
  const Combinations combinations_;
  std::vector<std::size_t> places_;  // of the measured items
  std::vector<std::vector<int>> classes_;
  std::vector<Outputs> outputs_;
};

}  // namespace

void put_discriminating_first(std::vector<Item>& items, const OpInfo& op, bool complete) {
  CombinationCover showing(items, op);
  if (complete) {
    const Reached& r = reached(op);
    for (std::size_t k : showing.missing(r)) {
      showing.add(items.size(), r.classes[k]);
      items.push_back({Item::legal, r.calls[k], {}, case_id(r.calls[k]), {}});
    }
  }
  std::vector<std::size_t> order = showing.order();
  std::vector<bool> placed(items.size());
  for (std::size_t k : order) placed[k] = true;
  for (std::size_t k = 0; k < items.size(); ++k)
    if (!placed[k]) order.push_back(k);
  std::vector<Item> sorted;
  sorted.reserve(items.size());
  for (std::size_t k : order) sorted.push_back(std::move(items[k]));
  items = std::move(sorted);
}

}  // namespace lockstep::judge
