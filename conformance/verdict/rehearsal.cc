#include "conformance/verdict/rehearsal.h"

#include <fmt/format.h>

#include "conformance/base/sha256.h"
#include "conformance/subjects/mail.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/verdict.h"

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

std::string values_of(const std::vector<Tensor>& all) {
  std::string text;
  for (const Tensor& t : all)
    for (const i32 v : t.data) text += std::to_string(v) + ",";
  return text;
}

std::string text_of(const Slot& s) {
  std::string text = fmt::format(
      "{}{} in {} bytes from {}:", s.precision, s.is_int8 ? " as int8" : "", s.bytes, s.first);
  for (int d = 0; d < s.rank; ++d) text += fmt::format(" {} by {}", s.shape[d], s.stride[d]);
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

// Makes elements wrong in a pattern along the last axis of each output, which findings name.
void spoil(Answer& a, const Question& q) {
  constexpr i64 kLongest = 16;
  for (int k = 0; k < q.outputs(); ++k) {
    const Shape& s = q.output(k).shape;
    const i64 last = s.size == 0 ? 1 : s[s.size - 1];
    i64 period = 1;
    while (period < kLongest && 2 * period < last) period *= 2;
    std::vector<i32>& out = a.out[static_cast<std::size_t>(k)];
    for (i64 i = 0; i < std::ssize(out); ++i)
      if (i % last % period == static_cast<i64>(q.call->seed % static_cast<u64>(period)))
        out[static_cast<std::size_t>(i)] ^= 1;
  }
}

class Rehearsal : public ReferenceSubject {
 public:
  explicit Rehearsal(bool errs) : errs_(errs) { manifest_ = able(); }
  bool shares_memory() const override { return true; }
  bool can_infer() const override { return true; }
  // Where compiled graphs are wrong, graphs are not put call by call.
  bool can_compile() const override { return !errs_; }
  bool reads_int8() const override { return true; }
  bool takes_text() const override { return true; }
  int configure(const Options&) override { return ++configurations_; }

  std::vector<Answers> ask(const std::vector<Question>& questions) override {
    std::vector<Answers> all;
    for (const Question& q : questions) {
      asked_ += text_of(q);
      all.push_back(answers(q));
      for (Answer& a : all.back())
        if (errs_ && q.what == Question::execute) spoil(a, q);
    }
    return all;
  }
  const std::string& asked() const { return asked_; }

 private:
  Answers answers(const Question& q) {
    if (q.what != Question::execute) return {Answer{}};
    if (q.graph) {
      Answer heads;
      for (const int head : q.graph->heads)
        heads.out.push_back(q.graph->entries[static_cast<std::size_t>(head)].data);
      return {heads};
    }
    Answers all;
    for (const std::vector<Tensor>* in : q.callers)
      all.push_back(execute(*q.call, *in, q.out, q.run));
    return all;
  }

  const bool errs_;
  std::string asked_;
  int configurations_ = 0;
};

// Notes all questions about cases, what has something to judge, and what is found wrong.
std::string heard(
    bool errs, const std::vector<const Item*>& items, const std::vector<std::string>& properties) {
  Rehearsal subject(errs);
  const TrialPlan plan = plan_for(subject, properties);
  std::string judged;
  for (const Item* item : items) {
    const Trial t = perform(subject, *item, plan);
    for (const Property* p : kProperties)
      if (p->holds_something_of(t)) judged += std::string(p->name) + "\n";
    for (const Observation& o : t.seen) judged += std::string(o.by->name) + " " + o.when + "\n";
    if (!errs) continue;
    for (const auto& [property, found] : judge_trial(t, properties).findings)
      judged += property + ": " + found.text + "\n";
  }
  return subject.asked() + judged;
}

}  // namespace

std::string questions_hash(
    const std::vector<const Item*>& items, const std::vector<std::string>& properties) {
  constexpr std::size_t kEvery = 4;
  std::vector<const Item*> some;
  for (std::size_t k = 0; k < items.size(); k += kEvery) some.push_back(items[k]);
  return sha256(heard(false, items, properties) + heard(true, some, properties));
}

}  // namespace lockstep::judge
