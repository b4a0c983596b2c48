#include "conformance/golden/vector_cases.h"

#include <algorithm>
#include <set>

#include "conformance/cases/boundary.h"
#include "conformance/cases/classes.h"
#include "conformance/cases/fill.h"
#include "conformance/cases/item.h"
#include "conformance/cases/mutate.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

constexpr u64 kSeed = 20261121;         // of the first frozen set
constexpr u64 kPool = 600;              // drawn calls of an operator
constexpr u64 kDrawn = 48;              // the best of them, which are kept
constexpr i64 kMaxElements = 1600;      // of a drawn call, inputs and outputs together
constexpr i64 kMaxDeepElements = 6000;  // of one whose sums pass 2^24
constexpr i64 kTails[] = {3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65};

// The fills of a drawn call: of its first input and of all others.
struct Plan {
  Fill first, others;
  const char* text;
};
constexpr Plan kPlans[] = {
    {Fill::dense, Fill::dense, "random values"},
    {Fill::max, Fill::max, "the largest values"},
    {Fill::boundary, Fill::boundary, "powers of two and their neighbours"},
    {Fill::critical, Fill::critical, "long sums of large odd values"},
    {Fill::max, Fill::min, "the largest values, then the smallest"},
    {Fill::hinted, Fill::hinted, "values that mean something"},
    {Fill::alternating, Fill::alternating, "signs in turn"},
    {Fill::sparse, Fill::dense, "mostly zeros"},
    {Fill::min, Fill::min, "the smallest values"},
    {Fill::dense, Fill::boundary, "random values, then powers of two"},
    {Fill::one_hot, Fill::dense, "one value"},
    {Fill::minus_one, Fill::dense, "minus ones"},
};

// The plans for calls whose inputs have the widest types.
constexpr std::size_t kWidePlans[] = {0, 1, 2, 3, 4, 8, 8, 1, 8};

bool is_deep(const Case& c) {
  return std::any_of(c.in.begin(), c.in.end(), [](const Type& t) {
    return std::any_of(t.shape.begin(), t.shape.end(), [](i64 e) { return e >= kDeep; });
  });
}

bool is_tail(i64 extent) {
  return std::find(std::begin(kTails), std::end(kTails), extent) != std::end(kTails);
}

// Whether a call is small enough to be frozen: outputs are always written out.
bool fits(const Case& c) {
  const Inferred y = c.op->infer(c.attributes(), c.types());
  for (int k = 0; k < y.count; ++k)
    if (volume(y[k].shape) > kMaxWritten) return false;
  return elements_of(c) <= (is_deep(c) ? kMaxDeepElements : kMaxElements);
}

// Each small value, and each value of a small range, is a class of its own; others differ by sign
// only.
std::string class_of(i64 v, Range range) {
  constexpr i64 kFew = 64, kSmall = 3;
  if (-kSmall <= v && v <= kSmall) return std::to_string(v);
  if (range.max < kFew && range.min > -kFew) return std::to_string(v);
  return v < 0 ? "negative" : "large";
}

std::string class_of(const AttrInfo& f, const Attr& v) {
  if (v.none) return "None";
  std::string s;
  for (i64 e : v.ints) s += class_of(e, f.range) + ",";
  return s;
}

std::string precision_class(int p) {
  for (int edge : {1, 2, 7, 8, 16, 24, 31})
    if (p <= edge) return std::to_string(edge);
  return "32";
}

// The classes that a call shows, then pairs of them.
std::vector<std::string> features(const Case& c) {
  std::vector<std::string> all, tails;
  for (int i = 0; i < c.op->attrs.size(); ++i)
    all.push_back(std::string(c.op->attrs[i].name) + "=" +
        class_of(c.op->attrs[i], c.attrs[static_cast<std::size_t>(i)]));
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    const std::string in = std::to_string(k);
    all.push_back("rank" + in + "=" + std::to_string(c.in[k].rank()));
    all.push_back("precision" + in + "=" + precision_class(c.in[k].precision));
    for (int d = 0; d < c.in[k].rank(); ++d)
      if (const i64 e = c.in[k].dim(d); is_tail(e) || e == 1 || e >= kDeep)
        tails.push_back(
            "extent" + in + "," + std::to_string(c.in[k].rank() - d) + "=" + std::to_string(e));
  }
  const std::size_t singles = all.size();
  for (std::size_t i = 0; i < singles; ++i)
    for (std::size_t j = i + 1; j < singles; ++j) all.push_back(all[i] + " & " + all[j]);
  all.insert(all.end(), tails.begin(), tails.end());
  return all;
}

