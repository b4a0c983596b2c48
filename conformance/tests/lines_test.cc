#include "conformance/jsonl/lines.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "conformance/base/base64.h"
#include "conformance/base/json_cursor.h"
#include "conformance/subjects/eval.h"
#include "conformance/subjects/reference_subject.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;

std::string eval_reference(const std::string& line) {
  ReferenceSubject reference;
  return eval_line(reference, line, 1);
}

// What eval answers to a line: "ok" or the label.
std::string outcome(const std::string& line) {
  const json a = json::parse(eval_reference(line));
  return a["status"] == "ok" ? "ok" : a["label"].get<std::string>();
}

// A relu of one input with this shape, and whatever follows it.
std::string relu(const std::string& shape, const std::string& more, const std::string& prec = "8") {
  return R"({"id":1,"op":"relu","attrs":{},"in_prec":[)" + prec + R"(],"in":[{"shape":)" + shape +
      more + "}]}";
}

std::string call(const std::string& op, const std::string& attrs) {
  return R"({"id":1,"op":")" + op + R"(","attrs":)" + attrs +
      R"(,"in_prec":[8],"in":[{"shape":[2,2],"data":[1,2,3,4]}]})";
}

TEST(Eval, AnswersInTheDocumentedForm) {
  EXPECT_EQ(eval_reference(relu("[2,1]", R"(,"data":[-1,7])")),
      R"({"id":1,"status":"ok","out":[{"shape":[2,1],"prec":8,"data":[0,7]}]})");
  EXPECT_EQ(eval_reference(relu("[0]", "")),
      R"({"id":1,"status":"logic_error","label":"input.extent",)"
      R"("message":"refused by the subject"})");
}

