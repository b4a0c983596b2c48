#include "reference/evaluate.h"

#include "spec/explain.h"

namespace lockstep::reference {
namespace {

// -2^31 is not a legal value: an element that still holds it was never written.
constexpr i32 kUnwritten = INT32_MIN;

// The first tensor whose values violate its type, -1 if there is none.
int out_of_type(const std::vector<Tensor>& tensors) {
  for (std::size_t k = 0; k < tensors.size(); ++k)
    if (!holds_its_type(tensors[k])) return static_cast<int>(k);
  return -1;
}

}  // namespace

bool holds_its_type(const Tensor& t) {
  if (std::ssize(t.data) != volume(t.type.shape)) return false;
  const i64 most = max_of(t.type.precision);
  for (i32 v : t.data)
    if (magnitude(v) > most) return false;
  return true;
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
  if (out_of_type(out) >= 0)
    throw BrokenSpecification(
        std::string(op.name) + ": a result is unwritten or outside its inferred precision");
  return out;
}

Outcome evaluate(const OpInfo& op, Attributes attrs, const std::vector<Tensor>& in) {
  std::vector<Type> types;
  for (const Tensor& t : in) types.push_back(t.type);
  const Types all{types.data(), static_cast<int>(types.size())};
  try {
    Refusal r = check(op, attrs, all);
    if (!r.refused())
      if (const int k = out_of_type(in); k >= 0) r = {"input", "value", k};
    if (r.refused()) return {Status::logic_error, r.label(), explain(op, r, attrs, all), {}};
    return {Status::ok, {}, {}, outputs(op, attrs, in)};
  } catch (const BrokenSpecification& e) {
    return {Status::runtime_error, "spec.broken", e.what(), {}};
  }
}

}  // namespace lockstep::reference
