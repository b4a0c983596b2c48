/// @file
/// A case: one explicit call, spelled out in one line that every verb accepts.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "conformance/base/usage_error.h"
#include "reference/evaluate.h"
#include "spec/random.h"

namespace lockstep::judge {

using reference::Tensor;

/// Attributes as texts, by name.
using AttrTexts = std::map<std::string, std::string>;

/// How the values of all inputs are made.
enum class Fill {
  zero,
  one,
  minus_one,
  max,
  min,
  alternating,
  one_hot,
  sparse,
  dense,
  boundary,
  critical,
  hinted,
  range,    ///< all values in turn, from number `seed` on
  edges,    ///< the edge values in turn, from number `seed` on
  literal,  ///< written out in the case
  constant  ///< one value for all elements of an input
};
/// The number of fills before Fill::literal, which need no more than a seed.
inline constexpr int kFills = static_cast<int>(Fill::literal);

/// How tensors lie in memory. All are legal for a backend that claims `strided`.
enum class Layout {
  compact,
  padded,         ///< compact for larger extents
  offset,         ///< padded, beginning inside
  permuted,       ///< the axes in another order of memory
  scattered,      ///< permuted, padded, and every stride doubled
  scattered_in,   ///< inputs scattered, outputs compact
  scattered_out,  ///< inputs compact, outputs scattered
};
inline constexpr int kLayouts = 7;

/// One explicit call.
struct Case {
  const OpInfo* op = nullptr;
  std::vector<Attr> attrs = {};
  std::vector<Type> in = {};
  Fill fill = Fill::dense;
  u64 seed = 0;                             ///< of the fill and the layout
  std::vector<std::vector<i64>> data = {};  ///< of Fill::literal; one value each of Fill::constant
  Layout layout = Layout::compact;

  Attributes attributes() const { return {attrs.data(), static_cast<int>(attrs.size())}; }
  Types types() const { return {in.data(), static_cast<int>(in.size())}; }
};

/// A drawn call as a case; its values are still to be chosen.
Case case_of(const OpInfo& op, const Drawn& call);

/// Example `i` of an operator, its values written out.
Case example_case(const OpInfo& op, int i);

/// A legal call of an operator, as its domain draws it.
Case draw_case(const OpInfo& op, Draw& draw);

/// The result of check() for a case.
inline Refusal refusal(const Case& c) { return check(*c.op, c.attributes(), c.types()); }

/// The type that a host gives for each output of an illegal call, which has none.
Type guessed_output(const Case& c);

/// The elements of all tensors together.
i64 elements(const std::vector<Tensor>& tensors);

/// An operator with its attributes, as a case's line begins: `conv2d/channels=1/kernel_size=2,2`.
std::string operator_text(const OpInfo& op, const std::vector<Attr>& attrs);
/// The type of an operand as a case's line spells it: `1x3@8`.
std::string operand_text(const Type& t);

/// The line that spells a case out, as
/// `conv2d/channels=1/kernel_size=2,2/in=1x1x3x3@8+1x1x2x2@8+1@8/fill=dense:7/memory=padded`.
/// A constant has one value for all inputs or one for each: `fill=constant:127`,
/// `fill=constant:127+-127+0`. It is clamped to the precision of each input.
std::string case_id(const Case& c);

/// The case of a line.
/// @throws UsageError naming the part that is wrong.
Case parse_case(const std::string& id);

/// The values of every input.
std::vector<Tensor> inputs_of(const Case& c);

/// The case with its values written out in place of their recipe.
Case with_literal_data(const Case& c);

string_view name_of(Fill f);
string_view name_of(Layout l);

}  // namespace lockstep::judge
