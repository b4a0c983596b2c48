#include "conformance/verdict/verdict.h"

#include "conformance/trial/properties.h"
#include "conformance/verdict/outputs.h"

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
  return {std::string(p.name),
      {"answered " + std::string(name_of(end.kind)) + ": " + end.message, end.kind}};
}

}  // namespace

ItemResult judge_trial(const Trial& t, const std::vector<std::string>& properties) {
  ItemResult r;
  r.calls = t.calls;
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
  return r;
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
    if (p->plant(tampered, tampered.of(p->observes ? *p->observes : *p), n))
      noticed[name] = judge_trial(tampered, {name}).outcome == Outcome::failed;
  }
  return noticed;
}

}  // namespace lockstep::judge
