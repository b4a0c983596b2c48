// Any text as the lines that `lockstep eval` reads.
//
// Each line has one answer, in order, with the line's id and a known label, and no answer is an
// error of the program. A computed call gives the same answer if the judge writes it as a line.
#include "conformance/jsonl/lines.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "conformance/subjects/eval.h"
#include "conformance/subjects/reference_subject.h"
#include "fuzz/target.h"

namespace lockstep::judge {
namespace {

using fuzz::hold;
using fuzz::violated;

// The reference, for calls that are small enough; it keeps the calls that it computed.
class Bounded : public ReferenceSubject {
 public:
  // With this manifest `eval` refuses illegal calls itself, with its own sentences.
  Bounded() { manifest_.errors = Errors::none; }
  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run& how) override {
    if (fuzz::work(c.types(), out) > fuzz::kMaxWork) return {.kind = AnswerKind::unsupported};
    computed = write_request(c, in, "1");
    return ReferenceSubject::execute(c, in, out, how);
  }
  std::string computed;
};

// Inputs without data are zeros, up to 2^30 of them, which would take too much time and memory.
bool large(const Request& q) {
  i64 zeros = 0;
  for (std::size_t k = 0; k < q.types.size(); ++k)
    if (!q.data[k]) zeros += volume(q.types[k].shape);
  return zeros > fuzz::kMaxWork;
}

void judge_answer(const std::string& text, const std::string& line, i64 number) {
  hold(nlohmann::json::accept(text), "an answer is no JSON");
  const Answer a = read_answer(text, read_request(line, number).id);
  switch (a.kind) {
    case AnswerKind::ok:
    case AnswerKind::unsupported: return;
    case AnswerKind::logic_error:
      if (!fuzz::is_label_of_calls(a.label) && !a.label.starts_with("line."))
        violated("an answer has the unknown label " + a.label);
      return;
    default:
      violated("an answer is " + std::string(name_of(a.kind)) + " " + a.label + ": " + a.message);
  }
}

void judge_line(const std::string& line, i64 number, const std::string& text) {
  judge_answer(text, line, number);
  Bounded subject;
  eval_line(subject, line, number);
  if (subject.computed.empty()) return;
  const std::string again = subject.computed;
  const Answer first = read_answer(text, read_request(line, number).id);
  const Answer second = read_answer(eval_line(subject, again, 1), "1");
  hold(second.kind == first.kind && second.out == first.out && second.types == first.types,
      "a call written again has another answer");
  hold(subject.computed == again, "a call written again is another call");
}

void judge_text(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream split(text);
  for (std::string line; std::getline(split, line); lines.push_back(line))
    if (large(read_request(line, 1))) return;
  Bounded subject;
  std::istringstream in(text);
  std::ostringstream out;
  hold(eval_lines(subject, in, out) == 0, "eval did not read to the end");
  std::istringstream answers(out.str());
  std::string answer;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    hold(bool(std::getline(answers, answer)), "a line has no answer");
    judge_line(lines[k], static_cast<i64>(k) + 1, answer);
  }
  hold(!std::getline(answers, answer), "there are more answers than lines");
}

}  // namespace
}  // namespace lockstep::judge

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lockstep::judge::judge_text(std::string(data, data + size));
  return 0;
}
