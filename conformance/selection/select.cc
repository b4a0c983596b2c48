#include "conformance/selection/select.h"

#include <algorithm>
#include <climits>

#include "conformance/base/at_once.h"
#include "conformance/base/sha256.h"
#include "conformance/base/text.h"
#include "conformance/cases/boundary.h"
#include "conformance/cases/classes.h"
#include "conformance/cases/counting.h"
#include "conformance/cases/large.h"
#include "conformance/cases/model_calls.h"
#include "conformance/cases/mutate.h"
#include "conformance/cases/order.h"
#include "conformance/golden/vectors.h"
#include "conformance/selection/kill_matrix.h"
#include "conformance/trial/properties.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

// Fills, the most discriminating first; dense data comes again between the others.
constexpr Fill kOrder[] = {Fill::dense, Fill::hinted, Fill::boundary, Fill::critical, Fill::dense,
    Fill::max, Fill::hinted, Fill::alternating, Fill::dense, Fill::sparse, Fill::min,
    Fill::boundary, Fill::critical, Fill::hinted, Fill::one_hot, Fill::dense, Fill::one, Fill::zero,
    Fill::minus_one, Fill::dense};

bool hinted(const OpInfo& op) {
  return std::any_of(
      op.inputs.begin(), op.inputs.end(), [](const Port& p) { return p.hint != Hint::any; });
}

// Chooses values and memory of the n-th legal call.
Item filled_item(Case call, int n) {
  const OpInfo& op = *call.op;
  Item item;
  Case& c = item.call = std::move(call);
  c.seed = static_cast<u64>(n);
  c.fill = kOrder[static_cast<std::size_t>(n) % std::size(kOrder)];
  // Arbitrary values of indices and boxes tell little: indices get clamped, boxes do not overlap.
  if (c.fill == Fill::dense && n % 4 != 0 && hinted(op)) c.fill = Fill::hinted;
  c.layout = static_cast<Layout>(1 + n % (kLayouts - 1));
  item.id = case_id(c);
  return item;
}

Item legal_item(const OpInfo& op, u64 seed, int n) {
  Seeded draw(word(seed, 1, static_cast<u64>(n)));
  return filled_item(draw_case(op, draw), n);
}

// Adds calls that nobody could know before the verifier chose the nonce.
void add_unforeseen(
    std::vector<Item>& list, const OpInfo& op, const std::string& nonce, TierSize size) {
  if (nonce.empty()) return;
  const u64 seed = std::stoull(sha256("nonce " + nonce).substr(0, 16), nullptr, 16);
  for (int n = 0; n < size.legal / 10; ++n) {
    Item item = legal_item(op, seed, n);
    item.call.seed = word(seed, 2, static_cast<u64>(n));
    item.id = case_id(item.call);
    list.push_back(std::move(item));
  }
}

// An item of a call whose values and memory are chosen.
Item whole_item(Case c) {
  Item item;
  item.id = case_id(c);
  item.call = std::move(c);
  return item;
}

// Adds calls that enumerate edge values, spread evenly over all of them, and calls that enumerate
// all values.
void add_counting(std::vector<Item>& list, const OpInfo& op, u64 seed, TierSize size) {
  std::vector<Case> edges = edge_cases(op);
  const std::size_t n = std::min(edges.size(), static_cast<std::size_t>(size.edges));
  for (std::size_t k = 0; k < n; ++k)
    list.push_back(whole_item(std::move(edges[k * edges.size() / n])));
  for (Case& c : range_cases(op, seed, size.ranges)) list.push_back(whole_item(std::move(c)));
}

// A case id contains slashes; the id of a vector does not.
bool names_vector(const std::string& id) { return id.find('/') == std::string::npos; }

Item illegal_item(Case c) {
  Item item;
  item.what = Item::illegal;
  item.label = refusal(c).label();
  item.id = case_id(c);
  item.call = std::move(c);
  return item;
}

// Whether a selected property applies to this kind of cases.
bool wants(const Selection& s, About kind) {
  return std::any_of(std::begin(kProperties), std::end(kProperties),
      [&](const Property* p) { return p->is_about(kind) && s.wants(p->name); });
}

