#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/row.h"

namespace lockstep::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

double tenth(double v) { return std::round(v * 10) / 10; }
double thousandth(double v) { return std::round(v * 1000) / 1000; }

void put(Json& j, const Timing& t) {
  j["ns"] = tenth(t.median_ns);
  j["ns_min"] = tenth(t.min_ns);
  j["ns_max"] = tenth(t.max_ns);
  j["repetitions"] = t.repetitions;
}

Timing timing_of(const Json& j) {
  return {j.at("ns").get<double>(), j.at("ns_min").get<double>(), j.at("ns_max").get<double>(),
      j.at("repetitions").get<int>()};
}

Json json_of(const PeerTime& p, const Measurement& r) {
  Json j{{"name", p.name}, {"implementation", p.implementation}};
  if (!p.trouble.empty()) {
    j["trouble"] = p.trouble;
    return j;
  }
  put(j, p.time);
  j["different"] = p.different;
  j["compared"] = p.compared;
  j["ratio"] = thousandth(p.time.median_ns / r.time.median_ns);
  return j;
}

Json json_of(const Measurement& r) {
  Json j{{"op", r.op}, {"workload", r.workload}, {"case", r.call}, {"backend", r.backend},
      {"path", r.path}, {"threads", r.threads}, {"unit", r.unit}, {"units", r.units}};
  if (!r.trouble.empty()) {
    j["trouble"] = r.trouble;
    j["failed"] = r.failed;
    return j;
  }
  j["compared"] = r.compared;
  put(j, r.time);
  if (r.peak_bytes > 0) j["peak_bytes"] = r.peak_bytes;
  if (!r.limit.empty())
    j["limit"] = {{"name", r.limit}, {"ns", tenth(r.limit_ns)},
        {"percent", tenth(100 * r.limit_ns / r.time.median_ns)}};
  j["peers"] = Json::array();
  for (const PeerTime& p : r.peers) j["peers"].push_back(json_of(p, r));
  return j;
}

PeerTime peer_of(const Json& j) {
  PeerTime p{j.at("name"), j.at("implementation"), j.value("trouble", ""), 0, 0, {}};
  if (!p.trouble.empty()) return p;
  p.time = timing_of(j);
  p.different = j.at("different");
  p.compared = j.at("compared");
  return p;
}

Measurement row_of(const Json& j) {
  Measurement r;
  r.op = j.at("op");
  r.workload = j.at("workload");
  r.call = j.at("case");
  r.backend = j.at("backend");
  r.path = j.at("path");
  r.threads = j.at("threads");
  r.unit = j.at("unit");
  r.units = j.at("units");
  r.trouble = j.value("trouble", "");
  if (!r.trouble.empty()) {
    r.failed = j.at("failed");
    return r;
  }
  r.compared = j.at("compared");
  r.time = timing_of(j);
  r.peak_bytes = j.value("peak_bytes", i64{0});
  if (j.contains("limit")) {
    r.limit = j["limit"].at("name");
    r.limit_ns = j["limit"].at("ns");
  }
  for (const Json& p : j.at("peers")) r.peers.push_back(peer_of(p));
  return r;
}

constexpr const char* kSchemaText = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "Results of lockstep_bench: times in nanoseconds, of one call",
  "type": "object",
  "required": ["schema", "date", "machine", "rows"],
  "additionalProperties": false,
  "properties": {
    "schema": {"const": 1},
    "date": {"type": "string", "description": "UTC, when the run began"},
    "machine": {
      "type": "object",
      "required": ["processor", "processors", "load", "compiler", "peer_library"],
      "additionalProperties": false,
      "properties": {
        "processor": {"type": "string"},
        "processors": {"type": "integer"},
        "load": {"type": "number", "description": "when the run began; above 1, others worked"},
        "compiler": {"type": "string"},
        "peer_library": {"type": "string"}
      }
    },
    "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}
  },
  "$defs": {
    "row": {
      "type": "object",
      "required": ["op", "workload", "case", "backend", "path", "threads", "unit", "units"],
      "additionalProperties": false,
      "properties": {
        "op": {"type": "string", "description": "an operator, judge, params or build"},
        "workload": {"type": "string"},
        "case": {"type": "string", "description": "the call as verbs accept it, or a command"},
        "backend": {"type": "string"},
        "path": {"type": "string", "description": "the kernel that ran"},
        "threads": {"type": "integer"},
        "unit": {"enum": ["byte", "mac", "call", "case", "build"]},
        "units": {"type": "integer", "description": "of one call"},
        "compared": {"type": "integer", "description": "elements found right before timing"},
        "ns": {"type": "number", "description": "median of the repetitions"},
        "ns_min": {"type": "number"},
        "ns_max": {"type": "number"},
        "repetitions": {"type": "integer"},
        "peak_bytes": {"type": "integer", "description": "memory of all processes, at most"},
        "limit": {
          "type": "object",
          "required": ["name", "ns", "percent"],
          "additionalProperties": false,
          "properties": {
            "name": {"type": "string"},
            "ns": {"type": "number", "description": "the time in which it does the same work"},
            "percent": {"type": "number"}
          }
        },
        "peers": {"type": "array", "items": {"$ref": "#/$defs/peer"}},
        "trouble": {"type": "string", "description": "why there are no times"},
        "failed": {"type": "boolean", "description": "whether the trouble fails the run"}
      }
    },
    "peer": {
      "type": "object",
      "required": ["name", "implementation"],
      "additionalProperties": false,
      "properties": {
        "name": {"type": "string"},
        "implementation": {"type": "string", "description": "what the peer chose"},
        "ns": {"type": "number"},
        "ns_min": {"type": "number"},
        "ns_max": {"type": "number"},
        "repetitions": {"type": "integer"},
        "different": {"type": "integer", "description": "elements unlike the reference's"},
        "compared": {"type": "integer"},
        "ratio": {"type": "number", "description": "its time over ours: above 1, ours is faster"},
        "trouble": {"type": "string"}
      }
    }
  }
}
)";

}  // namespace

std::string json_of(const Results& results) {
  Json j{{"schema", kSchema}, {"date", results.date}};
  j["machine"] = {{"processor", results.processor}, {"processors", results.processors},
      {"load", tenth(results.load)}, {"compiler", results.compiler},
      {"peer_library", results.peer_library}};
  j["rows"] = Json::array();
  for (const Measurement& r : results.rows) j["rows"].push_back(json_of(r));
  return j.dump(1) + "\n";
}

std::string results_schema() { return kSchemaText; }

Results results_of(const std::string& json) {
  try {
    const Json j = Json::parse(json);
    if (j.at("schema") != kSchema) throw std::logic_error("its schema is not 1");
    const Json& m = j.at("machine");
    Results r{j.at("date"), m.at("processor"), m.at("compiler"), m.at("peer_library"),
        m.at("processors"), m.at("load").get<double>(), {}};
    for (const Json& row : j.at("rows")) r.rows.push_back(row_of(row));
    return r;
  } catch (const Json::exception& e) {
    throw std::logic_error(std::string("no result of lockstep_bench: ") + e.what());
  }
}

}  // namespace lockstep::bench
