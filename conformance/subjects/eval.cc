#include "conformance/subjects/eval.h"

#include <istream>
#include <new>
#include <ostream>
#include <stdexcept>

#include "spec/attributes.h"
#include "spec/explain.h"

namespace lockstep::judge {
namespace {

Answer error(AnswerKind kind, const std::string& label, const std::string& message) {
  return {.kind = kind, .label = label, .message = message};
}

Answer no_memory() {
  return error(AnswerKind::runtime_error, "eval.memory", "not enough memory for this call");
}

// Puts an illegal call to a backend that claims to refuse illegal calls.
Answer refused_by(Subject& subject, const Case& c, const Answer& ours) {
  Answer a = subject.refuse(c);
  if (a.ok())
    return error(AnswerKind::runtime_error, "backend.accepted",
        "the backend accepts a call that is " + ours.label + ": " + ours.message);
  // A backend may claim only the class of an error; the label is then ours.
  if (a.kind == AnswerKind::logic_error && a.label.empty()) a.label = ours.label;
  return a;
}

// Takes the inputs of a legal call. @return the first one with a value outside its precision, or -1
int take_inputs(Request& q, std::vector<Tensor>& in) {
  for (std::size_t k = 0; k < q.types.size(); ++k) {
    const Type& t = q.types[k];
    const i64 a = max_of(t.precision);
    if (q.data[k]) {
      for (i32 v : *q.data[k])
        if (v < -a || v > a) return static_cast<int>(k);
      in.push_back({t, std::move(*q.data[k])});
    } else {
      in.push_back({t, std::vector<i32>(static_cast<std::size_t>(volume(t.shape)))});
    }
  }
  return -1;
}

Answer execute(Subject& subject, const Case& c, const std::vector<Tensor>& in) {
  const Inferred y = c.op->infer(c.attributes(), c.types());
  Answer a = subject.execute(c, in, y, {});
  // An adapter that shares memory states no types: its outputs have the inferred ones.
  if (a.ok() && a.types.empty())
    for (int k = 0; k < y.count; ++k)
      a.types.push_back({{y[k].shape.begin(), y[k].shape.end()}, y[k].precision});
  if (a.ok() && a.types.size() != a.out.size())
    return error(AnswerKind::protocol, {}, "the backend's answer lacks outputs");
  return a;
}

Answer judged(Subject& subject, Request& q) {
  if (!q.label.empty()) return error(AnswerKind::logic_error, q.label, q.message);
  Case c;
  c.op = find_operator(q.op);
  if (!c.op) return error(AnswerKind::logic_error, "op.unknown", "no operator " + quote(q.op));
  ReadAttributes attrs = read_attributes(*c.op, q.attrs);
  if (!attrs.label.empty()) return error(AnswerKind::logic_error, attrs.label, attrs.message);
  c.attrs = std::move(attrs.values);
  c.in = q.types;
  c.fill = Fill::zero;
  const auto ours = [&](const Refusal& r) {
    return error(AnswerKind::logic_error, r.label(), explain(*c.op, r, c.attributes(), c.types()));
  };
  if (const Refusal r = refusal(c); r.refused())
    return subject.manifest().errors == Errors::none ? ours(r) : refused_by(subject, c, ours(r));
  std::vector<Tensor> in;
  if (const int k = take_inputs(q, in); k >= 0) return ours({"input", "value", k});
  return execute(subject, c, in);
}

}  // namespace

std::string eval_line(Subject& subject, std::string_view line, i64 number) {
  std::string id = "null";
  Answer a;
  try {
    Request q = read_request(line, number);
    id = q.id;
    return write_answer(judged(subject, q), id);
  } catch (const BrokenSpecification& e) {
    a = error(AnswerKind::runtime_error, "spec.broken", e.what());
  } catch (const std::bad_alloc&) {
    a = no_memory();
  } catch (const std::length_error&) {  // more than a vector can hold where addresses have 32 bits
    a = no_memory();
  } catch (const std::exception& e) {
    a = error(AnswerKind::runtime_error, "eval.failed", e.what());
  }
  return write_answer(a, id);
}

int eval_lines(Subject& subject, std::istream& in, std::ostream& out) {
  std::string line;
  for (i64 number = 1; std::getline(in, line); ++number) {
    out << eval_line(subject, line, number) << '\n' << std::flush;
    if (!out) return 4;
  }
  return in.bad() ? 4 : 0;
}

}  // namespace lockstep::judge
