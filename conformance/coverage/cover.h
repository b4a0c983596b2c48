/// @file
/// Coverage: which classes and combinations of an operator a set of cases shows.
#pragma once
#include <string>
#include <vector>

#include "conformance/cases/classes.h"
#include "conformance/cases/combinations.h"
#include "conformance/selection/select.h"

namespace lockstep::judge {

/// "axis: class & axis: class".
std::string text_of(const std::vector<CallClass>& classes);

/// A class, or one side of a label, as a cell that cases have to cover.
struct CoverCell {
  enum State {
    covered,     ///< by a case whose outputs are not constant
    constant,    ///< only by cases with constant outputs, as the search found no other
    empty,       ///< required, but no case is in it
    impossible,  ///< the search found no legal call in it
  };
  std::vector<CallClass> classes;
  State state = empty;
  std::string id;  ///< of the first case in it, or the one that the search found
  std::string text() const { return text_of(classes); }
};
string_view name_of(CoverCell::State s);

/// The coverage of the t-way combinations (cases/combinations.h) of one strength. A combination is
/// required if a search reached it or a case shows it, by a call whose outputs are not constant.
struct CombinationCoverage {
  int classes = 2;
  i64 required = 0, covered = 0;
  i64 constant = 0;  ///< not required: only calls with constant outputs show them
  std::vector<std::vector<CallClass>> empty;
};

/// The cells of one operator.
struct CoverRow {
  const OpInfo* op = nullptr;
  std::vector<CoverCell> cells;
  std::vector<CombinationCoverage> combinations;
  i64 count(CoverCell::State s) const;
  i64 required() const;
  /// Whether every required cell and combination has a case.
  bool complete() const;
};

/// The coverage of a selection.
struct Cover {
  int tier = 1;
  u64 seed = 1;
  std::string set_hash;
  std::vector<CoverRow> rows;
  bool complete() const;
};

/// Measures a selection and the golden vectors it names.
Cover cover(const Selection& s);

/// A table with a row for each operator, then the cells that are empty or impossible and the first
/// empty combinations.
std::string cover_text(const Cover& c);
/// The same as JSON: stable order, no time. cover_schema() describes it.
std::string cover_json(const Cover& c);
std::string cover_schema();

/// A vector beside the boundary of a label.
struct TextCase {
  const OpInfo* op = nullptr;
  std::string label;
  bool legal = false;  ///< the side of the boundary
  std::string id;
};

/// Whether a label of text is about a number and so has a last legal value.
bool has_legal_side(const std::string& label);

/// The vectors of a directory at a boundary: those that one change makes legal, and those with last
/// legal values.
std::vector<TextCase> text_cases(const std::string& directory);

}  // namespace lockstep::judge
