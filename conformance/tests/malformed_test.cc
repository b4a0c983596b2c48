/// @file
/// Ten thousand damaged lines: one answer each, in order, with a label that exists or a result that
/// is right.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "conformance/subjects/eval.h"
#include "conformance/subjects/reference_subject.h"
#include "spec/attributes.h"
#include "spec/explain.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

constexpr i64 kMostOutputs = 1 << 16;  // elements; damage may ask for 2^30 of them

// The reference, where the outputs are small enough for a test.
struct Bounded : ReferenceSubject {
  Bounded() { manifest_.errors = Errors::none; }
  Answer execute(const Case& c, const std::vector<Tensor>& in, const Inferred& out,
                 const Run& how) override {
    i64 elements = 0;
    for (int k = 0; k < out.count; ++k) elements += volume(out[k].shape);
    if (elements <= kMostOutputs) return ReferenceSubject::execute(c, in, out, how);
    Answer a;
    a.kind = AnswerKind::unsupported;
    return a;
  }
};

std::string line_of(const OpInfo& op, Draw& draw, i64 id) {
  Case c = draw(0, 2) == 0 ? draw_case(op, draw)
                           : example_case(op, static_cast<int>(draw(0, op.example_count - 1)));
  i64 elements = 0;
  for (const Type& t : c.in) elements += volume(t.shape);
  if (elements > 200) c = example_case(op, 0);
  if (c.fill != Fill::literal) c.fill = Fill::boundary;
  return write_request(c, inputs_of(c), std::to_string(id));
}

std::size_t position(const std::string& s, Draw& draw) {
  return static_cast<std::size_t>(draw(0, static_cast<i64>(s.size()) - 1));
}

// Replaces one number of the line by another text.
void replace_number(std::string& line, Draw& draw, const std::string& text) {
  const std::size_t from = line.find_first_of("0123456789", position(line, draw));
  if (from == std::string::npos) return;
  const std::size_t end = line.find_first_not_of("0123456789", from);
  line.replace(from, end - from, text);
}

// Replaces one member of the line or of a part of it by `change`.
template <class F>
void rewrite(std::string& line, Draw& draw, F change) {
  json whole = json::parse(line, nullptr, false);
  json* part = &whole;
  while (part->is_structured() && !part->empty() && (part == &whole || draw.coin())) {
    auto at = part->begin();
    std::advance(at, draw(0, static_cast<i64>(part->size()) - 1));
    part = &*at;
  }
  if (part == &whole) return;
  change(*part);
  line = whole.dump(-1, ' ', true, json::error_handler_t::replace);
}

void damage(std::string& line, Draw& draw) {
  const std::size_t at = position(line, draw);
  const auto byte = [&] {
    const char c = static_cast<char>(draw(0, 255));
    return c == '\n' ? ' ' : c;  // which would be two lines
  };
  static const char* const kNumbers[] = {
      "-1",
      "0",
      "7",
      "33",
      "16777217",
      "1073741825",
      "2147483648",
      "9223372036854775808",
      "-0",
      "1.5",
      "1e9",
      "01",
      "99999999999999999999999999999999999999999999999999999999999999"};
  static const char* const kOther[] = {"null", "true", "[]",    "{}", "\"1\"",
                                       "\"\"", "-3",   "[1,2]", "0.5"};
  switch (draw(0, 10)) {
    case 0:
      line[at] = byte();
      break;
    case 1:
      line.insert(at, 1, byte());
      break;
    case 2:
      line.erase(at, 1);
      break;
    case 3:
      line.resize(at + 1);
      break;
    case 4:  // a part of the line twice: often a key
      line.insert(at, line.substr(at, static_cast<std::size_t>(draw(1, 60))));
      break;
    case 5:
      line.insert(at, draw.coin() ? "\xff\xfe" : "\xed\xa0\x80");  // no UTF-8
      break;
    case 6:
      line.insert(at,
                  std::string(static_cast<std::size_t>(draw(1, 20000)), draw.coin() ? '[' : '{'));
      break;
    case 7:
    case 8:
      replace_number(line, draw, kNumbers[draw(0, std::size(kNumbers) - 1)]);
      break;
    case 9:
      rewrite(line, draw,
              [&](json& v) { v = json::parse(kOther[draw(0, std::size(kOther) - 1)]); });
      break;
    default:
      rewrite(line, draw, [&](json& v) {
        for (i64 depth = draw(1, 50); depth > 0; --depth) v = json::array({v});
      });
  }
}

Lines damaged_lines(int n) {
  Seeded draw(4);
  Lines lines;
  for (int k = 0; k < n; ++k) {
    const auto which = static_cast<std::size_t>(k) % operators().size();
    std::string line = line_of(*operators()[which], draw, k);
    for (i64 times = draw(1, 3); times > 0 && !line.empty(); --times) damage(line, draw);
    lines.push_back(std::move(line));
  }
  return lines;
}

Lines answers_to(const Lines& lines) {
  std::string all;
  for (const std::string& l : lines) all += l + "\n";
  std::istringstream in(all);
  std::ostringstream out;
  Bounded subject;
  EXPECT_EQ(eval_lines(subject, in, out), 0);
  Lines answers;
  std::istringstream split(out.str());
  for (std::string a; std::getline(split, a);) answers.push_back(a);
  return answers;
}

const std::set<std::string>& known_labels() {
  static const std::set<std::string> all = [] {
    std::set<std::string> s = {"line.json", "line.key", "line.count"};
    for (const SharedLabel& l : kSharedLabels) s.emplace(l.label);
    for (const OpInfo* op : operators())
      for (const OwnLabel& l : own_labels(*op)) s.insert(l.label);
    return s;
  }();
  return all;
}

