#include "conformance/reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "conformance/base/form.h"
#include "conformance/trial/properties.h"

namespace lockstep::judge {
namespace {

std::string block(const Failure& f, const Report& r) {
  std::string s = fmt::format("{} violates {}{}\n", f.op == "*" ? printable(r.backend) : f.op,
      f.property, f.count > 1 ? fmt::format(" in {} cases", grouped(f.count)) : "");
  if (const std::string cause = cause_text(f); !cause.empty()) s += "  cause   " + cause + "\n";
  if (!f.id.empty()) s += "  case    " + shown_id(f.id) + "\n";
  s += "  shows   " + f.text + "\n";
  if (!f.known.empty()) s += "  known   " + printable(f.known) + "\n";
  if (!f.shrunk.empty()) s += "  shrunk  " + shown_id(f.shrunk) + "\n";
  if (!f.shrunk.empty() && !f.shrunk_text.empty()) s += "  shows   " + f.shrunk_text + "\n";
  if (!f.repeat.empty()) s += "  repeat  " + f.repeat + "\n";
  return s;
}

// Whether the verdict is named after failures of this kind.
bool names_verdict(const Failure& f, const Report& r) {
  return (r.verdict == "NONDETERMINISTIC" && f.property == kDeterministic.name) ||
      (r.verdict == "CRASH" && f.outcome == "crash") ||
      (r.verdict == "TIMEOUT" && f.outcome == "timeout");
}

// The first failure of each cluster, the largest clusters first, then all others; but first come
// those after which the verdict is named, and last the known ones.
std::vector<const Failure*> failures_in_order(const Report& r) {
  std::vector<const Failure*> first, rest;
  for (const Cluster& c : clusters(r)) {
    first.push_back(c.failures[0]);
    rest.insert(rest.end(), c.failures.begin() + 1, c.failures.end());
  }
  first.insert(first.end(), rest.begin(), rest.end());
  std::stable_partition(
      first.begin(), first.end(), [&](const Failure* f) { return names_verdict(*f, r); });
  // Known failures come last.
  std::stable_partition(
      first.begin(), first.end(), [](const Failure* f) { return f->unexpected(); });
  return first;
}

// How many rows a text takes on a screen, with its long lines wrapped.
i64 rows_of(const std::string& text, Screen screen) {
  i64 rows = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    rows += 1 + (screen.columns > 0 && !line.empty() ? (std::ssize(line) - 1) / screen.columns : 0);
  return rows;
}

std::string coloured(const std::string& line, const Report& r, bool colour) {
  if (!colour) return line;
  const string_view code = r.exit == Exit::pass ? "\033[1;32m" : "\033[1;31m";
  return fmt::format("{}{}\033[0m{}", code, r.verdict, line.substr(r.verdict.size()));
}

// Says whether every operator had enough cases; empty if that was not judged.
std::string floor_text(const Report& r) {
  if (!r.floor_judged) return "";
  return fmt::format(
      "floor {} per operator {}, ", tier_floor(r.tier), r.below_floor.empty() ? "met" : "NOT met");
}

// The size up to which calls were executed; empty if none were.
std::string size_text(const Report& r) {
  i64 most = 0;
  for (const auto& [op, n] : r.largest_tensor) most = std::max(most, n);
  return most == 0 ? "" : fmt::format("judged up to {} elements, ", grouped(most));
}

// How many properties were judged, and which, or which were not; empty if all or none were.
std::string judged_text(const Report& r) {
  std::vector<string_view> judged, others;
  for (const Property* p : kProperties) {
    const bool was = std::any_of(r.cells.begin(), r.cells.end(), [&](const auto& row) {
      const auto cell = row.second.find(std::string(p->name));
      return cell != row.second.end() && cell->second.judged > 0;
    });
    (was ? judged : others).push_back(p->name);
  }
  if (judged.empty() || others.empty()) return "";
  // A command or a file cannot be judged by every property: list those that were not judged, unless
  // the user chose some.
  const bool adapter = r.backend.starts_with("exec:") || r.backend.starts_with("results:");
  const bool few = judged.size() < others.size() && !(adapter && r.chosen.properties.empty());
  return fmt::format("\n  {} of {} properties judged{}{}", judged.size(), std::size(kProperties),
      few ? ": " : ", not ", fmt::join(few ? judged : others, ", "));
}

// Adds at most `most` texts, then how many more there are.
void add_remarks(std::vector<Remark>& all, const char* kind, const std::vector<std::string>& texts,
    i64 count, std::size_t most) {
  const std::size_t shown = std::min(most, texts.size());
  for (std::size_t k = 0; k < shown; ++k) all.push_back({kind, texts[k]});
  const i64 more = count - static_cast<i64>(shown);
  if (more > 0 && !texts.empty()) all.push_back({kind, grouped(more) + " more"});
}

// How much of the specification a run judges, unless it ended before it had cases.
std::string extent(const Report& r) {
  if (r.operators_all == 0 && r.counts.selected == 0) return "no case selected yet";
  return fmt::format(
      "{} of {} operators", std::min(r.operators_selected, r.operators_claimed), r.operators_all);
}

}  // namespace

std::vector<Remark> remarks(const Report& r, std::size_t most) {
  const Counts& c = r.counts;
  std::vector<Remark> all;
  add_remarks(all, "quarantined", r.quarantine, std::ssize(r.quarantine), most);
  for (const std::string& e : r.exceeded) all.push_back({"unexpected", e});
  for (const std::string& e : r.stale) all.push_back({"stale", e});
  if (c.selected == 0) all.push_back({"incomplete", "no case was selected"});
  if (c.selected > 0 && c.selected == c.not_claimed)
    all.push_back({"incomplete", "the backend claims none of the selected cases"});
  if (c.executed > 0 && deaths(r) == 0 && !any_judged(r))
    all.push_back({"incomplete", "no selected property applies to any case that ran"});
  add_remarks(all, "missing", r.missing, c.missing, most);
  if (!r.below_floor.empty())
    all.push_back({fmt::format("below the floor of {} executed legal cases", tier_floor(r.tier)),
        fmt::format("{}", fmt::join(r.below_floor, ", "))});
  return all;
}

std::string scope(const Report& r) {
  std::string s = (r.partial ? "SUBSET (" : "whole claim (") + extent(r) + ")";
  if (!r.chosen.model.empty()) {
    s += ", THE CALLS OF " + printable(r.chosen.model);
    if (r.typed_cases > 0) s += fmt::format(" BUT {} TOO LARGE TO RUN", grouped(r.typed_cases));
  }
  if (r.part.of > 1) s = fmt::format("SHARD {}/{} of {}", r.part.number, r.part.of, s);
  if (!r.determinism.empty()) s += ", determinism " + r.determinism;
  if (const i64 n = known_failures(r); n > 0)
    s += fmt::format(", KNOWN FAILURES ({}){}", n, r.exceeded.empty() ? "" : " AND OTHERS");
  return s;
}

std::string prefix_score_text(const Report& r) {
  if (r.chosen.budget == 0) return "";
  if (r.score.listed == 0) return "mutation score of these cases unknown";
  return fmt::format("at least {} of {} listed mutants die of these cases", grouped(r.score.killed),
      grouped(r.score.listed));
}

std::vector<const Failure*> failures_of(
    const Report& r, const std::string& op, const std::string& property) {
  std::vector<const Failure*> all;
  for (const Failure& f : r.failures)
    if (f.op == op && f.property == property) all.push_back(&f);
  return all;
}

std::string grouped(i64 n) {
  std::string s = std::to_string(n);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(s.size()) - 3; at > 0; at -= 3)
    s.insert(static_cast<std::size_t>(at), 1, ',');
  return s;
}

