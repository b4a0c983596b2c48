#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "conformance/mutator/campaign.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

constexpr i64 kRequiredPercent = 95;

std::string percent(const SourceScore& s) {
  return fmt::format("{}.{}", s.tenths() / 10, s.tenths() % 10);
}

// Counts the mutants by the test that noticed them, in the order in which tests first noticed one.
std::string noticed_text(const std::vector<SourceFate>& fates) {
  std::vector<std::pair<std::string, int>> counts;
  for (const SourceFate& f : fates) {
    if (f.noticed_by.empty()) continue;
    const auto known = std::find_if(
        counts.begin(), counts.end(), [&](const auto& c) { return c.first == f.noticed_by; });
    if (known == counts.end())
      counts.emplace_back(f.noticed_by, 1);
    else
      ++known->second;
  }
  std::string text;
  for (const auto& [test, n] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "noticed first by " : ", ", test, n);
  return text.empty() ? "" : text + "\n";
}

}  // namespace

i64 SourceScore::tenths() const { return judged() > 0 ? 1000 * dead / judged() : 0; }

Exit SourceScore::exit() const {
  if (judged() == 0) return Exit::incomplete;
  return tenths() >= 10 * kRequiredPercent ? Exit::pass : Exit::fail;
}

SourceScore score_of(const std::vector<SourceFate>& fates) {
  SourceScore s;
  for (const SourceFate& f : fates) {
    s.dead += f.state == SourceFate::dead;
    s.survived += f.state == SourceFate::survived;
    s.equivalent += f.state == SourceFate::equivalent;
    s.not_compiled += f.state == SourceFate::not_compiled;
  }
  return s;
}

std::string fate_text(const SourceFate& f) {
  return fmt::format("{:<12} {}:{} {}\n    - {}\n    + {}\n", name_of(f.state), f.edit.file,
             f.edit.line, f.edit.kind, f.before, f.after) +
      (f.detail.empty() ? ""
                        : fmt::format("    {}{}{}\n", f.noticed_by, f.noticed_by.empty() ? "" : " ",
                              f.detail));
}

std::string score_text(const std::string& room, u64 seed, const std::vector<SourceFate>& fates) {
  const SourceScore s = score_of(fates);
  std::string text = s.survived > 0 ? "\nNo test noticed:\n" : "";
  for (const SourceFate& f : fates)
    if (f.state == SourceFate::survived) text += fate_text(f);
  return text + noticed_text(fates) +
      fmt::format(
          "{}: {} of {} mutants are dead, {} % of at least {} %; {} survived\n"
          "{} equivalent, {} did not compile; seed {}\n{}\n",
          room, s.dead, s.judged(), percent(s), kRequiredPercent, s.survived, s.equivalent,
          s.not_compiled, seed, exit_text(s.exit()));
}

std::string fates_json(const std::string& room, u64 seed, const std::vector<SourceFate>& fates) {
  json rows = json::array();
  for (const SourceFate& f : fates)
    rows.push_back({{"file", f.edit.file}, {"line", f.edit.line}, {"kind", f.edit.kind},
        {"before", f.before}, {"after", f.after}, {"state", name_of(f.state)},
        {"noticed_by", f.noticed_by}, {"detail", f.detail}});
  const SourceScore score = score_of(fates);
  return json{{"source", room}, {"seed", seed}, {"percent_dead", percent(score)},
             {"dead", score.dead}, {"survived", score.survived}, {"equivalent", score.equivalent},
             {"not_compiled", score.not_compiled}, {"mutants", rows}}
             .dump(1) +
      "\n";
}

}  // namespace lockstep::judge
