/// @file
/// The mutation score of a case set: which mutants it kills.
#pragma once
#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// The fate of one mutant.
struct MutantFate {
  std::string name, op, kind, provenance;
  int tier = 0;  ///< the lowest whose cases reach the mistake
  bool dead = false;
  std::string property = {};    ///< the first that was violated
  i64 kills = 0, executed = 0;  ///< cases
  /// The share of the cases that kill it, in tenths of a percent.
  i64 density() const { return executed > 0 ? 1000 * kills / executed : 0; }
};

struct Power {
  int tier = 1;
  u64 seed = 1;
  std::string set_hash;  ///< of the selected cases
  std::vector<MutantFate> mutants;
  i64 beyond = 0;  ///< mutants that only a higher tier reaches, which are not judged
  i64 dead() const;
};

/// The fates as JSON: stable order, no time. power_schema() describes it.
std::string power_json(const Power& p);
std::string power_schema();

/// @throws UsageError naming the place and what is wrong there.
Power read_power(const std::string& text);

/// A few lines about the share of cases that kill each mutant: the least, the median, the rarest.
std::string density_text(const Power& p);

}  // namespace lockstep::judge
