/// @file
/// Groups the failures of a run by cause: several mistakes of one operator that violate one
/// property show as several failures.
#pragma once
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "conformance/cases/item.h"
#include "conformance/verdict/report.h"

namespace lockstep::judge {

/// A case that violates a property.
struct Violation {
  i64 number = 0;
  const Item* item = nullptr;
  Finding finding;
};

/// Collects the results of a run's cases in their order. Items must outlive it.
class Causes {
 public:
  /// @param knowing the expectation that excuses each finding, or nullptr
  void add(const Item& item, i64 number, const ItemResult& result,
      const std::vector<const Expectation*>& knowing);

  /// A failure for each cause. Failures that differ in property, kind of answer, label, rule or
  /// expectation never share one. Wrong values are told apart by their pattern (off by one, only
  /// the tail of an axis) and by the classes of calls (dilation above 1) of which nearly all cases
  /// fail though others pass. The causes beyond a few are counted in one failure, those of each
  /// outcome and kind of answer by themselves.
  std::vector<Failure> failures() const;

 private:
  struct Bucket {
    std::vector<Violation> cases;
    i64 others = 0;  // beyond those that are compared
  };
  // Operator, property, why it is known, outcome, kind of answer, its label, the violated rule, and
  // what was found if it was no wrong value.
  using Key = std::tuple<std::string, std::string, std::string, Outcome, AnswerKind, std::string,
      std::string, std::string>;
  using Buckets = std::map<Key, Bucket>;

  // The buckets; an operator that refuses no illegal call has one bucket for all rules.
  Buckets without_rules() const;

  Buckets buckets_;
  std::set<std::string> refuses_;                           // operators
  std::map<std::string, std::vector<const Item*>> passed_;  // by operator
};

/// Orders failures as one run finds them: by the case's number, then in the order of properties.
void sort_failures(std::vector<Failure>& failures);

/// Whether a call shows the classes that the cases of a failure share.
bool shows_cells(const std::vector<SharedClass>& cells, const Case& c);

}  // namespace lockstep::judge
