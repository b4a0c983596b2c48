#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "conformance/cases/boundary.h"
#include "conformance/cases/exhaustive.h"
#include "conformance/run/jobs.h"
#include "conformance/run/judge.h"
#include "conformance/subjects/library_subject.h"
#include "conformance/trial/properties.h"

namespace lockstep::judge {
namespace {

using Candidates = std::vector<Case>;

// Shrinking is limited by counted work, so that slow and fast machines find the same case. A step
// tries one case; a crash counts as several steps for the restart, a hang as many for the timeout.
constexpr i64 kMaxSteps = 600, kStepsOfCrash = 20, kStepsOfHang = 200;
constexpr i64 kMaxCalls = 6000;         // put to the backend
constexpr i64 kMaxWork = i64{1} << 28;  // elements and multiply-adds of these calls
constexpr std::size_t kMaxShrunk = 12;  // failures of a report
constexpr i64 kFewElements = 4;         // of a shrunk case that needs no second attempt

// RapidCheck's sequence of smaller integers, starting at the target. It halves the distance and
// might try only even numbers, so the neighbours of the target and of the middle are added.
std::vector<i64> smaller(i64 v, i64 target) {
  constexpr std::size_t kWithNeighbour = 2;
  const i64 away = v > target ? 1 : -1;
  std::vector<i64> all;
  auto seq = rc::shrink::towards(v, target);
  for (std::size_t n = 0; auto next = seq.next(); ++n) {
    all.push_back(*next);
    if (n < kWithNeighbour && *next + away != v) all.push_back(*next + away);
  }
  return all;
}

void fewer_inputs(const Case& c, Candidates& out) {
  for (std::size_t k = 0; c.in.size() > 1 && k < c.in.size(); ++k) {
    Case s = c;
    s.in.erase(s.in.begin() + static_cast<std::ptrdiff_t>(k));
    if (c.fill == Fill::literal) s.data.erase(s.data.begin() + static_cast<std::ptrdiff_t>(k));
    out.push_back(s);
  }
}

// A call that enumerates values, starting at a later one.
void later_numbers(const Case& c, Candidates& out) {
  if ((c.fill != Fill::range && c.fill != Fill::edges) || c.in.empty()) return;
  const Shape& all = c.in[0].shape;
  for (const Type& t : c.in)
    if (t.rank() != 1 || t.shape != all) return;
  for (i64 left : smaller(all[0], 1)) {
    Case s = c;
    s.seed += static_cast<u64>(all[0] - left);
    for (Type& t : s.in) t.shape = {left};
    out.push_back(s);
  }
}

// Replaces an extent everywhere, also in attributes, so that the call stays legal.
void smaller_extents(const Case& c, Candidates& out) {
  if (c.fill == Fill::literal) return;
  std::vector<i64> extents;
  for (const Type& t : c.in)
    for (i64 e : t.shape)
      if (std::find(extents.begin(), extents.end(), e) == extents.end()) extents.push_back(e);
  for (i64 old : extents)
    for (i64 now : smaller(old, 1)) {
      Case s = c;
      for (Type& t : s.in)
        for (int d = 0; d < min(t.rank(), kMaxRank); ++d)
          if (t.shape[d] == old) t.shape[d] = now;
      for (std::size_t k = 0; k < s.attrs.size(); ++k)
        for (int i = 0; s.op->attrs[static_cast<int>(k)].kind != AttrKind::boolean &&
             i < min(s.attrs[k].ints.size, kMaxTuple);
             ++i)
          if (s.attrs[k].ints[i] == old) s.attrs[k].ints[i] = now;
      out.push_back(s);
    }
  for (std::size_t k = 0; k < c.in.size(); ++k)
    for (int d = 0; d < min(c.in[k].rank(), kMaxRank); ++d)
      for (i64 now : smaller(c.in[k].shape[d], 1)) {
        Case s = c;
        s.in[k].shape[d] = now;
        out.push_back(s);
      }
}

// The literal case without some positions of every axis of this extent, also in attributes.
Case cut(const Case& c, i64 extent, i64 first, i64 count) {
  Case s = c;
  const auto gone = [&](i64 i) { return first <= i && i < first + count; };
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    const Shape& shape = c.in[k].shape;
    s.data[k].clear();
    Index at = Index::filled(shape.size, 0);
    for (i64 v : c.data[k]) {
      bool kept = true;
      for (int d = 0; d < shape.size; ++d) kept = kept && !(shape[d] == extent && gone(at[d]));
      if (kept) s.data[k].push_back(v);
      next(at, shape);
    }
    for (i64& e : s.in[k].shape.item)
      if (e == extent) e -= count;
  }
  for (std::size_t k = 0; k < s.attrs.size(); ++k)
    for (int i = 0; s.op->attrs[static_cast<int>(k)].kind != AttrKind::boolean &&
         i < min(s.attrs[k].ints.size, kMaxTuple);
         ++i)
      if (s.attrs[k].ints[i] == extent) s.attrs[k].ints[i] -= count;
  return s;
}

// Removes halves first, then single positions.
void fewer_positions(const Case& c, Candidates& out) {
  if (c.fill != Fill::literal || refusal(c).refused()) return;
  std::set<i64> extents;
  for (const Type& t : c.in) extents.insert(t.shape.begin(), t.shape.end());
  for (i64 e : extents) {
    if (e > 3) {
      out.push_back(cut(c, e, 0, e / 2));
      out.push_back(cut(c, e, e / 2, e - e / 2));
    }
    for (i64 i = 0; e > 1 && i < e; ++i) out.push_back(cut(c, e, i, 1));
  }
}

void lower_ranks(const Case& c, Candidates& out) {
  int top = 0;
  for (const Type& t : c.in) top = std::max(top, t.rank());
  for (int d = 0; d < min(top, kMaxRank); ++d) {
    Case s = c;
    // Written-out values stay where they are if the axis has but one position.
    const auto stays = [&](const Type& t) {
      return d >= t.rank() || t.rank() < 2 || (c.fill == Fill::literal && t.shape[d] != 1);
    };
    for (Type& t : s.in) {
      if (stays(t)) continue;
      Shape less;
      for (int e = 0; e < min(t.rank(), kMaxRank); ++e)
        if (e != d) less.push(t.shape[e]);
      t.shape = less;
    }
    out.push_back(s);
  }
}

void simpler_attributes(const Case& c, Candidates& out) {
  for (std::size_t k = 0; k < c.attrs.size(); ++k) {
    const AttrInfo& f = c.op->attrs[static_cast<int>(k)];
    Case s = c;
    if (!f.required && !(c.attrs[k] == f.fallback)) {
      s.attrs[k] = f.fallback;
      out.push_back(s);
    }
    if (f.kind == AttrKind::tuple && c.attrs[k].ints.size > 0) {
      s = c;
      --s.attrs[k].ints.size;
      out.push_back(s);
    }
    if (f.kind == AttrKind::word || f.kind == AttrKind::boolean) continue;
    for (int i = 0; i < min(c.attrs[k].ints.size, kMaxTuple); ++i) {
      const bool has_default = !f.required && i < f.fallback.ints.size;
      const i64 target = has_default ? f.fallback.ints[i] : clamp(1, f.range.min, f.range.max);
      for (i64 now : smaller(c.attrs[k].ints[i], target)) {
        s = c;
        s.attrs[k].ints[i] = now;
        out.push_back(s);
      }
    }
  }
}

void simpler_memory(const Case& c, Candidates& out) {
  if (c.layout == Layout::compact) return;
  Case s = c;
  for (Layout l : {Layout::compact, Layout::padded, Layout::offset, Layout::permuted}) {
    if (l >= c.layout) break;
    s.layout = l;
    out.push_back(s);
  }
}

bool small_enough(const Case& c) {
  i64 n = 0;
  for (const Type& t : c.in) {
    // An illegal precision has no values.
    if (t.precision < 1 || t.precision > kMaxPrecision) return false;
    n += volume(t.shape);
  }
  return n <= kMaxLiteral;
}

void simpler_values(const Case& c, Candidates& out) {
  if (c.fill != Fill::literal) {
    if (small_enough(c)) out.push_back(with_literal_data(c));
    for (Fill f : {Fill::zero, Fill::one, Fill::max}) {
      if (f >= c.fill) break;
      Case s = c;
      s.fill = f;
      out.push_back(s);
    }
    return;
  }
  for (std::size_t k = 0; k < c.data.size(); ++k) {
    Case s = c;
    std::fill(s.data[k].begin(), s.data[k].end(), 0);
    if (s.data[k] != c.data[k]) out.push_back(s);
    for (std::size_t i = 0; i < c.data[k].size(); ++i)
      for (i64 now : smaller(c.data[k][i], 0)) {
        s = c;
        s.data[k][i] = now;
        out.push_back(s);
      }
  }
}

// The simplest calls of the operator, with the largest value that each input of a case has. They
// are tried because no single change reaches them where several extents and attributes depend on
// each other.
Candidates near_the_simplest(const Case& c) {
  constexpr int kDeviations = 2;
  constexpr std::size_t kMost = 60;
  if (what_of(c) != Item::legal) return {};
  const std::vector<Tensor> in = inputs_of(c);
  std::vector<i64> largest;
  for (const Tensor& t : in) {
    largest.push_back(0);
    for (i64 v : t.data)
      if (std::abs(v) > std::abs(largest.back())) largest.back() = v;
  }
  Candidates all;
  Exhaustive draw(kDeviations);
  do {
    Case s = draw_case(*c.op, draw);
    if (s.in.size() != c.in.size()) continue;
    for (std::size_t k = 0; k < s.in.size(); ++k) s.in[k].precision = c.in[k].precision;
    if (refusal(s).refused() || elements_of(s) >= elements_of(c)) continue;
    s.fill = Fill::literal;
    for (std::size_t k = 0; k < s.in.size(); ++k)
      s.data.emplace_back(volume(s.in[k].shape), largest[k]);
    all.push_back(std::move(s));
  } while (draw.next());
  std::stable_sort(all.begin(), all.end(),
      [](const Case& a, const Case& b) { return elements_of(a) < elements_of(b); });
  all.resize(std::min(all.size(), kMost));
  return all;
}

rc::Seq<Case> simpler(const Case& c) {
  Candidates all;
  fewer_inputs(c, all);
  lower_ranks(c, all);
  later_numbers(c, all);
  smaller_extents(c, all);
  fewer_positions(c, all);
  simpler_attributes(c, all);
  simpler_memory(c, all);
  simpler_values(c, all);
  // A candidate equal to the case itself would make the descent endless.
  std::erase_if(all, [id = case_id(c)](const Case& s) { return case_id(s) == id; });
  return rc::seq::fromContainer(std::move(all));
}

// The work of a call: the elements of its tensors plus the multiply-adds of its outputs.
i64 work_of(const Case& c) {
  if (what_of(c) != Item::legal) return 1;
  const Inferred y = c.op->infer(c.attributes(), c.types());
  return elements_of(c) + min(c.op->gas(c.attributes(), c.types()), kMaxWork) * volume(y[0].shape);
}

// How a case violates the property; nothing if it holds or the case is another kind of call.
class Predicate {
 public:
  Predicate(Subject& subject, const TrialPlan& plan, const std::string& property, const Case& from,
      const std::function<bool()>& interrupted)
      : subject_(subject),
        plan_(plan),
        interrupted_(interrupted),
        property_(property),
        label_(refusal(from).label()) {}

