#include "conformance/verdict/causes.h"

#include <algorithm>
#include <set>

#include "conformance/cases/classes.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/pattern.h"

namespace lockstep::judge {
namespace {

constexpr std::size_t kCompared = 400;  // cases of a bucket
constexpr std::size_t kShown = 4;       // causes of a property, an outcome and a kind of answer
constexpr i64 kEvidence = 3;            // different values, or cases, that are no coincidence

// Cases that seem to have one cause.
struct Group {
  std::vector<const Violation*> cases;
  std::string pattern;
  std::vector<SharedClass> cells;
};

using Members = std::vector<const Violation*>;

// Removes the members for which `holds_of` is true from the list, and returns them.
template <class F> Members taken(Members& from, F holds_of) {
  const auto rest = std::stable_partition(
      from.begin(), from.end(), [&](const Violation* v) { return !holds_of(*v); });
  Members out(rest, from.end());
  from.erase(rest, from.end());
  return out;
}

void add_cases(Group& to, const Members& more) {
  to.cases.insert(to.cases.end(), more.begin(), more.end());
  std::sort(to.cases.begin(), to.cases.end(),
      [](const Violation* a, const Violation* b) { return a->number < b->number; });
}

// ---- patterns of wrong values ------------------------------------------------------------------

// A way to tell cases apart by their wrong values, and the cases of which it holds.
struct Pattern {
  std::string words;
  const Relation* relation = nullptr;  // nullptr: the hint has these words
  bool holds_of(const Violation& v) const {
    return relation ? holds(*relation, v.finding.elements) : v.finding.hint == words;
  }
};

// Whether a hint tells causes apart. In small tensors, wrong elements at an end of an axis, or all
// over, say little.
bool tells(const std::string& hint) {
  return hint.find("tail") != std::string::npos || hint.find("mod") != std::string::npos;
}

std::vector<Pattern> patterns_of(const Members& cases) {
  std::vector<Pattern> all;
  for (const Relation& r : relations()) all.push_back({r.words, &r});
  std::set<std::string> hints;
  for (const Violation* v : cases) hints.insert(v->finding.hint);
  for (const std::string& h : hints)
    if (tells(h)) all.push_back({h});
  return all;
}

// How many cases a pattern explains; 0 if it may be a coincidence, as when a few cases of many have
// few wrong values, which happen to look rounded.
i64 explained(const Pattern& p, const Members& cases, i64 of) {
  constexpr i64 kPart = 8;
  std::set<i64> values;
  i64 n = 0, strong = 0;
  for (const Violation* v : cases) {
    if (!p.holds_of(*v)) continue;
    ++n;
    strong += v->finding.elements.size() == kElements;
    for (const Element& e : v->finding.elements) values.insert(e.expected);
  }
  const bool evident = std::ssize(values) >= (p.relation && p.relation->names_type ? kEvidence : 1);
  return evident && (strong >= kEvidence || n * kPart >= of) ? n : 0;
}

// The hint that all cases share beside their relation.
std::string with_hint(const std::string& words, const Members& cases) {
  const std::string& hint = cases[0]->finding.hint;
  const bool shared = std::all_of(
      cases.begin(), cases.end(), [&](const Violation* v) { return v->finding.hint == hint; });
  if (!shared || hint.empty() || hint == words) return words;
  return words.empty() ? hint : words + "; " + hint;
}

std::vector<Group> by_pattern(Members cases) {
  std::vector<Group> groups;
  const std::vector<Pattern> all = patterns_of(cases);
  const i64 of = std::ssize(cases);
  while (!cases.empty()) {
    const Pattern* best = nullptr;
    i64 most = 0;
    for (const Pattern& p : all)
      if (const i64 n = explained(p, cases, of); n > most) most = n, best = &p;
    if (!best) break;
    Members part = taken(cases, [&](const Violation& v) { return best->holds_of(v); });
    groups.push_back({part, with_hint(best->words, part), {}});
  }
  if (!cases.empty()) groups.push_back({cases, with_hint("", cases), {}});
  return groups;
}

// The pattern that all cases show, if there is one.
std::string shared_pattern(const Members& cases) {
  for (const Pattern& p : patterns_of(cases))
    if (explained(p, cases, std::ssize(cases)) == std::ssize(cases))
      return with_hint(p.words, cases);
  return with_hint("", cases);
}

// ---- classes of calls --------------------------------------------------------------------------

using Classes = std::map<CallClass, i64>;

Classes count_classes(const std::vector<const Item*>& items) {
  Classes all;
  for (const Item* item : items)
    for (const CallClass& c : call_classes(item->call)) ++all[c];
  return all;
}

bool shows(const SharedClass& cell, const Case& c) {
  const std::vector<CallClass> all = call_classes(c);
  return std::any_of(all.begin(), all.end(), [&](const CallClass& k) {
    return k.axis == cell.axis &&
        std::find(cell.values.begin(), cell.values.end(), k.value) != cell.values.end();
  });
}

// Whether an axis may tell causes apart. Extents and precisions go with values, on which most
// mistakes depend somehow.
bool may_tell(const std::string& axis) {
  return axis.starts_with("attribute ") || axis.starts_with("number ") || axis == "memory";
}

// Splits cases by axis, where more cases fail in some classes of an axis than elsewhere.
class Splitter {
 public:
  explicit Splitter(const std::vector<const Item*>& passed)
      : passed_(count_classes(passed)), passing_(std::ssize(passed)) {}

