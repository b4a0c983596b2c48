/// @file
/// The only list of operators; everything else is derived from it.
#pragma once
#include "spec/ops/abs.h"
#include "spec/ops/broadcast_add.h"
#include "spec/ops/broadcast_div.h"
#include "spec/ops/broadcast_greater.h"
#include "spec/ops/broadcast_max.h"
#include "spec/ops/broadcast_mul.h"
#include "spec/ops/broadcast_sub.h"
#include "spec/ops/clip.h"
#include "spec/ops/concatenate.h"
#include "spec/ops/conv2d.h"
#include "spec/ops/cvm_clip.h"
#include "spec/ops/cvm_left_shift.h"
#include "spec/ops/cvm_lut.h"
#include "spec/ops/cvm_precision.h"
#include "spec/ops/cvm_right_shift.h"
#include "spec/ops/dense.h"
#include "spec/ops/elemwise_add.h"
#include "spec/ops/elemwise_sub.h"
#include "spec/ops/expand_dims.h"
#include "spec/ops/flatten.h"
#include "spec/ops/get_valid_counts.h"
#include "spec/ops/max.h"
#include "spec/ops/max_pool2d.h"
#include "spec/ops/negative.h"
#include "spec/ops/non_max_suppression.h"
#include "spec/ops/relu.h"
#include "spec/ops/repeat.h"
#include "spec/ops/reshape.h"
#include "spec/ops/slice_like.h"
#include "spec/ops/squeeze.h"
#include "spec/ops/strided_slice.h"
#include "spec/ops/sum.h"
#include "spec/ops/take.h"
#include "spec/ops/tile.h"
#include "spec/ops/transpose.h"
#include "spec/ops/upsampling.h"
#include "spec/ops/where.h"

namespace lockstep {

template <class...> struct OperatorList {};

using Operators = OperatorList<  //
    Sum,                         //
    Max,                         //
    BroadcastAdd,                //
    BroadcastSub,                //
    BroadcastMul,                //
    BroadcastDiv,                //
    BroadcastMax,                //
    BroadcastGreater,            //
    Conv2d,                      //
    Dense,                       //
    Relu,                        //
    MaxPool2d,                   //
    Upsampling,                  //
    Abs,                         //
    Negative,                    //
    CvmPrecision,                //
    ElemwiseAdd,                 //
    ElemwiseSub,                 //
    Clip,                        //
    CvmClip,                     //
    CvmLeftShift,                //
    CvmRightShift,               //
    Repeat,                      //
    Tile,                        //
    Flatten,                     //
    Concatenate,                 //
    Transpose,                   //
    StridedSlice,                //
    Take,                        //
    CvmLut,                      //
    SliceLike,                   //
    ExpandDims,                  //
    Reshape,                     //
    Squeeze,                     //
    Where,                       //
    GetValidCounts,              //
    NonMaxSuppression>;

}  // namespace lockstep
