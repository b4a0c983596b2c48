/// @file
/// The arrays that C programs hold. A table lists them, so that the library can tell a handle from
/// a foreign address and from one that was freed.
#pragma once

#include <dlpack/dlpack.h>

#include <span>
#include <vector>

#include "reference/ndarray/array/ndarray.h"

namespace lockstep::ndarray {

/// Gives out handles for arrays, for all of them or none; each handle owns a reference.
std::vector<DLTensor*> hand_out(std::span<NDArray> arrays);

/// Takes a handle back. @throws utils::ValueVerifyFatal when it is none.
NDArray take_back(DLTensor* handle);

/// Refuses a tensor that cannot be used: one that is not well formed, and a handle whose fields
/// were changed so that its elements would lie outside its memory.
/// @throws utils::ValueVerifyFatal naming the tensor.
void verify_usable(const DLTensor* tensor, std::string_view name);

}  // namespace lockstep::ndarray
