#include "conformance/cases/combinations.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <queue>
#include <tuple>

#include "conformance/cases/item.h"

namespace lockstep::judge {
namespace {

// Operators with mistakes that show only in combinations of three attributes, shapes and values.
constexpr string_view kThreefold[] = {"conv2d", "strided_slice", "take", "non_max_suppression"};

constexpr int kDraws = 8000;  // of a search
constexpr u64 kSearchSeed = 0;

bool in_triples(const CallClass& f) {
  return f.axis.starts_with("attribute ") || f.axis.starts_with("shape of ") ||
      f.axis.starts_with("values of ");
}

std::vector<CallClass> classes_in_order(const OpInfo& op) {
  std::vector<CallClass> all = call_classes(op);
  for (CallClass& f : value_classes(op)) all.push_back(std::move(f));
  std::stable_partition(all.begin(), all.end(), in_triples);
  return all;
}

// Chooses fill and layout of a drawn call. Half of the calls get the most discriminating fills.
void fill(Case& c, int n, Draw& draw) {
  constexpr auto kLast = static_cast<i64>(Fill::hinted);
  c.fill = draw.coin() ? static_cast<Fill>(draw(0, kLast))
      : n % 2 == 0     ? Fill::dense
                       : Fill::hinted;
  c.seed = static_cast<u64>(n);
  c.layout = static_cast<Layout>(draw(0, kLayouts - 1));
}

Reached search(const OpInfo& op) {
  constexpr int kAims = 8;
  const Combinations combinations(op);
  Reached r{{}, {}, std::vector<bool>(combinations.size()), std::vector<bool>(combinations.size())};
  Seeded draw(word(kSearchSeed, 8, 0));
  for (int n = 0; n < kDraws; ++n) {
    std::optional<Case> c =
        attempt(op, combinations.draw_uncovered(r.combinations, kAims, draw), kMaxRun, n, draw);
    if (!c) continue;
    fill(*c, n, draw);
    const std::vector<Tensor> in = inputs_of(*c);
    std::vector<int> classes = combinations.shown_by(*c, in);
    if (combinations.count_new(classes, r.combinations) == 0) continue;
    const bool constant = is_constant(reference::outputs(op, c->attributes(), in));
    combinations.add_to(constant ? r.constant : r.combinations, classes);
    if (constant) continue;
    r.calls.push_back(std::move(*c));
    r.classes.push_back(std::move(classes));
  }
  return r;
}

}  // namespace

Combinations::Combinations(const OpInfo& op)
    : members_(classes_in_order(op)), classes_(op, members_) {
  if (std::find(std::begin(kThreefold), std::end(kThreefold), op.name) != std::end(kThreefold))
    deep_ = static_cast<int>(std::count_if(members_.begin(), members_.end(), in_triples));
  std::map<std::string, int> axes;
  for (const CallClass& f : members_)
    axes_.push_back(axes.emplace(f.axis, static_cast<int>(axes.size())).first->second);
  size_ = triple(deep_, 0, 0);
}

std::vector<CallClass> Combinations::members_of(std::size_t tuple) const {
  std::vector<CallClass> all;
  const auto take = [&](std::size_t number, std::size_t base, int digits) {
    all.resize(static_cast<std::size_t>(digits));
    for (int k = digits - 1; k >= 0; --k, number /= base)
      all[static_cast<std::size_t>(k)] = members_[number % base];
  };
  if (tuple < pairs())
    take(tuple, members_.size(), 2);
  else
    take(tuple - pairs(), static_cast<std::size_t>(deep_), 3);
  return all;
}

i64 Combinations::count_new(const std::vector<int>& classes, const std::vector<bool>& set) const {
  i64 n = 0;
  each(classes, [&](std::size_t tuple) { n += !set[tuple]; });
  return n;
}

void Combinations::add_to(std::vector<bool>& set, const std::vector<int>& classes) const {
  each(classes, [&](std::size_t tuple) { set[tuple] = true; });
}

std::vector<CallClass> Combinations::draw_uncovered(
    const std::vector<bool>& set, int tries, Draw& draw) const {
  std::vector<int> classes;
  const bool deep = deep_ > 0 && draw.coin();
  const i64 last = (deep ? deep_ : std::ssize(members_)) - 1;
  for (int n = 0; n < tries; ++n) {
    classes.clear();
    for (int k = deep ? 3 : 2; k > 0; --k) classes.push_back(static_cast<int>(draw(0, last)));
    std::sort(classes.begin(), classes.end());
    bool apart = true;
    for (std::size_t k = 1; k < classes.size(); ++k)
      apart &= axis(classes[k]) != axis(classes[k - 1]);
    if (apart && count_new(classes, set) > 0) break;
  }
  std::vector<CallClass> all;
  for (int k : classes) all.push_back(members_[static_cast<std::size_t>(k)]);
  return all;
}

const Reached& reached(const OpInfo& op) {
  struct Known {
    std::once_flag once;
    Reached reached;
  };
  static std::mutex mutex;
  static std::map<string_view, Known> all;
  Known& known = [&]() -> Known& {
    const std::lock_guard lock(mutex);
    return all[op.name];
  }();
  std::call_once(known.once, [&] { known.reached = search(op); });
  return known.reached;
}

std::vector<std::size_t> discriminating_order(const Combinations& combinations,
    const std::vector<std::vector<int>>& classes, const std::function<bool(std::size_t)>& counts,
    std::vector<bool>& set) {
  // The number of new combinations of a call only falls, so an earlier count is an upper bound.
  using Bound = std::pair<i64, std::size_t>;
  const auto worse = [](const Bound& a, const Bound& b) {
    return std::tie(a.first, b.second) < std::tie(b.first, a.second);
  };
  std::priority_queue<Bound, std::vector<Bound>, decltype(worse)> queue(worse);
  for (std::size_t k = 0; k < classes.size(); ++k)
    queue.emplace(combinations.count_new(classes[k], set), k);
  std::vector<std::size_t> order;
  while (!queue.empty() && queue.top().first > 0) {
    const std::size_t k = queue.top().second;
    queue.pop();
    const Bound now{combinations.count_new(classes[k], set), k};
    if (now.first == 0) continue;
    if (!queue.empty() && worse(now, queue.top())) {
      queue.push(now);
    } else if (counts(k)) {
      combinations.add_to(set, classes[k]);
      order.push_back(k);
    }
  }
  return order;
}

}  // namespace lockstep::judge
