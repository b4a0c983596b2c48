#include "conformance/subjects/subject.h"

#include <algorithm>
#include <optional>

#include "conformance/cases/call_graph.h"

namespace lockstep::judge {
namespace {

Answers put(Subject& s, const Question& q) {
  if (q.texts && q.what == Question::execute)
    return {s.execute_text(*q.call, *q.texts, *q.callers[0], q.out)};
  if (q.texts) return {s.refuse_text(*q.call, *q.texts)};
  if (q.what == Question::refuse) return {s.refuse(*q.call)};
  if (q.what == Question::infer) return {s.infer(*q.call)};
  if (q.callers.size() == 1) return {s.execute(*q.call, *q.callers[0], q.out, q.run)};
  std::vector<std::vector<Tensor>> in;
  for (const auto* values : q.callers) in.push_back(*values);
  return s.execute_at_once(*q.call, in, q.out, q.run);
}

}  // namespace

int Question::outputs() const { return graph ? static_cast<int>(graph->heads.size()) : out.count; }

const Type& Question::output(int k) const {
  if (!graph) return out[k];
  const int head = graph->heads[static_cast<std::size_t>(k)];
  return graph->entries[static_cast<std::size_t>(head)].type;
}

std::vector<Answers> Subject::ask(const std::vector<Question>& questions) {
  std::vector<Answers> all;
  std::optional<std::size_t> dead;  // the trial that ended the process
  for (const Question& q : questions) {
    if (q.trial == dead) {
      all.emplace_back();
      continue;
    }
    if (!q.id.empty()) about(std::string(q.id));
    all.push_back(put(*this, q));
    if (std::any_of(all.back().begin(), all.back().end(), [](const Answer& a) { return a.gone(); }))
      dead = q.trial;
  }
  return all;
}

}  // namespace lockstep::judge
