#include "reference/graph/graph.h"

#include <gtest/gtest.h>

#include "reference/graph/tests/draft.h"

namespace lockstep::graph {
namespace {

using std::string;

// One change to the small model, and the label of the result, or "" if it stays legal.
struct Change {
  string label;
  string says;  // in the message
  std::vector<Edit> edits;
};

const std::vector<Change> kForms = {
    {"model.key", "unknown key \"extra\"", {{"/extra", "1"}}},
    {"model.key", "nodes is missing", {{"/nodes", nullptr}}},
    {"model.key", "heads is missing", {{"/heads", nullptr}}},
    {"model.key", "attrs is missing", {{"/attrs", nullptr}}},
    {"model.key", "nodes is not an array", {{"/nodes", "3"}}},
    {"model.key", "heads[0] is not [node", {{"/heads/0", "[3]"}}},
    {"model.key", "heads[0] is not [node", {{"/heads/0", "[3, 0, 0, 0]"}}},
    {"model.key", "heads[0][0] is not an integer", {{"/heads/0", "[3.0, 0]"}}},
    {"model.key", "version is not a string", {{"/version", "1"}}},
    {"model.key", "postprocess is not", {{"/postprocess", "null"}}},
    {"model.key", "arg_nodes is not", {{"/arg_nodes", R"("0")"}}},
    {"model.key", "node_row_ptr[0] is not", {{"/node_row_ptr/0", R"("")"}}},
    {"model.key", "nodes[1] is not an object", {{"/nodes/1", R"("weight")"}}},
    {"model.key", "nodes[1] has an unknown key", {{"/nodes/1/control_deps", "1"}}},
    {"model.key", "nodes[1].op is missing", {{"/nodes/1/op", nullptr}}},
    {"model.key", "nodes[1].name is missing", {{"/nodes/1/name", nullptr}}},
    {"model.key", "nodes[1].inputs is missing", {{"/nodes/1/inputs", nullptr}}},
    {"model.key", "nodes[3].inputs[0] is not", {{"/nodes/3/inputs/0", "2"}}},
    {"model.key", "nodes[3].attrs has an", {{"/nodes/3/attrs/func", R"("")"}}},
    {"model.key", "func_name is missing", {{"/nodes/3/attrs/func_name", nullptr}}},
    {"model.key", "func_name is missing", {{"/nodes/3/attrs", nullptr}}},
    {"model.key", "nodes[3].attrs.num_inputs is", {{"/nodes/3/attrs/num_inputs", "1"}}},
    {"model.key", "attrs has an unknown", {{"/attrs/dtype", "1"}}},
    {"model.key", "attrs.storage_id is missing", {{"/attrs/storage_id", nullptr}}},
    {"model.key", "attrs.shape is missing", {{"/attrs/shape", nullptr}}},
    {"model.key", "attrs.op_attrs is missing", {{"/attrs/op_attrs", nullptr}}},
    {"model.key", "attrs.shape is not [\"list_shape\"", {{"/attrs/shape/0", R"("list_int")"}}},
    {"model.key", "attrs.shape[1] is not an array", {{"/attrs/shape/1", "1"}}},
    {"model.key", "attrs.storage_id is not [\"list_int\"", {{"/attrs/storage_id/-", "1"}}},
    {"model.key", "attrs.dltype is not [", {{"/attrs/dltype", R"("x")"}}},
    {"model.key", "attrs.precision[1][2] is not an integer", {{"/attrs/precision/1/2", R"("8")"}}},
    {"model.key", "attrs.op_attrs[1][2] is not a string", {{"/attrs/op_attrs/1/2", "{}"}}},
    {"model.key", "attrs.op_attrs[1][2].units is not a string",
        {{"/attrs/op_attrs/1/2", R"("{\"units\": 3}")"}}},
    {"model.key", "attrs.device_index is not", {{"/attrs/device_index", R"("cpu")"}}},
    {"model.json", "attrs.op_attrs[1][3] is not JSON", {{"/attrs/op_attrs/1/3", R"("")"}}},
    {"model.json", "attrs.op_attrs[1][2] has the key \"units\" twice",
        {{"/attrs/op_attrs/1/2", R"("{\"units\": \"3\", \"units\": \"3\"}")"}}},
    {"", "", {{"/attrs/device_index", nullptr}}},
    {"", "", {{"/attrs/device_index", "[]"}}},
    {"", "", {{"/nodes/3/precision", R"("whatever")"}}},
    {"", "", {{"/nodes/0/attrs", "{}"}}},
};

const std::vector<Change> kNodes = {
    {"model.version", "\"cvm_1.2.0\"", {{"/version", R"("cvm_1.2.0")"}}},
    {"model.node", "\"tvm_op\" is neither", {{"/nodes/3/op", R"("tvm_op")"}}},
    {"model.node", "a variable has inputs", {{"/nodes/1/inputs", "[[0, 0]]"}}},
    {"model.node", "a variable has a func_name", {{"/nodes/1/attrs/func_name", R"("relu")"}}},
    {"model.node", "node 3 \"relu_7 3\": num_inputs is \"2\"",
        {{"/nodes/3/attrs/num_inputs", R"("2")"}}},
    {"model.node", "num_outputs is \"2\"", {{"/nodes/3/attrs/num_outputs", R"("2")"}}},
    {"model.node", "num_outputs is \"0\"", {{"/nodes/0/attrs/num_outputs", R"("0")"}}},
    {"model.node", "flatten_data is \"2\"", {{"/nodes/3/attrs/flatten_data", R"("2")"}}},
    {"", "", {{"/nodes/3/attrs/flatten_data", R"("1")"}}},
    {"model.node", "op_attrs are not", {{"/nodes/2/attrs/op_attrs", R"("{}")"}}},
    {"", "", {{"/nodes/3/attrs/op_attrs", R"(" { } ")"}}},
    {"op.unknown", "\"nonesuch\"", {{"/nodes/3/attrs/func_name", R"("nonesuch")"}}},
    {"op.unknown", "\"relu_1_2\"", {{"/nodes/3/attrs/func_name", R"("relu_1_2")"}}},
    {"op.unknown", "\"relu_\"", {{"/nodes/3/attrs/func_name", R"("relu_")"}}},
    {"op.unknown", "\"relu1\"", {{"/nodes/3/attrs/func_name", R"("relu1")"}}},
    {"op.unknown", "\"_1\"", {{"/nodes/3/attrs/func_name", R"("_1")"}}},
    {"op.unknown", "\"12\"", {{"/nodes/3/attrs/func_name", R"("12")"}}},
    {"", "", {{"/nodes/3/attrs/func_name", R"("relu")"}}},
    {"", "", {{"/nodes/3/attrs/func_name", R"("relu_0012")"}}},
    {"model.reference", "input [3,0] names none of the 3 nodes", {{"/nodes/3/inputs/0", "[3, 0]"}}},
    {"model.reference", "input [3,0]", {{"/nodes/2/inputs/0", "[3, 0]"}}},
    {"model.reference", "input [-1,0]", {{"/nodes/3/inputs/0", "[-1, 0]"}}},
    {"model.reference", "names none of the 1 outputs of node 2", {{"/nodes/3/inputs/0", "[2, 1]"}}},
    {"model.reference", "input [2,-1]", {{"/nodes/3/inputs/0", "[2, -1]"}}},
    {"model.reference", "input [4294967298,0]", {{"/nodes/3/inputs/0", "[4294967298, 0]"}}},
    {"model.reference", "head [4,0]", {{"/heads/0", "[4, 0]"}}},
    {"model.reference", "head [3,1]", {{"/heads/0", "[3, 1]"}}},
    {"model.reference", "head [-1,0]", {{"/heads/0", "[-1, 0]"}}},
    {"", "", {{"/nodes/3/inputs/0", "[2, 0, 9]"}}},
    {"model.variable", "no variable is called \"data\"", {{"/nodes/0/name", R"("input")"}}},
    {"model.variable", "node 1 \"data\"", {{"/nodes/1/name", R"("data")"}}},
    {"", "", {{"/nodes/3/name", R"("data")"}}},
    {"op.inputs", "node 3",
        {{"/nodes/3/inputs/-", "[0, 0]"}, {"/nodes/3/attrs/num_inputs", R"("2")"}}},
};

const std::vector<Change> kLists = {
    {"model.count", "storage_id has 5", {{"/attrs/storage_id/1/-", "9"}}},
    {"model.count", "shape has 3 entries for 4 node outputs", {{"/attrs/shape/1/3", nullptr}}},
    {"model.count", "op_attrs has 5", {{"/attrs/op_attrs/1/-", R"("{}")"}}},
    {"model.count", "op_attrs has 3", {{"/attrs/op_attrs/1/3", nullptr}}},
    {"model.count", "dltype has 3", {{"/attrs/dltype/1/0", nullptr}}},
    {"model.count", "precision has 5", {{"/attrs/precision/1/-", "-1"}}},
    {"model.implied", "arg_nodes", {{"/arg_nodes", "[0, 2]"}}},
    {"model.implied", "arg_nodes", {{"/arg_nodes", "[1, 0]"}}},
    {"model.implied", "node_row_ptr", {{"/node_row_ptr", "[0, 1, 2, 3, 5]"}}},
    {"model.implied", "node_row_ptr", {{"/node_row_ptr", "[0, 1, 2, 3]"}}},
    {"model.implied", "arg_nodes", {{"/version", nullptr}, {"/arg_nodes", "[0]"}}},
    {"", "", {{"/version", R"("cvm_1.1.0")"}, {"/arg_nodes", "[7]"}, {"/node_row_ptr", "[]"}}},
    {"", "", {{"/arg_nodes", nullptr}, {"/node_row_ptr", nullptr}, {"/attrs/dltype", nullptr}}},
    {"model.dtype", "\"int8\"", {{"/attrs/dltype/1/1", R"("int8")"}}},
    {"", "", {{"/version", R"("cvm_1.1.0")"}, {"/attrs/dltype/1/1", R"("int8")"}}},
    {"model.device", "device_index", {{"/attrs/device_index/1/-", "0"}}},
    {"model.precision", "precision 0 ", {{"/attrs/precision/1/1", "0"}}},
    {"model.precision", "precision 33 ", {{"/attrs/precision/1/1", "33"}}},
    {"model.precision", "precision -2 ", {{"/attrs/precision/1/3", "-2"}}},
    {"", "", {{"/attrs/precision/1/3", "1"}}},
    {"", "", {{"/attrs/precision/1/1", "1"}}},
    {"dense.bits", "node 2", {{"/attrs/precision/1/1", "9"}}},
    {"dense.bits", "node 2", {{"/attrs/precision/1/1", "-1"}}},
    {"model.shape", "node 3 \"relu_7 3\": output 0 is declared (3, 2) and inferred (2, 3)",
        {{"/attrs/shape/1/3", "[3, 2]"}}},
    {"model.shape", "declared (2, 3, 1)", {{"/attrs/shape/1/3", "[2, 3, 1]"}}},
    {"model.shape", "declared (2, -3)", {{"/attrs/shape/1/2", "[2, -3]"}}},
    {"model.shape", "()", {{"/attrs/shape/1/0", "[]"}}},
    {"model.shape", "...", {{"/attrs/shape/1/0", "[2, 4, 1, 1, 1, 1, 1]"}}},
    {"model.shape", "(0, 4)", {{"/attrs/shape/1/0", "[0, 4]"}}},
    {"model.shape", "16777217", {{"/attrs/shape/1/0", "[2, 16777217]"}}},
    {"model.shape", "(65536, 65536)", {{"/attrs/shape/1/0", "[65536, 65536]"}}},
    {"dense.weight", "node 2", {{"/attrs/shape/1/1", "[3, 5]"}}},
    {"input.rank", "node 2", {{"/attrs/shape/1/1", "[3, 4, 1]"}}},
    {"attr.missing", "node 2 \"dense 2\": dense: attribute 'units'",
        {{"/attrs/op_attrs/1/2", R"("{}")"}}},
    {"attr.unknown", "'extra'", {{"/attrs/op_attrs/1/3", R"("{\"extra\": \"\"}")"}}},
    {"attr.syntax", "'(3)'", {{"/attrs/op_attrs/1/2", R"("{\"units\": \"(3)\"}")"}}},
    {"attr.range", "'0'", {{"/attrs/op_attrs/1/2", R"("{\"units\": \"0\"}")"}}},
    {"", "", {{"/attrs/op_attrs/1/1", R"("{\"anything\": \"a variable has none\"}")"}}},
};

const std::vector<Change> kHeads = {
    {"model.heads", "no head", {{"/heads", "[]"}}},
    {"", "", {{"/postprocess", R"("argmax")"}}},
    {"model.heads", "argmax needs one head and has 2",
        {{"/postprocess", R"("argmax")"}, {"/heads/-", "[2, 0, 0]"}}},
    {"", "", {{"/heads/-", "[0, 0, 0]"}}},
    {"model.heads", "(2, 3) and (3, 4)", {{"/heads/-", "[1, 0, 0]"}}},
    {"model.heads", "different counts of rows",
        {{"/postprocess", R"("detection")"}, {"/heads/-", "[1, 0, 0]"}}},
    {"", "", {{"/postprocess", R"("something of somebody's")"}, {"/heads/-", "[3, 0, 0]"}}},
};

void judge(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    Draft d = small_draft();
    for (const Edit& edit : change.edits) put(d.document, edit);
    const string said = refusal([&] { return Graph(d.text()); });
    EXPECT_TRUE(said.ends_with(change.label.empty() ? "accepted" : " [" + change.label + "]"))
        << said << "\nwanted: " << change.label;
    EXPECT_NE(said.find(change.says), string::npos) << said << "\nwanted: " << change.says;
  }
}

TEST(Graph, FormIsJudged) { judge(kForms); }
TEST(Graph, NodesAreJudged) { judge(kNodes); }
TEST(Graph, ListsAreJudged) { judge(kLists); }
TEST(Graph, HeadsAreJudged) { judge(kHeads); }

TEST(Graph, HoldsWhatTheDocumentSays) {
  const Graph g(small_draft().text());
  ASSERT_EQ(g.nodes().size(), 4u);
  ASSERT_EQ(g.entries().size(), 4u);
  EXPECT_EQ(g.data(), 0);
  EXPECT_EQ(g.heads(), std::vector<int>{3});
  EXPECT_EQ(g.version(), "cvm_1.0.0");
  EXPECT_EQ(g.postprocess(), "");
  EXPECT_TRUE(g.nodes()[1].is_variable());
  EXPECT_EQ(g.nodes()[2].op->name, "dense");
  EXPECT_EQ(g.nodes()[2].attrs[0].ints[0], 3);
  EXPECT_EQ(g.nodes()[2].inputs, (std::vector<int>{0, 1}));
  EXPECT_EQ(g.entry(1).type, (Type{{3, 4}, 8}));
  EXPECT_EQ(g.entry(2).type, (Type{{2, 3}, 19}));
  EXPECT_EQ(g.entry(3).type, (Type{{2, 3}, 19}));
  EXPECT_EQ(g.storage_bytes(), 4 * (8 + 12 + 6 + 6));
}

TEST(Graph, KeepsAPostprocessItDoesNotKnow) {
  Draft d = small_draft();
  d.document["postprocess"] = "my own";
  EXPECT_EQ(Graph(d.text()).postprocess(), "my own");
}

TEST(Graph, AVariableWithoutPrecisionHasTheWidest) {
  Draft d;
  d.variable("data", {2}, -1);
  d.call("relu", {{0, 0}}, {{2}});
  d.head(1);
  EXPECT_EQ(Graph(d.text()).entry(1).type.precision, 32);
  d.document["attrs"].erase("precision");
  EXPECT_EQ(Graph(d.text()).entry(1).type.precision, 32);
}

TEST(Graph, OutputsOfANodeAreConsecutiveEntries) {
  Draft d;
  d.variable("data", {1, 2, 6}, 8);
  const int counts = d.call("get_valid_count", {{0, 0}}, {{1}, {1, 2, 6}});
  const int boxes = d.call("non_max_suppression", {{counts, 1}, {counts, 0}}, {{1, 2, 6}});
  d.head(boxes);
  const Graph g(d.text());
  EXPECT_EQ(g.nodes()[2].inputs, (std::vector<int>{2, 1}));
  EXPECT_EQ(g.nodes()[2].first_entry, 3);
  d.node(boxes)["inputs"][0] = {counts, 2};
  EXPECT_EQ(label_of(d.text()), "model.reference");
}

TEST(Graph, HeadsOfMoreThan2To32BytesAreRefused) {
  Draft d;
  d.variable("data", {64, 16777216}, 9);
  d.head(0);
  EXPECT_EQ(label_of(d.text()), "");
  d.head(0);
  EXPECT_EQ(label_of(d.text()), "model.heads");
}

TEST(Graph, EveryPrefixOfADocumentIsRefused) {
  const string text = small_draft().text();
  for (std::size_t n = 0; n < text.size(); ++n)
    ASSERT_EQ(label_of(text.substr(0, n)), "model.json") << n;
}

}  // namespace
}  // namespace lockstep::graph
