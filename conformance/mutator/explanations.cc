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

// A line after mutation, or several that share a reason.
bool read_lines(const toml::node& value, std::vector<std::string>& lines) {
  if (value.is_string()) lines.push_back(**value.as_string());
  const toml::array* all = value.as_array();
  if (all && all->is_homogeneous<std::string>())
    for (const toml::node& line : *all) lines.push_back(**line.as_string());
  return !lines.empty();
}

void read_one(const std::string& file, const toml::table& table, std::vector<Explanation>& all) {
  Explanation e;
  std::vector<std::string> after;
  for (const auto& [key, value] : table) {
    const std::string name(key.str());
    std::string* text = name == "file"     ? &e.file
                        : name == "before" ? &e.before
                        : name == "reason" ? &e.reason
                                           : nullptr;
    if (text && value.is_string()) {
      *text = **value.as_string();
    } else if (name == "equivalent" && value.is_boolean()) {
      e.equivalent = **value.as_boolean();
    } else if (name != "after" || !read_lines(value, after)) {
      throw UsageError(fmt::format("{}: '{}' is no key of [[mutant]], or of another type",
                                   place(file, value.source()), name));
    }
  }
  if (e.file.empty() || e.before.empty() || after.empty() || e.reason.empty())
    throw UsageError(place(file, table.source()) + ": a mutant needs file, before, after, reason");
  for (const std::string& line : after) {
    e.after = line;
    all.push_back(e);
  }
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
  for (const toml::node& node : *list) read_one(file, *node.as_table(), explanations);
  return explanations;
}

}  // namespace lockstep::judge
