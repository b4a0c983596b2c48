/// @file
/// The one list of operators. Everything else is folded from it.
#pragma once
#include "spec/ops/sum.h"

namespace lockstep {

template <class...>
struct OperatorList {};

using Operators = OperatorList<  //
    Sum>;

}  // namespace lockstep