// Adds both sides of each boundary, and calls that violate two rules.
void add_limits(
    const OpInfo& op, const Selection& s, bool legal, bool illegal, std::vector<Item>& items) {
  for (Boundary& b : boundaries(op, s.seed)) {
    const Item::What side = what_of(b.legal, kMaxRun);
    const int n = static_cast<int>(items.size());
    if (side == Item::legal && legal) items.push_back(filled_item(std::move(b.legal), n));
    if (side == Item::typed && wants(s, kTyped))
      items.push_back({Item::typed, b.legal, {}, case_id(b.legal), {}});
    // Backends get no attributes as text, so labels about text do not apply to them.
    if (illegal && !b.label.starts_with("attr.")) items.push_back(illegal_item(b.illegal));
  }
  if (!illegal) return;
  for (DoubleViolation& t : order_of(op, s.seed).calls)
    items.push_back(illegal_item(std::move(t.call)));
}

// Adds calls for each class of an operator, since its domain draws some seldom or never.
void add_aimed(const OpInfo& op, u64 seed, std::vector<Item>& items) {
  constexpr int kTries = 3000;
  constexpr int kVaried[] = {0, 1, 6, 19};  // places in kOrder of very different fills
  u64 number = 0;
  for (const CallClass& f : call_classes(op)) {
    Seeded draw(word(seed, 4, number++));
    for (int n : kVaried) {
      std::optional<Case> c = aimed_case(op, f, kMaxRun, kTries, draw);
      if (!c) break;  // the rules exclude the class
      const int round = static_cast<int>(number * std::size(kOrder));
      items.push_back(filled_item(std::move(*c), round + n));
    }
  }
}

void add_tails(const OpInfo& op, u64 seed, std::vector<Item>& items) {
  int n = 0;
  for (Case& c : tail_cases(op, seed)) items.push_back(filled_item(std::move(c), n++));
}

// Takes one item of each list in turn.
std::vector<Item> interleave(std::vector<std::vector<Item>> lists) {
  std::vector<Item> all;
  for (std::size_t n = 0;; ++n) {
    bool any = false;
    for (auto& list : lists)
      if (n < list.size()) {
        all.push_back(std::move(list[n]));
        any = true;
      }
    if (!any) return all;
  }
}

// Makes a frozen error an illegal call that keeps its frozen label, whatever today's rules say.
Item vector_item(Vector v) {
  const bool ok = v.expectation == Vector::outputs;
  Item item{ok ? Item::vector : Item::illegal, std::move(v.call), std::move(v.label),
      std::move(v.id), std::move(v.out)};
  if (v.expectation == Vector::text_error) item.texts = std::move(v.texts);
  return item;
}

// Whether a vector can be a case. A call with a value outside its precision cannot: backends may
// rely on values inside it.
bool is_case(const Vector& v) {
  return v.expectation != Vector::text_error || v.label.starts_with("attr.");
}

std::vector<Item> explicit_items(const Selection& s) {
  std::vector<Item> items;
  for (const std::string& id : s.cases) {
    if (names_vector(id) && !s.vectors.empty()) {
      std::vector<Vector> all = load_vectors(s.vectors);
      const auto at = std::find_if(
          all.begin(), all.end(), [&](const Vector& v) { return v.id == id && is_case(v); });
      if (at == all.end())
        throw UsageError("no case and no vector '" + id + "' (vectors of " + s.vectors + ")");
      items.push_back(vector_item(std::move(*at)));
      continue;
    }
    const Case c = parse_case(id);
    items.push_back({what_of(c), c, refusal(c).label(), case_id(c), {}});
  }
  return items;
}

// Most backends get no text. But a program that reads text otherwise than the vectors say must not
// judge anybody.
void hold_text_to(const Vector& v) {
  const ReadAttributes read = read_attributes(*v.call.op, {v.texts.begin(), v.texts.end()});
  if (v.expectation == Vector::text_error && read.label != v.label)
    throw UsageError("golden vector " + v.id + " is refused with " + v.label + ", this program's " +
        "specification says '" + read.label + "' (lockstep vectors check names all differences)");
}

std::vector<Item> vector_items(const Selection& s, const std::vector<const OpInfo*>& ops) {
  std::vector<Item> items;
  if (!takes_vectors(s)) return items;
  const bool outputs = s.wants(kMatchesVectors.name), errors = s.wants(kRejects.name);
  std::vector<Vector> all = load_vectors(s.vectors);
  // An operator without vectors would silently pass a run that asks for vectors.
  for (const OpInfo* op : ops)
    if (std::none_of(all.begin(), all.end(), [&](const Vector& v) { return v.call.op == op; }))
      throw UsageError("no golden vectors of '" + std::string(op->name) + "' in " + s.vectors +
          " (lockstep vectors update writes them, --vectors '' runs without them)");
  for (Vector& v : all) {
    const bool wanted = (outputs && v.expectation == Vector::outputs) ||
        (errors && v.expectation != Vector::outputs && is_case(v));
    if (!wanted || std::find(ops.begin(), ops.end(), v.call.op) == ops.end()) continue;
    hold_text_to(v);
    items.push_back(vector_item(std::move(v)));
  }
  return items;
}

