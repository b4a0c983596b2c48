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
    {.text = "What a caller can cause is a logic error. The deployed runtime reports some of it as "
             "its own: an unknown operator or attribute, and an attribute that is missing, "
             "unreadable or given twice.",
        .reason = "Who is at fault must be the same on every machine.",
        .label = "attr.unknown",
        .op = "conv2d",
        .deployed = {Deployed::blames, "blame"}},
    {.text = "Every attribute has bounds; the deployed runtime lacks some of them.",
        .reason = "Within the bounds no index and no shape can overflow 64 bits.",
        .label = "attr.range",
        .op = "max_pool2d",
        .deployed = {Deployed::accepts, "bounds"}},
    {.text = "A tensor has at most 6 axes; the deployed runtime makes more.",
        .reason = "The limits of shapes are those of every tensor, so that any result can be an "
                  "input.",
        .label = "shape",
        .op = "expand_dims",
        .deployed = {Deployed::accepts, "limits"}},
    {.text = "A dtype is int32, or same where it says so; the deployed runtime takes other types.",
        .reason = "A word without effect must not look as if it had one.",
        .example = "attr.range: dtype = 'no_such_word'",
        .op = "sum",
        .deployed = {Deployed::accepts, "dtype"}},
    {.text = "A tuple of one integer may have no brackets, and its integer may then have a plus "
             "sign or an L as in brackets. The deployed runtime refuses those two, and accepts "
             "them in brackets.",
        .reason = "An integer is spelled the same in all places of a tuple.",
        .example = "axis spelled '1L'",
        .op = "sum",
        .deployed = {Deployed::refuses, "bare"}},
    {.text = "Blanks may stand around words, booleans and None, and behind an L; the deployed "
             "runtime refuses them there, and accepts them around integers and brackets.",
        .reason = "Blanks mean nothing, whatever they stand beside.",
        .example = "layout spelled ' NCHW\t'",
        .op = "upsampling",
        .deployed = {Deployed::refuses, "blanks"}},
    {.text = "A blank is a space or a tab; the deployed runtime takes line breaks, too.",
        .reason = "A call is one line.",
        .example = "attr.syntax: scale = '2\n'",
        .op = "upsampling",
        .deployed = {Deployed::accepts, "line_breaks"}},
    {.text = "An L follows an integer of a tuple directly, and no other; the deployed runtime "
             "accepts one after a blank and after the axis of take.",
        .reason = "The letter is how Python 2 wrote long integers in tuples.",
        .example = "attr.syntax: axis = '(1 L)'",
        .op = "sum",
        .deployed = {Deployed::accepts, "letter"}},
    {.text = "A tuple closes with the bracket that it opened with; the deployed runtime accepts "
             "[1,1).",
        .reason = "Text that is no tuple of any language is more likely damaged than meant.",
        .example = "attr.syntax: axis = '(1,2]'",
        .op = "sum",
        .deployed = {Deployed::accepts, "brackets"}},
    {.text = "axes, stride, strides and target_shape are other names of attributes, and slice, "
             "get_valid_count and cvm_cilp of operators; the deployed runtime knows one name each.",
        .reason = "The older text uses both.",
        .example = "axis under its other name axes",
        .op = "sum",
        .deployed = {Deployed::refuses, "names"}},
    {.text = "An operator without attributes refuses every key; the deployed runtime ignores what "
             "it is given there.",
        .reason = "A key without effect must not look as if it had one.",
        .label = "attr.unknown",
        .op = "relu",
        .deployed = {Deployed::accepts, "keys"}}};

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
