#include <algorithm>
#include <set>

#include "conformance/coverage/cover.h"
#include "conformance/golden/vector_cases.h"
#include "conformance/golden/vectors.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

bool is_legal(const OpInfo& op, const VectorCall& call) { return derive(op, call).label.empty(); }

// Whether removing one attribute, or giving it the text of an example, makes a call legal.
bool is_repaired_by_an_attribute(const OpInfo& op, const VectorCall& call) {
  for (const auto& [key, text] : call.attrs) {
    VectorCall c = call;
    c.attrs.erase(key);
    if (is_legal(op, c)) return true;
  }
  for (int i = 0; i < op.example_count; ++i)
    for (const auto& [key, text] : example_call(op, i).attrs) {
      VectorCall c = call;
      c.attrs[key] = text;
      if (is_legal(op, c)) return true;
    }
  return false;
}

// How many numbers of a call lie exactly `beyond` the largest legal magnitude.
i64 count_values(const VectorCall& call, i64 beyond) {
  i64 n = 0;
  for (std::size_t k = 0; k < call.in.size(); ++k)
    if (call.in[k].data && call.in_prec[k] > 1)
      n += std::count_if(call.in[k].data->begin(), call.in[k].data->end(), [&](i64 v) {
        const i64 a = max_of(static_cast<int>(call.in_prec[k])) + beyond;
        return v == a || v == -a;
      });
  return n;
}

// The label at whose boundary a vector lies; empty if its text and values lie at none.
std::string boundary_label(const OpInfo& op, const VectorTest& t) {
  const std::string& label = t.result.label;
  if (label.empty()) return count_values(t.call, 0) > 0 ? "input.value" : "";
  if (label == "input.value") return count_values(t.call, 1) == 1 ? label : "";
  return label.starts_with("attr.") && is_repaired_by_an_attribute(op, t.call) ? label : "";
}

}  // namespace

bool has_legal_side(const std::string& label) {
  return label == "attr.range" || label == "attr.length" || label == "input.value";
}

std::vector<TextCase> text_cases(const std::string& directory) {
  std::vector<TextCase> all;
  for (const VectorFile& file : read_vector_files(directory)) {
    std::set<std::pair<std::string, bool>> seen;
    for (const VectorTest& t : file.tests) {
      const bool legal = t.result.label.empty();
      if (seen.contains({legal ? "input.value" : t.result.label, legal})) continue;
      const std::string border = boundary_label(*file.op, t);
      if (border.empty()) continue;
      seen.emplace(border, legal);
      all.push_back({file.op, border, legal, t.id});
    }
  }
  return all;
}

}  // namespace lockstep::judge
