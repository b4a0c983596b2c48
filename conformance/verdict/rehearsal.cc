#include "conformance/verdict/rehearsal.h"

#include <fmt/format.h>

#include "conformance/base/sha256.h"
#include "conformance/subjects/mail.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/trial/properties.h"

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

class Rehearsal : public ReferenceSubject {
 public:
  Rehearsal() { manifest_ = able(); }
  bool shares_memory() const override { return true; }
  bool can_infer() const override { return true; }
  bool can_compile() const override { return true; }
  bool reads_int8() const override { return true; }
  bool takes_text() const override { return true; }
  int configure(const Options&) override { return ++configurations_; }

  std::vector<Answers> ask(const std::vector<Question>& questions) override {
    std::vector<Answers> all;
    for (const Question& q : questions) {
      asked_ += text_of(q);
      all.push_back(answers(q));
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

  std::string asked_;
  int configurations_ = 0;
};

}  // namespace

std::string questions_hash(
    const std::vector<const Item*>& items, const std::vector<std::string>& properties) {
  Rehearsal subject;
  const TrialPlan plan = plan_for(subject, properties);
  std::string judged;
  for (const Item* item : items) {
    const Trial t = perform(subject, *item, plan);
    for (const Property* p : kProperties)
      if (p->holds_something_of(t)) judged += std::string(p->name) + "\n";
    for (const Observation& o : t.seen) judged += std::string(o.by->name) + " " + o.when + "\n";
  }
  return sha256(subject.asked() + judged);
}

}  // namespace lockstep::judge
