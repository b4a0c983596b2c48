#include "reference/graph/json.h"

#include <gtest/gtest.h>

#include "reference/graph/tests/draft.h"

namespace lockstep::graph {
namespace {

using std::string;

string refused(const string& text) {
  string said = refusal([&] { return parse_object(text, {nullptr, "it"}); });
  EXPECT_TRUE(said == "accepted" || said.ends_with(" [model.json]")) << said;
  return said;
}

string nested(std::size_t depth) {
  return "{\"k\":" + string(depth - 1, '[') + string(depth - 1, ']') + "}";
}

TEST(Json, IsReadAsItIsWritten) {
  const Document v = parse_object(R"( {"a": [1, -2, 1.5, true, null, "x"], "b": {"a": {}}} )", {});
  EXPECT_EQ(*v, Json::parse(R"({"a": [1, -2, 1.5, true, null, "x"], "b": {"a": {}}})"));
}

TEST(Json, OtherTextIsRefused) {
  for (const string text :
      {"", " ", "nul", "{", "{]", "{\"a\"}", "{\"a\":1,}", "{} {}", "{\"a\":01}", "{\"a\":1e999}",
          "{\"a\":\"\x01\"}", "{\"a\":\"\xff\"}", "{'a':1}", "{\"a\":1}//", "\xff\xfe{}"})
    EXPECT_NE(refused(text).find("it is not JSON at byte"), string::npos) << text;
  EXPECT_NE(refused(string("{}\0", 3)).find("byte 3"), string::npos);
  EXPECT_NE(refused(string("{}\0{", 4)).find("byte 3"), string::npos);
  EXPECT_NE(refused("\xEF\xBB\xBF{}").find("byte 1"), string::npos);
  for (const string text : {"[]", "1", "null", "\"{}\""})
    EXPECT_NE(refused(text).find("it is not a JSON object"), string::npos) << text;
}

TEST(Json, AKeyTwiceIsRefusedWhereItStands) {
  EXPECT_NE(refused(R"({"a":1,"a":1})").find("has the key \"a\" twice"), string::npos);
  EXPECT_NE(refused(R"({"b":[{"a\n":1,"a\u000a":{}}]})").find("twice"), string::npos);
  EXPECT_EQ(refused(R"({"a":{"a":1},"b":{"a":1}})"), "accepted");
}

TEST(Json, NestsUpToALimitAndNoFurther) {
  EXPECT_EQ(refused(nested(kMaxDepth)), "accepted");
  EXPECT_NE(refused(nested(kMaxDepth + 1)).find("nests more than 16"), string::npos);
  EXPECT_NE(refused(nested(1000000)).find("nests more than 16"), string::npos);
}

TEST(Json, IntegersAreThoseOfInt64) {
  const Place it{nullptr, "it"};
  EXPECT_EQ(as_integer(Json::parse("9223372036854775807"), it), INT64_MAX);
  EXPECT_EQ(as_integer(Json::parse("-9223372036854775808"), it), INT64_MIN);
  for (const string text : {"9223372036854775808", "-9223372036854775809", "1.0", "1e2", "true",
           "\"1\"", "null", "[1]", "18446744073709551616"})
    EXPECT_THROW(as_integer(Json::parse(text), it), Error) << text;
}

TEST(Json, APlaceIsSpeltFromTheRoot) {
  const Place root, nodes = root.at("nodes"), third = nodes.at(3), name = third.at("na\nme");
  EXPECT_EQ(name.text(), "nodes[3].na\\x0ame");
}

TEST(Json, TheSmallestUnknownKeyIsNamedBeforeAMissingOne) {
  const Json v = {{"z", 1}, {"b", 1}, {"y", 1}};
  EXPECT_EQ(refusal([&] {
    return as_object(v, {nullptr, "it"}, {{"a", true}, {"b"}}), 0;
  }),
      "it has an unknown key \"y\" [model.key]");
}

}  // namespace
}  // namespace lockstep::graph
