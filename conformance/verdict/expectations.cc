#include "conformance/verdict/expectations.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "conformance/base/sha256.h"
#include "conformance/base/text.h"
#include "conformance/selection/select.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {
namespace {

constexpr string_view kFlaky = "flaky";

class ExpectationsReader {
 public:
  explicit ExpectationsReader(const std::string& file) : file_(file) {}

  std::vector<Expectation> read(const toml::table& all) const {
    std::vector<Expectation> entries;
    for (const auto& [key, value] : all) {
      const toml::array* list = key.str() == "expect" ? value.as_array() : nullptr;
      if (!list)
        refuse(value, fmt::format("'{}' is unknown; each entry is a table [[expect]]", key.str()));
      for (const toml::node& entry : *list) {
        if (!entry.is_table()) refuse(entry, "an entry is a table [[expect]]");
        entries.push_back(entry_of(*entry.as_table()));
      }
    }
    return entries;
  }
  std::string place(const toml::source_region& at) const {
    return fmt::format("{}:{}", file_, at.begin.line);
  }

 private:
  [[noreturn]] void refuse(const toml::node& at, const std::string& why) const {
    throw UsageError(place(at.source()) + ": " + why);
  }
  std::string text(const toml::table& t, const char* key, bool required) const {
    const toml::node* value = t.get(key);
    if (!value && required) refuse(t, fmt::format("an entry needs '{}'", key));
    if (!value) return "";
    if (!value->is_string() || value->as_string()->get().empty())
      refuse(*value, fmt::format("'{}' must be a text", key));
    return value->as_string()->get();
  }
  std::string date(const toml::table& t) const {
    const toml::node* value = t.get("expires");
    if (!value) refuse(t, "an entry needs 'expires'");
    if (!value->is_date()) refuse(*value, "'expires' must be a date, as 2027-01-31");
    const toml::date d = value->as_date()->get();
    return fmt::format("{:04}-{:02}-{:02}", d.year, d.month, d.day);
  }
  Expectation entry_of(const toml::table& t) const {
    constexpr std::array<string_view, 11> kKeys = {"operator", "property", "case", "kind", "reason",
        "link", "expires", "tier", "seed", "count", "ids"};
    for (const auto& [key, value] : t)
      if (std::find(kKeys.begin(), kKeys.end(), key.str()) == kKeys.end())
        refuse(value,
            fmt::format("'{}' is no key of an entry ({})", key.str(), fmt::join(kKeys, ", ")));
    Expectation e;
    e.place = place(t.source());
    e.op = text(t, "operator", true);
    e.property = text(t, "property", true);
    e.id = text(t, "case", false);
    e.reason = text(t, "reason", true);
    e.link = text(t, "link", false);
    e.expires = date(t);
    e.kind = text(t, "kind", true);
    if (e.kind != "fail" && e.kind != "crash" && e.kind != "timeout")
      refuse(*t.get("kind"), "'kind' must be fail, crash or timeout");
    if (const toml::node* tier = t.get("tier")) {
      const i64 number = tier->value<int64_t>().value_or(-1);
      if (number < 0 || number > 3) refuse(*tier, "'tier' must be 0, 1, 2 or 3");
      e.tier = static_cast<int>(number);
    }
    read_count(t, e);
    check_patterns(t, e);
    return e;
  }
  void read_count(const toml::table& t, Expectation& e) const {
    const toml::node *count = t.get("count"), *seed = t.get("seed");
    e.ids = text(t, "ids", count != nullptr);
    if (!count && (!e.ids.empty() || seed))
      refuse(t, "an entry with 'ids' or 'seed' needs 'count'");
    if (!count) return;
    e.count = count->value<int64_t>().value_or(0);
    if (e.count < 1) refuse(*count, "'count' must be 1 or more");
    if (!is_hash(e.ids)) refuse(*t.get("ids"), "'ids' must be 64 hexadecimal digits");
    if (!seed) return;
    // A seed beyond TOML's integers is written as a text.
    const std::string number = seed->is_string()
        ? seed->as_string()->get()
        : std::to_string(seed->value<int64_t>().value_or(-1));
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), e.seed);
    if (error != std::errc() || end != number.data() + number.size())
      refuse(*seed, "'seed' must be that of a run");
  }
  // Refuses a misspelt name, which would silently match nothing in every run.
  void check_patterns(const toml::table& t, const Expectation& e) const {
    const auto& ops = operators();
    if (e.op != "*" && std::none_of(ops.begin(), ops.end(), [&](const OpInfo* op) {
          return glob(e.op, op->name);
        }))
      refuse(*t.get("operator"), fmt::format("no operator matches '{}'", e.op));
    if (std::none_of(std::begin(kProperties), std::end(kProperties),
            [&](const Property* p) { return glob(e.property, p->name); }))
      refuse(*t.get("property"), fmt::format("no property matches '{}'", e.property));
    if (e.property == kDeterministic.name)
      refuse(*t.get("property"), "failures that come and go cannot be expected");
  }

  std::string file_;
};

