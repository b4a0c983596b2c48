/// @file
/// Bad input through `eval`, of every operator: one labelled logic error each, whatever is wrong.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance/subjects/eval.h"
#include "conformance/subjects/reference_subject.h"
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

// Each operator's line, changed, is refused with a label; counts how often that was asked.
template <class Change>
int refuses(const std::string& label, Change change) {
  int asked = 0;
  for (const OpInfo* op : operators()) {
    const auto ask = [&](const ordered_json& line) {
      expect_refused(line.dump(), label);
      ++asked;
    };
    change(*op, line_of(*op), ask);
  }
  return asked;
}

// Calls f(input number, port) for each input of a line.
template <class F>
void each_input(const OpInfo& op, const ordered_json& line, F f) {
  for (int k = 0; k < static_cast<int>(line["in"].size()); ++k)
    f(static_cast<std::size_t>(k), op.inputs[std::min(k, op.inputs.size() - 1)]);
}

int count() { return static_cast<int>(operators().size()); }

TEST(BadLines, ExamplesAreLegal) {
  for (const OpInfo* op : operators()) {
    ReferenceSubject reference;
    EXPECT_EQ(ordered_json::parse(eval_line(reference, line_of(*op).dump(), 1))["status"], "ok")
        << op->name;
  }
}

TEST(BadLines, ValuesOfTheWrongTypeAreNoCall) {
  const int asked = refuses("line.key", [](const OpInfo&, const ordered_json& line, auto ask) {
    const ordered_json wrong[] = {
        nullptr, true, -1, 1.5, "text", ordered_json::array({"1"}), ordered_json{{"a", 1}}};
    for (const auto& [key, value] : line.items())
      for (const ordered_json& w : wrong) {
        // An id is any scalar.
        if (key == "id" ? !w.is_structured() : w.type() == value.type() && !w.is_structured())
          continue;
        ordered_json bad = line;
        bad[key] = w;
        ask(bad);
      }
    for (const auto& [key, value] : line["attrs"].items()) {
      ordered_json bad = line;
      bad["attrs"][key] = 1;
      ask(bad);
    }
    for (std::size_t k = 0; k < line["in"].size(); ++k)
      for (const char* member : {"shape", "data"})
        for (const ordered_json& w : wrong) {
          ordered_json bad = line;
          bad["in"][k][member] = w;
          ask(bad);
        }
  });
  EXPECT_GT(asked, 30 * count());
}

TEST(BadLines, KeysAreNeitherMissingNorUnknown) {
  const int asked = refuses("line.key", [](const OpInfo&, const ordered_json& line, auto ask) {
    for (const auto& [key, value] : line.items()) {
      ordered_json bad = line;
      bad.erase(key);
      ask(bad);
      bad[key + " "] = value;
      ask(bad);
    }
    ordered_json bad = line;
    bad["in"][0].erase("shape");
    ask(bad);
  });
  EXPECT_EQ(asked, 11 * count());
}

TEST(BadLines, AttributesAreKnownAndGivenOnce) {
  EXPECT_EQ(refuses("attr.unknown",
                    [](const OpInfo&, const ordered_json& line, auto ask) {
                      ordered_json bad = line;
                      bad["attrs"]["no_such"] = "1";
                      ask(bad);
                    }),
            count());
  EXPECT_GT(refuses("attr.twice",
                    [](const OpInfo& op, const ordered_json& line, auto ask) {
                      for (const AttrInfo& f : op.attrs) {
                        if (f.alias.empty()) continue;
                        ordered_json bad = line;
                        bad["attrs"][std::string(f.alias)] = bad["attrs"][std::string(f.name)];
                        ask(bad);
                      }
                    }),
            5);
  EXPECT_GT(refuses("attr.missing",
                    [](const OpInfo& op, const ordered_json& line, auto ask) {
                      for (const AttrInfo& f : op.attrs) {
                        ordered_json bad = line;
                        if (f.required && bad["attrs"].erase(std::string(f.name)) == 1) ask(bad);
                      }
                    }),
            10);
}

// The text of a value of this kind: one number, as often as the attribute wants it.
std::string repeated(const AttrInfo& f, const std::string& number) {
  if (f.kind != AttrKind::tuple) return number;
  std::string s = number;
  for (i64 k = 1; k < f.entries.min; ++k) s += "," + number;
  return "(" + s + ")";
}

template <class Text>
int refuses_text(const std::string& label, Text text) {
  return refuses(label, [&](const OpInfo& op, const ordered_json& line, auto ask) {
    for (const AttrInfo& f : op.attrs) {
      ordered_json bad = line;
      const std::string t = text(f);
      bad["attrs"][std::string(f.name)] = t;
      if (!t.empty()) ask(bad);
    }
  });
}