TEST(Eval, JudgesLinesInOrder) {
  const std::pair<std::string, const char*> rows[] = {
      {"", "line.json"},
      {" \r", "line.json"},
      {"relu", "line.json"},
      {"[]", "line.json"},
      {"7", "line.json"},
      {R"({"foo":1,"op":})", "line.json"},
      {relu("[1]", "") + "x", "line.json"},
      {"{}", "line.key"},
      {R"({"id":1,"op":"nonsense","attrs":{},"in_prec":[8]})", "line.key"},
      {R"({"id":1,"op":"relu","in_prec":[8],"in":[{"shape":[1]}]})", "line.key"},
      {R"({"id":1,"op":"relu","attrs":{},"in_prec":[8],"in":[{"data":[1]}]})", "line.key"},
      {R"({"id":1,"op":"relu","attrs":{},"in_prec":[8],"in":[{"shape":[1]}],"more":0})",
          "line.key"},
      {R"({"id":1,"id":1,"op":"relu","attrs":{},"in_prec":[8],"in":[{"shape":[1]}]})", "line.key"},
      {R"({"id":[1],"op":"relu","attrs":{},"in_prec":[8],"in":[{"shape":[1]}]})", "line.key"},
      {relu("[1]", R"(,"prec":8)"), "line.key"},
      {relu("[1]", R"(,"data":[1],"b64":"AQAAAA==")"), "line.key"},
      {relu("[1]", R"(,"data":"1")"), "line.key"},
      {relu("[1]", R"(,"data":[1.0])"), "line.key"},
      {relu("[1]", R"(,"data":[1e3])"), "line.key"},
      {relu("[1]", R"(,"data":[null])"), "line.key"},
      {relu("[1]", R"(,"b64":"AQAAAA")"), "line.key"},
      {relu("[1.5]", ""), "line.key"},
      {relu("[1]", "", "8.0"), "line.key"},
      {call("relu", R"({"axis":1})"), "line.key"},
      {relu("[0]", R"(,"data":[true])"), "line.key"},
      {relu("[2]", R"(,"data":[1])", "8,8"), "line.count"},
      {relu("[2]", R"(,"data":[1])"), "line.count"},
      {relu("[2]", R"(,"data":[])"), "line.count"},
      {relu("[2]", R"(,"b64":"AQAAAA==")"), "line.count"},
      {relu("[1]", R"(,"b64":"AQAAAAA=")"), "line.count"},
      {R"({"id":1,"op":"nonsense","attrs":{},"in_prec":[],"in":[{"shape":[1]}]})", "line.count"},
      {call("nonsense", "{}"), "op.unknown"},
      {call("Relu", "{}"), "op.unknown"},
      {call("relu", R"({"hidden":""})"), "attr.unknown"},
      {call("sum", R"({"axis":"0","axis":"1"})"), "attr.twice"},
      {call("sum", R"({"axis":"0","axes":"0"})"), "attr.twice"},
      {call("sum", R"({"axis":"(0"})"), "attr.syntax"},
      {call("sum", R"({"axis":"7"})"), "sum.axis"},
      {call("sum", R"({"axes":"1","__hidden__":"x"})"), "ok"},
      {call("cvm_cilp", R"({"precision":"4"})"), "ok"},
      {relu("[]", R"(,"data":[1])"), "input.rank"},
      {relu("[1,1,1,1,1,1,1]", R"(,"data":[])"), "input.rank"},
      {relu("[0]", R"(,"data":[1,2])"), "input.extent"},
      {relu("[-1]", R"(,"data":[1,2])"), "input.extent"},
      {relu("[1000000000000000000000000000000]", ""), "input.extent"},
      {relu("[32769,32768]", R"(,"data":[1])"), "input.volume"},
      {relu("[16777216,16777216,16777216,16777216]", ""), "input.volume"},
      {relu("[4294967297]", R"(,"data":[1])"), "input.extent"},
      {relu("[1]", "", "0"), "input.precision"},
      {relu("[1]", "", "-99999999999999999999"), "input.precision"},
      {relu("[1]", "", "4294967304"), "input.precision"},
  };
  for (const auto& [line, expected] : rows) EXPECT_EQ(outcome(line), expected) << line;
}

TEST(Eval, JudgesValuesOfAnySizeLast) {
  const std::string huge(400, '9');
  for (const std::string v :
      {"128", "-128", "2147483648", "-2147483649", "99999999999999999999", huge.c_str()})
    EXPECT_EQ(outcome(relu("[1]", R"(,"data":[)" + v + "]")), "input.value") << v;
  for (const std::string v : {"127", "-127", "-0"})
    EXPECT_EQ(outcome(relu("[1]", R"(,"data":[)" + v + "]")), "ok") << v;
  EXPECT_EQ(outcome(relu("[1]", R"(,"data":[-2147483648])", "32")), "input.value");
  EXPECT_EQ(outcome(relu("[1]", R"(,"data":[-2147483647])", "32")), "ok");
  EXPECT_EQ(outcome(relu("[1]", R"(,"b64":"AAAAgA==")", "32")), "input.value");
  EXPECT_EQ(outcome(relu("[1]", R"(,"data":[)" + huge + "]", "33")), "input.precision");
}

TEST(Eval, ReadsBase64AndAbsentData) {
  EXPECT_EQ(eval_reference(relu("[2]", R"(,"b64":"BQAAAP////8=")")),
      R"({"id":1,"status":"ok","out":[{"shape":[2],"prec":8,"data":[5,0]}]})");
  EXPECT_EQ(eval_reference(relu("[2]", "")),
      R"({"id":1,"status":"ok","out":[{"shape":[2],"prec":8,"data":[0,0]}]})");
}

TEST(Eval, KeepsIdentifiersAsTheyAreWritten) {
  for (const std::string id : {"0", "-0", "1.50", "1e400", "\"\"", "\"\\u00e9\\/\"", "\"\xc3\xa9\"",
           "null", "true", "123456789012345678901234567890"})
    for (const char* op : {"relu", "nonsense"}) {
      const std::string line = R"({"op":")" + std::string(op) + R"(","id": )" + id +
          R"( ,"attrs":{},"in_prec":[8],"in":[{"shape":[1]}]})";
      EXPECT_TRUE(eval_reference(line).starts_with("{\"id\":" + id + ",\"status\"")) << id;
    }
  // A line that is not JSON has no identifier, whatever it contains.
  EXPECT_TRUE(eval_reference(R"({"id":5,)").starts_with("{\"id\":null,"));
  EXPECT_TRUE(eval_reference(R"({"id":5})").starts_with("{\"id\":5,"));
}

TEST(Eval, SaysWhatIsWrongAndWhere) {
  const auto message = [](const std::string& line) {
    ReferenceSubject reference;
    return json::parse(eval_line(reference, line, 12))["message"].get<std::string>();
  };
  EXPECT_EQ(message("{\"id\" 1}"), "line 12: not JSON at byte 7: ':' is missing");
  EXPECT_EQ(
      message(relu("[2]", R"(,"data":[1,"2"])")), "line 12: in[0].data[1] must be an integer");
  EXPECT_EQ(message(relu("[2,3]", R"(,"data":[1])")), "line 12: in[0] has 1 values, its shape 6");
  EXPECT_EQ(message(relu("[1]", R"(,"prec":8)")), "line 12: in[0].'prec' is no key of a line");
  EXPECT_EQ(message(call("no\\u0001pe", "{}")), "no operator 'no\\x01pe'");
  EXPECT_LT(message(call("sum", R"({"axis":")" + std::string(100000, 'x') + "\"}")).size(), 2000u);
}

TEST(Eval, NeitherStacksNorAllocatesWhatALineDeclares) {
  const std::string deep(1 << 20, '[');
  EXPECT_EQ(outcome(R"({"id":)" + deep), "line.json");
  EXPECT_EQ(outcome(R"({"id":1,"x":)" + deep + std::string(1 << 20, ']') + "}"), "line.key");
  std::string objects;
  for (int i = 0; i < 1 << 18; ++i) objects += "{\"a\":";
  EXPECT_EQ(
      outcome(R"({"id":1,"x":)" + objects + "1" + std::string(1 << 18, '}') + "}"), "line.key");
  EXPECT_EQ(outcome(relu("[" + std::string(2 << 20, '1') + "]", "")), "input.extent");
}

TEST(Eval, AnswersEachLineAndNothingElse) {
  std::istringstream in("\n" + relu("[1]", "") + "\nx\n" + relu("[1]", ""));
  std::ostringstream out;
  ReferenceSubject reference;
  EXPECT_EQ(eval_lines(reference, in, out), 0);
  std::vector<std::string> outcomes;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);)
    outcomes.push_back(json::parse(line).value("message", "ok"));
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_EQ(outcomes[0], "line 1: not JSON at byte 1: a value is missing");
  EXPECT_EQ(outcomes[1], "ok");
  EXPECT_TRUE(outcomes[2].starts_with("line 3: "));
  EXPECT_EQ(outcomes[3], "ok");

  std::istringstream again("x\n");
  out.setstate(std::ios::badbit);
  EXPECT_EQ(eval_lines(reference, again, out), 4);
}

