/// @file
/// Coverage: what an operator's row says could be tried, and what a set of cases tries.
#pragma once
#include <string>
#include <vector>

#include "conformance/cases/features.h"
#include "conformance/cases/tuples.h"
#include "conformance/selection/select.h"

namespace lockstep::judge {

/// "axis: class & axis: class".
std::string text_of(const std::vector<Feature>& features);

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
  std::string text() const { return text_of(features); }
};
string_view name_of(CoverCell::State s);

/// What is covered of the tuples (cases/tuples.h) of so many classes. Required are those that a
/// search reached and those that a case is in; only calls whose outputs are not constant count.
struct CoverTuples {
  int classes = 2;
  i64 required = 0, covered = 0;
  i64 constant = 0;  ///< beside these, in calls whose outputs are constant alone
  std::vector<std::vector<Feature>> empty;
};

/// The cells of one operator.
struct CoverRow {
  const OpInfo* op = nullptr;
  std::vector<CoverCell> cells;
  std::vector<CoverTuples> tuples;
  i64 count(CoverCell::State s) const;
  i64 required() const;
  /// Whether every required cell and tuple has a case.
  bool complete() const;
};

/// What a selection covers.
struct Cover {
  int tier = 1;
  u64 seed = 1;
  std::string set_hash;
  std::vector<CoverRow> rows;
  bool complete() const;
};

/// Measures a selection and the golden vectors it names.
Cover cover(const Selection& s);

/// A table, a row for each operator, the cells that are empty or impossible, and the first of the
/// tuples that are empty.
std::string cover_text(const Cover& c);
/// The same as JSON: stable order, no time. cover_schema() describes it.
std::string cover_json(const Cover& c);
std::string cover_schema();

}  // namespace lockstep::judge
