// Summarizes the output of `lockstep cover --json` for a page.
#include "conformance/base/form.h"
#include "conformance/reports/html.h"

namespace lockstep::judge {
namespace {

const form::json& member(const form::json& j, const char* key, const std::string& at) {
  if (!j.is_object() || !j.contains(key)) form::wrong(at + "/" + key, "is missing");
  return j[key];
}

const form::json& list(const form::json& j, const char* key, const std::string& at) {
  const form::json& all = member(j, key, at);
  if (!all.is_array()) form::wrong(at + "/" + key, "is no list");
  return all;
}

// The classes of a combination as text, each after its axis.
std::string classes_text(const form::json& j, const std::string& at) {
  std::map<std::string, std::string> classes;
  form::read(j, at, classes);
  std::string s;
  for (const auto& [axis, value] : classes) s += (s.empty() ? "" : ", ") + axis + ": " + value;
  return s;
}

void add_combinations(CoverSummary::Cells& row, const form::json& j, const std::string& at) {
  i64 classes = 0;
  form::read(member(j, "classes", at), at + "/classes", classes);
  auto& [covered, required] = row.combinations[classes];
  form::read(member(j, "covered", at), at + "/covered", covered);
  form::read(member(j, "required", at), at + "/required", required);
  const form::json& empty = list(j, "empty", at);
  for (std::size_t k = 0; k < empty.size(); ++k)
    row.empty.push_back(classes_text(empty[k], at + "/empty/" + std::to_string(k)));
}

CoverSummary::Cells row_of(const form::json& j, const std::string& at) {
  CoverSummary::Cells row;
  form::read(member(j, "required", at), at + "/required", row.required);
  form::read(member(j, "covered", at), at + "/covered", row.covered);
  const form::json& cells = list(j, "cells", at);
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const std::string here = at + "/cells/" + std::to_string(k);
    std::string state;
    form::read(member(cells[k], "state", here), here + "/state", state);
    if (state == "empty")
      row.empty.push_back(classes_text(member(cells[k], "classes", here), here + "/classes"));
  }
  const form::json& combinations = list(j, "combinations", at);
  for (std::size_t k = 0; k < combinations.size(); ++k)
    add_combinations(row, combinations[k], at + "/combinations/" + std::to_string(k));
  return row;
}

}  // namespace

CoverSummary read_cover(const std::string& text) {
  const form::json j = form::json::parse(text, nullptr, false);
  if (j.is_discarded()) throw UsageError("it is no JSON");
  CoverSummary c;
  form::read(member(j, "set", ""), "/set", c.set_hash, {.hash = true});
  const form::json& rows = member(j, "operators", "");
  if (!rows.is_object()) form::wrong("/operators", "is no object");
  for (const auto& [op, row] : rows.items()) c.operators[op] = row_of(row, "/operators/" + op);
  return c;
}

}  // namespace lockstep::judge
