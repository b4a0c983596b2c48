/// @file
/// Arrays from and for other libraries by DLPack: versioned, as it has been since 1.0, and the
/// legacy form from before.
///
/// Either form is a struct with a deleter, which its owner calls once. An import takes ownership
/// when it succeeds; the deleter then runs when the last array over that memory is gone. If an
/// import throws, the struct still belongs to its owner, unchanged.
#pragma once

#include <dlpack/dlpack.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "containers/array/ndarray.h"

namespace lockstep::ndarray::dlpack {

// Declared here because headers of DLPack before 1.0 lack them.

/// The version of DLPack that a producer wrote.
struct Version {
  std::uint32_t major;  ///< another one has another layout
  std::uint32_t minor;  ///< a later one adds to the layout
};

/// What this project writes. It reads every version with this major number.
inline constexpr Version kVersion{1, 0};

/// DLPack's struct of that name: a tensor with an owner, as versions from 1.0 on lay it out.
struct ManagedTensorVersioned {
  Version version;    ///< what the producer wrote
  void* manager_ctx;  ///< the producer's own; nobody else reads it
  /// Called once, by the owner; null where nothing is to be done.
  void (*deleter)(ManagedTensorVersioned* self);
  std::uint64_t flags;  ///< bits such as kReadOnly
  DLTensor dl_tensor;   ///< address, shape, strides in elements and type
};

inline constexpr std::uint64_t kReadOnly = 1;  ///< in `flags`: the consumer must not write

// The published layout: version, context, deleter and flags stay where they are in every version.
static_assert(offsetof(ManagedTensorVersioned, manager_ctx) == 8);
static_assert(offsetof(ManagedTensorVersioned, deleter) == 8 + sizeof(void*));
static_assert(offsetof(ManagedTensorVersioned, flags) == 8 + 2 * sizeof(void*));
static_assert(offsetof(ManagedTensorVersioned, dl_tensor) == 16 + 2 * sizeof(void*));

/// What a consumer may do with memory that it shares.
enum class Access {
  kRead,   ///< read it
  kWrite,  ///< read it and write to it
};

/// An array over the producer's memory.
///
/// Writing is legal if the producer does not forbid it and no two elements share memory. Without
/// `access` the array may be written to if that is legal.
/// @throws utils::ValueVerifyFatal for another major version; when `access` is to write and that is
///         not legal; for more than 32 dimensions, a negative extent or stride, elements that are
///         no numbers or of several lanes, and whatever else is not well formed.
NDArray import_versioned(ManagedTensorVersioned* managed, std::optional<Access> access = {});

/// The same for a producer that cannot say whether its memory is writable; by default it is
/// read-only.
NDArray import_legacy(DLManagedTensor* managed, Access access = Access::kRead);

/// A struct that keeps the array's memory alive until its deleter is called.
///
/// A consumer that may only read shares the memory. One that may write shares it with `array`
/// alone, which first detaches itself from all other arrays, as in mutable_data(); what the
/// consumer writes shows in `array` until somebody writes through `array`.
/// @throws utils::ValueVerifyFatal for null, and to write for an array that is read-only.
ManagedTensorVersioned* export_versioned(NDArray& array, Access access);

/// As export_versioned() to write: a legacy consumer cannot be told not to.
DLManagedTensor* export_legacy(NDArray& array);

}  // namespace lockstep::ndarray::dlpack