  /// Whether the limits of one failure are used up, or the run is to end.
  bool exhausted() const {
    return steps_ >= kMaxSteps || calls_ >= kMaxCalls || work_ >= kMaxWork ||
        (interrupted_ && interrupted_());
  }

  std::optional<std::string> operator()(const Case& c) {
    ++steps_;
    if (refusal(c).label() != label_ || !subject_.manifest().claims_operator(c.op->name))
      return std::nullopt;
    Item item;
    item.what = what_of(c);
    item.call = c;
    item.label = label_;
    try {
      if (label_.empty() && !subject_.manifest().claims_call(c)) return std::nullopt;
      const ItemResult r = judge_trial(perform(subject_, item, plan_), {property_});
      count(c, r);
      if (r.findings.empty()) return std::nullopt;
      return r.findings[0].second.text;
    } catch (const LoadCrash&) {
      steps_ += kStepsOfCrash - 1;
      return std::nullopt;
    }
  }

 private:
  void count(const Case& c, const ItemResult& r) {
    if (r.outcome == Outcome::crashed) steps_ += kStepsOfCrash - 1;
    if (r.outcome == Outcome::timed_out) steps_ += kStepsOfHang - 1;
    calls_ += r.calls;
    work_ += r.calls * work_of(c);
  }

  Subject& subject_;
  const TrialPlan& plan_;
  const std::function<bool()>& interrupted_;
  std::string property_, label_;
  i64 steps_ = 0, calls_ = 0, work_ = 0;
};

// Steps from a failing case to a simpler failing one until the limits are used up.
class Descent {
 public:
  /// @param text receives the finding of the last failing case.
  Descent(Predicate& violates, std::string& text) : violates_(violates), text_(text) {}