Case drawn(const OpInfo& op, u64 n) {
  Seeded draw(word(kSeed, 1, n));
  return draw_case(op, draw);
}

// Calls whose sums exceed 2^24, if the operator has any. The best drawn calls contain too few.
std::vector<Case> deep_drawn(const OpInfo& op) {
  std::vector<Case> deep;
  for (u64 n = kPool; n < 4 * kPool && deep.size() < 4; ++n) {
    Case c = drawn(op, n);
    int widest = 1;
    for (const Type& t : c.in) widest = std::max(widest, t.precision);
    if (is_deep(c) && fits(c) && widest >= 8) deep.push_back(std::move(c));
  }
  return deep;
}

// The same call with every input in its widest legal precision.
Case widest(Case c) {
  for (Type& t : c.in) {
    t.precision = kMaxPrecision;
    while (refusal(c).refused()) --t.precision;
  }
  return c;
}

Hint hint_of(const OpInfo& op, std::size_t k) {
  const int ports = op.inputs.size();
  return op.inputs[static_cast<int>(k) < ports ? static_cast<int>(k) : ports - 1].hint;
}

// Positions and boxes are useful at the ends of their range or in hinted fills, not at random.
Fill fill_of(const Plan& plan, Hint hint, std::size_t k) {
  const Fill f = k == 0 ? plan.first : plan.others;
  const bool ends = f == Fill::boundary || f == Fill::max || f == Fill::min;
  return hint == Hint::any || hint == Hint::score || ends ? f : Fill::hinted;
}

// The fill nearest to `f` that recipes may name.
Fill nearest_recipe(Fill f) {
  if (recipe_allowed(f)) return f;
  return f == Fill::critical ? Fill::max : Fill::dense;
}

VectorInput filled(Case c, std::size_t k, Fill fill) {
  const bool written = volume(c.in[k].shape) <= kMaxWritten;
  c.fill = written ? fill : nearest_recipe(fill);
  VectorInput in;
  in.shape.assign(c.in[k].shape.begin(), c.in[k].shape.end());
  const std::vector<i32> values = fill_values(c, static_cast<int>(k));
  if (written) {
    in.data.emplace(values.begin(), values.end());
  } else {
    in.recipe = Recipe{c.fill, c.seed};
    in.sha256 = values_hash(values);
  }
  return in;
}

// The flags of a legal call.
std::vector<std::string> flags_of(const Case& c, const Plan& plan) {
  std::set<std::string> flags;
  int widest = 1;
  for (const Type& t : c.in) {
    widest = std::max(widest, t.precision);
    if (std::any_of(t.shape.begin(), t.shape.end(), is_tail)) flags.insert("TAIL");
    const bool thin = t.rank() > 1 && std::count(t.shape.begin(), t.shape.end(), 1) > 0;
    if (t.rank() > 4 || thin) flags.insert("LAYOUT");
    if (t.precision <= 2 || t.precision > 24) flags.insert("PRECISION");
  }
  for (Fill f : {plan.first, plan.others}) {
    if (f == Fill::max || f == Fill::min || f == Fill::alternating) flags.insert("SATURATION");
    if (f == Fill::min || f == Fill::alternating || f == Fill::minus_one) flags.insert("SIGN");
  }
  for (std::size_t k = 0; k < c.in.size(); ++k)
    if (hint_of(*c.op, k) == Hint::index || hint_of(*c.op, k) == Hint::count)
      flags.insert("BOUNDS");
  const Inferred y = c.op->infer(c.attributes(), c.types());
  if (y[0].precision > widest + 1) flags.insert("ACC_WIDTH");
  if (c.op->name.starts_with("broadcast_") && c.in[0].shape != c.in[1].shape)
    flags.insert("BROADCAST");
  if (c.op->name.find("shift") != string_view::npos) flags.insert("ROUNDING");
  for (int i = 0; i < c.op->attrs.size(); ++i)
    if (!c.op->attrs[i].required && c.attrs[static_cast<std::size_t>(i)] == c.op->attrs[i].fallback)
      flags.insert("DEFAULTS");
  return {flags.begin(), flags.end()};
}

