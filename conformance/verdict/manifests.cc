#include "conformance/verdict/manifests.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "conformance/base/sha256.h"
#include "conformance/base/usage_error.h"
#include "conformance/cases/case.h"
#include "conformance/subjects/manifest.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* kManifest = R"json({"name": "n", "version": "1", "device": "d",
    "options": ["isa", "threads"],
    "kernels": [{"op": "*", "name": "any", "isa": "portable", "runnable": true},
                {"op": "relu", "name": "fast", "isa": "wide", "runnable": false}],
    "claims": {"operators": {"*": {"rank": [2, 3], "precision": [4, 8], "extent": [2, 5],
                                   "attrs": {"keepdims": ["1"]}},
                             "relu": {},
                             "conv2d": {"attrs": {"strides": ["(1,1)", "[2, 2]"]}}},
               "layouts": ["compact", "strided"], "attributes": ["values", "text"],
               "threads": [2, 16], "determinism": "D2", "errors": "label"}})json";

// What stands in the place of each member in turn.
constexpr const char* kOthers[] = {"null", "true", "0", "1", "-1", "9223372036854775808", "\"\"",
    "\"x\"", "\"~\"", "\"\\u007f\"", "\" \"", "\"\\u001f\"", "\"class\"", "\"none\"", "\"D0\"",
    "\"abs\"", "[]", "[\"1\"]", "[1]", "[1, 1]", "[3, 2]", "[0, 3]", "[1, 2, 3]",
    "[0, 9223372036854775807]", "[[1]]", "{}", "{\"x\": [1, 2]}", "{\"rank\": [1, 1]}", "[{}]"};

// Calls at the ends of the claims above.
constexpr const char* kCalls[] = {"relu/in=1@1", "abs/in=2x5@4", "abs/in=2@4", "abs/in=2x2x2x2@8",
    "abs/in=2x2@3", "abs/in=2x2@9", "abs/in=2x1@8", "abs/in=2x6@8", "abs/in=2@3",
    "elemwise_add/in=2x2@8+2x2@9", "sum/keepdims=1/in=2x2@8", "sum/keepdims=0/in=2x2@8",
    "conv2d/channels=2/kernel_size=1,1/use_bias=0/strides=2,2/in=1x2x3x3@8+2x2x1x1@8",
    "conv2d/channels=2/kernel_size=1,1/use_bias=0/strides=1,2/in=1x2x3x3@8+2x2x1x1@8"};

std::string text_of(const Manifest& m) {
  std::string s =
      fmt::format("{} {} {} {} {} {} {} {}-{}", m.name, m.version, m.device, m.determinism,
          static_cast<int>(m.errors), m.strided, m.reads_text, m.threads.min, m.threads.max);
  for (const std::string& o : m.options) s += " " + o;
  for (const KernelInfo& k : m.kernels)
    s += fmt::format("\n{} {} {} {}", k.op, k.name, k.isa, k.runnable);
  for (const char* op : {"relu", "abs"})
    s += fmt::format("\n{} {} {}", m.claims_operator(op), m.kernel(op, "fast") != nullptr,
        m.kernel(op, "any") != nullptr);
  for (const char* call : kCalls) s += m.claims_call(parse_case(call)) ? " 1" : " 0";
  return s;
}

std::string read(const std::string& text) {
  try {
    return text_of(parse_manifest(text)) + "\n";
  } catch (const UsageError& e) {
    return std::string(e.what()) + "\n";
  }
}

// Reads the whole without one of its parts, and with others in the part's place; then goes on with
// the parts of that.
void vary(const json& whole, const json::json_pointer& place, std::string& all) {
  const json& here = whole.at(place);
  for (const char* other : kOthers) {
    json changed = whole;
    changed.at(place) = json::parse(other);
    all += read(changed.dump());
  }
  if (!place.empty()) {
    json less = whole;
    json& parent = less.at(place.parent_pointer());
    if (parent.is_object())
      parent.erase(place.back());
    else
      parent.erase(std::stoul(place.back()));
    all += read(less.dump());
  }
  if (!here.is_structured()) return;
  for (const auto& part : here.items()) vary(whole, place / part.key(), all);
}

}  // namespace

std::string manifests_hash() {
  const json whole = json::parse(kManifest);
  std::string all = read(whole.dump()) + text_of(default_manifest("d"));
  vary(whole, json::json_pointer(), all);
  return sha256(all);
}

}  // namespace lockstep::judge