// What is wrong with the result of a line that is JSON, read by another reader than eval's.
std::string wrong_result(const json& line, const json& answer) {
  const OpInfo* op = find_operator(line["op"].get<std::string>());
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [key, text] : line["attrs"].items()) texts.emplace_back(key, text);
  const ReadAttributes attrs = read_attributes(*op, texts);
  std::vector<Tensor> in;
  for (std::size_t k = 0; k < line["in"].size(); ++k) {
    Tensor& t = in.emplace_back();
    for (const json& e : line["in"][k]["shape"]) t.type.shape.push(e);
    t.type.precision = line["in_prec"][k];
    t.data = line["in"][k]["data"].get<std::vector<i32>>();
  }
  const reference::Outcome want =
      reference::evaluate(*op, {attrs.values.data(), static_cast<int>(attrs.values.size())}, in);
  if (want.status != reference::Status::ok) return "a result instead of " + want.label;
  if (want.out.size() != answer["out"].size()) return "the wrong number of outputs";
  for (std::size_t k = 0; k < want.out.size(); ++k)
    if (answer["out"][k]["data"] != want.out[k].data) return "a wrong result";
  return "";
}

// A line as the library reads it, which takes numbers that no double holds for a mistake.
json parsed(std::string text) {
  constexpr const char* kDigits = "0123456789";
  for (std::size_t at = 0; (at = text.find_first_of("eE", at)) != std::string::npos; ++at) {
    const std::size_t from = text.find_first_not_of("+-", at + 1);
    if (from == std::string::npos) break;
    const std::size_t end = std::min(text.find_first_not_of(kDigits, from), text.size());
    if (end > from + 2) text.erase(from + 2, end - from - 2);
  }
  return json::parse(text, nullptr, false);
}

// What is wrong with the answer to a line, or nothing.
std::string wrong_answer(const std::string& text, i64 number, const std::string& answer_text) {
  const json answer = json::parse(answer_text, nullptr, false);
  if (!answer.is_object()) return "no JSON object";
  const std::string status = answer.value("status", ""), label = answer.value("label", "");
  const json line = parsed(text);
  const bool is_json = line.is_object();
  if (is_json != (label != "line.json")) return "JSON and none are confused: " + label;
  if (!is_json || label.starts_with("line.")) {
    const std::string where = "line " + std::to_string(number) + ": ";
    if (!answer.value("message", "").starts_with(where)) return "a message without its line";
  } else if (answer["id"] != line["id"]) {
    return "another line's id";
  }
  if (status == "logic_error") return known_labels().contains(label) ? "" : "no label: " + label;
  if (status == "unsupported") return "";
  if (status != "ok") return "neither a result nor the caller's mistake: " + status;
  return wrong_result(line, answer);
}

// The first thing that is wrong with the answers to all lines, or nothing.
std::string complaint(const Lines& lines, const Lines& answers) {
  if (answers.size() != lines.size())
    return std::to_string(answers.size()) + " answers to " + std::to_string(lines.size());
  for (std::size_t k = 0; k < lines.size(); ++k)
    if (std::string why = wrong_answer(lines[k], static_cast<i64>(k) + 1, answers[k]); !why.empty())
      return "line " + std::to_string(k + 1) + ": " + why + "\n" + lines[k].substr(0, 2000) + "\n" +
             answers[k];
  return "";
}

TEST(Malformed, TenThousandLinesHaveTenThousandAnswers) {
  const Lines lines = damaged_lines(10000), answers = answers_to(lines);
  EXPECT_EQ(complaint(lines, answers), "");
  std::map<std::string, int> labels;
  for (const std::string& a : answers) ++labels[json::parse(a).value("label", "ok")];
  // Damage of every depth: to the text, to the line, to the call, and none that matters.
  EXPECT_GT(labels["line.json"], 1000);
  EXPECT_GT(labels["line.key"], 1000);
  EXPECT_GT(labels["line.count"], 50);
  EXPECT_GT(labels["ok"], 100);
  EXPECT_GT(labels.size(), 25u);
}

TEST(Malformed, WrongAnswersAreNoticed) {
  const Lines lines = damaged_lines(300), right = answers_to(lines);
  ASSERT_EQ(complaint(lines, right), "");
  const auto spoilt = [&](auto spoil) {
    Lines a = right;
    spoil(a);
    return !complaint(lines, a).empty();
  };
  const auto with = [&](const char* what) {
    return std::find_if(right.begin(), right.end(),
                        [&](const std::string& a) { return a.find(what) != std::string::npos; }) -
           right.begin();
  };
  const auto replaced = [&](const char* what, const char* by) {
    return spoilt([&](Lines& a) {
      std::string& s = a[static_cast<std::size_t>(with(what))];
      s.replace(s.find(what), std::string(what).size(), by);
    });
  };
  EXPECT_TRUE(spoilt([](Lines& a) { a.pop_back(); }));
  EXPECT_TRUE(spoilt([](Lines& a) { a.insert(a.begin(), a[0]); }));
  EXPECT_TRUE(spoilt([](Lines& a) { std::swap(a[3], a[4]); }));
  EXPECT_TRUE(spoilt([](Lines& a) { a[7].pop_back(); }));
  EXPECT_TRUE(replaced("line.key", "line.keys"));
  EXPECT_TRUE(replaced("logic_error", "runtime_error"));
  EXPECT_TRUE(replaced("\"data\":[", "\"data\":[1,"));
}

}  // namespace
}  // namespace lockstep::judge
