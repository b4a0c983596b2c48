#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "conformance/reports/report.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

json counts_json(const Counts& c) {
  return {{"selected", c.selected}, {"executed", c.executed},       {"passed", c.passed},
          {"failed", c.failed},     {"not_claimed", c.not_claimed}, {"missing", c.missing},
          {"crashed", c.crashed},   {"timed_out", c.timed_out},     {"quarantined", c.quarantined},
          {"calls", c.calls}};
}

json failure_json(const Failure& f) {
  return {{"operator", f.op},
          {"property", f.property},
          {"case", f.id},
          {"text", f.text},
          {"count", f.count},
          {"shrunk", f.shrunk},
          {"shrunk_text", f.shrunk_text},
          {"repeat", f.repeat}};
}

std::string escaped(const std::string& s) {
  std::string out;
  for (char c : s) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 32 && c != '\n' ? ' ' : c;
    }
  }
  return out;
}

const Failure* failure_of(const Report& r, const std::string& op, const std::string& property) {
  for (const Failure& f : r.failures)
    if (f.op == op && f.property == property) return &f;
  return nullptr;
}

constexpr const char* kReportSchema = R"({
 "$schema": "https://json-schema.org/draft/2020-12/schema",
 "title": "Report of lockstep check",
 "type": "object",
 "required": ["schema", "verdict", "exit", "word", "backend", "scope", "tier", "seed", "set_hash",
              "counts", "canaries", "floor", "cells", "paths", "quarantine", "missing", "failures"],
 "additionalProperties": false,
 "properties": {
  "schema": {"const": 1},
  "verdict": {"enum": ["PASS", "FAIL", "NONDETERMINISTIC", "CRASH", "INCOMPLETE", "BROKEN"]},
  "exit": {"enum": [0, 1, 2, 3, 4]},
  "word": {"type": "string"},
  "backend": {
   "type": "object",
   "required": ["argument", "name", "version", "device", "manifest_sha256"],
   "additionalProperties": {"type": "string"}
  },
  "scope": {
   "type": "object",
   "required": ["subset", "operators_selected", "operators_claimed", "operators_all"],
   "properties": {"subset": {"type": "boolean"}},
   "additionalProperties": {"type": "integer", "minimum": 0}
  },
  "tier": {"type": "integer", "minimum": 0, "maximum": 3},
  "seed": {"type": "integer", "minimum": 0},
  "set_hash": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
  "counts": {
   "type": "object",
   "required": ["selected", "executed", "passed", "failed", "not_claimed", "missing", "crashed",
                "timed_out", "quarantined", "calls"],
   "additionalProperties": {"type": "integer", "minimum": 0}
  },
  "canaries": {
   "type": "object",
   "required": ["planted", "flagged"],
   "additionalProperties": {"type": "integer", "minimum": 0}
  },
  "floor": {
   "type": "object",
   "required": ["per_operator", "below"],
   "additionalProperties": false,
   "properties": {
    "per_operator": {"type": "integer", "minimum": 0},
    "below": {"type": "array", "items": {"type": "string"}}
   }
  },
  "cells": {
   "description": "operator, then property",
   "type": "object",
   "additionalProperties": {
    "type": "object",
    "additionalProperties": {
     "type": "object",
     "required": ["judged", "failed"],
     "additionalProperties": {"type": "integer", "minimum": 0}
    }
   }
  },
  "paths": {
   "description": "operator, then kernel: how often it ran",
   "type": "object",
   "additionalProperties": {
    "type": "object", "additionalProperties": {"type": "integer", "minimum": 1}
   }
  },
  "quarantine": {"type": "array", "items": {"type": "string"}},
  "missing": {
   "description": "the first of the cases that nobody answered; counts has their number",
   "type": "array", "items": {"type": "string"}
  },
  "failures": {
   "type": "array",
   "items": {
    "type": "object",
    "required": ["operator", "property", "case", "text", "count", "shrunk", "shrunk_text",
                 "repeat"],
    "properties": {"count": {"type": "integer", "minimum": 1}},
    "additionalProperties": {"type": "string"}
   }
  }
 }
}
)";

}  // namespace

std::string json_report(const Report& r) {
  json j = {{"schema", 1},
            {"verdict", r.verdict},
            {"exit", static_cast<int>(r.exit)},
            {"word", word_of(r.exit)},
            {"backend",
             {{"argument", r.backend},
              {"name", r.name},
              {"version", r.version},
              {"device", r.device},
              {"manifest_sha256", r.manifest_hash}}},
            {"scope",
             {{"subset", r.partial},
              {"operators_selected", r.operators_selected},
              {"operators_claimed", r.operators_claimed},
              {"operators_all", r.operators_all}}},
            {"tier", r.tier},
            {"seed", r.seed},
            {"set_hash", r.set_hash},
            {"counts", counts_json(r.counts)},
            {"canaries", {{"planted", r.canaries_planted}, {"flagged", r.canaries_flagged}}},
            {"floor", {{"per_operator", tier_floor(r.tier)}, {"below", r.below_floor}}},
            {"cells", json::object()},
            {"paths", r.paths},
            {"quarantine", r.quarantine},
            {"missing", json::array()},
            {"failures", json::array()}};
  for (const auto& [op, row] : r.cells)
    for (const auto& [property, cell] : row)
      j["cells"][op][property] = {{"judged", cell.judged}, {"failed", cell.failed}};
  for (std::size_t k = 0; k < r.missing.size() && k < kMissingNamed; ++k)
    j["missing"].push_back(r.missing[k]);
  for (const Failure& f : r.failures) j["failures"].push_back(failure_json(f));
  return j.dump(1, ' ', true, json::error_handler_t::replace) + "\n";
}

std::string report_schema() { return kReportSchema; }

std::string junit_report(const Report& r) {
  i64 tests = 0, failed = 0;
  std::string suites;
  for (const auto& [op, row] : r.cells) {
    i64 suite_failed = 0;
    std::string cases;
    for (const auto& [property, cell] : row) {
      const Failure* f = failure_of(r, op, property);
      suite_failed += f != nullptr;
      cases +=
          fmt::format("  <testcase classname=\"lockstep.{}\" name=\"{}\"", escaped(op), property);
      if (f)
        cases += fmt::format(">\n   <failure message=\"{}\">{}\n{}</failure>\n  </testcase>\n",
                             escaped(f->text), escaped(f->shrunk.empty() ? f->id : f->shrunk),
                             escaped(f->repeat));
      else
        cases += "/>\n";
    }
    suites +=
        fmt::format(" <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n{} </testsuite>\n",
                    escaped(op), row.size(), suite_failed, cases);
    tests += static_cast<i64>(row.size());
    failed += suite_failed;
  }
  // The verdict is a test of its own: a run that checked nothing must not look green.
  const bool passed = r.exit == Exit::pass;
  std::string text;
  for (const std::string& q : r.quarantine) text += "quarantined: " + q + "\n";
  suites += fmt::format(
      " <testsuite name=\"verdict\" tests=\"1\" failures=\"{}\">\n  <testcase "
      "classname=\"lockstep\" name=\"verdict\"{}\n </testsuite>\n",
      passed ? 0 : 1,
      passed ? "/>"
             : fmt::format("><failure message=\"{}\">{}</failure></testcase>", escaped(r.verdict),
                           escaped(text + verdict_line(r))));
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{}\" "
      "failures=\"{}\">\n{}</testsuites>\n",
      escaped(r.backend), tests + 1, failed + !passed, suites);
}

}  // namespace lockstep::judge