TEST(BadLines, TextsOfAttributesAreReadInFull) {
  EXPECT_GT(refuses_text("attr.syntax",
                         [](const AttrInfo& f) { return f.kind == AttrKind::word ? "" : "1.5"; }),
            40);
  EXPECT_GT(
      refuses_text("attr.range",
                   [](const AttrInfo& f) { return f.kind == AttrKind::word ? "no_word" : ""; }),
      5);
  for (const char* number : {"9223372036854775808", "-9223372036854775809",
                             "100000000000000000000000000000000000000000"})
    EXPECT_GT(refuses_text("attr.range",
                           [&](const AttrInfo& f) {
                             const bool counts =
                                 f.kind != AttrKind::word && f.kind != AttrKind::boolean;
                             return counts ? repeated(f, number) : "";
                           }),
              30);
  for (const bool above : {false, true})
    EXPECT_GT(refuses_text(
                  "attr.range",
                  [&](const AttrInfo& f) {
                    const bool counts = f.kind == AttrKind::integer || f.kind == AttrKind::tuple;
                    const bool bounded = above ? f.range.max < INT64_MAX : f.range.min > INT64_MIN;
                    const i64 v = above ? f.range.max : f.range.min;
                    return counts && bounded ? repeated(f, std::to_string(above ? v + 1 : v - 1))
                                             : "";
                  }),
              20);
}

TEST(BadLines, InputsAreAsManyAsNeeded) {
  EXPECT_EQ(refuses("op.inputs",
                    [](const OpInfo&, const ordered_json& line, auto ask) {
                      ordered_json bad = line;
                      bad["in"] = bad["in_prec"] = ordered_json::array();
                      ask(bad);
                      for (int k = 0; k < 1025; ++k) {
                        bad["in"].push_back({{"shape", {1}}});
                        bad["in_prec"].push_back(8);
                      }
                      ask(bad);
                    }),
            2 * count());
  EXPECT_EQ(refuses("line.count",
                    [](const OpInfo&, const ordered_json& line, auto ask) {
                      ordered_json bad = line;
                      bad["in_prec"].push_back(8);
                      ask(bad);
                    }),
            count());
}

// Refusals of a change to any one input of any operator.
template <class Change>
int refuses_input(const std::string& label, Change change) {
  return refuses(label, [&](const OpInfo& op, const ordered_json& line, auto ask) {
    each_input(op, line, [&](std::size_t k, const Port& port) {
      ordered_json bad = line;
      if (change(bad["in"][k], bad["in_prec"][k], port)) ask(bad);
    });
  });
}

TEST(BadLines, ShapesAreInsideTheirLimits) {
  for (const std::size_t rank : {0, 7, 1000})
    EXPECT_GT(refuses_input("input.rank",
                            [&](ordered_json& in, ordered_json&, const Port&) {
                              in["shape"] = std::vector<int>(rank, 1);
                              return true;
                            }),
              count());
  for (const i64 extent : {i64{0}, i64{-1}, kMaxExtent + 1, INT64_MAX})
    EXPECT_GT(refuses_input("input.extent",
                            [&](ordered_json& in, ordered_json&, const Port&) {
                              in["shape"].back() = extent;
                              return true;
                            }),
              count());
  EXPECT_GT(refuses_input("input.volume",
                          [&](ordered_json& in, ordered_json&, const Port& port) {
                            if (port.rank.max < 2) return false;
                            in["shape"] = std::vector<i64>(
                                static_cast<std::size_t>(max(port.rank.min, 2)), 1);
                            in["shape"][0] = kMaxExtent;
                            in["shape"][1] = kMaxVolume / kMaxExtent + 1;
                            return true;
                          }),
            count());
}

TEST(BadLines, PrecisionsAndValuesAreInsideTheirLimits) {
  for (const i64 precision : {i64{0}, i64{33}, i64{-1}, INT64_MAX})
    EXPECT_GT(refuses_input("input.precision",
                            [&](ordered_json&, ordered_json& p, const Port&) {
                              p = precision;
                              return true;
                            }),
              count());
  for (const i64 sign : {1, -1})
    for (const i64 more : {i64{1}, i64{1} << 40})
      EXPECT_GT(refuses_input("input.value",
                              [&](ordered_json& in, ordered_json& p, const Port&) {
                                in["data"].back() = sign * (max_of(p.get<i64>()) + more);
                                return true;
                              }),
                count());
}

TEST(BadLines, DataFillsItsShape) {
  for (const bool more : {true, false})
    EXPECT_GT(refuses_input("line.count",
                            [&](ordered_json& in, ordered_json&, const Port&) {
                              if (more)
                                in["data"].push_back(0);
                              else
                                in["data"].erase(0);
                              return true;
                            }),
              count());
}

// What a line declares costs no memory before it is judged, and so no time to fill it.
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
      ordered_json line = line_of(*op);
      std::vector<i64> shape(static_cast<std::size_t>(port.rank.min), 1);
      line["in"][k] = {{"shape", {}}, {"data", {1, 2}}};
      shape.back() = kMaxExtent;
      line["in"][k]["shape"] = shape;
      expect_cheap(line, "line.count");
      shape.back() = kMaxExtent + 1;
      line["in"][k]["shape"] = shape;
      expect_cheap(line, "input.extent");
      if (port.rank.max < 2) return;
      shape.assign(static_cast<std::size_t>(max(port.rank.min, 2)), 1);
      shape[0] = kMaxExtent;
      shape[1] = kMaxVolume / kMaxExtent;
      line["in"][k]["shape"] = shape;
      expect_cheap(line, "line.count");
      ++shape[1];
      line["in"][k]["shape"] = shape;
      expect_cheap(line, "input.volume");
    });
}

}  // namespace
}  // namespace lockstep::judge
