#include "conformance/specification/describe.h"

#include "conformance/jsonl/lines.h"
#include "conformance/specification/forms.h"
#include "reference/graph/error.h"
#include "spec/gas.h"

namespace lockstep::judge {

using form::json;

std::string first_sentence(string_view text) {
  const std::size_t end = text.find(". ");
  return std::string(text.substr(0, end == text.npos ? end : end + 1));
}

std::vector<DescribedExample> DescribedExample::all(const OpInfo& op) {
  std::vector<DescribedExample> examples;
  for (int i = 0; i < op.example_count; ++i) {
    const AnyExample e = op.example(i);
    const Case c = example_case(op, i);
    const std::string id = case_id(c);
    std::vector<Literal> out(std::begin(e.out), std::end(e.out));
    std::erase_if(out, [](const Literal& l) { return l.shape.size == 0; });
    examples.push_back(
        {std::string(e.text), id, json::parse(write_request(c, inputs_of(c), json(id).dump())),
            gas_of(op, c.attributes(), c.types()).total(), out});
  }
  return examples;
}

json describe(const OpInfo& op) { return form::written(op); }

json describe_labels() {
  json all = json::array();
  for (const SharedLabel& l : kSharedLabels) all.push_back(form::written(l));
  for (const OpInfo* op : operators())
    for (const OwnLabel& l : own_labels(*op)) {
      all.push_back(form::written(SharedLabel{l.label, l.text, true}));
      all.back()["op"] = op->name;
    }
  for (const graph::ModelLabel& l : graph::kModelLabels)
    all.push_back(form::written(SharedLabel{l.label, l.text, false}));
  return all;
}

}  // namespace lockstep::judge
