#include "conformance/verdict/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/base/sha256.h"
#include "conformance/cases/malformed_graph.h"
#include "conformance/subjects/mail.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/replies.h"
#include "conformance/verdict/verdict.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

// A manifest that claims every ability on which a question depends. Its kernels serve all
// operators, and its most threads are few, so that the questions do not depend on the machine.
Manifest able() {
  Manifest m = default_manifest("rehearsal");
  m.kernels = {{"*", "narrow", "one", true}, {"*", "wide", "two", true}};
  m.options = {"isa", "threads", "tuned"};
  m.threads = {1, 16};
  m.strided = true;
  return m;
}

// A manifest that claims less, and states no ability that it can do without.
Manifest modest() {
  constexpr i64 kMostPrecision = 16;
  Manifest m = default_manifest("rehearsal");
  m.kernels = {{"*", "narrow", "one", true}};
  m.claims[0].precision = {1, kMostPrecision};
  m.reads_text = false;
  m.errors = Errors::cls;
  return m;
}

std::string values_of(const std::vector<Tensor>& all) {
  std::string text;
  for (const Tensor& t : all)
    for (const i32 v : t.data) text += std::to_string(v) + ",";
  return text;
}

// A question as text, all but its poison, which each process draws anew.
std::string text_of(const Question& q) {
  const Run& r = q.run;
  std::string s = fmt::format("{} {} {} {} {} {} {} {} {}", static_cast<int>(q.what), q.trial, q.id,
      static_cast<int>(r.layout), r.filler, static_cast<int>(r.base), r.config, r.constants,
      r.runs);
  if (!q.texts) s += "\ncall " + case_id(*q.call);
  if (q.between) s += "\nbetween " + case_id(*q.between);
  if (q.texts)
    for (const auto& [name, text] : *q.texts) s += "\nattribute " + name + "=" + text;
  if (q.graph)
    s += fmt::format("\ngraph {} {} {}", q.graph->feeds, q.graph->one_by_one, graph_text(*q.graph));
  for (std::size_t k = 0; k < q.callers.size(); ++k) {
    s += "\ncaller " + values_of(*q.callers[k]);
    for (const Slot& tensor : Mail::slots(q, k)) s += "\n" + text_of(tensor);
  }
  return s + "\n";
}

// Ends the process in one of the ways in which a subject notices it.
void give_no_answer(Answer& a, u64 draw) {
  constexpr AnswerKind kEnds[] = {AnswerKind::crashed, AnswerKind::timed_out, AnswerKind::protocol,
      AnswerKind::printed, AnswerKind::broken_channel};
  a = {.kind = kEnds[draw % std::size(kEnds)], .message = "in a rehearsal"};
}

// Makes the answer to a call or a graph wrong, in a way that the number draws, or leaves it.
void spoil(Answer& a, const Question& q, u64 draw) {
  enum {
    right,
    value,
    values,
    poison,
    beside,
    input,
    run,
    steady,
    kernel,
    threads,
    error,
    none,
    types,
    sizes,
    end,
    ways
  };
  constexpr u64 kFewEnd = 4;  // an end is the last answer of its case
  std::vector<i32>& out = a.out[draw / ways % a.out.size()];
  switch (draw % ways) {
    case right: return;
    case value: out[draw / ways % out.size()] ^= 1; return;
    case values:
      for (i32& v : out) v ^= 1;
      return;
    case poison: out[draw / ways % out.size()] = q.run.poison; return;
    case beside: a.out_damage = "memory of an output was written"; return;
    case input: a.in_damage = "an input was written"; return;
    case run: a.changed_run = q.run.runs > 1 ? 2 : 0; return;
    case steady: a.unsteady = q.callers.size() > 1; return;
    case kernel: a.path = draw / ways % 2 == 0 ? "other" : "wide"; return;
    case threads: a.threads = static_cast<i64>(draw / ways % 3); return;
    case error: a = {.kind = AnswerKind::logic_error, .label = "a.label", .message = "why"}; return;
    case none: a = {.kind = AnswerKind::unsupported}; return;
    case types: a.types = {{{1, 2}, static_cast<int>(draw / ways % 2)}}; return;
    case sizes: out.push_back(0); return;
    case end:
      if (draw / ways % kFewEnd == 0) give_no_answer(a, draw / ways / kFewEnd);
      return;
  }
}

// The same for a question whose answer has no outputs.
void spoil_refusal(Answer& a, u64 draw) {
  enum { accepted, label, error, types, end, right };
  switch (draw % (2 * u64{right})) {
    case accepted: a = {}; return;
    case label: a.label = "a.label"; return;
    case error: a.kind = AnswerKind::runtime_error; return;
    case types: a.types.push_back({{1}, 1}); return;
    case end: return give_no_answer(a, draw / right);
    default: return;
  }
}

