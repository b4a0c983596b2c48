/// @file
/// A backend's manifest as text: its kernels and claims, fixed before the run.
#pragma once
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "backends/backend.hpp"

namespace lockstep::backend {

/// A kernel of a manifest. The operator "*" stands for every operator.
struct Kernel {
  std::string op, name, isa;
  bool runnable = true;  ///< on this machine
};

/// What a backend promises; a broken promise is a failure.
struct Claims {
  std::vector<std::string> operators = {"*"};
  std::vector<std::string> layouts = {"compact", "strided"};
  std::string determinism = "D2";
  std::string errors = "label";  ///< "label", "class" or "none"
  int threads = 64;              ///< the most that the option `threads` accepts, if it exists
  bool text = false;             ///< whether attributes may be given as text
};

namespace detail {

inline std::string in_quotes(const std::string& s) { return "\"" + s + "\""; }

inline std::string list(const std::vector<std::string>& items) {
  std::string s;
  for (const std::string& i : items) s += (s.empty() ? "" : ", ") + i;
  return "[" + s + "]";
}

inline std::vector<std::string> all_in_quotes(std::vector<std::string> items) {
  for (std::string& i : items) i = in_quotes(i);
  return items;
}

}  // namespace detail

/// The JSON text of a manifest. Names consist of letters, digits, '_', '.' and '-'.
inline std::string manifest_of(const std::string& name, const std::vector<Kernel>& kernels,
    const Claims& claims, const std::vector<std::string>& options = {},
    const std::string& device = "CPU") {
  using detail::list, detail::in_quotes;
  std::vector<std::string> rows, operators;
  for (const Kernel& k : kernels)
    rows.push_back("{\"op\": " + in_quotes(k.op) + ", \"name\": " + in_quotes(k.name) +
        ", \"isa\": " + in_quotes(k.isa) + ", \"runnable\": " + (k.runnable ? "true" : "false") +
        "}");
  for (const std::string& op : claims.operators) operators.push_back(in_quotes(op) + ": {}");
  std::string claimed = list(operators);
  claimed.front() = '{';
  claimed.back() = '}';
  const bool counted = std::find(options.begin(), options.end(), "threads") != options.end();
  const std::string threads =
      counted ? ", \"threads\": [1, " + std::to_string(claims.threads) + "]" : "";
  return "{\"schema\": 1, \"name\": " + in_quotes(name) +
      ", \"version\": " + in_quotes(LOCKSTEP_VERSION) + ", \"device\": " + in_quotes(device) +
      ", \"options\": " + list(detail::all_in_quotes(options)) + ", \"kernels\": " + list(rows) +
      ", \"claims\": {\"operators\": " + claimed +
      ", \"layouts\": " + list(detail::all_in_quotes(claims.layouts)) +
      ", \"determinism\": " + in_quotes(claims.determinism) +
      ", \"errors\": " + in_quotes(claims.errors) + threads +
      (claims.text ? R"(, "attributes": ["values", "text"]}})" : "}}");
}

/// Reads an option, a decimal number in lo..hi. @throws LogicError `option.<key>` for other text.
inline int number_option(
    const Options& options, const std::string& key, int lo, int hi, int fallback) {
  const auto it = options.find(key);
  if (it == options.end()) return fallback;
  const std::string& text = it->second;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < lo || value > hi)
    throw LogicError("option." + key,
        "option " + key + " is '" + text + "', not a number of " + std::to_string(lo) + ".." +
            std::to_string(hi));
  return value;
}

/// Refuses options that a backend does not know.
/// @throws LogicError naming the first of them.
inline void refuse_options(const Options& given, const std::vector<std::string>& known = {}) {
  for (const auto& [key, value] : given)
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw LogicError("option.unknown", "no option '" + key + "'");
}

}  // namespace lockstep::backend