TEST(Eval, SaysThatReadingFailed) {
  std::istringstream in("x\n");
  in.setstate(std::ios::badbit);
  std::ostringstream out;
  ReferenceSubject reference;
  EXPECT_EQ(eval_lines(reference, in, out), 4);
}

TEST(Quote, ShowsSixtyPrintableCharacters) {
  EXPECT_EQ(quote("a ~"), "'a ~'");
  EXPECT_EQ(quote("\x1f\x7f\xa5"), "'\\x1f\\x7f\\xa5'");
  const std::string most(60, 'q');
  EXPECT_EQ(quote(most), "'" + most + "'");
  EXPECT_EQ(quote(most + "r"), "'" + most + "...'");
}

// Claims what the test says, and gives every call the same answer.
struct FixedSubject : ReferenceSubject {
  FixedSubject(Errors e, Answer a) : fixed(std::move(a)) { manifest_.errors = e; }
  Answer execute(const Case&, const std::vector<Tensor>&, const Inferred&, const Run&) override {
    if (fixed.message == "throw") throw std::runtime_error("the subject is gone");
    return fixed;
  }
  Answer refuse(const Case&) override { return fixed; }
  Answer fixed;
};

Answer answer(AnswerKind kind, const std::string& label, const std::string& message) {
  return {.kind = kind, .label = label, .message = message};
}

