#include "conformance/verdict/expectations.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>

#include "conformance/base/text.h"
#include "conformance/selection/select.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {
namespace {

string_view kind_of(Outcome outcome) {
  return outcome == Outcome::timed_out ? "timeout" : outcome == Outcome::crashed ? "crash" : "fail";
}

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
    constexpr std::array<string_view, 8> kKeys = {
        "operator", "property", "case", "kind", "reason", "link", "expires", "tier"};
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
    check_patterns(t, e);
    return e;
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
  }

  std::string file_;
};

bool names(const Expectation& e, const Item& item) {
  return glob(e.id, item.id) || (item.what == Item::vector && glob(e.id, case_id(item.call)));
}

// The expectation if it covers failures of this kind, else nullptr.
const Expectation* known(Expectation& e, string_view kind) {
  if (e.kind != kind) return nullptr;
  ++e.matched;
  return e.expired ? nullptr : &e;
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
  for (Expectation& e : all) {
    if (!glob(e.op, item.call.op->name) || (!e.id.empty() && !names(e, item))) continue;
    std::vector<std::string> held = result.judged;
    for (std::size_t k = 0; k < knowing.size(); ++k) {
      const std::string& property = result.findings[k].first;
      std::erase(held, property);
      if (!glob(e.property, property)) continue;
      ++e.judged;
      const Expectation* found = known(e, kind_of(result.outcome));
      if (!knowing[k]) knowing[k] = found;
    }
    for (const std::string& property : held) {
      if (!glob(e.property, property)) continue;
      ++e.judged;
      if (!e.id.empty() && e.passed.empty()) e.passed = item.id, e.passed_number = number;
    }
  }
  return knowing;
}

const Expectation* match_expectations(
    std::vector<Expectation>& all, const std::string& op, const std::string& property) {
  const Expectation* knowing = nullptr;
  for (Expectation& e : all) {
    if (!e.id.empty() || !glob(e.op, op) || !glob(e.property, property)) continue;
    ++e.judged;
    const Expectation* found = known(e, kind_of(Outcome::failed));
    if (!knowing) knowing = found;
  }
  return knowing;
}

bool expects_crashes_of(const std::vector<Expectation>& all, string_view op) {
  return std::any_of(all.begin(), all.end(), [&](const Expectation& e) {
    return e.kind != kind_of(Outcome::failed) && !e.expired && e.id.empty() && glob(e.op, op);
  });
}

std::vector<std::string> stale(const Report& r) {
  const Selection s = selection_of(r);
  const bool whole = s.cases.empty() && s.budget == 0 && s.part.of == 1 && r.counts.missing == 0 &&
      r.counts.executed > 0;
  std::vector<std::string> texts;
  for (const Expectation& e : r.expectations) {
    const std::string what =
        fmt::format("{} ({} {}{}{})", e.place, e.op, e.property, e.id.empty() ? "" : " ", e.id);
    if (e.expired)
      texts.push_back(fmt::format("{} expired on {}", what, e.expires));
    else if (!e.passed.empty())
      texts.push_back(fmt::format("{}: {} passes", what, e.passed));
    else if (e.matched == 0 && whole && s.tier >= e.tier && selects(s, e))
      texts.push_back(what + (e.judged > 0 ? " passes" : " matches nothing"));
  }
  return texts;
}

}  // namespace lockstep::judge