class Rehearsal : public ReferenceSubject {
 public:
  enum Errs { never, compiled, one_by_one, alike };
  /// @param errs whether many answers are wrong, and how graphs then run; `one_by_one`: by a
  /// manifest that claims less; `alike`: all answers of a case are wrong in the same way
  /// @param first the number of the first question, on which it depends which answers are wrong
  explicit Rehearsal(Errs errs, u64 first = 0) : errs_(errs), number_(first) {
    manifest_ = errs == one_by_one ? modest() : able();
  }
  bool shares_memory() const override { return true; }
  bool can_infer() const override { return true; }
  bool can_compile() const override { return errs_ != one_by_one; }
  bool reads_int8() const override { return true; }
  bool takes_text() const override { return true; }
  int configure(const Options& o) override {
    configurations_.push_back(o);
    return static_cast<int>(configurations_.size());
  }

  std::vector<Answers> ask(const std::vector<Question>& questions) override {
    std::vector<Answers> all;
    if (errs_ == compiled) asked_ += read_back(questions, number_);
    for (const Question& q : questions) {
      asked_ += text_of(q);
      all.push_back(answers(q));
      for (Answer& a : all.back()) {
        ++number_;
        const u64 draw = word(q.call->seed, 0, errs_ == alike ? 0 : number_);
        if (errs_ != never) (a.out.empty() ? spoil_refusal(a, draw) : spoil(a, q, draw));
      }
    }
    return all;
  }
  const std::string& asked() const { return asked_; }

 private:
  Answers answers(const Question& q) {
    const Case& c = *q.call;
    if (q.what == Question::refuse && q.graph)
      return {{.kind = AnswerKind::logic_error,
          .label = std::string(kGraphMistakes[number_ % kGraphMistakes.size()].label)}};
    if (q.what == Question::refuse && q.texts)
      return {{.kind = AnswerKind::logic_error,
          .label = read_attributes(*c.op, {q.texts->begin(), q.texts->end()}).label}};
    if (q.what != Question::execute && refusal(c).refused()) return {refuse(c)};
    Answer a;
    if (q.what == Question::infer) {
      const Inferred types = c.op->infer(c.attributes(), c.types());
      for (int k = 0; k < types.count; ++k)
        a.types.push_back({{types[k].shape.begin(), types[k].shape.end()}, types[k].precision});
    }
    if (q.what != Question::execute) return {a};
    if (q.graph) {
      for (const int head : q.graph->heads)
        a.out.push_back(q.graph->entries[static_cast<std::size_t>(head)].data);
      return {a};
    }
    Answers all;
    for (const std::vector<Tensor>* in : q.callers) {
      all.push_back(execute(c, *in, q.out, q.run));
      obey(all.back(), q.run.config);
    }
    return all;
  }
  // Has the kernel and the threads of a configuration, where 0 is none.
  void obey(Answer& a, int config) const {
    const Options& o = config > 0 ? configurations_[static_cast<std::size_t>(config - 1)] : none_;
    a.path = o.contains("isa") && o.at("isa") == "two" ? "wide" : "narrow";
    if (o.contains("threads")) a.threads = std::stoll(o.at("threads"));
  }

  const Errs errs_;
  u64 number_;
  std::string asked_;
  std::vector<Options> configurations_;
  const Options none_;
};

std::string text_of(const Finding& f) {
  std::string s = fmt::format("{} {} {} {}", f.text, static_cast<int>(f.kind), f.hint, f.label);
  for (const Element& e : f.elements)
    s += fmt::format(", {} [{}] {} {}", e.output, fmt::join(e.index, ","), e.expected, e.got);
  return s;
}

std::string text_of(const ItemResult& r) {
  std::string s = fmt::format("{} {} {} {} {}", static_cast<int>(r.outcome), r.calls, r.flaky,
      r.hung, fmt::join(r.paths, ","));
  for (const WrongCall& c : r.wrong_calls) s += "\n" + c.id + ": " + c.text;
  for (const auto& [property, found] : r.findings) s += "\n" + property + ": " + text_of(found);
  return s + "\n";
}

// Which of the faults are noticed that are planted in what holds in a trial.
std::string canaries_text(const Trial& t, const ItemResult& r) {
  std::vector<const Property*> hold;
  for (const Property* p : kProperties)
    if (p->holds_something_of(t) && p->plant &&
        std::none_of(r.findings.begin(), r.findings.end(),
            [&](const auto& found) { return found.first == p->name; }))
      hold.push_back(p);
  std::string s;
  for (const auto& [property, noticed] : canaries(t, hold, t.item->call.seed))
    s += fmt::format("canary of {} {}\n", property, noticed);
  return s;
}

