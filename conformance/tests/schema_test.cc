// The published schema and the readers say the same: what the schema names is accepted, what it
// requires is missed, what it does not name is refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance/jsonl/lines.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;

json definitions() { return json::parse(line_schema())["$defs"]; }

bool is_call(const json& line) { return read_request(line.dump(), 1).label.empty(); }

bool is_answer(const json& line) {
  return read_answer(line.dump(), "1").kind != AnswerKind::protocol;
}

const json kCall = json::parse(
    R"({"id":1,"op":"relu","attrs":{"a":"b"},"in_prec":[8],"in":[{"shape":[1],"data":[1]}]})");
const json kAnswer =
    json::parse(R"({"id":1,"status":"ok","out":[{"shape":[1],"prec":8,"data":[1]}]})");

// Deletes each key of `object`, and adds an unknown one, inside `line`; the reader must agree with
// the object's schema.
template <class Reads>
void compare(const json& schema, const json& line, const json::json_pointer& object, Reads reads) {
  ASSERT_TRUE(reads(line)) << line;
  for (const auto& [key, value] : line[object].items()) {
    EXPECT_TRUE(schema["properties"].contains(key)) << key;
    json less = line;
    less[object].erase(key);
    const json& required = schema["required"];
    const bool needed = std::find(required.begin(), required.end(), key) != required.end();
    const bool is_data = schema.contains("oneOf") && key == "data";
    EXPECT_EQ(reads(less), !needed && !is_data) << less;
  }
  json more = line;
  more[object]["unknown"] = 1;
  EXPECT_FALSE(reads(more)) << more;
  EXPECT_EQ(schema["additionalProperties"], false);
}

TEST(Schema, SaysOfCallsWhatTheReaderSays) {
  const json defs = definitions();
  compare(defs["request"], kCall, json::json_pointer(""), is_call);
  compare(defs["input"], kCall, json::json_pointer("/in/0"), is_call);
  json both = kCall;
  both["in"][0]["b64"] = "AQAAAA==";
  EXPECT_FALSE(is_call(both));
  both["in"][0].erase("data");
  EXPECT_TRUE(is_call(both));
}

TEST(Schema, SaysOfAnswersWhatTheReaderSays) {
  const json defs = definitions();
  compare(defs["output"], kAnswer, json::json_pointer("/out/0"), is_answer);
  for (json form : defs["answer"]["oneOf"]) {
    for (const json& key : defs["answer"]["required"]) form["required"].push_back(key);
    const json& status = form["properties"]["status"];
    for (const json& word : status.contains("enum") ? status["enum"] : json{status["const"]}) {
      json line = kAnswer;
      if (word != "ok") line = json{{"id", 1}, {"label", "a.b"}, {"message", "m"}};
      line["status"] = word;
      compare(form, line, json::json_pointer(""), is_answer);
    }
  }
}

}  // namespace
}  // namespace lockstep::judge
