/// @file
/// Errata of models, in the form of those of operators.
#pragma once
#include "spec/erratum.h"

namespace lockstep::graph {

/// Every erratum of models; tests show them, because no call can. What they say of the deployed
/// runtime is recorded as for operators, with whole models.
inline constexpr Erratum kModelErrata[] = {
    {.text = "Tensors share storage only where the earlier one is dead, or the call is in place; "
             "the deployed runtime does not look.",
        .reason = "A tensor that is overwritten before it is read has no defined elements.",
        .test = "Storage.IsNotFreeWhileALaterCallReadsIt",
        .deployed = {Deployed::accepts, "model_storage"}},
    {.text = "argmax compares as int32 and gives one number for each row; the deployed runtime "
             "compares as int8 and misses rows.",
        .reason = "Logits are wider than 8 bits, and an output has as many rows as its head.",
        .test = "Run.ArgmaxGivesTheFirstMaximumOfEachRow",
        .deployed = {Deployed::differs, "model_argmax"}},
    {.text = "argmax needs exactly one head; the deployed runtime lets several pass.",
        .reason = "With several heads it is not said whose maximum is meant.",
        .test = "Graph.HeadsAreJudged",
        .deployed = {Deployed::accepts, "model_heads"}}};

}  // namespace lockstep::graph
