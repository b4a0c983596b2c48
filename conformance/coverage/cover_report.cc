// Coverage as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "conformance/coverage/cover.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

constexpr char kCoverSchema[] = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "lockstep cover",
  "type": "object",
  "required": ["format", "tier", "seed", "set", "complete", "required", "covered", "operators"],
  "additionalProperties": false,
  "properties": {
    "format": {"const": 1},
    "tier": {"type": "integer", "minimum": 0, "maximum": 3},
    "seed": {"type": "integer", "minimum": 0},
    "set": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "complete": {"type": "boolean"},
    "required": {"type": "integer", "minimum": 0},
    "covered": {"type": "integer", "minimum": 0},
    "operators": {
      "type": "object",
      "additionalProperties": {
        "type": "object",
        "required": ["required", "covered", "cells", "combinations"],
        "additionalProperties": false,
        "properties": {
          "required": {"type": "integer", "minimum": 0},
          "covered": {"type": "integer", "minimum": 0},
          "cells": {
            "type": "array",
            "items": {
              "type": "object",
              "required": ["classes", "state"],
              "additionalProperties": false,
              "properties": {
                "classes": {
                  "type": "object",
                  "additionalProperties": {"type": "string"}
                },
                "state": {"enum": ["covered", "constant", "empty", "impossible"]},
                "case": {"type": "string"}
              }
            }
          },
          "combinations": {
            "type": "array",
            "items": {
              "type": "object",
              "required": ["classes", "required", "covered", "constant", "empty"],
              "additionalProperties": false,
              "properties": {
                "classes": {"type": "integer", "minimum": 2},
                "required": {"type": "integer", "minimum": 0},
                "covered": {"type": "integer", "minimum": 0},
                "constant": {"type": "integer", "minimum": 0},
                "empty": {
                  "type": "array",
                  "items": {"type": "object", "additionalProperties": {"type": "string"}}
                }
              }
            }
          }
        }
      }
    }
  }
}
)";

constexpr char kRow[] = "{:<22}{:>9}{:>9}{:>9}{:>9}{:>11}{:>13}{:>15}";

i64 covered(const CoverRow& r) { return r.required() - r.count(CoverCell::empty); }

template <class F> i64 total(const Cover& c, F number) {
  i64 n = 0;
  for (const CoverRow& r : c.rows) n += number(r);
  return n;
}

i64 required(const CoverRow& r) { return r.required(); }

// Cells in a state, an axis a line.
std::string listed(const CoverRow& r, CoverCell::State state) {
  std::string s, axis;
  for (const CoverCell& c : r.cells) {
    if (c.state != state) continue;
    const std::string text = c.text();
    const std::string begin = text.substr(0, text.rfind(": ") + 2);
    if (begin == axis)
      s += ", " + text.substr(begin.size());
    else
      s += fmt::format("\n    {}", text);
    axis = begin;
  }
  return s.empty() ? s : fmt::format("  {} {}:{}\n", r.op->name, name_of(state), s);
}

// "covered/required" of the combinations of one strength; empty if the operator has none.
std::string of_combinations(const CoverRow& r, std::size_t classes) {
  if (r.combinations.size() < classes - 1) return "";
  const CombinationCoverage& t = r.combinations[classes - 2];
  return fmt::format("{}/{}", t.covered, t.required);
}

// The first empty combinations.
std::string listed_combinations(const CoverRow& r) {
  constexpr std::size_t kNamed = 3;
  std::string s;
  for (const CombinationCoverage& t : r.combinations) {
    if (t.empty.empty()) continue;
    s += fmt::format(
        "  {} lacks {} combinations of {} classes:\n", r.op->name, t.empty.size(), t.classes);
    for (std::size_t k = 0; k < std::min(kNamed, t.empty.size()); ++k)
      s += "    " + text_of(t.empty[k]) + "\n";
    if (t.empty.size() > kNamed) s += "    ... (all of them: --json FILE)\n";
  }
  return s;
}

i64 required_combinations(const CoverRow& r) {
  i64 n = 0;
  for (const CombinationCoverage& t : r.combinations) n += t.required;
  return n;
}
i64 covered_combinations(const CoverRow& r) {
  i64 n = 0;
  for (const CombinationCoverage& t : r.combinations) n += t.covered;
  return n;
}

json classes_json(const std::vector<CallClass>& classes) {
  json j = json::object();
  for (const CallClass& f : classes) j[f.axis] = f.value;
  return j;
}

json combinations_json(const CoverRow& r) {
  json all = json::array();
  for (const CombinationCoverage& t : r.combinations) {
    json empty = json::array();
    for (const std::vector<CallClass>& e : t.empty) empty.push_back(classes_json(e));
    all.push_back({{"classes", t.classes}, {"required", t.required}, {"covered", t.covered},
        {"constant", t.constant}, {"empty", empty}});
  }
  return all;
}

}  // namespace

std::string cover_text(const Cover& c) {
  const auto line = [](const auto&... columns) {
    const std::string s = fmt::format(kRow, columns...);
    return s.substr(0, s.find_last_not_of(' ') + 1) + "\n";
  };
  std::string s = line(
      "operator", "required", "covered", "constant", "empty", "impossible", "pairs", "triples");
  for (const CoverRow& r : c.rows)
    s += line(r.op->name, r.required(), covered(r), r.count(CoverCell::constant),
        r.count(CoverCell::empty), r.count(CoverCell::impossible), of_combinations(r, 2),
        of_combinations(r, 3));
  for (CoverCell::State state : {CoverCell::impossible, CoverCell::empty})
    for (const CoverRow& r : c.rows) s += listed(r, state);
  for (const CoverRow& r : c.rows) s += listed_combinations(r);
  return s +
      fmt::format(
          "{}  {} of {} required cells and {} of {} combinations of {} operators; tier {}, seed "
          "{}, set {}\n",
          c.complete() ? "COMPLETE" : "INCOMPLETE", total(c, covered), total(c, required),
          total(c, covered_combinations), total(c, required_combinations), c.rows.size(), c.tier,
          c.seed, c.set_hash.substr(0, 16));
}

std::string cover_json(const Cover& c) {
  json operators = json::object();
  for (const CoverRow& r : c.rows) {
    json cells = json::array();
    for (const CoverCell& cell : r.cells) {
      json j = {{"classes", classes_json(cell.classes)}, {"state", name_of(cell.state)}};
      if (!cell.id.empty()) j["case"] = cell.id;
      cells.push_back(j);
    }
    operators[std::string(r.op->name)] = {{"required", r.required()}, {"covered", covered(r)},
        {"cells", cells}, {"combinations", combinations_json(r)}};
  }
  return json{{"format", 1}, {"tier", c.tier}, {"seed", c.seed}, {"set", c.set_hash},
             {"complete", c.complete()}, {"required", total(c, required)},
             {"covered", total(c, covered)}, {"operators", operators}}
             .dump(1) +
      "\n";
}

std::string cover_schema() { return kCoverSchema; }

}  // namespace lockstep::judge
