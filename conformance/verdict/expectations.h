/// @file
/// Expectations: known failures of a backend, listed in a file of its repository, and their state
/// after a run.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "conformance/verdict/outputs.h"
#include "conformance/verdict/verdict.h"

namespace lockstep::judge {

struct Report;

/// A cell of the table operator x property.
struct Cell {
  i64 judged = 0, failed = 0;
};

/// A known failure and its state after a run.
struct Expectation {
  std::string place = {};              ///< the file and line of the entry
  std::string op = {}, property = {};  ///< patterns: they match whole texts, with '*' and '?'
  std::string id = {};                 ///< pattern of case ids; empty: any case of the operator
  std::string kind = {};               ///< fail, crash or timeout
  std::string reason = {}, link = {};
  std::string expires = {};     ///< the last day on which it excuses failures, as 2027-01-31
  int tier = 0;                 ///< the lowest tier in which it must show
  i64 count = 0;                ///< of the violations that it excuses; 0: any number
  std::string ids = {};         ///< hash of their cases' ids (Outputs::sum), with the count
  u64 seed = 1;                 ///< of the set whose cases were counted, in exactly its tier
  bool expired = false;         ///< an expired entry excuses nothing
  i64 matched = 0, judged = 0;  ///< violations and judgements that the patterns match
  Outputs seen = {};            ///< the violations that it excused, by their cases' ids
  std::map<std::string, Cell> operators = {}, properties = {};  ///< matched and judged, by name
  std::string passed = {};  ///< the first case that `id` names and in which a property holds
  i64 passed_number = -1;   ///< its number in the set; -1: there is none
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
/// The same for a failure of the whole run, which has no case, so that its words serve as an id.
const Expectation* match_expectations(std::vector<Expectation>& all, const std::string& op,
    const std::string& property, const std::string& violation);

/// The kind by which an expectation calls an outcome: fail, crash or timeout.
string_view kind_of(Outcome outcome);

/// The kind of a failing case that an expectation has to state; `flaky`, which none can, if a
/// question of the case, or the whole case, was put again and answered differently.
std::string expected_kind(const ItemResult& result);

/// A file of expectations that covers all failures of a run that can be expected.
/// @param expires the last day on which the entries excuse failures
std::string expectations_of(const Report& r, const std::string& expires);

/// Whether an operator is known to crash or hang, so that its quarantine is known, too.
bool expects_crashes_of(const std::vector<Expectation>& all, string_view op);

/// The expectations that no longer hold: expired, matching nothing, matching nothing of an operator
/// or a property that their patterns match, naming a case that passes, or counting more failing
/// cases than there are. A run that judged only a part of the cases makes no expectation stale by
/// matching nothing.
std::vector<std::string> stale(const Report& r);

/// The expectations that match more failures than they count, or as many, but other ones.
std::vector<std::string> exceeded(const Report& r);

/// Makes the failures that an exceeded expectation covers unexpected, since some of them are new.
void disown_exceeded(Report& r);

}  // namespace lockstep::judge
