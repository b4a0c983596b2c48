// The module of the playground: the reference, and the digest of the judge, for a web page that
// gives and takes texts. A call is a line of the JSON Lines protocol (conformance/jsonl/lines.h).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "conformance/cases/model_calls.h"
#include "conformance/selection/select.h"
#include "conformance/subjects/eval.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/verdict/outputs.h"
#include "spec/gas.h"

// The functions that the page calls. Their results stay valid until the next call.
#define LOCKSTEP_PAGE __attribute__((used, visibility("default")))
extern "C" {
/// {"answer": the protocol's answer to the call}. If the call is legal also "types" of the outputs,
/// "gas" (null beyond its limits) and "case", the id for `lockstep repro`.
LOCKSTEP_PAGE const char* lockstep_answer(const char* call);
/// The call that a case id spells out, or {"error": why there is none}.
LOCKSTEP_PAGE const char* lockstep_call(const char* id);
/// Computes at most `more` further cases of the digest of tier 0: {"done", "all"}, and at the end
/// the line of `lockstep digest` as "digest".
/// @param vectors the directory of golden vectors
LOCKSTEP_PAGE const char* lockstep_digest(const char* vectors, int more);
}

namespace lockstep::judge {

// The selection of cases knows models, which are files; a page has none.
std::vector<Case> model_calls(const std::string& directory) {
  throw UsageError("a page has no model '" + directory + "'");
}
int cases_of_call(const Case& /*c*/, int /*most*/) { return 0; }

namespace {

using nlohmann::ordered_json;

// A call is run while the page waits for it.
Answer too_large(i64 elements) {
  return {.kind = AnswerKind::unsupported,
      .message =
          fmt::format("the tensors of this call have {} elements together; the page computes "
                      "values of up to {}, the program of any number",
              elements, kMaxRun)};
}

// The reference, which also notes what the page shows of a legal call.
class Noting : public ReferenceSubject {
 public:
  // Then eval_line() refuses an illegal call in the specification's own words.
  Noting() { manifest_.errors = Errors::none; }

  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run& run) override {
    notes = {{"types", ordered_json::array()}, {"gas", nullptr}};
    for (int k = 0; k < out.count; ++k)
      notes["types"].push_back(
          {{"shape", std::vector<i64>(out[k].shape.begin(), out[k].shape.end())},
              {"prec", out[k].precision}});
    const GasMeter gas = gas_of(*c.op, c.attributes(), c.types());
    if (gas.exceeded().empty()) notes["gas"] = gas.total();
    const i64 n = elements_of(c);
    if (n > kMaxRun) return too_large(n);
    Case literal = c;
    literal.fill = Fill::literal;
    for (const Tensor& t : in) literal.data.emplace_back(t.data.begin(), t.data.end());
    notes["case"] = case_id(literal);
    return ReferenceSubject::execute(c, in, out, run);
  }

  ordered_json notes = ordered_json::object();
};

std::string answer(const char* line) {
  Noting subject;
  ordered_json all = {{"answer", ordered_json::parse(eval_line(subject, line, 1))}};
  all.update(subject.notes);
  return all.dump();
}

std::string call(const char* id) {
  const Case c = parse_case(id);
  i64 n = 0;
  for (const Type& t : c.in) n += legal(t.shape) ? volume(t.shape) : 0;
  if (n > kMaxRun) throw UsageError("case id: " + too_large(n).message);
  return write_request(c, refusal(c).refused() ? std::vector<Tensor>() : inputs_of(c), "1");
}

// The digest of a run, as far as it is computed.
struct Digest {
  std::vector<Item> items;
  std::size_t done = 0;
  std::map<std::string, Outputs> outputs;

  void add(const Item& item) {
    if (!item.runs()) return;
    const Case& c = item.call;
    const Inferred types = c.op->infer(c.attributes(), c.types());
    const Answer a = ReferenceSubject().execute(c, inputs_of(c), types, {});
    outputs[std::string(c.op->name)].add(output_hash(item.id, a, types));
  }
};

std::string digest(const char* vectors, int more) {
  static Digest d;
  if (d.items.empty() || d.done == d.items.size())
    d = {select_cases({.tier = 0, .vectors = vectors}), 0, {}};
  for (; more > 0 && d.done < d.items.size(); --more) d.add(d.items[d.done++]);
  ordered_json all = {{"done", d.done}, {"all", d.items.size()}};
  if (d.done == d.items.size()) all["digest"] = digest_line(d.outputs, set_hash(d.items));
  return all.dump();
}

// The text that f gives; an exception becomes a text, too.
template <class F> const char* text_of(F f) {
  static std::string text;
  try {
    text = f();
  } catch (const std::exception& e) {
    text = ordered_json{{"error", e.what()}}.dump();
  }
  return text.c_str();
}

}  // namespace
}  // namespace lockstep::judge

const char* lockstep_answer(const char* call) {
  return lockstep::judge::text_of([=] { return lockstep::judge::answer(call); });
}

const char* lockstep_call(const char* id) {
  return lockstep::judge::text_of([=] { return lockstep::judge::call(id); });
}

const char* lockstep_digest(const char* vectors, int more) {
  return lockstep::judge::text_of([=] { return lockstep::judge::digest(vectors, more); });
}