bool names(const Expectation& e, const Item& item) {
  return glob(e.id, item.id) || (item.what == Item::vector && glob(e.id, case_id(item.call)));
}

// The expectation if it covers failures of this kind, else nullptr.
const Expectation* known(Expectation& e, string_view kind, const std::string& op,
    const std::string& property, const std::string& id) {
  if (e.kind != kind) return nullptr;
  ++e.matched;
  ++e.operators[op].failed;
  ++e.properties[property].failed;
  if (e.expired) return nullptr;
  e.seen.add(sha256(id));
  return &e;
}

void note_judged(Expectation& e, const std::string& op, const std::string& property) {
  ++e.judged;
  ++e.operators[op].judged;
  ++e.properties[property].judged;
}

// Whether the selection includes an expectation's operator and property.
bool selects(const Selection& s, const Expectation& e) {
  const std::vector<const OpInfo*> ops = selected_operators(s);
  return std::any_of(
             ops.begin(), ops.end(), [&](const OpInfo* op) { return glob(e.op, op->name); }) &&
      (s.properties.empty() ||
          std::any_of(s.properties.begin(), s.properties.end(),
              [&](const std::string& p) { return glob(e.property, p); }));
}

// Whether a run put every case of its selection, so that its failures can be compared with all
// expected ones.
bool is_whole(const Report& r) {
  return r.chosen.cases.empty() && r.chosen.model.empty() && r.chosen.budget == 0 &&
      r.part.of == 1 && r.counts.missing == 0 && r.counts.executed > 0;
}

bool is_pattern(const std::string& text) { return text.find_first_of("*?") != std::string::npos; }

// Whether the cases that an expectation counted are those of a run.
bool counts(const Report& r, const Expectation& e) {
  const bool all =
      r.chosen.operators.empty() && r.chosen.profiles.empty() && r.chosen.properties.empty();
  const bool patterns = is_pattern(e.op) || is_pattern(e.property);
  return e.count > 0 && !e.expired && is_whole(r) && r.chosen.nonce.empty() && r.tier == e.tier &&
      r.seed == e.seed && (all || !patterns) && selects(selection_of(r), e);
}

// How an expectation that counts cases is exceeded; empty if it is not.
std::string excess(const Report& r, const Expectation& e) {
  if (!counts(r, e) || e.seen.calls < e.count) return "";
  if (e.seen.calls > e.count)
    return fmt::format("counts {} failures, there are {}", e.count, e.seen.calls);
  return e.seen.sum == e.ids ? "" : fmt::format("counts {} failures, and others fail", e.count);
}

// Adds the operators or properties that were judged, and of which an expectation excuses nothing.
void add_idle(std::vector<std::string>& to, const std::map<std::string, Cell>& parts) {
  for (const auto& [name, cell] : parts)
    if (cell.judged > 0 && cell.failed == 0) to.push_back(name);
}

std::vector<std::string> idle_parts(const Expectation& e) {
  std::vector<std::string> names;
  if (e.count > 0 || e.matched == 0) return names;
  add_idle(names, e.operators);
  // A crash may show under any property, so no property without one is idle.
  if (e.kind == kind_of(Outcome::failed)) add_idle(names, e.properties);
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 6;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, names.size())));
  return fmt::format("{}{}", fmt::join(first, ", "),
      names.size() > kNamed ? fmt::format(" and {} more", names.size() - kNamed) : "");
}

std::string place_of(const Expectation& e) {
  return fmt::format("{} ({} {}{}{})", e.place, e.op, e.property, e.id.empty() ? "" : " ", e.id);
}

// A text as a TOML string, ASCII and of a readable length.
std::string toml_text(std::string text) {
  constexpr std::size_t kMost = 160;
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  std::string s = "\"";
  for (const char c : printable(std::move(text))) {
    if (c == '"' || c == '\\') s += '\\';
    s += static_cast<unsigned char>(c) < 127 ? c : '?';
  }
  return s + "\"";
}

// Why something fails, in the words of its first failure.
std::string reason_of(
    const Report& r, const std::string& op, const std::string& property, const std::string& kind) {
  for (const Failure& f : r.failures)
    if (f.op == op && f.property == property && f.outcome == kind) return f.text;
  return "it fails";
}

}  // namespace

std::vector<Expectation> read_expectations(const std::string& file, const std::string& today) {
  const ExpectationsReader reader(file);
  try {
    std::vector<Expectation> all = reader.read(toml::parse_file(file));
    for (Expectation& e : all) e.expired = e.expires < today;
    return all;
  } catch (const toml::parse_error& e) {
    const bool read = e.source().begin.line > 0;
    throw UsageError(
        (read ? reader.place(e.source()) : file) + ": " + std::string(e.description()));
  }
}

