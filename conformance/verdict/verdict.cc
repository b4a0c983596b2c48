#include "conformance/verdict/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "conformance/trial/properties.h"
#include "conformance/verdict/outputs.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {
namespace {

// A crash or hang is a finding even if no selected property judges it.
std::pair<std::string, Finding> death(
    const Trial& t, const Answer& end, std::vector<std::string>& judged) {
  const Property& p = t.refusal      ? kRejects
      : t.item->what == Item::typed  ? kInfers
      : t.item->what == Item::vector ? kMatchesVectors
                                     : kMatchesReference;
  judged.emplace_back(p.name);
  return {std::string(p.name), {deed(end.kind) + ": " + end.message, end.kind}};
}

// Whether repetitions inside one trial were answered differently.
bool changes(const Trial& t, const std::vector<std::pair<std::string, Finding>>& findings) {
  return std::any_of(t.seen.begin(), t.seen.end(),
             [](const Observation& o) {
               return o.answer && (o.answer->unsteady || o.answer->changed_run > 0);
             }) ||
      std::any_of(findings.begin(), findings.end(),
          [](const auto& found) { return found.first == kDeterministic.name; });
}

// What of a finding is the same whenever the same thing goes wrong; its text may have addresses.
bool is_same(
    const std::pair<std::string, Finding>& one, const std::pair<std::string, Finding>& other) {
  const auto lasting = [](const auto& found) {
    return std::tie(found.first, found.second.kind, found.second.label);
  };
  return lasting(one) == lasting(other);
}

bool is_same(const Answer& one, const Answer& other) {
  const auto damage = [](const Answer& a) {
    return std::pair(a.out_damage.empty(), a.in_damage.empty());
  };
  return std::tie(one.kind, one.label, one.out, one.types) ==
      std::tie(other.kind, other.label, other.out, other.types) &&
      damage(one) == damage(other);
}

bool is_same(const std::optional<Answer>& one, const std::optional<Answer>& other) {
  return one && other ? is_same(*one, *other) : one.has_value() == other.has_value();
}

bool is_same(const Observation& one, const Observation& other) {
  const auto law = [](const Observation& o) {
    return o.law ? std::pair(o.law->result.kind, o.law->result.message)
                 : std::pair(reference::LawResult::silent, std::string());
  };
  return one.when == other.when && is_same(one.answer, other.answer) && law(one) == law(other);
}

// The element of an output that was changed; nothing if none was.
std::optional<Element> changed_element(const Trial& before, const Trial& after) {
  const std::vector<Trial::Told> old = before.answers(), now = after.answers();
  for (std::size_t n = 0; n < now.size(); ++n)
    for (std::size_t k = 0; k < now[n].answer->out.size(); ++k) {
      const std::vector<i32>&was = old[n].answer->out[k], &is = now[n].answer->out[k];
      const auto at = std::mismatch(is.begin(), is.end(), was.begin()).first - is.begin();
      if (at == std::ssize(is)) continue;
      const auto i = static_cast<std::size_t>(at);
      const Index y = unravel(at, (*now[n].right)[k].type.shape);
      return Element{static_cast<i64>(k), {y.begin(), y.end()}, was[i], is[i]};
    }
  return std::nullopt;
}

// Whether a finding that shows an element shows this one, and no other.
bool tells(const Finding& f, const std::optional<Element>& changed) {
  const auto says = [&](const std::string& text) { return f.text.find(text) != std::string::npos; };
  if (!changed) return true;
  const std::string place =
      fmt::format("output {} at [{}]", changed->output, fmt::join(changed->index, ","));
  if (f.elements.empty()) return !says(" at [") || says(place);
  const Element& e = f.elements[0];
  return f.elements.size() == 1 && e.output == changed->output && e.index == changed->index &&
      e.expected == changed->expected && e.got == changed->got &&
      says(fmt::format("{}: expected {} (0x{:08x}), got {} (0x{:08x}); 1 of ", place, e.expected,
          static_cast<std::uint32_t>(e.expected), e.got, static_cast<std::uint32_t>(e.got)));
}

}  // namespace

ItemResult judge_trial(const Trial& t, const std::vector<std::string>& properties) {
  ItemResult r;
  r.calls = t.calls;
  r.hung = t.hung;
  for (const WrongCall& c : t.wrong_calls) r.wrong_calls.push_back({c.op, shown_id(c.id), c.text});
  if (t.item->runs()) r.outputs = output_hash(t.item->id, t.base, t.types);
  for (const auto& [when, answer, right, is_graph] : t.answers()) {
    // If there is a manifest, an answer that names no kernel counts as one that the manifest does
    // not list.
    if (!answer->path.empty() || (answer->ok() && t.manifest->stated() && !is_graph))
      r.paths.push_back(answer->path);
  }
  const Answer* end = t.end();
  // Every property would report the same stray output.
  const bool strayed = end && stray(end->kind);
  for (const Property* p : kProperties) {
    if (strayed || !is_meant(*p, properties) || !p->holds_something_of(t)) continue;
    r.judged.emplace_back(p->name);
    if (std::optional<Finding> f = p->inspect(t, p->seen_in(t)))
      r.findings.emplace_back(std::string(p->name), std::move(*f));
  }
  if (end && r.findings.empty()) r.findings.push_back(death(t, *end, r.judged));
  r.outcome = r.findings.empty()           ? Outcome::passed
      : !end || strayed                    ? Outcome::failed
      : end->kind == AnswerKind::timed_out ? Outcome::timed_out
                                           : Outcome::crashed;
  r.flaky = changes(t, r.findings);
  return r;
}

void compare_again(ItemResult& result, const Trial& first, const Trial& again,
    const std::vector<std::string>& properties) {
  const ItemResult other = judge_trial(again, properties);
  const auto same = [](const auto& one, const auto& two) { return is_same(one, two); };
  const bool is_steady = result.outcome == other.outcome && is_same(first.base, again.base) &&
      is_same(first.refusal, again.refusal) && is_same(first.inferred, again.inferred) &&
      std::equal(
          first.seen.begin(), first.seen.end(), again.seen.begin(), again.seen.end(), same) &&
      std::equal(result.findings.begin(), result.findings.end(), other.findings.begin(),
          other.findings.end(), same);
  result.flaky = result.flaky || other.flaky || !is_steady;
  if (is_steady) return;
  for (auto& [property, found] : result.findings) found.text += kNotAgain;
}

std::map<std::string, bool> canaries(
    const Trial& t, const std::vector<const Property*>& properties, u64 n) {
  std::map<std::string, bool> noticed;
  // Plant nothing in a wrong answer, which no selected property may have judged: a fault could
  // correct it.
  if (t.item->runs() && (!t.base.ok() || difference(t.expected, t.base))) return noticed;
  for (const Property* p : properties) {
    const std::string name(p->name);
    Trial tampered = t;
    if (!p->plant(tampered, tampered.of(p->observes ? *p->observes : *p), n)) continue;
    const ItemResult r = judge_trial(tampered, {name});
    const std::optional<Element> changed = changed_element(t, tampered);
    noticed[name] = r.outcome == Outcome::failed &&
        std::all_of(r.findings.begin(), r.findings.end(),
            [&](const auto& found) { return tells(found.second, changed); });
  }
  return noticed;
}

}  // namespace lockstep::judge
