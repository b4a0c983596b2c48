/// @file
/// The arrays that C programs hold. What is in their hands is written down, so that a foreign
/// address, and one that was freed, can be told from a handle.
#pragma once

#include <dlpack/dlpack.h>

#include <span>
#include <vector>

#include "reference/ndarray/array/ndarray.h"

namespace lockstep::ndarray {

/// Hands arrays out, all of them or none: each handle stands for the array's reference.
std::vector<DLTensor*> hand_out(std::span<NDArray> arrays);

/// Takes a handle back. @throws utils::ValueVerifyFatal when it is none.
NDArray take_back(DLTensor* handle);

/// Refuses a tensor that cannot be used: one that is not well formed, and a handle whose fields
/// were changed so that its elements would lie outside its memory.
/// @throws utils::ValueVerifyFatal naming the tensor.
void verify_usable(const DLTensor* tensor, std::string_view name);

}  // namespace lockstep::ndarray
