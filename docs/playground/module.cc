// The module of the playground: the reference, and the digest of the judge, for a web page. A call
// is a line of the JSON Lines protocol (conformance/jsonl/lines.h).
#include <nlohmann/json.hpp>

#include "conformance/cases/model_calls.h"
#include "conformance/selection/select.h"
#include "conformance/subjects/eval.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/verdict/outputs.h"
#include "spec/gas.h"

namespace lockstep::judge {

// Cases of models come from files, and here is none.
std::vector<Case> model_calls(const std::string& directory) {
  throw UsageError("there is no model " + directory);
}
int cases_of_call(const Case&, int) { return 0; }

namespace {

class Playground : public ReferenceSubject {
 public:
  Playground() { manifest_.errors = Errors::none; }  // the judge's own sentences say more
  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run& run) override {
    return ReferenceSubject::execute(c, in, out, run);
  }
};

std::string digest() {
  Playground subject;
  Selection s;
  s.tier = 0;
  s.vectors = "/vectors";
  Outputs all;
  const std::vector<Item> items = select_cases(s);
  for (const Item& item : items) {
    if (!item.runs()) continue;
    const Case& c = item.call;
    const Inferred types = c.op->infer(c.attributes(), c.types());
    all.add(output_hash(item.id, subject.execute(c, inputs_of(c), types, {}), types));
  }
  return std::to_string(all.calls) + " calls  set " + set_hash(items) + "  outputs " + all.sum;
}

}  // namespace
}  // namespace lockstep::judge

extern "C" {
const char* lockstep_answer(const char* line);
const char* lockstep_digest();
__attribute__((visibility("default"), used)) const char* lockstep_answer(const char* line) {
  static std::string answer;
  lockstep::judge::Playground subject;
  answer = lockstep::judge::eval_line(subject, line, 1);
  return answer.c_str();
}
__attribute__((visibility("default"), used)) const char* lockstep_digest() {
  static std::string answer;
  try {
    answer = lockstep::judge::digest();
  } catch (const std::exception& e) {
    answer = e.what();
  }
  return answer.c_str();
}
}
