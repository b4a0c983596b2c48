#include "conformance/trial/probe.h"

namespace lockstep::judge {
namespace {

using reference::LawResult;

constexpr u64 kShare = 4;                  // one case in 4 gets the checks that take several calls
constexpr u64 kSalt = 11;                  // of the choice of these cases
constexpr i64 kMostOfLaws = i64{1} << 14;  // elements of a call to which laws are put

i64 elements(const std::vector<Tensor>& tensors) {
  i64 n = 0;
  for (const Tensor& t : tensors) n += volume(t.type.shape);
  return n;
}

}  // namespace

Probe::Probe(Subject& subject, Trial& trial) : subject_(subject), t_(trial), case_(t_.item->call) {}

bool Probe::begin() {
  const Item& item = *t_.item;
  if (item.what == Item::illegal) {
    ++t_.calls;
    t_.refusal = subject_.refuse(case_);
    return !t_.refusal->gone();
  }
  t_.types = case_.op->infer(case_.attributes(), case_.types());
  if (item.what == Item::typed) return true;
  in_ = inputs_of(case_);
  t_.expected = item.what == Item::vector ? item.expected : expected_of(in_);
  t_.base = execute({.poison = kPoison});
  return !t_.base.gone();
}

Layout Probe::other_layout() const {
  return case_.layout != Layout::compact ? case_.layout
                                         : static_cast<Layout>(1 + case_.seed % (kLayouts - 1));
}

std::size_t Probe::choice(u64 which, std::size_t n) const {
  return static_cast<std::size_t>(word(case_.seed, kSalt, which) % n);
}

bool Probe::chosen(u64 which) const { return spelled_out() || choice(which, kShare) == 0; }

bool Probe::ask(const Run& run, std::string when) {
  Answer a = execute(run);
  const bool there = !a.gone();
  note(std::move(when)).answer = std::move(a);
  return there;
}

bool Probe::ask(const Run& run, const Forced& forced) {
  const bool there = ask(run, "with " + forced.option + "=" + forced.value);
  t_.seen.back().forced = forced;
  return there;
}

bool Probe::ask_at_once(std::size_t callers) {
  std::vector<std::vector<Tensor>> in;
  for (std::size_t k = 0; k < callers; ++k) in.push_back(k % 2 == 0 ? in_ : others());
  std::vector<Answer> answers = subject_.execute_at_once(case_, in, t_.types, {.poison = kPoison});
  t_.calls += static_cast<int>(answers.size());
  if (answers.empty()) return true;
  t_.expected_other = expected_of(others());
  const bool there = !answers[0].gone();
  for (std::size_t k = 0; k < answers.size(); ++k) {
    Observation& o = note("to caller " + std::to_string(k + 1) + " of " +
        std::to_string(answers.size()) + " at once");
    o.answer = std::move(answers[k]);
    o.other_values = k % 2 != 0;
  }
  return there;
}

bool Probe::infer() {
  if (!subject_.can_infer()) return true;
  ++t_.calls;
  t_.inferred = subject_.infer(case_);
  return !t_.inferred->gone();
}

bool Probe::too_large_for_laws() const {
  return elements(in_) + elements(t_.expected) > kMostOfLaws;
}

bool Probe::ask_law(int i) {
  const LawInfo& law = case_.op->laws[i];
  Seeded draw(word(case_.seed, kSalt + 1, static_cast<u64>(i)));
  std::optional<Answer> failure;
  const auto respond_to = [&](Attributes attrs, const std::vector<Tensor>& in) {
    return respond(attrs, in, failure);
  };
  LawResult result = try_law(*case_.op, i, case_.attributes(), in_, others(), draw, respond_to);
  const bool gone = failure && failure->gone();
  if (!failure && result.kind == LawResult::silent) return true;
  Observation& o = note("in the law " + std::string(law.label));
  o.answer = std::move(failure);
  o.law = {&law, std::move(result)};
  return !gone;
}

Answer Probe::execute(const Run& run) {
  ++t_.calls;
  return subject_.execute(case_, in_, t_.types, run);
}

Observation& Probe::note(std::string when) {
  return t_.seen.emplace_back(Observation{way_->property, std::move(when), {}, {}, false, {}});
}

// Inputs of the same types with other values.
const std::vector<Tensor>& Probe::others() {
  if (other_.empty()) {
    Case c = case_;
    c.fill = Fill::dense;
    c.seed = ~c.seed;
    other_ = inputs_of(c);
  }
  return other_;
}

std::vector<Tensor> Probe::expected_of(const std::vector<Tensor>& in) const {
  return reference::outputs(*case_.op, case_.attributes(), in);
}

// The backend's outputs for a call that a law makes; nothing if the backend does not claim it.
std::optional<std::vector<Tensor>> Probe::respond(
    Attributes attrs, const std::vector<Tensor>& in, std::optional<Answer>& failure) {
  Case call{case_.op, {attrs.begin(), attrs.end()}, {}, Fill::literal, case_.seed, {}, {}};
  for (const Tensor& t : in) call.in.push_back(t.type);
  if (!t_.manifest->claims_call(call)) return std::nullopt;
  const Inferred types = case_.op->infer(attrs, call.types());
  ++t_.calls;
  Answer a = subject_.execute(call, in, types, {.poison = kPoison});
  std::vector<Tensor> out;
  for (std::size_t k = 0; a.ok() && k < a.out.size(); ++k) {
    const Type& type = types[static_cast<int>(k)];
    if (std::ssize(a.out[k]) != volume(type.shape)) {
      a.kind = AnswerKind::protocol;
      a.message = "output " + std::to_string(k) + " has " + std::to_string(a.out[k].size()) +
          " elements instead of " + std::to_string(volume(type.shape));
    }
    out.push_back({type, std::move(a.out[k])});
  }
  if (a.ok()) return out;
  failure = std::move(a);
  return std::nullopt;
}

}  // namespace lockstep::judge
