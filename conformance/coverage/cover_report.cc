// What was covered, for people and for programs.
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
        "required": ["required", "covered", "cells"],
        "additionalProperties": false,
        "properties": {
          "required": {"type": "integer", "minimum": 0},
          "covered": {"type": "integer", "minimum": 0},
          "cells": {
            "type": "array",
            "items": {
              "type": "object",
              "required": ["features", "state"],
              "additionalProperties": false,
              "properties": {
                "features": {
                  "type": "object",
                  "additionalProperties": {"type": "string"}
                },
                "state": {"enum": ["covered", "constant", "empty", "impossible"]},
                "case": {"type": "string"}
              }
            }
          }
        }
      }
    }
  }
}
)";

i64 covered(const CoverRow& r) { return r.required() - r.count(CoverCell::empty); }

template <class F>
i64 total(const Cover& c, F number) {
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

}  // namespace

std::string cover_text(const Cover& c) {
  std::string s = fmt::format("{:<22}{:>9}{:>9}{:>9}{:>9}{:>11}\n", "operator", "required",
                              "covered", "constant", "empty", "impossible");
  for (const CoverRow& r : c.rows)
    s += fmt::format("{:<22}{:>9}{:>9}{:>9}{:>9}{:>11}\n", r.op->name, r.required(), covered(r),
                     r.count(CoverCell::constant), r.count(CoverCell::empty),
                     r.count(CoverCell::impossible));
  for (CoverCell::State state : {CoverCell::impossible, CoverCell::empty})
    for (const CoverRow& r : c.rows) s += listed(r, state);
  return s + fmt::format("{}  {} of {} required cells of {} operators; tier {}, seed {}, set {}\n",
                         c.complete() ? "COMPLETE" : "INCOMPLETE", total(c, covered),
                         total(c, required), c.rows.size(), c.tier, c.seed,
                         c.set_hash.substr(0, 16));
}

std::string cover_json(const Cover& c) {
  json operators = json::object();
  for (const CoverRow& r : c.rows) {
    json cells = json::array();
    for (const CoverCell& cell : r.cells) {
      json features = json::object();
      for (const Feature& f : cell.features) features[f.axis] = f.value;
      json j = {{"features", features}, {"state", name_of(cell.state)}};
      if (!cell.id.empty()) j["case"] = cell.id;
      cells.push_back(j);
    }
    operators[std::string(r.op->name)] = {
        {"required", r.required()}, {"covered", covered(r)}, {"cells", cells}};
  }
  return json{{"format", 1},
              {"tier", c.tier},
              {"seed", c.seed},
              {"set", c.set_hash},
              {"complete", c.complete()},
              {"required", total(c, required)},
              {"covered", total(c, covered)},
              {"operators", operators}}
             .dump(1) +
         "\n";
}

std::string cover_schema() { return kCoverSchema; }

}  // namespace lockstep::judge
