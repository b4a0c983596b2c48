/// @file
/// Sends `eval` attributes of every operator that no call can have, and expects one labelled logic
/// error for each. `crosscheck.lines` sends lines with wrong keys, types and counts,
/// `judge.check_exec` calls with wrong shapes, precisions and values.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "conformance/subjects/eval.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/tests/expect.h"
#include "containers/tests/counted_memory.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

using nlohmann::ordered_json;

// The first example of an operator, as a line.
ordered_json line_of(const OpInfo& op) {
  const Case c = example_case(op, 0);
  return ordered_json::parse(write_request(c, inputs_of(c), "1"));
}

// Whether eval refuses a line with this label, and says why.
void expect_refused(const std::string& line, const std::string& label) {
  ReferenceSubject reference;
  const std::string text = eval_line(reference, line, 1);
  const ordered_json answer = ordered_json::parse(text);
  EXPECT_EQ(answer.value("status", ""), "logic_error") << line << "\n" << text;
  EXPECT_EQ(answer.value("label", ""), label) << line << "\n" << text;
  EXPECT_FALSE(answer.value("message", "").empty()) << line;
  EXPECT_EQ(answer.size(), 4u) << text;
}

// Calls f(input number, port) for each input of a line.
template <class F> void each_input(const OpInfo& op, const ordered_json& line, F f) {
  for (int k = 0; k < static_cast<int>(line["in"].size()); ++k)
    f(static_cast<std::size_t>(k), op.inputs[std::min(k, op.inputs.size() - 1)]);
}

// One number, as often as the attribute wants it.
std::string repeated(const AttrInfo& f, const std::string& number) {
  if (f.kind != AttrKind::tuple) return number;
  std::string s = number;
  for (i64 k = 1; k < f.entries.min; ++k) s += "," + number;
  return "(" + s + ")";
}

// Illegal texts of an attribute, each with its label.
std::vector<std::pair<std::string, std::string>> wrong_texts(const AttrInfo& f) {
  if (f.kind == AttrKind::word) return {{"no_word", "attr.range"}};
  std::vector<std::pair<std::string, std::string>> all = {{"1.5", "attr.syntax"}};
  if (f.kind == AttrKind::boolean) return all;
  std::vector<std::string> beyond = {
      "9223372036854775808", "-9223372036854775809", "100000000000000000000000000000000000000000"};
  const bool is_bounded = f.kind == AttrKind::integer || f.kind == AttrKind::tuple;
  if (is_bounded && f.range.min > INT64_MIN) beyond.push_back(std::to_string(f.range.min - 1));
  if (is_bounded && f.range.max < INT64_MAX) beyond.push_back(std::to_string(f.range.max + 1));
  for (const std::string& number : beyond) all.emplace_back(repeated(f, number), "attr.range");
  return all;
}

// A shape of the fewest axes that exceeds the limit of volume, or with `less` just fits.
std::vector<i64> large_shape(const Port& port, i64 less) {
  std::vector<i64> shape(static_cast<std::size_t>(max(port.rank.min, 2)), 1);
  shape[0] = kMaxExtent;
  shape[1] = kMaxVolume / kMaxExtent + 1 - less;
  return shape;
}

TEST(BadLines, AreRefusedWithTheLabelOfTheirAttribute) {
  std::map<std::string, int> asked;
  const auto refuses = [&](const ordered_json& line, const std::string& label) {
    expect_refused(line.dump(), label);
    ++asked[label];
  };
  for (const OpInfo* op : operators()) {
    const ordered_json line = line_of(*op);
    ReferenceSubject reference;
    EXPECT_EQ(ordered_json::parse(eval_line(reference, line.dump(), 1))["status"], "ok") << line;
    refuses(with(line, "/attrs/no_such", "1"), "attr.unknown");
    for (const AttrInfo& f : op->attrs) {
      const std::string name(f.name), place = "/attrs/" + name;
      for (const auto& [text, label] : wrong_texts(f)) refuses(with(line, place, text), label);
      if (!f.alias.empty())
        refuses(with(line, "/attrs/" + std::string(f.alias), line["attrs"][name]), "attr.twice");
      ordered_json less = line;
      if (f.required && less["attrs"].erase(name) == 1) refuses(less, "attr.missing");
    }
  }
  EXPECT_EQ(asked["attr.unknown"], std::ssize(operators()));
  EXPECT_GT(asked["attr.twice"], 5);
  EXPECT_GT(asked["attr.missing"], 10);
  EXPECT_GT(asked["attr.syntax"], 40);
  EXPECT_GT(asked["attr.range"], 135);
}

// The judge allocates nothing for a declared shape before it has checked the line, and so fills
// nothing.
TEST(BadLines, DeclaredSizesAreCheapToRefuse) {
  constexpr std::size_t kSmall = std::size_t{64} << 10;
  EXPECT_GE(allocated_by([] { std::vector<char>{}.reserve(kSmall); }), kSmall) << "nothing counts";
  ReferenceSubject reference;
  const auto expect_cheap = [&](const ordered_json& line, const char* label) {
    const std::string text = line.dump();
    std::string answer;
    EXPECT_LT(allocated_by([&] { answer = eval_line(reference, text, 1); }), kSmall) << text;
    EXPECT_NE(answer.find(label), std::string::npos) << answer;
  };
  for (const OpInfo* op : operators())
    each_input(*op, line_of(*op), [&](std::size_t k, const Port& port) {
      const std::string input = "/in/" + std::to_string(k), place = input + "/shape";
      const ordered_json line = with(line_of(*op), input + "/data", {1, 2});
      std::vector<i64> shape(static_cast<std::size_t>(port.rank.min), 1);
      shape.back() = kMaxExtent;
      expect_cheap(with(line, place, shape), "line.count");
      shape.back() = kMaxExtent + 1;
      expect_cheap(with(line, place, shape), "input.extent");
      if (port.rank.max < 2) return;
      expect_cheap(with(line, place, large_shape(port, 1)), "line.count");
      expect_cheap(with(line, place, large_shape(port, 0)), "input.volume");
    });
}

}  // namespace
}  // namespace lockstep::judge
