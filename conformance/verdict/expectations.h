/// @file
/// Expectations: known failures of a backend, listed in a file of its repository, and their state
/// after a run.
#pragma once
#include <string>
#include <vector>

#include "conformance/verdict/verdict.h"

namespace lockstep::judge {

struct Report;

/// A known failure and its state after a run.
struct Expectation {
  std::string place = {};              ///< the file and line of the entry
  std::string op = {}, property = {};  ///< patterns: they match whole texts, with '*' and '?'
  std::string id = {};                 ///< pattern of case ids; empty: any case of the operator
  std::string kind = {};               ///< fail, crash or timeout
  std::string reason = {}, link = {};
  std::string expires = {};     ///< the last day on which it holds, as 2027-01-31
  int tier = 0;                 ///< the lowest tier in which it must show
  bool expired = false;         ///< an expired entry excuses nothing
  i64 matched = 0, judged = 0;  ///< violations and judgements that the patterns match
  std::string passed = {};      ///< the first case named here that holds
  i64 passed_number = -1;       ///< its number in the set; -1: there is none
  /// The reason, and the link if there is one.
  std::string why() const { return link.empty() ? reason : reason + " (" + link + ")"; }
};

/// Reads a file of expectations. TOML: a table [[expect]] for each.
/// @param today as 2026-01-31; entries that expired before it excuse nothing.
/// @throws UsageError naming the place and what is wrong there.
std::vector<Expectation> read_expectations(const std::string& file, const std::string& today);

/// Compares expectations with a case's result and counts. @return for each finding the expectation
/// that covers it, or nullptr; empty if the case was quarantined
std::vector<const Expectation*> match_expectations(
    std::vector<Expectation>& all, const Item& item, i64 number, const ItemResult& result);
/// The same for a failure of the whole run.
const Expectation* match_expectations(
    std::vector<Expectation>& all, const std::string& op, const std::string& property);

/// Whether an operator is known to crash or hang, so that its quarantine is known, too.
bool expects_crashes_of(const std::vector<Expectation>& all, string_view op);

/// The expectations that no longer hold: expired, matching nothing, or naming a case that passes.
/// A run that judged only a part of the cases makes no expectation stale by matching nothing.
std::vector<std::string> stale(const Report& r);

}  // namespace lockstep::judge
