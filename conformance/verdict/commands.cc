#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "conformance/base/sha256.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {
namespace {

std::string backend_words(const std::string& backend, const Options& options) {
  std::string s = shell_word(backend);
  for (const auto& [key, value] : options) s += " --set " + shell_word(key + "=" + value);
  return s;
}

}  // namespace

std::string shown_id(const std::string& id) {
  constexpr std::size_t kKept = 200, kOfHash = 16;
  return id.size() <= kMaxShown ? id : id.substr(0, kKept) + "...#" + sha256(id).substr(0, kOfHash);
}

std::string shell_word(const std::string& word) {
  if (printable(word) != word) {
    std::string escaped;
    for (char c : word) escaped += fmt::format("\\0{:03o}", static_cast<unsigned char>(c));
    return "\"$(printf %b '" + escaped + "')\"";
  }
  const bool plain = std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) ||
        string_view("_-./=:,+@").find(static_cast<char>(c)) != string_view::npos;
  });
  if (plain && !word.empty()) return word;
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string repeat_command(const std::string& backend, const Options& options,
    const std::string& id, const std::string& property, const std::string& model) {
  std::string s = "lockstep repro " + backend_words(backend, options);
  if (!model.empty()) s += " --model " + shell_word(model);
  if (!property.empty()) s += " --property " + property;
  if (const std::string shown = shown_id(id); shown != id)
    return s + " '@failures.txt" + shown.substr(shown.rfind('#')) + "'";
  return s + " '" + id + "'";
}

std::string repeat_command(const Report& r, const Failure& f) {
  return repeat_command(
      r.backend, r.options, f.shrunk.empty() ? f.id : f.shrunk, f.property, r.chosen.model);
}

std::string check_command(const Report& r) {
  std::string s = fmt::format(
      "lockstep check {} --tier {} --seed {}", backend_words(r.backend, r.options), r.tier, r.seed);
  for (const auto& [option, words] : {std::pair{"--op", &r.chosen.operators},
           {"--profile", &r.chosen.profiles}, {"--property", &r.chosen.properties}})
    if (!words->empty())
      s += fmt::format(" {} {}", option, shell_word(fmt::format("{}", fmt::join(*words, ","))));
  for (const std::string& id : r.chosen.cases) s += " --case " + shell_word(id);
  if (!r.chosen.model.empty()) s += " --model " + shell_word(r.chosen.model);
  if (r.chosen.budget > 0) s += fmt::format(" --budget {}", r.chosen.budget);
  if (!r.chosen.nonce.empty()) s += " --nonce " + shell_word(r.chosen.nonce);
  return s;
}

}  // namespace lockstep::judge