std::vector<string_view> all_ids(const std::vector<Item>& items) {
  std::vector<string_view> ids;
  for (const Item& i : items) ids.emplace_back(i.id);
  return ids;
}

std::string hash_of_lines(const std::vector<string_view>& lines) {
  std::string all;
  for (string_view line : lines) all.append(line).push_back('\n');
  return sha256(all);
}

// The cases of one operator in discriminating order.
std::vector<Item> tier_items(
    const OpInfo& op, const Selection& s, const Interruption& interrupted) {
  const TierSize size = tier_size(s.tier);
  const bool legal = wants(s, kLegal), illegal = wants(s, kIllegal);
  std::vector<Item> items;
  for (int n = 0; legal && n < size.legal; ++n) {
    give_up_if(interrupted);
    items.push_back(legal_item(op, s.seed, n));
  }
  if (legal) add_unforeseen(items, op, s.nonce, size);
  if (legal) add_counting(items, op, s.seed, size);
  if (illegal)
    for (Case& c : illegal_cases(op, s.seed, size.illegal))
      items.push_back(illegal_item(std::move(c)));
  if (s.tier > 0) {
    if (legal) add_aimed(op, s.seed, items);
    add_limits(op, s, legal, illegal, items);
    if (legal) add_tails(op, s.seed, items);
    if (legal)
      for (Case& c : long_row_cases(op, s.seed)) items.push_back(whole_item(std::move(c)));
  }
  put_discriminating_first(items, op, legal && s.tier > 0);
  if (legal && s.tier > 0)
    for (auto* of : {left_over_cases, crowded_cases, spread_cases, full_count_cases, deep_row_cases,
             repeated_cases})
      for (Case& c : of(op, s.seed)) items.push_back(whole_item(std::move(c)));
  if (legal)
    for (Case& c : large_cases(op, s.seed, size.large)) items.push_back(whole_item(std::move(c)));
  return items;
}

// Moves large calls to the end, since they take long, and calls with attributes as text after them,
// since libraries get no text.
void put_large_last(std::vector<Item>& items) {
  const auto large = std::stable_partition(items.begin(), items.end(),
      [](const Item& i) { return !i.texts && (i.what != Item::legal || !is_large(i.call)); });
  std::stable_sort(large, items.end(), [](const Item& a, const Item& b) {
    const auto size = [](const Item& i) { return i.texts ? 0 : elements_of(i.call); };
    return size(a) > size(b);
  });
}

// The calls of a model, each with several values in several layouts. If one is too large to run,
// only its types are asked for.
std::vector<Item> model_items(const Selection& s, const std::vector<const OpInfo*>& ops) {
  if (!s.nonce.empty())
    throw UsageError("a nonce adds cases to a tier, not to the calls of a model");
  std::vector<std::vector<Item>> lists;
  for (const Case& call : model_calls(s.model)) {
    if (std::find(ops.begin(), ops.end(), call.op) == ops.end()) continue;
    std::vector<Item>& list = lists.emplace_back();
    if (what_of(call) == Item::typed) {
      list.push_back({Item::typed, call, {}, case_id(call), {}});
      continue;
    }
    const int n = cases_of_call(call, tier_size(s.tier).of_model);
    // Each seed has other values, in the same order of fills.
    const int first = static_cast<int>(s.seed % (1 << 16) * std::size(kOrder));
    for (int k = 0; k < n; ++k) list.push_back(filled_item(call, first + k));
  }
  return interleave(std::move(lists));
}

}  // namespace

bool Selection::wants(string_view property) const {
  return properties.empty() ||
      std::find(properties.begin(), properties.end(), property) != properties.end();
}

TierSize tier_size(int tier) {
  constexpr TierSize kSizes[] = {{60, 2, 0, 0, 0, 4}, {1900, 20, 24, 0, 1, 20},
      {12000, 60, INT_MAX, 0, 4, 100}, {40000, 200, INT_MAX, 4, 16, 400}};
  return kSizes[tier];
}

int tier_floor(int tier) { return tier_size(tier).legal / 20; }

