/// @file
/// Failures that the owner of a backend knows of: a file in the backend's own repository, and what
/// a run makes of it.
#pragma once
#include <string>
#include <vector>

#include "conformance/shard.h"

namespace lockstep::judge {

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
