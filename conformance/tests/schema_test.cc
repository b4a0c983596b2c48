// The published schema and the readers agree: a reader accepts the keys that the schema names,
// misses those that it requires, and refuses others.
#include "conformance/tests/schema.h"

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
    json::parse(R"({"id":1,"status":"ok","out":[{"shape":[1],"prec":8,"data":[1]}],"path":"p"})");

template <class Reads>
void compare(const json& schema, const json& line, const char* object, Reads reads) {
  const std::set<std::string> data = {"data"}, none;
  expect_agreement(
      schema, line, json::json_pointer(object), reads, schema.contains("oneOf") ? data : none);
}

TEST(Schema, SaysOfCallsWhatTheReaderSays) {
  const json defs = definitions();
  compare(defs["request"], kCall, "", is_call);
  compare(defs["input"], kCall, "/in/0", is_call);
  json both = kCall;
  both["in"][0]["b64"] = "AQAAAA==";
  EXPECT_FALSE(is_call(both));
  both["in"][0].erase("data");
  EXPECT_TRUE(is_call(both));
}

TEST(Schema, SaysOfAnswersWhatTheReaderSays) {
  const json defs = definitions();
  compare(defs["output"], kAnswer, "/out/0", is_answer);
  for (json form : defs["answer"]["oneOf"]) {
    for (const json& key : defs["answer"]["required"]) form["required"].push_back(key);
    const json& status = form["properties"]["status"];
    for (const json& word : status.contains("enum") ? status["enum"] : json{status["const"]}) {
      json line = kAnswer;
      if (word != "ok") line = json{{"id", 1}, {"label", "a.b"}, {"message", "m"}};
      line["status"] = word;
      compare(form, line, "", is_answer);
    }
  }
}

}  // namespace
}  // namespace lockstep::judge