VectorCandidate legal_candidate(Case c, u64 slot, const Plan& plan, const std::string& kind) {
  c.seed = slot;
  VectorCandidate v;
  v.comment = kind + " " + std::to_string(slot) + ": " + plan.text;
  v.flags = flags_of(c, plan);
  v.sampled = true;
  v.call = types_call(c);
  for (std::size_t k = 0; k < c.in.size(); ++k)
    v.call.in[k] = filled(c, k, fill_of(plan, hint_of(*c.op, k), k));
  return v;
}

// Whether some output of a call has two different elements.
bool tells(const Case& c, const Plan& plan) {
  std::vector<Tensor> in;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    Case one = c;
    one.fill = fill_of(plan, hint_of(*c.op, k), k);
    in.push_back({c.in[k], fill_values(one, static_cast<int>(k))});
  }
  for (const Tensor& t : reference::outputs(*c.op, c.attributes(), in))
    if (std::any_of(t.data.begin(), t.data.end(), [&](i32 v) { return v != t.data[0]; }))
      return true;
  return false;
}

// A drawn call that may be frozen.
struct Entry {
  Case c;
  std::vector<std::size_t> features;
  i64 size = 0;
};

struct DrawnCalls {
  std::vector<Entry> entries;
  std::vector<bool> covered;  // by feature

  explicit DrawnCalls(const OpInfo& op) {
    std::map<std::string, std::size_t> numbers;
    for (u64 n = 0; n < kPool; ++n) {
      Entry e{drawn(op, n), {}, 0};
      if (!fits(e.c)) continue;
      for (const std::string& f : features(e.c))
        e.features.push_back(numbers.emplace(f, numbers.size()).first->second);
      e.size = elements_of(e.c);
      entries.push_back(std::move(e));
    }
    covered.resize(numbers.size());
  }
  // A call is worth more the more new classes it shows and the smaller it is.
  i64 worth(const Entry& e) const {
    i64 fresh = 1;
    for (std::size_t f : e.features) fresh += !covered[f];
    return fresh * 1'000'000 / (e.size + 2000);
  }
  // The best call whose outputs are not constant under this plan, or the best one.
  Case take(const Plan& plan, u64 seed) {
    constexpr std::size_t kTried = 24;
    std::stable_sort(entries.begin(), entries.end(),
        [&](const Entry& a, const Entry& b) { return worth(a) > worth(b); });
    std::size_t at = 0;
    for (std::size_t i = 0; i < std::min(kTried, entries.size()); ++i) {
      entries[i].c.seed = seed;
      if (tells(entries[i].c, plan)) {
        at = i;
        break;
      }
    }
    for (std::size_t f : entries[at].features) covered[f] = true;
    Case best = std::move(entries[at].c);
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(at));
    return best;
  }
};

// Adds the drawn calls that together show the most classes, best first, then some widest ones.
void add_drawn(const OpInfo& op, std::vector<VectorCandidate>& all) {
  DrawnCalls pool(op);
  for (u64 slot = 1; slot <= kDrawn && !pool.entries.empty(); ++slot) {
    const Plan& plan = kPlans[(slot - 1) % std::size(kPlans)];
    all.push_back(legal_candidate(pool.take(plan, slot), slot, plan, "drawn"));
  }
  u64 slot = 0;
  for (std::size_t number : kWidePlans) {
    if (pool.entries.empty()) return;
    const Plan& plan = kPlans[number];
    ++slot;
    all.push_back(legal_candidate(widest(pool.take(plan, slot)), slot, plan, "widest"));
  }
}

