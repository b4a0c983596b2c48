#include <algorithm>

#include "conformance/specification/specification.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

// Cross-checks are not a part of the specification.
bool is_evidence(const std::string& key) { return key == "crosschecks" || key == "vector"; }

// The name of a list's element; empty if it has none.
std::string name_of(const json& element) {
  if (element.is_object())
    for (const char* key : {"name", "label", "text"})
      if (element.contains(key) && element[key].is_string()) return element[key];
  return {};
}

bool all_named(const json& list) {
  return std::all_of(list.begin(), list.end(), [](const json& e) { return !name_of(e).empty(); });
}

class SpecificationDiff {
 public:
  std::vector<std::string> found;

  void compare(const std::string& where, const json& before, const json& after) {
    if (before == after) return;
    if (before.is_object() && after.is_object())
      compare_objects(where, before, after);
    else if (before.is_array() && after.is_array() && all_named(before) && all_named(after))
      compare_lists(where, before, after);
    else
      found.push_back(where + ": " + before.dump() + " is now " + after.dump());
  }

 private:
  static std::string below(const std::string& where, const std::string& name) {
    return where.empty() ? name : where + "/" + name;
  }

  void compare_objects(const std::string& where, const json& before, const json& after) {
    for (const auto& [key, value] : before.items()) {
      if (is_evidence(key)) continue;
      if (after.contains(key))
        compare(below(where, key), value, after[key]);
      else
        found.push_back(below(where, key) + ": removed");
    }
    for (const auto& [key, value] : after.items())
      if (!is_evidence(key) && !before.contains(key))
        found.push_back(below(where, key) + ": added");
  }

  void compare_lists(const std::string& where, const json& before, const json& after) {
    const auto find = [](const json& list, const std::string& name) {
      return std::find_if(
          list.begin(), list.end(), [&](const json& e) { return name_of(e) == name; });
    };
    std::vector<std::string> kept_before, kept_after;
    for (const json& e : before) {
      const std::string name = name_of(e);
      const auto other = find(after, name);
      if (other == after.end()) {
        found.push_back(below(where, name) + ": removed");
      } else {
        kept_before.push_back(name);
        compare(below(where, name), e, *other);
      }
    }
    for (const json& e : after) {
      const std::string name = name_of(e);
      if (find(before, name) == before.end())
        found.push_back(below(where, name) + ": added");
      else
        kept_after.push_back(name);
    }
    if (kept_before != kept_after) found.push_back(where + ": in another order");
  }
};

}  // namespace

std::vector<std::string> specification_differences(const json& before, const json& after) {
  SpecificationDiff c;
  c.compare("", before, after);
  return c.found;
}

}  // namespace lockstep::judge
