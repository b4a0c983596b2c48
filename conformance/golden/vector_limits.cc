// Candidates about limits: the two calls at each boundary of a label, and calls that violate two
// rules.
#include "conformance/cases/boundary.h"
#include "conformance/cases/item.h"
#include "conformance/cases/order.h"
#include "conformance/golden/vector_cases.h"
#include "conformance/golden/vectors.h"

namespace lockstep::judge {
namespace {

constexpr i64 kMaxLimitElements = 400;  // of a legal call, inputs and outputs together

VectorCandidate illegal_candidate(
    const Case& c, std::vector<std::string> flags, const std::string& comment) {
  return {comment, std::move(flags), types_call(c), refusal(c).label(), true};
}

// A parameter in words.
std::string text(const OpInfo& op, const Parameter& k) {
  const std::string of_input = " of input " + std::to_string(k.which);
  switch (k.what) {
    case Parameter::count: return "the number of inputs";
    case Parameter::rank: return "the rank" + of_input;
    case Parameter::extent: return "an extent" + of_input;
    case Parameter::precision: return "the precision" + of_input;
    case Parameter::entries: return "the length of " + std::string(op.attrs[k.which].name);
    case Parameter::entry:
    case Parameter::flag:
    case Parameter::none: break;
  }
  return std::string(op.attrs[k.which].name);
}

void add_boundary(const OpInfo& op, const Boundary& b, std::vector<VectorCandidate>& all) {
  const bool up = value_of(b.legal, b.parameter) < value_of(b.illegal, b.parameter);
  const std::string where =
      b.label + " begins where " + text(op, b.parameter) + (up ? " grows" : " shrinks");
  all.push_back(illegal_candidate(b.illegal, {"BOUNDARY", "REJECT"}, where));
  if (elements_of(b.legal) > kMaxLimitElements) return;
  VectorCandidate legal{where + ": the last legal call", {"BOUNDARY"}, {}, {}, true};
  legal.call = filled_call(b.legal, Fill::dense);
  all.push_back(std::move(legal));
}

// Adds a value outside its precision, which is judged after every rule about types.
void add_value(
    const OpInfo& op, const std::vector<Boundary>& boundaries, std::vector<VectorCandidate>& all) {
  constexpr i64 kOutside = i64{1} << 31;
  for (auto b = boundaries.rbegin(); b != boundaries.rend(); ++b) {
    VectorCall call = types_call(b->illegal);
    Shape last;
    for (i64 e : call.in.back().shape) last.push(e);
    if (!legal(last) || volume(last) > kMaxLimitElements) continue;
    call.in.back().data.emplace(static_cast<std::size_t>(volume(last)), 0);
    call.in.back().data->back() = kOutside;
    if (derive(op, call).label != b->label) continue;
    all.push_back({b->label + " before input.value", {"ORDER", "REJECT"}, call, b->label, true});
    return;
  }
}

}  // namespace

std::vector<VectorCandidate> limit_candidates(const OpInfo& op, u64 seed) {
  std::vector<VectorCandidate> all;
  const std::vector<Boundary> found = boundaries(op, seed);
  for (const Boundary& b : found) add_boundary(op, b, all);
  for (const DoubleViolation& t : order_of(op, seed).calls)
    all.push_back(illegal_candidate(
        t.call, {"ORDER", "REJECT"}, t.first.text() + " before " + t.second.text()));
  add_value(op, found, all);
  return all;
}

}  // namespace lockstep::judge
