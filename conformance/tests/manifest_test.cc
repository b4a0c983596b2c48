// Which calls a manifest claims, and the errors for texts that are no manifest.
#include "conformance/subjects/manifest.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance/tests/expect.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;

// A manifest with these members instead of the usual ones.
std::string text_with(const json& more) {
  json m = json::parse(R"({"name": "n", "version": "1", "device": "d", "options": ["isa", "a"],
    "kernels": [{"op": "*", "name": "any", "isa": "portable", "runnable": true}],
    "claims": {"operators": {"*": {}}, "layouts": ["compact", "strided"], "determinism": "D2",
               "errors": "label"}})");
  m.merge_patch(more);
  return m.dump();
}

Manifest claiming(const json& operators) {
  json m = json::parse(text_with(json::object()));
  m["claims"]["operators"] = operators;
  return parse_manifest(m.dump());
}

using Ids = std::vector<const char*>;

void expect_claims(const Manifest& m, const Ids& claimed, const Ids& others) {
  for (const char* id : claimed) EXPECT_TRUE(m.claims_call(parse_case(id))) << id;
  for (const char* id : others) EXPECT_FALSE(m.claims_call(parse_case(id))) << id;
}

TEST(Manifest, HoldsWhatItsTextSays) {
  const std::string text = text_with(json::object());
  const Manifest m = parse_manifest(text);
  EXPECT_EQ(m.name + m.version + m.device, "n1d");
  EXPECT_EQ(m.text, text);
  EXPECT_EQ(m.options, (std::vector<std::string>{"isa", "a"}));
  EXPECT_TRUE(m.strided);
  EXPECT_EQ(m.determinism, "D2");
  EXPECT_EQ(m.errors, Errors::label);
  for (const OpInfo* op : operators()) EXPECT_TRUE(m.claims_operator(op->name)) << op->name;
}

TEST(Manifest, PromisesNothingThatItLeavesOut) {
  const Manifest m =
      parse_manifest(R"({"name": "n", "version": "1", "device": "d", "kernels": []})");
  EXPECT_FALSE(m.claims_operator("relu"));
  expect_claims(m, {}, {"relu/in=1@8"});
  EXPECT_FALSE(m.strided);
  EXPECT_EQ(m.determinism, "D0");
  EXPECT_EQ(m.errors, Errors::none);
  EXPECT_TRUE(m.options.empty());
  EXPECT_EQ(m.threads.min, 1);
  EXPECT_EQ(m.threads.max, 64);
  EXPECT_FALSE(parse_manifest(text_with({{"claims", {{"layouts", {"compact"}}}}})).strided);
  EXPECT_EQ(parse_manifest(text_with({{"claims", {{"errors", "class"}}}})).errors, Errors::cls);
}

TEST(Manifest, OfADoorWithoutOneClaimsEverything) {
  const Manifest m = default_manifest("command");
  EXPECT_EQ(m.name, "command");
  EXPECT_TRUE(m.text.empty());
  EXPECT_EQ(m.errors, Errors::label);
  for (const OpInfo* op : operators()) EXPECT_TRUE(m.claims_operator(op->name)) << op->name;
}

TEST(Claims, WithoutRestrictionsAreOfTheSmallestCallsToo) {
  expect_claims(claiming({{"relu", json::object()}}), {"relu/in=1@1"}, {});
}

TEST(Claims, EndWhereTheirRangesDo) {
  expect_claims(claiming({{"sum", {{"rank", {2, 3}}}}, {"relu", {{"precision", {4, 8}}}},
                    {"max", {{"extent", {2, 5}}}}}),
      {"sum/in=2x2@8", "sum/in=2x2x2@8", "relu/in=2@4", "relu/in=2@8", "max/in=2x5@8"},
      {"sum/in=2@8", "sum/in=2x2x2x2@8", "relu/in=2@3", "relu/in=2@9", "max/in=2x1@8",
          "max/in=6x5@8"});
}

TEST(Claims, HoldOfEveryInput) {
  expect_claims(
      claiming({{"broadcast_add", {{"precision", {4, 8}}, {"rank", {2, 2}}, {"extent", {1, 3}}}}}),
      {"broadcast_add/in=1x3@8+2x3@4"},
      {"broadcast_add/in=1x3@8+2x3@9", "broadcast_add/in=1x3@8+3@8",
          "broadcast_add/in=1x3@8+4x3@8"});
}

