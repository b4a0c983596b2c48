#include "reference/evaluate.h"

namespace lockstep::reference {
namespace {

// -2^31 is no legal value: an element that stays so was never written.
constexpr i32 kUnwritten = INT32_MIN;

std::string text(const Shape& s) {
  std::string t = "(";
  for (i64 e : s) t += (t.size() > 1 ? "," : "") + std::to_string(e);
  return t + (s.fits() ? ")" : ",...)");
}

std::string text(Types in) {
  std::string t;
  for (const Type& x : in)
    t += (t.empty() ? "" : ", ") + text(x.shape) + " of precision " + std::to_string(x.precision);
  return t;
}

// The first input with a value outside its declared precision, -1 if there is none.
int out_of_precision(const std::vector<Tensor>& in) {
  for (std::size_t k = 0; k < in.size(); ++k) {
    const i64 a = max_of(in[k].type.precision);
    for (i32 v : in[k].data)
      if (v < -a || v > a) return static_cast<int>(k);
  }
  return -1;
}

std::string explain_input(const Refusal& why, Types in) {
  const Type& x = in[why.which];
  const std::string which = "input " + std::to_string(why.which);
  if (why.word == "rank") return which + " has rank " + std::to_string(x.rank());
  if (why.word == "precision")
    return which + " has precision " + std::to_string(x.precision) + ", outside 1..32";
  return which + " has shape " + text(x.shape) +
         (why.word == "volume" ? ", more than 2^30 elements" : ", an extent outside 1..2^24");
}

}  // namespace

std::string explain(const OpInfo& op, const Refusal& why, Attributes attrs, Types in) {
  const std::string name(op.name);
  if (why.scope == "attr")
    return name + ": attribute '" + std::string(op.attrs[why.which].name) +
           "' has an illegal value (" + std::string(why.word) + ")";
  if (why.is("op", "inputs"))
    return name + ": " + std::to_string(in.size()) + " inputs given, " +
           (op.inputs_needed(attrs) < 0 ? "1 to 1024" : std::to_string(op.inputs_needed(attrs))) +
           " needed";
  if (why.is("input", "value"))
    return name + ": input " + std::to_string(why.which) +
           " has a value outside its declared precision";
  if (why.scope == "input") return name + ": " + explain_input(why, in);
  if (why.word == "shape" || why.word == "precision")
    return name + ": output " + std::to_string(why.which) + " would have an illegal " +
           std::string(why.word) + " for inputs " + text(in);
  return name + ": required is that " + std::string(op.rules[why.which].text) + "; inputs " +
         text(in);
}

std::vector<Tensor> outputs(const OpInfo& op, Attributes attrs, const std::vector<Tensor>& in) {
  std::vector<Type> types;
  std::vector<CheckedView> views;
  for (const Tensor& t : in) {
    types.push_back(t.type);
    views.emplace_back(t.type, t.data.data());
  }
  const int n = static_cast<int>(in.size());
  const Inferred y = op.infer(attrs, {types.data(), n});
  std::vector<Tensor> out;
  std::vector<CheckedOut> results;
  for (int k = 0; k < y.count; ++k)
    out.push_back(
        {y[k], std::vector<i32>(static_cast<std::size_t>(volume(y[k].shape)), kUnwritten)});
  for (Tensor& t : out) results.emplace_back(t.type, t.data.data());
  op.evaluate(attrs, {views.data(), n}, {results.data(), y.count});
  if (out_of_precision(out) >= 0)
    throw BrokenSpecification(std::string(op.name) +
                              ": a result is unwritten or outside its inferred precision");
  return out;
}

Outcome evaluate(const OpInfo& op, Attributes attrs, const std::vector<Tensor>& in) {
  std::vector<Type> types;
  for (const Tensor& t : in) types.push_back(t.type);
  const Types all{types.data(), static_cast<int>(types.size())};
  try {
    Refusal r = check(op, attrs, all);
    if (!r.refused())
      if (const int k = out_of_precision(in); k >= 0) r = {"input", "value", k};
    if (r.refused()) return {Status::logic_error, r.label(), explain(op, r, attrs, all), {}};
    return {Status::ok, {}, {}, outputs(op, attrs, in)};
  } catch (const BrokenSpecification& e) {
    return {Status::runtime_error, "spec.broken", e.what(), {}};
  }
}

}  // namespace lockstep::reference
