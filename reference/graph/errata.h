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
        .deployed = {Deployed::accepts, "model_heads"}},
    {.text = "The output of detection has room for every row of every head; the deployed runtime "
             "counts those of one image, and writes the others beyond the output.",
        .reason = "A caller must know how many bytes an output has.",
        .test = "Run.RowsOfSeveralHeadsAreInterleaved",
        .deployed = {Deployed::differs, "model_detection"}},
    {.text = "detection may have a single head; the deployed runtime then refuses every input.",
        .reason = "The rows of one head need no interleaving, and are an output as they are.",
        .test = "Run.DetectionGivesWordsAndAnUnknownPostprocessChangesNothing",
        .deployed = {Deployed::refuses, "model_alone"}},
    {.text = "A model that breaks a rule is the fault of who supplied it. The deployed runtime "
             "reports some of it as its own: an unknown key, version, operator or parameter, a "
             "variable that is missing or there twice, attributes that are no JSON of texts.",
        .reason = "Who is at fault must be the same on every machine.",
        .test = "Graph.NodesAreJudged",
        .deployed = {Deployed::blames, "model_blame"}},
    {.text = "An input or head that names no output is refused; the deployed runtime looks for "
             "some of them beyond its lists and ends.",
        .reason = "No file may end the program that reads it.",
        .test = "Graph.NodesAreJudged",
        .deployed = {Deployed::crashes, "model_beyond"}},
    {.text = "num_inputs, num_outputs and flatten_data are held to the node, and a variable has no "
             "inputs; the deployed runtime does not look.",
        .reason = "A document that contradicts itself was not written by who understands it.",
        .test = "Graph.NodesAreJudged",
        .deployed = {Deployed::accepts, "model_unread"}},
    {.text = "arg_nodes, node_row_ptr and dltype may be missing from every version; the deployed "
             "runtime needs them in cvm_1.0.0.",
        .reason = "They follow from the nodes.",
        .test = "Graph.ListsAreJudged",
        .deployed = {Deployed::refuses, "model_optional"}},
    {.text = "A variable of the precision -1 has 32 bits; the deployed runtime refuses it.",
        .reason = "-1 says of a call that it states no precision, and of a variable no less.",
        .test = "Graph.AVariableWithoutPrecisionHasTheWidest",
        .deployed = {Deployed::refuses, "model_width"}},
    {.text = "A parameter file holds nothing for data; the deployed runtime takes it and waits for "
             "the input all the same.",
        .reason = "A value that nobody reads is a mistake of who wrote it.",
        .test = "Params.AreThereOnceForEachVariableAndForNothingElse",
        .deployed = {Deployed::accepts, "model_data"}}};

}  // namespace lockstep::graph