  // Makes a group for each such axis. Cases that belong to none stay in the list.
  std::vector<Group> split(Members& cases) const {
    std::vector<Group> groups;
    while (!cases.empty() && cases[0]->item->runs()) {
      const SharedClass cell = guilty(cases);
      if (cell.values.empty()) break;
      const Members part =
          taken(cases, [&](const Violation& v) { return shows(cell, v.item->call); });
      add(groups, cell, part);
    }
    for (Group& g : groups) g.pattern = shared_pattern(g.cases);
    return groups;
  }

 private:
  // Classes of one axis stand for one cause.
  static void add(std::vector<Group>& groups, const SharedClass& cell, const Members& cases) {
    const auto same = std::find_if(
        groups.begin(), groups.end(), [&](const Group& g) { return g.cells[0].axis == cell.axis; });
    if (same == groups.end()) {
      groups.push_back({cases, "", {cell}});
      return;
    }
    same->cells[0].values.push_back(cell.values[0]);
    add_cases(*same, cases);
  }

  // How well a class tells failing cases from others: the square of the Ochiai coefficient, the
  // product of its share of the failing cases and of the share of its cases that fail, in 1/1000.
  static i64 suspicion(i64 failing, i64 passing, i64 all_failing) {
    return 1000 * failing * failing / (all_failing * (failing + passing));
  }

  // The class that tells failing cases from others best, if it does so much better than all classes
  // together; else none.
  SharedClass guilty(const Members& cases) const {
    const i64 all = std::ssize(cases);
    const i64 whole = suspicion(all, passing_, all);
    i64 most = min(whole * 3 / 2, whole + (1000 - whole) * 2 / 5);
    SharedClass best;
    std::vector<const Item*> items;
    for (const Violation* v : cases) items.push_back(v->item);
    for (const auto& [c, failing] : count_classes(items)) {
      const auto at = passed_.find(c);
      const i64 n = suspicion(failing, at == passed_.end() ? 0 : at->second, all);
      if (failing < kEvidence || !may_tell(c.axis) || n <= most) continue;
      most = n;
      best = {c.axis, {c.value}};
    }
    return best;
  }