TEST(Eval, PassesOnWhatABackendSays) {
  const auto eval = [](Errors e, const Answer& a, const std::string& line) {
    FixedSubject s(e, a);
    return json::parse(eval_line(s, line, 1));
  };
  const std::string legal = relu("[1]", ""), illegal = relu("[0]", "");
  const Answer own = answer(AnswerKind::logic_error, "its.own", "m"),
               late = answer(AnswerKind::timed_out, "", "t");
  const std::tuple<Errors, Answer, std::string, const char*, const char*> rows[] = {
      {Errors::none, own, illegal, "label", "input.extent"},
      {Errors::label, own, illegal, "label", "its.own"},
      {Errors::cls, answer(AnswerKind::logic_error, "", ""), illegal, "label", "input.extent"},
      {Errors::label, {}, illegal, "label", "backend.accepted"},
      {Errors::label, answer(AnswerKind::runtime_error, "", "m"), illegal, "label", ""},
      {Errors::label, own, relu("[1]", R"(,"data":[128])"), "label", "input.value"},
      {Errors::none, answer(AnswerKind::unsupported, "", "no"), legal, "status", "unsupported"},
      {Errors::none, answer(AnswerKind::crashed, "", "c"), legal, "label", "backend.crashed"},
      {Errors::none, late, legal, "label", "backend.timeout"},
      {Errors::none, late, legal, "status", "runtime_error"},
      {Errors::none, answer(AnswerKind::protocol, "", "p"), legal, "label", "backend.protocol"},
      {Errors::none, {}, legal, "label", "backend.protocol"},
      // Even if a message is no valid text, the answer is a valid line.
      {Errors::none, answer(AnswerKind::unsupported, "", "\xff\""), legal, "message",
          "\xef\xbf\xbd\""}};
  for (const auto& [errors, says, line, key, expected] : rows)
    EXPECT_EQ(eval(errors, says, line)[key], expected) << says.message << " to " << line;
  const json gone = eval(Errors::none, answer(AnswerKind::ok, "", "throw"), legal);
  EXPECT_EQ(gone["label"], "eval.failed");
  EXPECT_EQ(gone["message"], "the subject is gone");
  EXPECT_EQ(write_answer(answer(AnswerKind::unsupported, "", "\xff" + std::string(1000, 'm')), "1"),
      R"({"id":1,"status":"unsupported","label":"","message":"\ufffd)" + std::string(999, 'm') +
          "\"}");
}

TEST(Requests, KeepIllegalCallsIllegal) {
  const auto label = [](const Case& c) { return outcome(write_request(c, {}, "1")); };
  const auto agrees = [&](const Case& c, const char* expected) {
    EXPECT_EQ(refusal(c).label(), expected);
    EXPECT_EQ(label(c), expected) << write_request(c, {}, "1");
  };
  Case c = example_case(*find_operator("relu"), 0);
  c.in[0].shape = Shape::filled(9, 1);
  agrees(c, "input.rank");
  c.in[0].shape = {INT64_MIN};
  agrees(c, "input.extent");
  c.in[0] = {{1}, INT32_MAX};
  agrees(c, "input.precision");
  c.in.clear();
  agrees(c, "op.inputs");
  for (const OpInfo* op : operators()) {
    const Case legal = example_case(*op, 0);
    for (int i = 0; i < op->attrs.size(); ++i) {
      Case bad = legal;
      Attr& v = bad.attrs[static_cast<std::size_t>(i)];
      const AttrInfo& f = op->attrs[i];
      if (f.kind == AttrKind::tuple) {
        v.ints = Tuple::filled(20, max(f.range.min, 1));
        agrees(bad, "attr.length");
      } else if (f.kind != AttrKind::boolean && f.range.max < INT64_MAX) {
        v = {f.kind, false, {f.range.max + 1}};
        agrees(bad, "attr.range");
      }
    }
  }
}

TEST(Requests, NameExtentsThatAShapeCannotHold) {
  Case c = example_case(*find_operator("relu"), 0);
  c.in[0].shape = Shape::filled(8, 1);
  EXPECT_EQ(json::parse(write_request(c, {}, "1"))["in"][0]["shape"], std::vector<int>(8, 1));
}

TEST(Requests, NameOnlyWhatHasAnEffect) {
  const Case c = example_case(*find_operator("sum"), 0);
  const json line = json::parse(write_request(c, inputs_of(c), "1"));
  EXPECT_TRUE(line["attrs"].contains("keepdims"));
  EXPECT_FALSE(line["attrs"].contains("dtype"));
}

