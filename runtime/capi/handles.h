/// @file
/// The arrays that C programs hold. A list of all live handles tells a handle from an address that
/// was freed or never made here, without reading what the address points to.
#pragma once

#include <dlpack/dlpack.h>

#include <span>
#include <string_view>
#include <vector>

#include "containers/array/ndarray.h"

namespace lockstep::ndarray {

/// Gives out handles for arrays, for all of them or none; each handle owns a reference.
std::vector<DLTensor*> hand_out(std::span<NDArray> arrays);

/// Takes a handle back. @throws utils::ValueVerifyFatal when it is none.
NDArray take_back(const DLTensor* handle);

/// The array of a handle, kept alive for as long as the result lives, even where another thread
/// frees the handle meanwhile. Nothing behind the address is read before it is known to be a
/// handle.
/// @throws utils::ValueVerifyFatal naming the array when the address is null or no handle, and when
///         a program changed the fields so that they are not well formed or elements would lie
///         outside the array's memory.
NDArray borrow(const DLTensor* handle, std::string_view name);

}  // namespace lockstep::ndarray
