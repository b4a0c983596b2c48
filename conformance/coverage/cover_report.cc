// Coverage as text and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/base/form.h"
#include "conformance/coverage/cover.h"

namespace lockstep::judge {
namespace {

constexpr char kRow[] = "{:<22}{:>9}{:>9}{:>9}{:>9}{:>11}{:>13}{:>15}";

i64 covered(const CoverRow& r) { return r.required() - r.count(CoverCell::empty); }

template <class F> i64 total(const Cover& c, F number) {
  i64 n = 0;
  for (const CoverRow& r : c.rows) n += number(r);
  return n;
}

i64 required(const CoverRow& r) { return r.required(); }

// The cells in a state, one line for each axis.
std::string listed(const CoverRow& r, CoverCell::State state) {
  std::string s, axis;
  for (const CoverCell& c : r.cells) {
    if (c.state != state) continue;
    const std::string text = c.text();
    const std::string begin = text.substr(0, text.rfind(": ") + 2);
    if (begin == axis)
      s += ", " + text.substr(begin.size());
    else
      s += fmt::format("\n    {}", text);
    axis = begin;
  }
  return s.empty() ? s : fmt::format("  {} {}:{}\n", r.op->name, name_of(state), s);
}

// "covered/required" of the combinations of one strength; empty if the operator has none.
std::string of_combinations(const CoverRow& r, std::size_t classes) {
  if (r.combinations.size() < classes - 1) return "";
  const CombinationCoverage& t = r.combinations[classes - 2];
  return fmt::format("{}/{}", t.covered, t.required);
}

// The first empty combinations.
std::string listed_combinations(const CoverRow& r) {
  constexpr std::size_t kNamed = 3;
  std::string s;
  for (const CombinationCoverage& t : r.combinations) {
    if (t.empty.empty()) continue;
    s += fmt::format(
        "  {} lacks {} combinations of {} classes:\n", r.op->name, t.empty.size(), t.classes);
    for (std::size_t k = 0; k < std::min(kNamed, t.empty.size()); ++k)
      s += "    " + text_of(t.empty[k]) + "\n";
    if (t.empty.size() > kNamed) s += "    ... (all of them: --json FILE)\n";
  }
  return s;
}

i64 required_combinations(const CoverRow& r) {
  i64 n = 0;
  for (const CombinationCoverage& t : r.combinations) n += t.required;
  return n;
}
i64 covered_combinations(const CoverRow& r) {
  i64 n = 0;
  for (const CombinationCoverage& t : r.combinations) n += t.covered;
  return n;
}

using ByAxis = form::Pairs<std::string>;
using ByOperator = form::Pairs<CoverRow>;

ByAxis by_axis(const std::vector<CallClass>& classes) {
  ByAxis all;
  for (const CallClass& c : classes) all.emplace_back(c.axis, c.value);
  return all;
}

}  // namespace

std::string cover_text(const Cover& c) {
  const auto line = [](const auto&... columns) {
    const std::string s = fmt::format(kRow, columns...);
    return s.substr(0, s.find_last_not_of(' ') + 1) + "\n";
  };
  std::string s = line(
      "operator", "required", "covered", "constant", "empty", "impossible", "pairs", "triples");
  for (const CoverRow& r : c.rows)
    s += line(r.op->name, r.required(), covered(r), r.count(CoverCell::constant),
        r.count(CoverCell::empty), r.count(CoverCell::impossible), of_combinations(r, 2),
        of_combinations(r, 3));
  for (CoverCell::State state : {CoverCell::impossible, CoverCell::empty})
    for (const CoverRow& r : c.rows) s += listed(r, state);
  for (const CoverRow& r : c.rows) s += listed_combinations(r);
  return s +
      fmt::format(
          "{}  {} of {} required cells and {} of {} combinations of {} operators; tier {}, seed "
          "{}, set {}\n",
          c.complete() ? "COMPLETE" : "INCOMPLETE", total(c, covered), total(c, required),
          total(c, covered_combinations), total(c, required_combinations), c.rows.size(), c.tier,
          c.seed, c.set_hash.substr(0, 16));
}

template <class F> void fields(F& form, const CoverCell& c) {
  form("classes", by_axis(c.classes));
  form("state", name_of(c.state), {.words = {"covered", "constant", "empty", "impossible"}});
  form.optional("case", c.id);
}

template <class F> void fields(F& form, const CombinationCoverage& t) {
  std::vector<ByAxis> empty;
  for (const std::vector<CallClass>& e : t.empty) empty.push_back(by_axis(e));
  form("classes", t.classes, {.min = 2});
  form("required", t.required);
  form("covered", t.covered);
  form("constant", t.constant);
  form("empty", empty);
}

template <class F> void fields(F& form, const CoverRow& r) {
  form("required", r.required());
  form("covered", covered(r));
  form("cells", r.cells);
  form("combinations", r.combinations);
}

template <class F> void fields(F& form, const Cover& c) {
  ByOperator operators;
  for (const CoverRow& r : c.rows) operators.emplace_back(r.op->name, r);
  form.constant("format", 1);
  form("tier", c.tier, {.max = 3});
  form("seed", c.seed);
  form("set", c.set_hash, {.hash = true});
  form("complete", c.complete());
  form("required", total(c, required));
  form("covered", total(c, covered));
  form("operators", operators);
}

std::string cover_json(const Cover& c) { return form::written(c).dump(1) + "\n"; }

std::string cover_schema() { return form::schema<Cover>("lockstep cover"); }

}  // namespace lockstep::judge