TEST(Answers, AreReadStrictly) {
  const auto why = [](const std::string& line) {
    const Answer a = read_answer(line, "7");
    return a.kind == AnswerKind::protocol ? a.message : std::string(a.ok() ? "ok" : "error");
  };
  const auto ok = [&](const std::string& out) {
    return why(R"({"id":7,"status":"ok","out":[)" + out + "]}");
  };
  EXPECT_EQ(ok(R"({"shape":[1,2],"prec":8,"data":[1,-2147483648]})"), "ok");
  EXPECT_EQ(ok(R"({"shape":[1],"prec":8,"b64":"AQAAAA=="})"), "ok");
  EXPECT_EQ(ok(""), "ok");
  EXPECT_EQ(why(R"({"id":7,"status":"logic_error","label":"relu.x","message":"m"})"), "error");
  EXPECT_EQ(why(R"({"id":7,"status":"unsupported"})"), "error");
  EXPECT_EQ(why(R"({"id":7,"status":"runtime_error"})"), "error");

  EXPECT_EQ(why("y"), "not JSON at byte 1: a value is missing");
  EXPECT_EQ(why("[]"), "the line must be an object");
  EXPECT_EQ(why(relu("[1]", "")), "'op' is no key of a line");
  EXPECT_EQ(why(R"({"id":8,"status":"unsupported"})"), "id is not that of the call");
  EXPECT_EQ(why(R"({"id":"7","status":"unsupported"})"), "id is not that of the call");
  EXPECT_EQ(why(R"({"status":"unsupported"})"), "'id' is missing");
  EXPECT_EQ(why(R"({"id":7,"status":"fine"})"), "status 'fine' is none");
  EXPECT_EQ(why(R"({"id":7,"status":"ok"})"), "'out' is missing");
  EXPECT_EQ(why(R"({"id":7,"status":"logic_error"})"), "'label' is missing");
  EXPECT_EQ(why(R"({"id":7,"status":"unsupported","out":[]})"), "'out' beside status unsupported");
  EXPECT_EQ(
      why(R"({"id":7,"status":"unsupported","path":"p"})"), "'path' beside status unsupported");
  EXPECT_EQ(why(R"({"id":7,"status":"ok","out":[],"label":"x"})"),
      "'label' or 'message' beside status ok");
  EXPECT_EQ(ok(R"({"shape":[1],"data":[1]})"), "ok");
  EXPECT_EQ(ok(R"({"shape":[1],"prec":8})"), "out[0] has neither 'data' nor 'b64'");
  const std::string another = " values, and its shape another number";
  EXPECT_EQ(ok(R"({"shape":[2],"prec":8,"data":[1]})"), "out[0] has 1" + another);
  EXPECT_EQ(ok(R"({"shape":[-1,-1],"prec":8,"data":[1]})"), "out[0] has 1" + another);
  EXPECT_EQ(
      ok(R"({"shape":[4294967296,4294967296],"prec":8,"data":[]})"), "out[0] has 0" + another);
  EXPECT_EQ(ok(R"({"shape":[4294967297],"prec":8,"data":[1]})"), "out[0] has 1" + another);
  EXPECT_EQ(ok(R"({"shape":[0],"prec":8,"data":[]})"), "out[0] has 0" + another);
  EXPECT_EQ(why(R"({"id":)" + std::string(41, '8') + R"(,"status":"unsupported"})"),
      "id is not that of the call");
  EXPECT_EQ(
      ok(R"({"shape":[1],"prec":8,"data":[2147483648]})"), "out[0] has a value outside int32");
}

TEST(Answers, DeliverTypesAsTheyAreStated) {
  const Answer a = read_answer(
      R"({"id":7,"status":"ok","out":[{"shape":[1,1,1,1,1,1,1,2],"prec":99,"data":[3,4]}]})", "7");
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a.types[0], (TensorType{{1, 1, 1, 1, 1, 1, 1, 2}, 99}));
  EXPECT_EQ(a.out[0], (std::vector<i32>{3, 4}));
  const Answer far = read_answer(
      R"({"id":7,"status":"ok","out":[{"shape":[1],"prec":4294967304,"data":[3]}]})", "7");
  EXPECT_EQ(far.types[0].precision, INT32_MAX);
}

