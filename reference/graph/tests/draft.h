/// @file
/// Builds symbol JSON node by node, right by construction, of which a test then breaks one thing.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "containers/tests/refusal.h"
#include "reference/graph/arrays.h"
#include "reference/graph/error.h"
#include "reference/graph/graph.h"
#include "reference/graph/model.h"

namespace lockstep::graph {

using Json = nlohmann::json;
using ndarray::refusal;

struct Draft {
  Json document = Json::parse(R"({
    "nodes": [], "arg_nodes": [], "node_row_ptr": [0], "heads": [], "version": "cvm_1.0.0",
    "attrs": {"storage_id": ["list_int", []], "shape": ["list_shape", []],
              "op_attrs": ["list_str", []], "dltype": ["list_str", []],
              "precision": ["list_int", []], "device_index": ["list_int", []]}})");

  /// The list of a graph attribute.
  Json& list(const std::string& key) { return document["attrs"][key][1]; }
  Json& node(int i) { return document["nodes"][static_cast<std::size_t>(i)]; }

  /// Each returns the number of the node.
  int variable(const std::string& name, const Json& shape, int precision) {
    document["arg_nodes"].push_back(document["nodes"].size());
    return add(
        {{"op", "null"}, {"name", name}, {"inputs", Json::array()}}, "{}", {shape}, precision);
  }
  int call(const std::string& function, const std::vector<Json>& inputs,
      const std::vector<Json>& shapes, const Json& attrs = Json::object()) {
    const Json stated = {{"func_name", function}, {"num_inputs", std::to_string(inputs.size())},
        {"num_outputs", std::to_string(shapes.size())}, {"flatten_data", "0"}};
    const std::string name = function + " " + std::to_string(document["nodes"].size());
    return add({{"op", "cvm_op"}, {"name", name}, {"inputs", inputs}, {"attrs", stated}},
        attrs.dump(), shapes, -1);
  }
  void head(int node, int output = 0) { document["heads"].push_back({node, output, 0}); }
  std::string text() const { return document.dump(); }

 private:
  int add(
      const Json& node, const std::string& attrs, const std::vector<Json>& shapes, int precision) {
    for (const Json& shape : shapes) {
      list("storage_id").push_back(list("storage_id").size());
      list("shape").push_back(shape);
      list("dltype").push_back("int32");
      list("precision").push_back(precision);
    }
    list("op_attrs").push_back(attrs);
    document["nodes"].push_back(node);
    document["node_row_ptr"].push_back(list("shape").size());
    return static_cast<int>(document["nodes"].size()) - 1;
  }
};

/// A place of a document, "-" for behind the last of a list, and the JSON that is put there;
/// nullptr removes the place.
struct Edit {
  const char *place, *value;
};

inline void put(Json& document, const Edit& edit) {
  const Json::json_pointer at(edit.place);
  if (edit.value)
    document[at] = Json::parse(edit.value);
  else
    document = document.patch(Json::array({{{"op", "remove"}, {"path", edit.place}}}));
}

/// data (2,4) and weight (3,4), both of 8 bits -> dense (2,3), 19 bits -> relu -> the head.
inline Draft small_draft() {
  Draft d;
  d.variable("data", {2, 4}, 8);
  d.variable("weight", {3, 4}, 8);
  d.call("dense", {{0, 0, 0}, {1, 0, 0}}, {{2, 3}}, {{"units", "3"}, {"use_bias", "False"}});
  d.call("relu_7", {{2, 0}}, {{2, 3}});
  d.head(3);
  return d;
}

/// The sum of this many variables of (1,2), added in pairs, so that half of them are alive at once.
inline Draft sum_draft(int variables) {
  Draft d;
  std::vector<int> terms;
  for (int k = 0; k < variables; ++k)
    terms.push_back(d.variable(k == 0 ? "data" : "w" + std::to_string(k), {1, 2}, 8));
  for (std::size_t k = 0; k + 1 < terms.size(); k += 2)
    terms.push_back(d.call("elemwise_add", {{terms[k], 0}, {terms[k + 1], 0}}, {{1, 2}}));
  d.head(terms.back());
  return d;
}

inline Parameters small_parameters() {
  return {{"weight", array_of({3, 4}, {1, 0, 0, 0, 1, 1, 1, 1, 0, -1, 0, 2})}};
}

/// The label of the error that a call ends with; "" where it ends without.
template <class Call> std::string label_from(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.label();
  }
  return "";
}

/// The label that the text is refused with; "" when it is accepted.
inline std::string label_of(const std::string& text) {
  return label_from([&] { Graph{text}; });
}

}  // namespace lockstep::graph