std::vector<const Expectation*> match_expectations(
    std::vector<Expectation>& all, const Item& item, i64 number, const ItemResult& result) {
  std::vector<const Expectation*> knowing(result.findings.size(), nullptr);
  const std::string op(item.call.op->name);
  for (Expectation& e : all) {
    if (!glob(e.op, op) || (!e.id.empty() && !names(e, item))) continue;
    std::vector<std::string> held = result.judged;
    for (std::size_t k = 0; k < knowing.size(); ++k) {
      const std::string& property = result.findings[k].first;
      std::erase(held, property);
      if (!glob(e.property, property)) continue;
      note_judged(e, op, property);
      const Expectation* found = known(e, expected_kind(result), op, property, item.id);
      if (!knowing[k]) knowing[k] = found;
    }
    for (const std::string& property : held) {
      if (!glob(e.property, property)) continue;
      note_judged(e, op, property);
      if (!e.id.empty() && e.passed.empty()) e.passed = item.id, e.passed_number = number;
    }
  }
  return knowing;
}

const Expectation* match_expectations(std::vector<Expectation>& all, const std::string& op,
    const std::string& property, const std::string& violation) {
  const Expectation* knowing = nullptr;
  for (Expectation& e : all) {
    if (!e.id.empty() || !glob(e.op, op) || !glob(e.property, property)) continue;
    note_judged(e, op, property);
    const Expectation* found = known(e, kind_of(Outcome::failed), op, property, violation);
    if (!knowing) knowing = found;
  }
  return knowing;
}

string_view kind_of(Outcome outcome) {
  return outcome == Outcome::timed_out ? "timeout" : outcome == Outcome::crashed ? "crash" : "fail";
}

std::string expected_kind(const ItemResult& result) {
  return std::string(result.flaky ? kFlaky : kind_of(result.outcome));
}

bool expects_crashes_of(const std::vector<Expectation>& all, string_view op) {
  return std::any_of(all.begin(), all.end(), [&](const Expectation& e) {
    return e.kind != kind_of(Outcome::failed) && !e.expired && e.id.empty() && glob(e.op, op);
  });
}

std::string expectations_of(const Report& r, const std::string& expires) {
  std::string s =
      "# What fails today, by `lockstep check --write-expectations`: say why, and until when.\n";
  for (const auto& [op, row] : r.failing)
    for (const auto& [property, kinds] : row)
      for (const auto& [kind, cases] : kinds) {
        if (kind == kFlaky) continue;
        s += fmt::format(
            "\n[[expect]]\noperator = \"{}\"\nproperty = \"{}\"\nkind = \"{}\"\nreason = {}\n"
            "expires = {}\ntier = {}\n",
            op, property, kind, toml_text(reason_of(r, op, property, kind)), expires, r.tier);
        if (r.seed != 1) s += fmt::format("seed = \"{}\"\n", r.seed);
        s += fmt::format("count = {}\nids = \"{}\"\n", cases.calls, cases.sum);
      }
  return s;
}

std::vector<std::string> stale(const Report& r) {
  const Selection s = selection_of(r);
  std::vector<std::string> texts;
  for (const Expectation& e : r.expectations) {
    const std::string what = place_of(e);
    const bool judged = is_whole(r) && s.tier >= e.tier && selects(s, e);
    const std::vector<std::string> idle = judged ? idle_parts(e) : std::vector<std::string>{};
    if (e.expired)
      texts.push_back(fmt::format("{} expired on {}", what, e.expires));
    else if (!e.passed.empty())
      texts.push_back(fmt::format("{}: {} passes", what, e.passed));
    else if (e.matched == 0 && judged)
      texts.push_back(what + (e.judged > 0 ? " passes" : " matches nothing"));
    else if (!idle.empty())
      texts.push_back(what + " excuses nothing of " + listed(idle));
    else if (counts(r, e) && e.seen.calls < e.count)
      texts.push_back(
          fmt::format("{} counts {} failures, there are {}", what, e.count, e.seen.calls));
  }
  return texts;
}

std::vector<std::string> exceeded(const Report& r) {
  std::vector<std::string> texts;
  for (const Expectation& e : r.expectations)
    if (const std::string how = excess(r, e); !how.empty())
      texts.push_back(place_of(e) + " " + how);
  return texts;
}

void disown_exceeded(Report& r) {
  for (const Expectation& e : r.expectations) {
    if (excess(r, e).empty()) continue;
    for (Failure& f : r.failures)
      if (f.known == e.why() && f.outcome == e.kind && glob(e.op, f.op) &&
          glob(e.property, f.property))
        f.known.clear();
  }
}

}  // namespace lockstep::judge
