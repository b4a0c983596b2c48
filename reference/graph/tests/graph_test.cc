#include "reference/graph/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "reference/graph/tests/draft.h"

namespace lockstep::graph {
namespace {

using std::string;

// One change to the small model, and what becomes of it: a label, or "" where it stays legal.
struct Change {
  string label;
  string says;  // in the message
  std::function<void(Draft&)> make;
};

// With the second form of version, and its redundant parts gone.
void make_second(Draft& d) { d.document["version"] = "cvm_1.1.0"; }

const std::vector<Change> kForms = {
    {"model.key", "unknown key \"extra\"", [](Draft& d) { d.document["extra"] = 1; }},
    {"model.key", "nodes is missing", [](Draft& d) { d.document.erase("nodes"); }},
    {"model.key", "heads is missing", [](Draft& d) { d.document.erase("heads"); }},
    {"model.key", "attrs is missing", [](Draft& d) { d.document.erase("attrs"); }},
    {"model.key", "nodes is not an array", [](Draft& d) { d.document["nodes"] = 3; }},
    {"model.key", "heads[0] is not [node", [](Draft& d) { d.document["heads"][0] = {3}; }},
    {"model.key", "heads[0] is not [node",
     [](Draft& d) {
       d.document["heads"][0] = {3, 0, 0, 0};
     }},
    {"model.key", "heads[0][0] is not an integer",
     [](Draft& d) {
       d.document["heads"][0] = {3.0, 0};
     }},
    {"model.key", "version is not a string", [](Draft& d) { d.document["version"] = 1; }},
    {"model.key", "postprocess is not", [](Draft& d) { d.document["postprocess"] = nullptr; }},
    {"model.key", "arg_nodes is not", [](Draft& d) { d.document["arg_nodes"] = "0"; }},
    {"model.key", "node_row_ptr[0] is not", [](Draft& d) { d.document["node_row_ptr"][0] = ""; }},
    {"model.key", "nodes[1] is not an object", [](Draft& d) { d.node(1) = "weight"; }},
    {"model.key", "nodes[1] has an unknown key", [](Draft& d) { d.node(1)["control_deps"] = 1; }},
    {"model.key", "nodes[1].op is missing", [](Draft& d) { d.node(1).erase("op"); }},
    {"model.key", "nodes[1].name is missing", [](Draft& d) { d.node(1).erase("name"); }},
    {"model.key", "nodes[1].inputs is missing", [](Draft& d) { d.node(1).erase("inputs"); }},
    {"model.key", "nodes[3].inputs[0] is not", [](Draft& d) { d.node(3)["inputs"][0] = 2; }},
    {"model.key", "nodes[3].attrs has an", [](Draft& d) { d.node(3)["attrs"]["func"] = ""; }},
    {"model.key", "func_name is missing", [](Draft& d) { d.node(3)["attrs"].erase("func_name"); }},
    {"model.key", "func_name is missing", [](Draft& d) { d.node(3).erase("attrs"); }},
    {"model.key", "nodes[3].attrs.num_inputs is",
     [](Draft& d) { d.node(3)["attrs"]["num_inputs"] = 1; }},
    {"model.key", "attrs has an unknown", [](Draft& d) { d.document["attrs"]["dtype"] = 1; }},
    {"model.key", "attrs.storage_id is missing",
     [](Draft& d) { d.document["attrs"].erase("storage_id"); }},
    {"model.key", "attrs.shape is missing", [](Draft& d) { d.document["attrs"].erase("shape"); }},
    {"model.key", "attrs.op_attrs is missing",
     [](Draft& d) { d.document["attrs"].erase("op_attrs"); }},
    {"model.key", "attrs.shape is not [\"list_shape\"",
     [](Draft& d) { d.document["attrs"]["shape"][0] = "list_int"; }},
    {"model.key", "attrs.shape[1] is not an array", [](Draft& d) { d.list("shape") = 1; }},
    {"model.key", "attrs.storage_id is not [\"list_int\"",
     [](Draft& d) { d.document["attrs"]["storage_id"].push_back(1); }},
    {"model.key", "attrs.dltype is not [", [](Draft& d) { d.document["attrs"]["dltype"] = "x"; }},
    {"model.key", "attrs.precision[2] is not an integer",
     [](Draft& d) { d.list("precision")[2] = "8"; }},
    {"model.key", "attrs.op_attrs[2] is not a string",
     [](Draft& d) { d.list("op_attrs")[2] = Json::object(); }},
    {"model.key", "attrs.op_attrs[2].units is not a string",
     [](Draft& d) { d.list("op_attrs")[2] = R"({"units": 3})"; }},
    {"model.key", "attrs.device_index is not",
     [](Draft& d) { d.document["attrs"]["device_index"] = "cpu"; }},
    {"model.json", "attrs.op_attrs[3] is not JSON", [](Draft& d) { d.list("op_attrs")[3] = ""; }},
    {"model.json", "attrs.op_attrs[2] has the key \"units\" twice",
     [](Draft& d) { d.list("op_attrs")[2] = R"({"units": "3", "units": "3"})"; }},
    {"", "", [](Draft& d) { d.document["attrs"].erase("device_index"); }},
    {"", "", [](Draft& d) { d.document["attrs"]["device_index"] = Json::array(); }},
    {"", "", [](Draft& d) { d.node(3)["precision"] = "whatever"; }},
    {"", "", [](Draft& d) { d.node(0)["attrs"] = Json::object(); }},
};

const std::vector<Change> kNodes = {
    {"model.version", "\"cvm_1.2.0\"", [](Draft& d) { d.document["version"] = "cvm_1.2.0"; }},
    {"model.node", "\"tvm_op\" is neither", [](Draft& d) { d.node(3)["op"] = "tvm_op"; }},
    {"model.node", "a variable has inputs",
     [](Draft& d) {
       d.node(1)["inputs"] = {{0, 0}};
     }},
    {"model.node", "a variable has a func_name",
     [](Draft& d) { d.node(1)["attrs"]["func_name"] = "relu"; }},
    {"model.node", "node 3 \"relu_7 3\": num_inputs is \"2\"",
     [](Draft& d) { d.node(3)["attrs"]["num_inputs"] = "2"; }},
    {"model.node", "num_outputs is \"2\"",
     [](Draft& d) { d.node(3)["attrs"]["num_outputs"] = "2"; }},
    {"model.node", "num_outputs is \"0\"",
     [](Draft& d) { d.node(0)["attrs"]["num_outputs"] = "0"; }},
    {"model.node", "flatten_data is \"2\"",
     [](Draft& d) { d.node(3)["attrs"]["flatten_data"] = "2"; }},
    {"", "", [](Draft& d) { d.node(3)["attrs"]["flatten_data"] = "1"; }},
    {"model.node", "op_attrs are not", [](Draft& d) { d.node(2)["attrs"]["op_attrs"] = "{}"; }},
    {"", "", [](Draft& d) { d.node(3)["attrs"]["op_attrs"] = " { } "; }},
    {"op.unknown", "\"nonesuch\"", [](Draft& d) { d.node(3)["attrs"]["func_name"] = "nonesuch"; }},
    {"op.unknown", "\"relu_1_2\"", [](Draft& d) { d.node(3)["attrs"]["func_name"] = "relu_1_2"; }},
    {"op.unknown", "\"relu_\"", [](Draft& d) { d.node(3)["attrs"]["func_name"] = "relu_"; }},
    {"op.unknown", "\"relu1\"", [](Draft& d) { d.node(3)["attrs"]["func_name"] = "relu1"; }},
    {"op.unknown", "\"_1\"", [](Draft& d) { d.node(3)["attrs"]["func_name"] = "_1"; }},
    {"op.unknown", "\"12\"", [](Draft& d) { d.node(3)["attrs"]["func_name"] = "12"; }},
    {"", "", [](Draft& d) { d.node(3)["attrs"]["func_name"] = "relu"; }},
    {"", "", [](Draft& d) { d.node(3)["attrs"]["func_name"] = "relu_0012"; }},
    {"model.reference", "input [3,0] names none of the 3 nodes",
     [](Draft& d) {
       d.node(3)["inputs"][0] = {3, 0};
     }},
    {"model.reference", "input [3,0]",
     [](Draft& d) {
       d.node(2)["inputs"][0] = {3, 0};
     }},
    {"model.reference", "input [-1,0]",
     [](Draft& d) {
       d.node(3)["inputs"][0] = {-1, 0};
     }},
    {"model.reference", "names none of the 1 outputs of node 2",
     [](Draft& d) {
       d.node(3)["inputs"][0] = {2, 1};
     }},
    {"model.reference", "input [2,-1]",
     [](Draft& d) {
       d.node(3)["inputs"][0] = {2, -1};
     }},
    {"model.reference", "input [4294967298,0]",
     [](Draft& d) {
       d.node(3)["inputs"][0] = {4294967298, 0};
     }},
    {"model.reference", "head [4,0]",
     [](Draft& d) {
       d.document["heads"][0] = {4, 0};
     }},
    {"model.reference", "head [3,1]",
     [](Draft& d) {
       d.document["heads"][0] = {3, 1};
     }},
    {"model.reference", "head [-1,0]",
     [](Draft& d) {
       d.document["heads"][0] = {-1, 0};
     }},
    {"", "",
     [](Draft& d) {
       d.node(3)["inputs"][0] = {2, 0, 9};
     }},
    {"model.variable", "no variable is called \"data\"",
     [](Draft& d) { d.node(0)["name"] = "input"; }},
    {"model.variable", "node 1 \"data\"", [](Draft& d) { d.node(1)["name"] = "data"; }},
    {"", "", [](Draft& d) { d.node(3)["name"] = "data"; }},
    {"op.inputs", "node 3",
     [](Draft& d) {
       d.node(3)["inputs"].push_back({0, 0});
       d.node(3)["attrs"]["num_inputs"] = "2";
     }},
};

const std::vector<Change> kLists = {
    {"model.count", "storage_id has 5", [](Draft& d) { d.list("storage_id").push_back(9); }},
    {"model.count", "shape has 3 entries for 4 node outputs",
     [](Draft& d) { d.list("shape").erase(3); }},
    {"model.count", "op_attrs has 5", [](Draft& d) { d.list("op_attrs").push_back("{}"); }},
    {"model.count", "op_attrs has 3", [](Draft& d) { d.list("op_attrs").erase(3); }},
    {"model.count", "dltype has 3", [](Draft& d) { d.list("dltype").erase(0); }},
    {"model.count", "precision has 5", [](Draft& d) { d.list("precision").push_back(-1); }},
    {"model.implied", "arg_nodes",
     [](Draft& d) {
       d.document["arg_nodes"] = {0, 2};
     }},
    {"model.implied", "arg_nodes",
     [](Draft& d) {
       d.document["arg_nodes"] = {1, 0};
     }},
    {"model.implied", "node_row_ptr",
     [](Draft& d) {
       d.document["node_row_ptr"] = {0, 1, 2, 3, 5};
     }},
    {"model.implied", "node_row_ptr",
     [](Draft& d) {
       d.document["node_row_ptr"] = {0, 1, 2, 3};
     }},
    {"model.implied", "arg_nodes",
     [](Draft& d) {
       d.document.erase("version");
       d.document["arg_nodes"] = {0};
     }},
    {"", "",
     [](Draft& d) {
       make_second(d);
       d.document["arg_nodes"] = {7};
       d.document["node_row_ptr"] = Json::array();
     }},
    {"", "",
     [](Draft& d) {
       d.document.erase("arg_nodes");
       d.document.erase("node_row_ptr");
       d.document["attrs"].erase("dltype");
     }},
    {"model.dtype", "\"int8\"", [](Draft& d) { d.list("dltype")[1] = "int8"; }},
    {"", "",
     [](Draft& d) {
       make_second(d);
       d.list("dltype")[1] = "int8";
     }},
    {"model.device", "device_index", [](Draft& d) { d.list("device_index").push_back(0); }},
    {"model.precision", "precision 0 ", [](Draft& d) { d.list("precision")[1] = 0; }},
    {"model.precision", "precision 33 ", [](Draft& d) { d.list("precision")[1] = 33; }},
    {"model.precision", "precision -2 ", [](Draft& d) { d.list("precision")[3] = -2; }},
    {"", "", [](Draft& d) { d.list("precision")[3] = 1; }},
    {"", "", [](Draft& d) { d.list("precision")[1] = 1; }},
    {"dense.bits", "node 2", [](Draft& d) { d.list("precision")[1] = 9; }},
    {"dense.bits", "node 2", [](Draft& d) { d.list("precision")[1] = -1; }},
    {"model.shape", "node 3 \"relu_7 3\": output 0 is declared (3, 2) and inferred (2, 3)",
     [](Draft& d) {
       d.list("shape")[3] = {3, 2};
     }},
    {"model.shape", "declared (2, 3, 1)",
     [](Draft& d) {
       d.list("shape")[3] = {2, 3, 1};
     }},
    {"model.shape", "declared (2, -3)",
     [](Draft& d) {
       d.list("shape")[2] = {2, -3};
     }},
    {"model.shape", "()", [](Draft& d) { d.list("shape")[0] = Json::array(); }},
    {"model.shape", "...", [](Draft& d) { d.list("shape")[0] = {2, 4, 1, 1, 1, 1, 1}; }},
    {"model.shape", "(0, 4)",
     [](Draft& d) {
       d.list("shape")[0] = {0, 4};
     }},
    {"model.shape", "16777217",
     [](Draft& d) {
       d.list("shape")[0] = {2, 16777217};
     }},
    {"model.shape", "(65536, 65536)",
     [](Draft& d) {
       d.list("shape")[0] = {65536, 65536};
     }},
    {"dense.weight", "node 2",
     [](Draft& d) {
       d.list("shape")[1] = {3, 5};
     }},
    {"input.rank", "node 2",
     [](Draft& d) {
       d.list("shape")[1] = {3, 4, 1};
     }},
    {"attr.missing", "node 2 \"dense 2\": dense: attribute 'units'",
     [](Draft& d) { d.list("op_attrs")[2] = "{}"; }},
    {"attr.unknown", "'extra'", [](Draft& d) { d.list("op_attrs")[3] = R"({"extra": ""})"; }},
    {"attr.syntax", "'(3)'", [](Draft& d) { d.list("op_attrs")[2] = "{\"units\": \"(3)\"}"; }},
    {"attr.range", "'0'", [](Draft& d) { d.list("op_attrs")[2] = R"({"units": "0"})"; }},
    {"", "", [](Draft& d) { d.list("op_attrs")[1] = R"({"anything": "a variable has none"})"; }},
};

const std::vector<Change> kHeads = {
    {"model.heads", "no head", [](Draft& d) { d.document["heads"] = Json::array(); }},
    {"", "", [](Draft& d) { d.document["postprocess"] = "argmax"; }},
    {"model.heads", "argmax needs one head and has 2",
     [](Draft& d) {
       d.document["postprocess"] = "argmax";
       d.head(2);
     }},
    {"", "", [](Draft& d) { d.head(0); }},
    {"model.heads", "(2, 3) and (3, 4)", [](Draft& d) { d.head(1); }},
    {"model.heads", "different counts of rows",
     [](Draft& d) {
       d.document["postprocess"] = "detection";
       d.head(1);
     }},
    {"", "",
     [](Draft& d) {
       d.document["postprocess"] = "something of somebody's";
       d.head(3);
     }},
};

void judge(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    Draft d = small_draft();
    change.make(d);
    string label, message;
    try {
      const Graph graph(d.text());
    } catch (const Error& e) {
      label = e.label();
      message = e.what();
    }
    EXPECT_EQ(label, change.label) << message << "\nwanted: " << change.says;
    EXPECT_NE(message.find(change.says), string::npos) << message << "\nwanted: " << change.says;
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
