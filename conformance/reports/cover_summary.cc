// What a page shows of `lockstep cover --json`.
#include "conformance/reports/form.h"
#include "conformance/reports/html.h"

namespace lockstep::judge {
namespace {

using form::json;

const json& member(const json& j, const char* key, const std::string& at) {
  if (!j.is_object() || !j.contains(key)) form::wrong(at + "/" + key, "is missing");
  return j[key];
}

// A cell as its axes and their values.
std::string cell_text(const json& cell, const std::string& at) {
  std::map<std::string, std::string> features;
  form::read(member(cell, "features", at), at + "/features", features);
  std::string s;
  for (const auto& [axis, value] : features) s += (s.empty() ? "" : ", ") + axis + ": " + value;
  return s;
}

CoverSummary::Row row_of(const json& j, const std::string& at) {
  CoverSummary::Row row;
  form::read(member(j, "required", at), at + "/required", row.required);
  form::read(member(j, "covered", at), at + "/covered", row.covered);
  const json& cells = member(j, "cells", at);
  if (!cells.is_array()) form::wrong(at + "/cells", "is no list");
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const std::string here = at + "/cells/" + std::to_string(k);
    std::string state;
    form::read(member(cells[k], "state", here), here + "/state", state);
    if (state == "empty") row.empty.push_back(cell_text(cells[k], here));
  }
  return row;
}

}  // namespace

CoverSummary read_cover(const std::string& text) {
  const json j = json::parse(text, nullptr, false);
  if (j.is_discarded()) throw UsageError("it is no JSON");
  CoverSummary c;
  form::read(member(j, "set", ""), "/set", c.set_hash, {.hash = true});
  const json& rows = member(j, "operators", "");
  if (!rows.is_object()) form::wrong("/operators", "is no object");
  for (const auto& [op, row] : rows.items()) c.operators[op] = row_of(row, "/operators/" + op);
  return c;
}

}  // namespace lockstep::judge