std::vector<const OpInfo*> selected_operators(const Selection& s) {
  const auto named = [](const std::string& g, const OpInfo* op) {
    return glob(g, op->name) || (!op->alias.empty() && glob(g, op->alias));
  };
  const auto in = [](const std::string& p, const OpInfo* op) { return op->profile == p; };
  // A filter that matches nothing is an error.
  const auto check = [](const std::vector<std::string>& words, auto chooses, const char* what) {
    for (const std::string& w : words)
      if (std::none_of(operators().begin(), operators().end(),
              [&](const OpInfo* op) { return chooses(w, op); }))
        throw UsageError(
            "no operator " + std::string(what) + " '" + w + "' (lockstep list shows them)");
  };
  check(s.operators, named, "matches");
  check(s.profiles, in, "is of the profile");
  const auto chosen = [](const std::vector<std::string>& words, auto chooses, const OpInfo* op) {
    return words.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& w) {
      return chooses(w, op);
    });
  };
  std::vector<const OpInfo*> ops;
  for (const OpInfo* op : operators())
    if (chosen(s.operators, named, op) && chosen(s.profiles, in, op)) ops.push_back(op);
  if (ops.empty()) throw UsageError("no operator has a chosen name and a chosen profile");
  return ops;
}

void check_properties(const Selection& s) {
  for (const std::string& name : s.properties)
    if (std::none_of(std::begin(kProperties), std::end(kProperties),
            [&](const Property* p) { return p->name == name; }))
      throw UsageError("no property '" + name + "' (lockstep list --properties shows them)");
}

bool takes_vectors(const Selection& s) {
  if (s.vectors.empty() || !s.model.empty()) return false;
  if (!s.cases.empty()) return std::any_of(s.cases.begin(), s.cases.end(), names_vector);
  return s.wants(kMatchesVectors.name) || s.wants(kRejects.name);
}

std::vector<Item> select_cases(const Selection& s, int threads, const Interruption& interrupted) {
  check_properties(s);
  const std::vector<const OpInfo*> ops = selected_operators(s);
  std::vector<Item> items;
  if (!s.cases.empty()) {
    if (!s.nonce.empty()) throw UsageError("a nonce adds cases to a tier, not to chosen cases");
    if (!s.model.empty()) throw UsageError("a run has the calls of a model, or chosen cases");
    items = explicit_items(s);
  } else if (!s.model.empty()) {
    items = model_items(s, ops);
  } else {
    // Vectors come first because their files may be refused; making the other cases takes seconds.
    std::vector<Item> vectors = vector_items(s, ops);
    const std::optional<KillMatrix> kills = kills_of(s.kills);
    std::vector<std::vector<Item>> lists;
    lists.resize(ops.size());
    for_each_at_once(ops.size(), threads,
        [&](std::size_t k) { lists[k] = tier_items(*ops[k], s, interrupted); });
    lists.push_back(std::move(vectors));
    items = interleave(std::move(lists));
    if (kills) put_killers_first(items, *kills);
  }
  if (s.cases.empty()) put_large_last(items);
  if (s.budget > 0 && std::ssize(items) > s.budget)
    items.resize(static_cast<std::size_t>(s.budget));
  return items;
}

Item endless_item(const OpInfo& op, u64 seed, i64 n) {
  constexpr i64 kIllegal = 8;  // every eighth call
  constexpr int kChanges = 3;  // at most, of a legal call
  Seeded draw(word(seed, 5, static_cast<u64>(n)));
  Case c = draw_case(op, draw);
  if (n % kIllegal == kIllegal - 1) {
    Case changed = c;
    for (int k = 0; k < kChanges && !refusal(changed).refused(); ++k) mutate(changed, draw);
    // Backends get no attributes as text, so labels about text do not apply to them.
    if (refusal(changed).refused() && refusal(changed).scope != "attr")
      return illegal_item(std::move(changed));
  }
  Item item = filled_item(std::move(c), static_cast<int>(n % INT_MAX));
  // The fills repeat after a few calls; a seed of its own makes each call different.
  item.call.seed = word(seed, 6, static_cast<u64>(n)) >> 32;
  item.id = case_id(item.call);
  return item;
}

std::string set_hash(const std::vector<Item>& items) {
  std::vector<string_view> ids = all_ids(items);
  std::sort(ids.begin(), ids.end());
  return hash_of_lines(ids);
}

std::string order_hash(const std::vector<Item>& items) { return hash_of_lines(all_ids(items)); }

}  // namespace lockstep::judge