VectorCandidate illegal_candidate(const Case& c) {
  return {{}, {"REJECT"}, types_call(c), refusal(c).label(), true};
}

// Adds, for each rule, the shortest of several calls that violate it.
void add_illegal(const OpInfo& op, std::vector<VectorCandidate>& all) {
  constexpr int kTried = 12, kKept = 2;
  std::map<std::string, std::vector<VectorCandidate>> by_label;
  for (const Case& c : illegal_cases(op, kSeed, kTried)) {
    VectorCandidate v = illegal_candidate(c);
    by_label[v.label].push_back(std::move(v));
  }
  for (const std::string& label : typed_labels(op)) {
    auto& found = by_label[label];
    std::stable_sort(
        found.begin(), found.end(), [](const VectorCandidate& a, const VectorCandidate& b) {
          return call_text(a.call).size() < call_text(b.call).size();
        });
    for (std::size_t i = 0; i < found.size() && i < kKept; ++i) {
      found[i].comment = "refused " + std::to_string(i) + ": " + label;
      all.push_back(std::move(found[i]));
    }
  }
}

}  // namespace

std::map<std::string, std::string> attribute_texts(const OpInfo& op, Attributes values) {
  std::map<std::string, std::string> texts;
  for (int i = 0; i < op.attrs.size(); ++i)
    if (op.attrs[i].required || !(values[i] == op.attrs[i].fallback))
      texts[std::string(op.attrs[i].name)] = attribute_text(op.attrs[i], values[i]);
  return texts;
}

VectorCall types_call(const Case& c) {
  VectorCall call;
  call.attrs = attribute_texts(*c.op, c.attributes());
  // A list stores as many entries as it has room for and counts the rest.
  for (int i = 0; i < c.op->attrs.size(); ++i) {
    const Tuple& t = c.attrs[static_cast<std::size_t>(i)].ints;
    std::string& text = call.attrs[std::string(c.op->attrs[i].name)];
    for (int k = kMaxTuple; k < t.size; ++k)
      text.insert(text.size() - 1, "," + std::to_string(t[kMaxTuple - 1]));
    if (text.empty()) call.attrs.erase(std::string(c.op->attrs[i].name));
  }
  for (const Type& t : c.in) {
    VectorInput in;
    in.shape.assign(t.shape.begin(), t.shape.end());
    in.shape.resize(static_cast<std::size_t>(t.shape.size), 1);
    call.in_prec.push_back(t.precision);
    call.in.push_back(std::move(in));
  }
  return call;
}

VectorCall filled_call(const Case& c, Fill fill) {
  VectorCall call = types_call(c);
  for (std::size_t k = 0; k < c.in.size(); ++k) call.in[k] = filled(c, k, fill);
  return call;
}

VectorCall example_call(const OpInfo& op, int i) {
  const AnyExample e = op.example(i);
  VectorCall call;
  call.attrs = attribute_texts(op, e.call.attributes());
  for (int k = 0; k < e.call.in_count; ++k) {
    VectorInput in;
    in.shape.assign(e.in[k].shape.begin(), e.in[k].shape.end());
    in.data.emplace(e.in[k].data.begin(), e.in[k].data.end());
    call.in_prec.push_back(e.in[k].precision);
    call.in.push_back(std::move(in));
  }
  return call;
}

std::vector<VectorCandidate> vector_candidates(const OpInfo& op) {
  std::vector<VectorCandidate> all;
  for (int i = 0; i < op.example_count; ++i)
    all.push_back({std::string(op.example(i).text), {"EXAMPLE"}, example_call(op, i), {}, false});
  add_drawn(op, all);
  u64 slot = 0;
  for (Case& c : deep_drawn(op)) {
    const Plan& plan = kPlans[1 + slot];  // the largest, boundary, critical, opposite ends
    all.push_back(legal_candidate(std::move(c), ++slot, plan, "deep"));
  }
  add_illegal(op, all);
  for (VectorCandidate& v : text_candidates(op)) all.push_back(std::move(v));
  for (VectorCandidate& v : limit_candidates(op, kSeed)) all.push_back(std::move(v));
  return all;
}

}  // namespace lockstep::judge
