/// @file
/// The one list of operators. Everything else is folded from it.
#pragma once
#include "spec/ops/broadcast_add.h"
#include "spec/ops/concatenate.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/cvm_clip.h"
#include "spec/ops/cvm_right_shift.h"
#include "spec/ops/dense.h"
#include "spec/ops/flatten.h"
#include "spec/ops/get_valid_counts.h"
#include "spec/ops/max.h"
#include "spec/ops/max_pool2d.h"
#include "spec/ops/non_max_suppression.h"
#include "spec/ops/relu.h"
#include "spec/ops/reshape.h"
#include "spec/ops/strided_slice.h"
#include "spec/ops/sum.h"
#include "spec/ops/take.h"

namespace lockstep {

template <class...>
struct OperatorList {};

using Operators = OperatorList<  //
    Sum,                         //
    Max,                         //
    BroadcastAdd,                //
    Conv2d,                      //
    Dense,                       //
    Relu,                        //
    MaxPool2d,                   //
    CvmClip,                     //
    CvmRightShift,               //
    Flatten,                     //
    Concatenate,                 //
    Take,                        //
    Reshape,                     //
    StridedSlice,                //
    GetValidCounts,              //
    NonMaxSuppression>;

}  // namespace lockstep