i64 capped_sum(i64 a, i64 b) { return std::min(a + b, form::kMaxCount); }

i64 digested(const Report& r) { return digested(r.outputs); }

std::string digest_of(const Report& r) { return digest_of(r.outputs); }

std::string verdict_line(const Report& r) {
  const Counts& c = r.counts;
  const Canaries canaries = all_canaries(r);
  const i64 tenths = r.legal_selected ? 1000 * r.legal_not_claimed / r.legal_selected : 0;
  std::string s =
      fmt::format("{}  {} {}  {}", r.verdict, printable(r.name), printable(r.version), scope(r));
  s += fmt::format(
      "\n  {} selected: {} executed, {} not claimed ({}.{}% of the legal calls), {} missing, "
      "{} quarantined",
      grouped(c.selected), grouped(c.executed), grouped(c.not_claimed), tenths / 10, tenths % 10,
      grouped(c.missing), grouped(c.quarantined));
  s += fmt::format("\n  {} executed: {} passed, {} failed, {} crashed, {} timed out; {} calls",
      grouped(c.executed), grouped(c.passed), grouped(c.failed), grouped(c.crashed),
      grouped(c.timed_out), grouped(c.calls));
  s += fmt::format("\n  tier {}, seed {}, canaries {}/{}, {}{}set {}", r.tier, r.seed,
      canaries.noticed, canaries.planted, floor_text(r), size_text(r), r.set_hash.substr(0, 16));
  s += judged_text(r);
  for (const auto& [property, c] : r.canaries)
    if (c.noticed < c.planted)
      s += fmt::format("\n  canaries of {}: {} of {} noticed", property, c.noticed, c.planted);
  if (const std::string power = prefix_score_text(r); !power.empty()) s += "\n  " + power;
  if (!r.ended_early.empty()) s += "\n  ended early, " + printable(r.ended_early);
  return s + "\n  " + exit_text(r.exit);
}

std::string summary(const Report& r, bool colour, Screen screen) {
  constexpr std::size_t kShown = 10, kOnAScreen = 3;
  std::string end;
  for (const auto& [kind, text] : remarks(r, screen.rows > 0 ? kOnAScreen : SIZE_MAX))
    end += kind + ": " + printable(text) + "\n";
  end += coloured(verdict_line(r), r, colour) + "\n";
  const std::vector<const Failure*> all = failures_in_order(r);
  std::string s;
  std::size_t shown = 0;
  // Keep room for the line that counts the rest and for the prompt of the shell.
  i64 room = screen.rows - rows_of(end, screen) - 3;
  for (; shown < std::min(kShown, all.size()); ++shown) {
    const std::string next = block(*all[shown], r) + "\n";
    room -= rows_of(next, screen);
    if (screen.rows > 0 && shown > 0 && room < 0) break;
    s += next;
  }
  if (all.size() > shown)
    s += fmt::format("{} more kinds of failure are in the report (--json FILE, --html FILE).\n\n",
        all.size() - shown);
  return s + end;
}

}  // namespace lockstep::judge
