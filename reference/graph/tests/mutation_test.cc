#include <gtest/gtest.h>

#include <array>
#include <map>

#include "reference/graph/bytes.h"
#include "reference/graph/run.h"
#include "reference/graph/tests/draft.h"
#include "spec/random.h"

namespace lockstep::graph {
namespace {

// The same mutants on every machine.
struct Random {
  Seeded draw;
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(draw(0, static_cast<i64>(n) - 1));
  }
};

// Two heads, two outputs of one call, attributes of several kinds: something for every rule.
Draft rich_draft() {
  Draft d;
  d.variable("data", {1, 2, 6}, 8);
  d.variable("w", {3, 12}, 8);
  const int flat = d.call("flatten", {{0, 0, 0}}, {{1, 12}});
  const int dense =
      d.call("dense", {{flat, 0}, {1, 0}}, {{1, 3}}, {{"units", "3"}, {"use_bias", "False"}});
  const int shift =
      d.call("cvm_right_shift", {{dense, 0}}, {{1, 3}}, {{"precision", "8"}, {"shift_bit", "4"}});
  const int counts = d.call("get_valid_counts_3", {{0, 0}}, {{1}, {1, 2, 6}});
  const int count = d.call("reshape", {{counts, 0}}, {{1, 1}}, {{"shape", "[1, -1]"}});
  d.head(shift);
  d.head(count);
  return d;
}

// Whether the text is accepted; if it is, its graph runs. Anything but an Error escapes.
std::string judge(const std::string& text) {
  try {
    const Graph graph(text);
    if (graph.storage_bytes() > (1 << 20)) return "accepted";
    Parameters parameters;
    for (const Node& node : graph.nodes())
      if (node.is_variable() && node.first_entry != graph.data()) {
        const Type& type = graph.entry(node.first_entry).type;
        parameters[node.name] = {type,
                                 std::vector<i32>(static_cast<std::size_t>(volume(type.shape)))};
      }
    const Model model(graph, std::move(parameters));
    ReferenceEngine engine;
    const std::vector<std::byte> input(static_cast<std::size_t>(input_length(graph)));
    EXPECT_EQ(std::ssize(Runner(model, engine).run(input)), output_length(graph));
    return "accepted";
  } catch (const Error& e) {
    return e.label();
  }
}

std::string mutate_bytes(std::string text, Random& random) {
  constexpr std::string_view kTelling = "\"{}[]:,0123456789-+.eE\\ \xff";
  const std::size_t at = random.below(text.size());
  const char byte = random.below(2) ? kTelling[random.below(kTelling.size())]
                                    : static_cast<char>(random.below(256));
  switch (random.below(3)) {
    case 0:
      text[at] = byte;
      break;
    case 1:
      text.insert(text.begin() + static_cast<std::ptrdiff_t>(at), byte);
      break;
    default:
      text.erase(at, 1);
  }
  return text;
}

std::string mutate_structure(Json document, Random& random) {
  static const std::array<Json, 15> kValues = {
      nullptr,       true,      0,         -1,         1,  2,    1.5,
      1e300,         INT64_MAX, INT64_MIN, UINT64_MAX, "", "12", Json::array(),
      Json::object()};
  const Json flat = document.flatten();
  auto leaf = flat.begin();
  std::advance(leaf, static_cast<std::ptrdiff_t>(random.below(flat.size())));
  Json::json_pointer at(leaf.key());
  for (std::size_t up = random.below(3); up > 0 && !at.parent_pointer().empty(); --up)
    at = at.parent_pointer();
  Json& parent = document[at.parent_pointer()];
  switch (random.below(3)) {
    case 0:
      document[at] = kValues[random.below(kValues.size())];
      break;
    case 1:
      if (parent.is_array())
        parent.push_back(Json(document[at]));
      else
        parent["extra"] = Json(document[at]);
      break;
    default:
      if (parent.is_array())
        parent.erase(std::stoul(at.back()));
      else
        parent.erase(at.back());
  }
  return document.dump();
}

TEST(Mutation, OfAnyByteEndsInAGraphOrALabel) {
  const std::string text = rich_draft().text();
  ASSERT_EQ(judge(text), "accepted");
  Random random{Seeded(1)};
  std::map<std::string, int> outcomes;
  for (int i = 0; i < 4000; ++i) ++outcomes[judge(mutate_bytes(text, random))];
  EXPECT_GT(outcomes["accepted"], 0);
  EXPECT_GT(outcomes["model.json"], 0);
  EXPECT_GT(outcomes.size(), 8u);
}

TEST(Mutation, OfTheStructureEndsInAGraphOrALabel) {
  const Json document = rich_draft().document;
  Random random{Seeded(2)};
  std::map<std::string, int> outcomes;
  for (int i = 0; i < 4000; ++i) ++outcomes[judge(mutate_structure(document, random))];
  EXPECT_GT(outcomes["accepted"], 0);
  EXPECT_GT(outcomes.size(), 12u);
}

}  // namespace
}  // namespace lockstep::graph
