#include <fmt/format.h>
#include <toml++/toml.h>

#include <fstream>

#include "conformance/cases/case.h"
#include "conformance/mutator/campaign.h"

namespace lockstep::judge {
namespace {

std::string place(const std::string& file, const toml::source_region& at) {
  return fmt::format("{}:{}", file, at.begin.line);
}

Explanation read_one(const std::string& file, const toml::table& table) {
  Explanation e;
  for (const auto& [key, value] : table) {
    const std::string name(key.str());
    std::string* text = name == "file"     ? &e.file
                        : name == "before" ? &e.before
                        : name == "after"  ? &e.after
                        : name == "reason" ? &e.reason
                                           : nullptr;
    if (text && value.is_string()) {
      *text = **value.as_string();
    } else if (name == "equivalent" && value.is_boolean()) {
      e.equivalent = **value.as_boolean();
    } else {
      throw UsageError(fmt::format("{}: '{}' is no key of [[mutant]], or of another type",
                                   place(file, value.source()), name));
    }
  }
  if (e.file.empty() || e.before.empty() || e.reason.empty())
    throw UsageError(place(file, table.source()) + ": a mutant needs file, before, after, reason");
  return e;
}

}  // namespace

std::vector<Explanation> read_explanations(const std::string& file) {
  toml::table all;
  try {
    all = toml::parse_file(file);
  } catch (const toml::parse_error& e) {
    throw UsageError(fmt::format("{}: {}", place(file, e.source()), e.description()));
  }
  if (all.empty()) return {};
  const toml::array* list = all["mutant"].as_array();
  if (!list || all.size() != 1 || !list->is_homogeneous<toml::table>())
    throw UsageError(file + ": a list of survivors has [[mutant]] tables and nothing else");
  std::vector<Explanation> explanations;
  for (const toml::node& node : *list) explanations.push_back(read_one(file, *node.as_table()));
  return explanations;
}

}  // namespace lockstep::judge