  Classes passed_;
  i64 passing_;
};

// Cases outside a class that show the same relation as those inside have the same cause.
void join(std::vector<Group>& groups, Group rest) {
  const auto same = std::find_if(groups.begin(), groups.end(),
      [&](const Group& g) { return !rest.pattern.empty() && g.pattern == rest.pattern; });
  if (same == groups.end()) {
    groups.push_back(std::move(rest));
    return;
  }
  same->cells.clear();
  add_cases(*same, rest.cases);
}

std::vector<Group> grouped(const std::vector<Violation>& violations, const Splitter& splitter) {
  Members cases;
  for (const Violation& v : violations) cases.push_back(&v);
  std::vector<Group> groups = splitter.split(cases);
  for (Group& rest : by_pattern(std::move(cases))) join(groups, std::move(rest));
  return groups;
}

// ---- failures ----------------------------------------------------------------------------------

// Only matches_vectors needs a vector's name; every other property can repeat the call.
std::string id_for(const Item& item, const std::string& property) {
  return item.what != Item::vector || property == kMatchesVectors.name ? item.id
                                                                       : case_id(item.call);
}

std::ptrdiff_t rank_of(const std::string& property) {
  return std::find_if(std::begin(kProperties), std::end(kProperties), [&](const Property* p) {
    return p->name == property;
  }) - std::begin(kProperties);
}

// The finding of a case, in words that are the same for other cases with the same cause.
std::string what_was_found(const std::string& text) {
  // A law is broken for one reason, whatever element shows it.
  return without_details(text.substr(0, text.find(" is broken: ")));
}

// Puts the smallest causes into one failure if there are many.
void fold(std::vector<Failure>& all) {
  if (all.size() <= kShown + 1) return;
  std::stable_sort(
      all.begin(), all.end(), [](const Failure& a, const Failure& b) { return a.count > b.count; });
  const auto rest = all.begin() + kShown;
  Failure other = *std::min_element(
      rest, all.end(), [](const Failure& a, const Failure& b) { return a.number < b.number; });
  other.count = 0;
  other.causes = all.end() - rest;
  for (auto f = rest; f != all.end(); ++f) other.count += f->count;
  all.erase(rest, all.end());
  all.push_back(std::move(other));
}

}  // namespace

bool shows_cells(const std::vector<SharedClass>& cells, const Case& c) {
  return std::all_of(cells.begin(), cells.end(), [&](const SharedClass& cell) {
    return !cell.axis.starts_with("attribute ") || shows(cell, c);
  });
}

void sort_failures(std::vector<Failure>& failures) {
  std::stable_sort(failures.begin(), failures.end(), [](const Failure& a, const Failure& b) {
    return std::pair(a.number, rank_of(a.property)) < std::pair(b.number, rank_of(b.property));
  });
}

void Causes::add(const Item& item, i64 number, const ItemResult& result,
    const std::vector<const Expectation*>& knowing) {
  const std::string op(item.call.op->name);
  if (result.outcome == Outcome::passed && item.runs()) passed_[op].push_back(&item);
  if (result.outcome == Outcome::passed && item.what == Item::illegal) refuses_.insert(op);
  for (std::size_t k = 0; k < knowing.size(); ++k) {
    const auto& [property, found] = result.findings[k];
    Bucket& b =
        buckets_[{op, property, knowing[k] ? knowing[k]->why() : "", result.outcome, found.kind,
            found.label, item.label, found.elements.empty() ? what_was_found(found.text) : ""}];
    if (b.cases.size() < kCompared)
      b.cases.push_back({number, &item, found});
    else
      ++b.others;
  }
}

Causes::Buckets Causes::without_rules() const {
  Buckets all;
  for (const auto& [with_rule, bucket] : buckets_) {
    Key key = with_rule;
    auto& [op, property, known, outcome, kind, label, rule, text] = key;
    if (!rule.empty() && !refuses_.contains(op)) rule = text = "";
    Bucket& to = all[key];
    to.cases.insert(to.cases.end(), bucket.cases.begin(), bucket.cases.end());
    to.others += bucket.others;
  }
  for (auto& [key, bucket] : all)
    std::stable_sort(bucket.cases.begin(), bucket.cases.end(),
        [](const Violation& a, const Violation& b) { return a.number < b.number; });
  return all;
}

std::vector<Failure> Causes::failures() const {
  // Failures of one property, outcome and kind of answer are folded together.
  std::map<std::tuple<std::string, std::string, std::string, Outcome, AnswerKind>,
      std::vector<Failure>>
      kinds;
  std::map<std::string, Splitter> splitters;
  const Buckets buckets = without_rules();
  for (const auto& [key, bucket] : buckets) {
    const auto& [op, property, known, outcome, kind, label, rule, text] = key;
    const auto passed = passed_.find(op);
    const Splitter& splitter =
        splitters
            .try_emplace(op, passed == passed_.end() ? std::vector<const Item*>{} : passed->second)
            .first->second;
    const std::vector<Group> groups = grouped(bucket.cases, splitter);
    const auto largest = std::max_element(groups.begin(), groups.end(),
        [](const Group& a, const Group& b) { return a.cases.size() < b.cases.size(); });
    for (const Group& g : groups) {
      const Violation& first = *g.cases[0];
      Failure& f = kinds[{op, property, known, outcome, kind}].emplace_back();
      f.op = op, f.property = property, f.known = known, f.label = label, f.rule = rule;
      f.id = id_for(*first.item, property);
      if (first.item->what == Item::vector) f.vector = first.item->id;
      f.text = first.finding.text;
      f.count = std::ssize(g.cases) + (&g == &*largest ? bucket.others : 0);
      f.hint = first.finding.hint;
      f.elements = first.finding.elements;
      f.number = first.number;
      f.outcome = kind_of(outcome);
      f.answer = name_of(kind);
      f.pattern = g.pattern;
      f.cells = g.cells;
    }
  }
  std::vector<Failure> all;
  for (auto& [kind, some] : kinds) {
    fold(some);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  sort_failures(all);
  return all;
}

}  // namespace lockstep::judge