  bool fails(const Case& c) {
    if (violates_.exhausted()) return false;
    const std::optional<std::string> shown = violates_(c);
    if (shown) text_ = *shown;
    return shown.has_value();
  }

  Case from(const Case& failing) {
    auto best = rc::shrinkable::shrinkRecur(failing, [](const Case& c) { return simpler(c); });
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

 private:
  Predicate& violates_;
  std::string& text_;
};

}  // namespace

Case shrink(Subject& subject, const TrialPlan& plan, const std::string& property, const Case& from,
    std::string& text, const std::function<bool()>& interrupted) {
  Predicate violates(subject, plan, property, from, interrupted);
  Descent down(violates, text);
  Case small = down.from(from);
  if (elements_of(small) <= kFewElements) return small;
  for (const Case& c : near_the_simplest(small))
    if (down.fails(c)) return down.from(c);
  return small;
}

void shrink_failures(
    Report& r, Subject& subject, const TrialPlan& plan, const std::function<bool()>& interrupted) {
  // A backend that never answers fails every case alike.
  if (r.counts.passed + r.counts.failed == 0) return;
  std::size_t shrunk = 0;
  for (Failure& f : r.failures) {
    // The id of a vector is a name, not a call that can be made smaller.
    if (f.id.find('/') == std::string::npos || !f.known.empty() || shrunk++ >= kMaxShrunk) continue;
    const Case small =
        shrink(subject, plan, f.property, parse_case(f.id), f.shrunk_text, interrupted);
    if (case_id(small) != f.id) f.shrunk = case_id(small);
  }
}

}  // namespace lockstep::judge