TEST(Claims, EndWhereTheirAttributesDo) {
  // Defaults are attributes too.
  const char* plain = "conv2d/channels=2/kernel_size=1,1/use_bias=0/in=1x2x3x3@8+2x2x1x1@8";
  expect_claims(
      claiming({{"conv2d", {{"attrs", {{"strides", {"(1,1)", "[2, 2]"}}, {"groups", {"1"}}}}}}}),
      {plain, "conv2d/channels=2/kernel_size=1,1/use_bias=0/strides=2,2/in=1x2x3x3@8+2x2x1x1@8"},
      {"conv2d/channels=2/kernel_size=1,1/use_bias=0/strides=1,2/in=1x2x3x3@8+2x2x1x1@8",
          "conv2d/channels=2/kernel_size=1,1/use_bias=0/groups=2/in=1x2x3x3@8+2x1x1x1@8"});
  expect_claims(claiming({{"conv2d", {{"attrs", {{"channels", {"3"}}}}}}}), {}, {plain});
  expect_claims(claiming({{"conv2d", {{"attrs", {{"groups", json::array()}}}}}}), {}, {plain});
}

TEST(Claims, OfOneOperatorReplaceThoseOfAll) {
  expect_claims(claiming({{"*", {{"precision", {8, 8}}}}, {"relu", {{"rank", {1, 1}}}}}),
      {"relu/in=2@4", "sum/in=2x2@8"}, {"relu/in=2x2@8", "sum/in=2x2@4"});
  const Manifest one = claiming({{"relu", json::object()}});
  EXPECT_TRUE(one.claims_operator("relu"));
  EXPECT_FALSE(one.claims_operator("sum"));
  expect_claims(one, {}, {"sum/in=2x2@8"});
}

TEST(Claims, OfAllOperatorsRestrictAnAttributeWhereThereIsOne) {
  expect_claims(claiming({{"*", {{"attrs", {{"keepdims", {"1"}}}}}}}),
      {"relu/in=2@8", "sum/keepdims=1/in=2x2@8"}, {"sum/keepdims=0/in=2x2@8"});
}

TEST(Claims, KnowAnOperatorByItsOtherName) {
  const Manifest m = parse_manifest(
      text_with({{"claims", {{"operators", {{"*", nullptr}, {"cvm_cilp", json::object()}}}}},
          {"kernels",
              {{{"op", "cvm_cilp"}, {"name", "fast"}, {"isa", "avx2"}, {"runnable", true}}}}}));
  EXPECT_TRUE(m.claims_operator("cvm_clip"));
  EXPECT_NE(m.kernel("cvm_clip", "fast"), nullptr);
}

TEST(Kernels, AreFoundByOperatorAndName) {
  const json rows = json::parse(R"([
    {"op": "*", "name": "any", "isa": "portable", "runnable": true},
    {"op": "relu", "name": "fast", "isa": "avx2", "runnable": false}])");
  const Manifest m = parse_manifest(text_with({{"kernels", rows}}));
  ASSERT_NE(m.kernel("relu", "fast"), nullptr);
  EXPECT_EQ(m.kernel("relu", "fast")->isa, "avx2");
  EXPECT_FALSE(m.kernel("relu", "fast")->runnable);
  EXPECT_EQ(m.kernel("relu", "any"), m.kernel("sum", "any"));
  EXPECT_TRUE(m.kernel("sum", "any")->runnable);
  EXPECT_EQ(m.kernel("sum", "fast"), nullptr);
  EXPECT_EQ(m.kernel("relu", ""), nullptr);
}

json kernel_with(const json& more) {
  json k = {{"op", "relu"}, {"name", "k"}, {"isa", "portable"}, {"runnable", true}};
  k.merge_patch(more);
  return {{"kernels", json::array({k})}};
}

json claim_with(const json& more) { return {{"claims", {{"operators", {{"conv2d", more}}}}}}; }

std::string refusal_of(const std::string& text) {
  return words_of<UsageError>([&] { parse_manifest(text); });
}