// Notes all questions about cases, what has something to judge, what is found wrong, and which
// faults are noticed.
std::string heard(Rehearsal::Errs errs, const std::vector<const Item*>& items,
    const std::vector<std::string>& properties) {
  constexpr u64 kOther = 1000;
  Rehearsal subject(errs), other(errs, kOther);
  const TrialPlan plan = plan_for(subject, properties);
  configure(other, plan);
  std::string judged;
  for (const Item* item : items) {
    const Trial t = perform(subject, *item, plan);
    for (const Property* p : kProperties)
      if (p->holds_something_of(t)) judged += std::string(p->name) + "\n";
    for (const Observation& o : t.seen) judged += std::string(o.by->name) + " " + o.when + "\n";
    ItemResult r = judge_trial(t, properties);
    judged += text_of(r);
    if (errs == Rehearsal::never) {
      judged += canaries_text(t, r);
      continue;
    }
    const Trial again = perform(other, *item, plan);
    judged += text_of(judge_trial(again, properties));
    compare_again(r, t, again, properties);
    judged += text_of(r);
  }
  return subject.asked() + judged;
}

// How long hosts that go on in different ways are waited for.
std::string waits_text() {
  constexpr u64 kMost = 12;
  std::string s;
  for (u64 host = 0; host < 64; ++host) {
    Seeded draw(host);
    const i64 patience = draw(1, 3), seldom = draw(0, 12);
    Wait wait;
    u64 parts = 0, steps = 0;
    while (wait.goes_on(patience, steps, kMost)) {
      ++parts;
      if (draw(0, seldom) == 0) steps += static_cast<u64>(draw(0, 2));
    }
    s += fmt::format("{} {}\n", parts, steps);
  }
  return s;
}

// Which operators are silent if some calls hang.
std::string silent_text() {
  struct Mute : ReferenceSubject {
    explicit Mute(int which) : every(which) {
      manifest_ = parse_manifest(R"({"name": "mute", "version": "1", "device": "none",
          "options": [], "kernels": [], "claims": {"operators":
              {"abs": {}, "clip": {}, "dense": {}, "max": {}, "relu": {}, "sum": {}, "take": {}},
          "layouts": ["compact"], "attributes": ["values"], "threads": [1, 1],
          "determinism": "D2", "errors": "label"}})");
    }
    Answer execute(const Case& c, const std::vector<Tensor>& in, const Inferred& out,
        const Run& run) override {
      if (asked++ % every == every / 2) return {.kind = AnswerKind::timed_out};
      return ReferenceSubject::execute(c, in, out, run);
    }
    int every, asked = 0;
  };
  std::string s;
  for (const int every : {1, 2, 3, 5}) {
    Mute subject(every);
    const Silent silent = silent_operators(subject);
    s += fmt::format("{}; {}\n", fmt::join(silent.unanswered, " "), fmt::join(silent.unasked, " "));
  }
  return s;
}

}  // namespace

std::string questions_hash(
    const std::vector<const Item*>& items, const std::vector<std::string>& properties) {
  constexpr std::size_t kEvery = 4;
  std::vector<const Item*> some;
  for (std::size_t k = 0; k < items.size(); k += kEvery) some.push_back(items[k]);
  return sha256(heard(Rehearsal::never, items, properties) +
      heard(Rehearsal::compiled, some, properties) +
      heard(Rehearsal::one_by_one, some, properties) + heard(Rehearsal::alike, some, properties));
}

std::string words_hash() {
  const Type type{{3, 70, 2}, 8};
  const Tensor right{type, std::vector<i32>(static_cast<std::size_t>(volume(type.shape)))};
  const Shape& shape = right.type.shape;
  std::string words;
  const auto say = [&](const auto& is_wrong) {
    Answer a{.out = {right.data}};
    Index y = Index::filled(shape.size, 0);
    for (i32& element : a.out[0]) {
      if (is_wrong(y)) element = 1;
      next(y, shape);
    }
    if (const auto f = difference({right}, a)) words += text_of(*f) + "\n";
  };
  for (int d = 0; d < shape.size; ++d)
    for (i64 first = 0; first < shape[d]; ++first) {
      say([&](const Index& y) { return y[d] == first; });
      say([&](const Index& y) { return y[d] >= first; });
      for (const i64 period : {2, 3, 4, 8, 16, 32})
        say([&](const Index& y) { return y[d] % period == first; });
    }
  return sha256(words + waits_text() + silent_text());
}

}  // namespace lockstep::judge
