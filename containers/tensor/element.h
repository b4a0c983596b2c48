/// @file
/// What tensors are made of.
#pragma once

#include <type_traits>

#include "spec/params.h"

namespace lockstep::ndarray {

/// The type of element that T is, in a parameter file and in DLPack.
template <class T>
constexpr params::DType dtype_of() {
  constexpr int kCode = std::is_floating_point_v<T> ? 2 : std::is_unsigned_v<T> ? 1 : 0;
  return {static_cast<std::uint8_t>(kCode), static_cast<std::uint8_t>(8 * sizeof(T))};
}

/// A number type that tensors can hold; bool is not one.
template <class T>
concept Element = std::is_arithmetic_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T> &&
                  !std::is_same_v<T, bool> && !params::dtype_name(dtype_of<T>()).empty();

}  // namespace lockstep::ndarray
