// A run on a model judges exactly the model's calls, with its shapes and precisions.
#include "conformance/cases/model_calls.h"

#include <gtest/gtest.h>

#include <set>

#include "conformance/reports/report.h"
#include "conformance/selection/select.h"
#include "conformance/tests/verbs.h"
#include "reference/graph/load.h"
#include "reference/graph/zoo/architectures.h"

namespace lockstep::judge {
namespace {

const std::string kJudgedModel = "conformance/models/digits";

// A network that makes some calls several times.
TEST(ModelCalls, AreThoseOfItsNodesEachOnce) {
  const Scratch scratch;
  const graph::zoo::Architecture& a = *graph::zoo::find_architecture("squeezenet");
  scratch.write("symbol.json",
      graph::zoo::write_symbol(graph::zoo::make(a, graph::zoo::kSeed, graph::zoo::kStride).symbol));
  const graph::Graph graph = graph::load_graph(scratch.path(""));
  std::set<std::string> of_nodes, of_calls;
  std::size_t nodes = 0;
  for (const graph::Node& n : graph.nodes()) {
    if (n.is_variable()) continue;
    Case c{.op = n.op, .attrs = n.attrs};
    for (const int e : n.inputs) c.in.push_back(graph.entry(e).type);
    of_nodes.insert(case_id(c));
    ++nodes;
  }
  const std::vector<Case> calls = model_calls(scratch.path(""));
  for (const Case& c : calls) of_calls.insert(case_id(c));
  EXPECT_EQ(of_calls, of_nodes);
  EXPECT_EQ(calls.size(), of_calls.size());
  EXPECT_LT(calls.size(), nodes);
}

TEST(ModelCalls, GiveEachCallSeveralValuesAndLayouts) {
  std::set<std::string> calls;
  for (const Case& c : model_calls(kJudgedModel)) calls.insert(case_id(c));
  Selection s{.tier = 1, .model = kJudgedModel};
  std::set<std::string> seen, ids;
  std::set<Layout> layouts;
  for (const Item& item : select_cases(s)) {
    EXPECT_EQ(item.what, Item::legal);
    ids.insert(item.id);
    layouts.insert(item.call.layout);
    seen.insert(case_id({.op = item.call.op, .attrs = item.call.attrs, .in = item.call.in}));
  }
  EXPECT_EQ(seen, calls);
  EXPECT_EQ(ids.size(), 20 * calls.size());
  EXPECT_EQ(layouts.size(), kLayouts - 1U);
  s.seed = 2;
  for (const Item& item : select_cases(s)) EXPECT_EQ(ids.count(item.id), 0U) << item.id;
}

TEST(ModelCalls, CostOneCaseAtLeast) {
  const Case dear = parse_case("dense/units=4096/use_bias=false/in=1x4096@8+4096x4096@8"),
             cheap = parse_case("relu/in=6@8");
  EXPECT_EQ(cases_of_call(cheap, 400), 400);
  EXPECT_EQ(cases_of_call(dear, 400), 5);
  EXPECT_EQ(cases_of_call(parse_case("conv2d/channels=512/kernel_size=3,3/padding=1,1/"
                                     "use_bias=false/in=1x512x56x56@8+512x512x3x3@8"),
                400),
      1);
}

Words check_digits(const std::string& mutant, const Words& more = {}) {
  return joined(
      {"check", "faulty", "--model", kJudgedModel, "--quiet", "--set", "mutant=" + mutant}, more);
}

TEST(ModelScope, LeavesOutWhatTheModelDoesNotCall) {
  const std::string passes = expect_end(check_digits("abs.ones_complement"), 0).out;
  expect_contains(passes, "SUBSET (7 of 37 operators), THE CALLS OF " + kJudgedModel);
  const std::string fails = expect_end(check_digits("dense.last_term"), 1).out;
  expect_contains(fails, "FAIL  faulty");
}

// The backend compiles graphs wrongly where they call `abs`, which the model does not call.
TEST(ModelScope, HoldsForGraphsAroundTheCalls) {
  const Scratch scratch;
  const Words check{"check", hostile("compiling"), "--quiet", "--property", "graphs"};
  expect_end(joined(check, {"--model", kJudgedModel}), 0);
  std::string cases;
  for (const Item& item : select_cases({.tier = 1, .model = kJudgedModel})) cases += item.id + "\n";
  scratch.write("cases.txt", cases);
  const std::string failing = scratch.path("failing.txt");
  expect_end(
      joined(check, {"--cases", scratch.path("cases.txt"), "--failures", failing, "--no-shrink"}),
      1);
  const std::string text = text_of_file(failing), id = text.substr(0, text.find('\n'));
  const Words repro{"repro", hostile("compiling"), id, "--property", "graphs"};
  expect_end(repro, 1);
  expect_end(joined(repro, {"--model", kJudgedModel}), 0);
}

TEST(ModelScope, IsInTheReportAndInTheCommandThatRepeatsIt) {
  const Scratch scratch;
  const std::string file = scratch.path("r.json");
  expect_end(check_digits("dense.last_term", {"--json", file}), 1);
  const Report r = read_report(text_of_file(file));
  EXPECT_EQ(r.chosen.model, kJudgedModel);
  EXPECT_TRUE(r.partial);
  expect_contains(check_command(r), " --model " + kJudgedModel);
  expect_contains(r.failures[0].repeat, " --model " + kJudgedModel);
  EXPECT_EQ(set_hash(select_cases(selection_of(r))), r.set_hash);
}

TEST(ModelScope, NamesWhatIsWrong) {
  expect_end(words_in("check cpu --model /nowhere"), 2, {"--model"});
  expect_end(words_in("check cpu --model conformance"), 2, {"symbol.json' cannot be opened"});
  expect_end(words_in("check cpu --case relu/in=1@2 --model " + kJudgedModel), 2,
      {"the calls of a model, or chosen cases"});
  expect_end(words_in("check cpu --nonce x --model " + kJudgedModel), 2, {"a nonce adds cases"});
  expect_end(words_in("check cpu --op sum --model " + kJudgedModel), 3, {"no case was selected"});
  const Scratch scratch;
  scratch.write("symbol.json", "{}");
  expect_contains(
      expect_end({"check", "cpu", "--model", scratch.path("")}, 1).err, "[model.key] (exit 1");
}

}  // namespace
}  // namespace lockstep::judge
