// Every label of models, provoked once, and the path at which the fault is reported.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "reference/graph/bytes.h"
#include "reference/graph/tests/draft.h"

namespace lockstep::graph {
namespace {

struct Fault {
  std::string label, path;
  std::vector<Edit> edits;
};

const std::vector<Fault> kFaults = {
    {"model.json", "attrs.op_attrs[1][3]", {{"/attrs/op_attrs/1/3", R"("")"}}},
    {"model.key", "nodes[3].attrs.num_inputs", {{"/nodes/3/attrs/num_inputs", "1"}}},
    {"model.key", "nodes[1].op", {{"/nodes/1/op", nullptr}}},
    {"model.key", "nodes", {{"/nodes", nullptr}}},
    {"model.key", "", {{"/license", R"("MIT")"}}},
    {"model.version", "version", {{"/version", R"("2")"}}},
    {"model.node", "nodes[3].op", {{"/nodes/3/op", R"("tvm_op")"}}},
    {"model.node", "nodes[1].inputs", {{"/nodes/1/inputs", "[[0, 0]]"}}},
    {"model.node", "nodes[1].attrs.func_name", {{"/nodes/1/attrs/func_name", R"("relu")"}}},
    {"model.node", "nodes[3].attrs.num_outputs", {{"/nodes/3/attrs/num_outputs", R"("2")"}}},
    {"model.node", "nodes[3].attrs.flatten_data", {{"/nodes/3/attrs/flatten_data", R"("2")"}}},
    {"model.node", "nodes[2].attrs.op_attrs", {{"/nodes/2/attrs/op_attrs", R"("{}")"}}},
    {"op.unknown", "nodes[3].attrs.func_name", {{"/nodes/3/attrs/func_name", R"("nonesuch")"}}},
    {"model.reference", "nodes[2].inputs[1]", {{"/nodes/2/inputs/1", "[3, 0]"}}},
    {"model.reference", "heads[0]", {{"/heads/0", "[4, 0]"}}},
    {"model.variable", "nodes[1].name", {{"/nodes/1/name", R"("data")"}}},
    {"model.variable", "nodes", {{"/nodes/0/name", R"("input")"}}},
    {"model.count", "attrs.shape", {{"/attrs/shape/1/3", nullptr}}},
    {"model.implied", "arg_nodes", {{"/arg_nodes", "[0, 2]"}}},
    {"model.implied", "node_row_ptr", {{"/node_row_ptr", "[0]"}}},
    {"model.dtype", "attrs.dltype[1][1]", {{"/attrs/dltype/1/1", R"("int8")"}}},
    {"model.device", "attrs.device_index", {{"/attrs/device_index/1/-", "0"}}},
    {"model.precision", "attrs.precision[1][1]", {{"/attrs/precision/1/1", "33"}}},
    {"model.shape", "attrs.shape[1][3][1]", {{"/attrs/shape/1/3/1", "7"}}},
    {"model.shape", "attrs.shape[1][3]", {{"/attrs/shape/1/3", "[2, 3, 1]"}}},
    {"model.shape", "attrs.shape[1][0]", {{"/attrs/shape/1/0", "[0, 4]"}}},
    {"attr.missing", "attrs.op_attrs[1][2]", {{"/attrs/op_attrs/1/2", R"("{}")"}}},
    {"dense.weight", "nodes[2]", {{"/attrs/shape/1/1", "[3, 5]"}}},
    {"input.rank", "nodes[2].inputs[1]", {{"/attrs/shape/1/1", "[3, 4, 1]"}}},
    {"model.heads", "heads", {{"/heads", "[]"}}},
    {"model.heads", "heads[1]", {{"/heads/-", "[1, 0, 0]"}}},
    {"model.storage", "attrs.storage_id[1][2]", {{"/attrs/storage_id/1/2", "-1"}}},
    {"model.storage", "attrs.storage_id[1][2]", {{"/attrs/storage_id/1/2", "0"}}},
};

struct Reported {
  std::string label, path, what;
};

template <class Call> Reported reported(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return {e.label(), e.path(), e.what()};
  }
  return {};
}

Reported reported(const Fault& fault) {
  Draft d = small_draft();
  for (const Edit& edit : fault.edits) put(d.document, edit);
  return reported([&] { Graph(d.text()); });
}

// A dense call of 2^20 elements, each of which costs more than 2^20.
Draft costly_draft() {
  constexpr i64 kLength = (i64{1} << 20) / 3 + 1;
  Draft d;
  d.variable("data", {1024, kLength}, 4);
  d.variable("weight", {1024, kLength}, 4);
  d.variable("bias", {1024}, 4);
  d.call("dense", {{0, 0}, {1, 0}, {2, 0}}, {{1024, 1024}}, {{"units", "1024"}});
  d.head(3);
  return d;
}

TEST(Paths, StandWithEveryFault) {
  for (const Fault& fault : kFaults) {
    const Reported got = reported(fault);
    EXPECT_EQ(got.label, fault.label) << got.what;
    EXPECT_EQ(got.path, fault.path) << got.what;
    EXPECT_TRUE(got.what.starts_with(fault.path)) << got.what;
  }
  EXPECT_EQ(reported([] { Graph(costly_draft().text()); }).path, "nodes[3]");
}

// Programs compare paths, so the whole document has none; its message is a sentence all the same.
TEST(Paths, AreEmptyForTheDocument) {
  for (const auto& [text, label, what] : {std::tuple{"[]", "model.json", "is not a JSON object"},
           {"{", "model.json", "is not JSON at byte 2"},
           {R"({"new": 1})", "model.key", "has an unknown key \"new\""}}) {
    const Reported got = reported([&t = text] { Graph{std::string(t)}; });
    EXPECT_EQ(got.path, "");
    EXPECT_EQ(got.what, std::string("the document ") + what + " [" + label + "]");
  }
  EXPECT_EQ(reported([] { Graph("{}"); }).what, "nodes is missing [model.key]");
}

TEST(Paths, NameTheLastButOneOfAHundredThousandNodes) {
  constexpr int kVariables = 50'000, kLast = 2 * kVariables - 2;
  Draft d = sum_draft(kVariables);
  d.node(kLast - 1)["inputs"][1] = {kLast, 0};
  const Reported got = reported([&] { Graph(d.text()); });
  EXPECT_EQ(got.label, "model.reference");
  EXPECT_EQ(got.path, "nodes[" + std::to_string(kLast - 1) + "].inputs[1]") << got.what;
}

TEST(Paths, EveryLabelIsProvoked) {
  std::set<std::string> provoked = {label_of(costly_draft().text()),
      label_from([] { Model(Graph(small_draft().text()), {}); }),
      label_from([] { decode_input(Graph(small_draft().text()), {}); })};
  for (const Fault& fault : kFaults) provoked.insert(reported(fault).label);
  for (const ModelLabel& l : kModelLabels)
    EXPECT_EQ(provoked.count(std::string(l.label)), 1u) << l.label;
}

TEST(Paths, OfParametersNameTheElement) {
  std::vector<i32> values(12);
  values[11] = 128;
  const auto build = [](const ndarray::NDArray& weight) {
    return [&] { Model(Graph(small_draft().text()), {{"weight", weight}}); };
  };
  EXPECT_EQ(reported(build(array_of({3, 4}, values))).path, "params.weight[2][3]");
  EXPECT_EQ(reported(build(array_of({12}, values))).path, "params.weight");
}

}  // namespace
}  // namespace lockstep::graph
