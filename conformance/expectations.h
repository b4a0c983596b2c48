/// @file
/// Failures that the owner of a backend knows of: a file in the backend's own repository, and what
/// a run makes of it.
#pragma once
#include <string>
#include <vector>

#include "conformance/shard.h"

namespace lockstep::judge {

/// An entry of the file. Patterns match whole texts, with '*' and '?'.
struct Expectation {
  std::string op, property;        ///< patterns
  std::string id;                  ///< pattern of cases; empty: some case of the operator
  Outcome kind = Outcome::failed;  ///< failed, crashed or timed_out
  std::string reason, link;
  std::string expires;  ///< the last day on which it holds, as 2027-01-31
  int tier = 0;         ///< the lowest at which it has to show
  std::string place;    ///< where it is written: the file and the line
  /// The reason, and the link if there is one.
  std::string why() const { return link.empty() ? reason : reason + " (" + link + ")"; }
};

/// Reads a file of expectations. TOML: a table [[expect]] for each.
/// @throws UsageError naming the place and what is wrong there.
std::vector<Expectation> read_expectations(const std::string& file);

/// The expectations of a run, confronted with each of its results.
class Expected {
 public:
  /// @param file where they are written; empty: there are none.
  /// @param today as 2026-01-31; entries that expired before excuse nothing.
  /// @throws UsageError naming the place and what is wrong there.
  Expected(const std::string& file, const std::string& today);

  /// Notes a case's result. @return for each finding, the entry that knows it, or nullptr; empty
  /// where the case was quarantined.
  std::vector<const Expectation*> note(const Item& item, const ItemResult& result);
  /// The same for a failure of the whole run.
  const Expectation* note(const std::string& op, const std::string& property);
  /// Whether an operator is known to end its process, so that its quarantine is known, too.
  bool knows_deaths_of(string_view op) const;

  /// The entries that no longer say what is: expired, matching nothing, or of what passes now.
  /// Nothing is missed where only a part of the operators' cases was judged.
  std::vector<std::string> stale(const Selection& s) const;

 private:
  struct Entry {
    Expectation e;
    bool expired = false;
    i64 matched = 0, judged = 0;  ///< violations and judgements that the patterns match
    std::string passed;           ///< a case that has a name here and holds
  };
  const Expectation* known(Entry& entry, Outcome kind);

  std::vector<Entry> entries_;
};

}  // namespace lockstep::judge
