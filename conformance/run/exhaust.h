/// @file
/// Puts every value to the elementwise operators of one input, with every setting of their
/// attributes and every precision: far more calls than any tier has.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "conformance/run/judge.h"

namespace lockstep::judge {

/// The values to put to a backend, in ranges. The same operators and precisions always make the
/// same plan.
struct ValuePlan {
  /// A part of the values of a setting, numbered from the least one on.
  struct Range {
    std::size_t setting;
    i64 first, values;
  };
  std::vector<const OpInfo*> operators;
  std::vector<int> precisions;  ///< of the input, in the order in which they are put
  std::vector<Case> settings;   ///< value_settings() of all of them
  std::vector<Range> ranges;

  /// The call that holds the `values` values of a setting from number `first` on.
  Case call(std::size_t setting, i64 first, i64 values) const;
};
/// @param operators patterns of names; none: every operator whose values can be enumerated
/// @param precisions of the input; none: all, the widest first
/// @throws UsageError if a pattern matches no such operator
ValuePlan plan_values(
    const std::vector<std::string>& operators, const std::vector<int>& precisions);

/// The result of a range, which is a line of the journal.
struct RangeResult {
  std::size_t n = 0;         ///< its number in the plan
  bool not_claimed = false;  ///< the backend does not claim the setting, and was not asked
  i64 wrong = 0;             ///< values that came out wrong, or not at all
  std::string digest = {};   ///< SHA-256 over the sum of value_sum() of all outputs
  std::string finding = {};  ///< the first wrong value
  std::string id = {};       ///< the case that repeats it
};

/// Puts a range to a backend and compares its outputs with the specification's.
/// @param witness file of the witness that compares them where the backend has its memory; empty:
///        they are compared here. Both give the same digest.
/// @throws std::runtime_error if the witness does not see mistakes that are made for it.
RangeResult judge_range(
    Subject& subject, const ValuePlan& plan, std::size_t n, const std::string& witness = "");

/// What is known of an operator.
struct OperatorValues {
  std::string op;
  bool every_setting = true;  ///< false: not every value of a wide attribute, see value_settings()
  i64 settings = 0;           ///< of attributes and precision
  i64 values = 0;             ///< of all settings
  i64 judged = 0, not_claimed = 0, wrong = 0;  ///< of these
  std::string digest = {};                     ///< SHA-256 over the digests of its ranges, in order
  std::string finding = {}, id = {};           ///< of its first range with a wrong value
};

/// What is known of a backend.
struct Exhaustion {
  std::string backend, file_hash;
  std::string witness_hash;  ///< empty: the values were compared in this process
  Options options;
  std::vector<int> precisions;
  std::vector<OperatorValues> operators;

  i64 sum(i64 OperatorValues::*member) const;
  /// Whether each value was put, unless the backend does not claim it.
  bool is_complete() const;
  /// fail: a value is wrong; incomplete: values are missing, or none was put; else pass.
  Exit exit() const;
};

/// Puts the ranges that the journal does not know to a backend, and notes each as soon as it is
/// judged. Of the conduct it uses limits, jobs, journal, interrupted, and progress, in units of
/// 2^20 values.
/// @param witness file of a witness, which is used if it reaches the backend's memory, or ""
/// @throws UsageError if there is no such backend or witness, or the journal is another run's.
Exhaustion exhaust(const std::string& backend, const ValuePlan& plan, const Conduct& conduct,
    std::string witness = "");

/// A journal of exhaust(), read again.
struct ValueJournal {
  ValuePlan plan;
  std::vector<std::optional<RangeResult>> results;  ///< of each range
  Exhaustion known;
};
/// @throws UsageError if the text is no journal, or this program makes another plan of it.
ValueJournal read_value_journal(const std::string& text);

}  // namespace lockstep::judge