TEST(Base64, IsStrictAndItsOwnInverse) {
  for (std::size_t n : {0u, 1u, 2u, 3u, 767u, 768u, 769u, 5000u}) {
    std::vector<i32> v;
    for (std::size_t i = 0; i < n; ++i) v.push_back(static_cast<i32>(word(1, n, i)));
    const auto back = from_base64(to_base64(v));
    ASSERT_TRUE(back) << n;
    EXPECT_EQ(back->values, v);
    EXPECT_EQ(back->bytes_left, 0);
  }
  EXPECT_EQ(to_base64({1, -2}), "AQAAAP7///8=");
  EXPECT_EQ(from_base64("AQAAAP8=")->bytes_left, 1);
  const auto part = from_base64("AQAAAP///w==");
  EXPECT_EQ(part->values, std::vector<i32>{1});
  EXPECT_EQ(part->bytes_left, 3);
  for (const char* blank : {" AQAAA==", "\tAQAAA==", "AQAAA==\n", "AQAAAAA\n"})
    EXPECT_FALSE(from_base64(blank)) << blank;
  for (const char* bad : {"A", "AQAAAA=", "AQAAAA", " AQAAAA==", "AQAAAA==\n",
           "AQ==AA==", "AQAA_A==", "AQAAAB==", "====", "A===", "AQA=AA=="})
    EXPECT_FALSE(from_base64(bad)) << bad;
}

bool is_json(std::string_view text) {
  try {
    JsonCursor c(text);
    c.skip();
    c.end();
    return true;
  } catch (const NotJson&) {
    return false;
  }
}

// The library's parser as a second opinion on JSON, for seeded damage to good text.
TEST(JsonCursor, AgreesWithTheLibraryAboutWhatIsJson) {
  const std::string seeds[] = {
      R"({"id":-0.5e+3,"op":"re\u00e9\n","attrs":{},"in":[{"shape":[1,20],"x":[[],{}]}, null]})",
      R"([true,false,null,"\"\\\/\b",0,10,-1.25E-7,{"a":{"b":[1]}}])",
      "\"\xc3\xa9\xf0\x9f\x98\x80\""};
  constexpr string_view kBytes = "{}[]\":,.0123456789eE+-tfnul\\ \t\r\x01\x7f\xc3\xa9\xed\xa0\x80";
  Seeded draw(2);
  int good = 0;
  for (int n = 0; n < 200000; ++n) {
    std::string text = seeds[draw(0, 2)];
    for (i64 damage = draw(1, 3); damage > 0; --damage) {
      const auto at = static_cast<std::size_t>(draw(0, static_cast<i64>(text.size()) - 1));
      const char byte =
          kBytes[static_cast<std::size_t>(draw(0, static_cast<i64>(kBytes.size()) - 1))];
      const i64 how = draw(0, 2);
      if (how == 0) text[at] = byte;
      if (how == 1) text.insert(at, 1, byte);
      if (how == 2 && text.size() > 1) text.erase(at, 1);
    }
    const bool is = json::accept(text);
    good += is;
    ASSERT_EQ(is_json(text), is) << text;
  }
  EXPECT_GT(good, 10000);
  EXPECT_LT(good, 190000);
}

TEST(JsonCursor, TakesNoControlCharacterForTextOrForTheEnd) {
  EXPECT_FALSE(is_json("\"\x1f\""));
  EXPECT_FALSE(is_json(std::string("1\0", 2)));
  EXPECT_TRUE(is_json("\"\x7f ~\""));
}

TEST(JsonCursor, TellsIntegersOfAnySizeFromFractions) {
  EXPECT_EQ(integer_of("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(integer_of("9223372036854775808"), INT64_MAX);
  EXPECT_EQ(integer_of("-" + std::string(500, '7')), INT64_MIN);
  EXPECT_FALSE(integer_of("1.0"));
  EXPECT_FALSE(integer_of("1e0"));
  EXPECT_FALSE(integer_of(std::string(500, '7') + ".5"));
}

}  // namespace
}  // namespace lockstep::judge