TEST(Manifest, NamesTheKeyThatIsWrong) {
  const std::string list = "' must be a list of strings", range = "' must be [least, most]";
  // Changes to a right manifest, and the key that the error has to name.
  const std::pair<json, std::string> rows[] = {{{{"name", nullptr}}, "'name' must be a string"},
      {{{"name", 1}}, "'name' must be a string"},
      {{{"name", "a\u202eb"}}, "'name' must be printable ASCII"},
      {{{"version", "1\n2"}}, "'version' must be printable ASCII"},
      {{{"options", {"isa\x7f"}}}, "'options' must be printable ASCII"},
      {{{"version", nullptr}}, "'version' must be a string"},
      {{{"version", 1.5}}, "'version' must be a string"},
      {{{"device", json::array()}}, "'device' must be a string"},
      {{{"options", "isa"}}, "'options" + list}, {{{"options", {"isa", 1}}}, "'options" + list},
      {{{"kernels", nullptr}}, "'kernels' must be a list"},
      {{{"kernels", "all"}}, "'kernels' must be a list"},
      {{{"kernels", {"all"}}}, "'kernels' must be a list of objects"},
      {kernel_with({{"op", nullptr}}), "'op' must be a string"},
      {kernel_with({{"op", "nope"}}), "'nope' has a kernel but is no operator"},
      {kernel_with({{"op", "re\nlu"}}), "'op' must be printable ASCII"},
      {kernel_with({{"name", nullptr}}), "'name' must be a string"},
      {kernel_with({{"isa", 2}}), "'isa' must be a string"},
      {kernel_with({{"runnable", nullptr}}), "'runnable' must be a boolean"},
      {kernel_with({{"runnable", 1}}), "'runnable' must be a boolean"},
      {{{"claims", "all"}}, "'claims' must be an object"},
      {{{"claims", {{"operators", {"relu"}}}}}, "'operators' must be an object"},
      {{{"claims", {{"operators", {{"nope", json::object()}}}}}},
          "'nope' is claimed but is no operator"},
      {{{"claims", {{"layouts", "strided"}}}}, "'layouts" + list},
      {{{"claims", {{"layout", {"strided"}}}}},
          "'layout' is no claim; there are attributes, determinism, errors, layouts, operators and "
          "threads"},
      {{{"claims", {{"attributes", {"words"}}}}}, "'attributes' must be of values and text"},
      {{{"claims", {{"layouts", {"stride"}}}}}, "'layouts' must be of compact and strided"},
      {{{"claims", {{"determinism", 2}}}}, "'determinism' must be a string"},
      {{{"claims", {{"determinism", "D4"}}}}, "'determinism' must be D0, D1, D2 or D3, not 'D4'"},
      {{{"claims", {{"errors", "loud"}}}}, "'errors' must be label, class or none"},
      {{{"claims", {{"threads", {0, 4}}}}}, "'threads' must be of 1 and more"},
      {claim_with(true), "'conv2d' must be an object of restrictions"},
      {claim_with({{"ranks", {1, 2}}}), "'ranks' is no restriction of a claim"},
      {claim_with({{"rank", 2}}), "'rank" + range},
      {claim_with({{"rank", {1, 2, 3}}}), "'rank" + range},
      {claim_with({{"rank", {3, 2}}}), "'rank" + range},
      {claim_with({{"rank", {1.5, 2}}}), "'rank" + range},
      {claim_with({{"precision", {1.0, 8.0}}}), "'precision" + range},
      {claim_with({{"extent", {1, "9"}}}), "'extent" + range},
      {claim_with({{"extent", {1, 18446744073709551615U}}}), "'extent" + range},
      {claim_with({{"extent", {-5, 18446744073709551615U}}}), "'extent" + range},
      {claim_with({{"attrs", {"groups"}}}), "'attrs' must be an object"},
      {claim_with({{"attrs", {{"groups", "1"}}}}), "'groups" + list},
      {claim_with({{"attrs", {{"group", {"1"}}}}}), "'group' is no attribute of conv2d"},
      {claim_with({{"attrs", {{"groups", {"1", "0"}}}}}), "'groups' of conv2d cannot be '0'"},
      {claim_with({{"attrs", {{"strides", {"1;1"}}}}}), "'strides' of conv2d cannot be '1;1'"},
      {{{"claims", {{"operators", {{"*", {{"attrs", {{"nope", {"1"}}}}}}}}}}},
          "'nope' is no attribute of any operator"}};
  for (const auto& [change, says] : rows)
    EXPECT_EQ(refusal_of(text_with(change)), "has a wrong manifest: " + says) << change;
}

TEST(Manifest, MustBeAnObject) {
  for (const char* text : {"", "{", "{\"name\": \"\xff\"}"})
    EXPECT_EQ(refusal_of(text), "has a wrong manifest: it is no JSON") << text;
  for (const char* text : {"[]", "1", "null", "\"name\""})
    EXPECT_EQ(refusal_of(text), "has a wrong manifest: it is no JSON object") << text;
}

// Of two equal keys, two readers could take different ones.
TEST(Manifest, SaysNothingTwice) {
  EXPECT_EQ(refusal_of(R"({"name":"a","version":"1","name":"b"})"),
      "has a wrong manifest: an object has \"name\" twice");
  EXPECT_EQ(refusal_of(R"({"claims":{"operators":{"relu":{},"abs":{},"relu":{"rank":[1,1]}}}})"),
      "has a wrong manifest: an object has \"relu\" twice");
  EXPECT_EQ(refusal_of(R"([{"name":1},{"name":1}])"), "has a wrong manifest: it is no JSON object");
}

}  // namespace
}  // namespace lockstep::judge
