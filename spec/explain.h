/// @file
/// Sentences for refusals, the same for every backend and binding.
#pragma once
#include <string>
#include <vector>

#include "spec/check.h"

namespace lockstep {

/// A new major version changes a published result; a new minor version only adds something.
inline constexpr string_view kSpecificationVersion = "0.1";

/// A label with which a call of any operator can be refused, and its condition.
struct SharedLabel {
  string_view label, text;
  bool typed;  ///< also for calls without text and data
};

/// In the order of judgement. The operator's own labels come before the last.
inline constexpr SharedLabel kSharedLabels[] = {
    {"op.unknown", "no operator has this name or alias", false},
    {"attr.unknown", "the operator has no such attribute", false},
    {"attr.twice", "an attribute is given more than once, under its name or its alias", false},
    {"attr.missing", "a required attribute is not given", false},
    {"attr.syntax", "the text of an attribute is not a value of its type", false},
    {"attr.length", "a tuple has too few or too many entries", false},
    {"attr.range", "a value lies outside the range of its attribute", false},
    {"op.inputs", "the number of inputs is not what the operator and its attributes need", true},
    {"input.rank", "an input has a rank outside that of its port", true},
    {"input.extent", "an extent of an input lies outside 1..2^24", true},
    {"input.volume", "an input has more than 2^30 elements", true},
    {"input.precision", "the precision of an input lies outside 1..32", true},
    {"input.value", "an element of an input lies outside its declared precision", false},
};

/// Errata about every operator.
inline constexpr Erratum kSharedErrata[] = {
    {.text = "What a caller, a model file or a parameter file can cause is a logic error. The "
             "deployed runtime reports some of it as its own: an unknown operator or attribute, an "
             "attribute that is missing or unreadable, malformed JSON, a bad tensor header.",
        .reason = "Who is at fault must be the same on every machine.",
        .label = "attr.unknown",
        .op = "conv2d"},
    {.text = "Every attribute has bounds; the deployed runtime lacks some of them.",
        .reason = "Within the bounds no index and no shape can overflow 64 bits.",
        .label = "attr.range",
        .op = "max_pool2d"},
    {.text = "A dtype is int32, or same where it says so; the deployed runtime takes any.",
        .reason = "A word without effect must not look as if it had one.",
        .example = "attr.range: dtype = 'no_such_word'",
        .op = "sum"},
    {.text = "A plus sign before an integer is accepted; the deployed runtime refuses it.",
        .reason = "It has no other meaning.",
        .example = "units spelled '+01'",
        .op = "dense"}};

/// A label of one operator and its requirement.
struct OwnLabel {
  std::string label;
  string_view text;
};

/// The labels of an operator's own rules and limits, in the order of judgement.
std::vector<OwnLabel> own_labels(const OpInfo& op);

/// One sentence for a refusal: what, where and why.
std::string explain(const OpInfo& op, const Refusal& why, Attributes attrs, Types in);

}  // namespace lockstep
