/// @file
/// Coverage: what an operator's row says could be tried, and what a set of cases tries.
#pragma once
#include <string>
#include <vector>

#include "conformance/cases/features.h"
#include "conformance/cases/select.h"

namespace lockstep::judge {

/// A combination of features. Each feature by itself is a cell.
struct CoverCell {
  enum State {
    covered,     ///< by a case whose outputs are not constant
    constant,    ///< by cases whose outputs are constant, and the search found no other
    empty,       ///< required, but no case is in it
    impossible,  ///< the search found no legal call in it
  };
  std::vector<Feature> features;
  State state = empty;
  std::string id;  ///< of the first case in it, or the one that the search found
  bool required() const { return state != impossible; }
  std::string text() const;
};
string_view name_of(CoverCell::State s);

/// The cells of one operator.
struct CoverRow {
  const OpInfo* op = nullptr;
  std::vector<CoverCell> cells;
  i64 count(CoverCell::State s) const;
  i64 required() const;
};

/// What a selection covers.
struct Cover {
  int tier = 1;
  u64 seed = 1;
  std::string set_hash;
  std::vector<CoverRow> rows;
  /// Whether every required cell has a case.
  bool complete() const;
};

/// Measures a selection and the golden vectors it names.
Cover cover(const Selection& s);

/// A table, a row for each operator, and the cells that are empty or impossible.
std::string cover_text(const Cover& c);
/// The same as JSON: stable order, no time. cover_schema() describes it.
std::string cover_json(const Cover& c);
std::string cover_schema();

}  // namespace lockstep::judge
