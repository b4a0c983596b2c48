/// @file
/// Failures that the owner of a backend knows of: a file in the backend's own repository, and what
/// a run makes of it.
#pragma once
#include <string>
#include <vector>

#include "conformance/verdict/verdict.h"

namespace lockstep::judge {

struct Report;

/// A failure that the owner of a backend knows of, and what a run made of it.
struct Expectation {
  std::string place;         ///< where it is written: the file and the line
  std::string op, property;  ///< patterns: they match whole texts, with '*' and '?'
  std::string id;            ///< pattern of cases; empty: some case of the operator
  std::string kind;          ///< fail, crash or timeout
  std::string reason, link;
  std::string expires;          ///< the last day on which it holds, as 2027-01-31
  int tier = 0;                 ///< the lowest at which it has to show
  bool expired = false;         ///< so that it excuses nothing
  i64 matched = 0, judged = 0;  ///< violations and judgements that the patterns match
  std::string passed;           ///< the first case named here that holds
  i64 passed_number = -1;       ///< its number in the set; -1: there is none
  /// The reason, and the link if there is one.
  std::string why() const { return link.empty() ? reason : reason + " (" + link + ")"; }
};

/// Reads a file of expectations. TOML: a table [[expect]] for each.
/// @param today as 2026-01-31; what expired before excuses nothing.
/// @throws UsageError naming the place and what is wrong there.
std::vector<Expectation> read_expectations(const std::string& file, const std::string& today);

/// Confronts expectations with a case's result. @return for each finding, the one that knows it, or
/// nullptr; empty where the case was quarantined.
std::vector<const Expectation*> confront(std::vector<Expectation>& all, const Item& item,
                                         i64 number, const ItemResult& result);
/// The same for a failure of the whole run.
const Expectation* confront(std::vector<Expectation>& all, const std::string& op,
                            const std::string& property);

/// Whether an operator is known to end its process, so that its quarantine is known, too.
bool know_deaths_of(const std::vector<Expectation>& all, string_view op);

/// The expectations that no longer say what is: expired, matching nothing, or of what passes now.
/// Nothing is missed where only a part of the operators' cases was judged.
std::vector<std::string> stale(const Report& r);

}  // namespace lockstep::judge
