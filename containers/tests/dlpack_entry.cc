// The C functions through which tests in other languages drive DLPack, as a shared library. An
// array is an NDArray on the heap; null is an error, whose text error_text() has.
#include <string>

#include "containers/array/dlpack.h"

#define ENTRY extern "C" __attribute__((visibility("default")))

namespace lockstep::ndarray::dlpack {
namespace {

thread_local std::string last_error;

template <class F> auto guarded(const F& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& e) {
    last_error = e.what();
    return nullptr;
  }
}

NDArray* keep(NDArray array) { return new NDArray(std::move(array)); }

std::optional<Access> to_access(int number) {
  if (number < 0) return std::nullopt;
  return number == 0 ? Access::kRead : Access::kWrite;
}

}  // namespace

ENTRY const char* error_text() { return last_error.c_str(); }

/// `access` is 0 to read, 1 to write, -1 for what is legal.
ENTRY NDArray* import_array(void* managed, int is_versioned, int access) {
  return guarded([&] {
    if (is_versioned != 0)
      return keep(
          import_versioned(static_cast<ManagedTensorVersioned*>(managed), to_access(access)));
    auto* legacy = static_cast<DLManagedTensor*>(managed);
    const std::optional<Access> asked = to_access(access);
    return keep(asked ? import_legacy(legacy, *asked) : import_legacy(legacy));
  });
}

ENTRY void* export_array(NDArray* array, int is_versioned, int access) {
  return guarded([&]() -> void* {
    if (is_versioned != 0) return export_versioned(*array, *to_access(access));
    return export_legacy(*array);
  });
}

/// Ends the life of what export_array returned and nobody imported.
ENTRY void drop_export(void* managed, int is_versioned) {
  if (is_versioned != 0) {
    auto* versioned = static_cast<ManagedTensorVersioned*>(managed);
    versioned->deleter(versioned);
  } else {
    auto* legacy = static_cast<DLManagedTensor*>(managed);
    legacy->deleter(legacy);
  }
}

ENTRY NDArray* share_array(const NDArray* array) { return keep(*array); }

ENTRY NDArray* view_array(const NDArray* array, int rank, const std::int64_t* shape,
    const std::int64_t* strides, std::int64_t byte_offset) {
  const auto size = static_cast<std::size_t>(rank);
  return guarded([&] { return keep(array->view({shape, size}, {strides, size}, byte_offset)); });
}

ENTRY void free_array(NDArray* array) { delete array; }

ENTRY const DLTensor* tensor_of(const NDArray* array) { return &array->tensor(); }

ENTRY int is_read_only(const NDArray* array) { return array->is_read_only() ? 1 : 0; }

ENTRY int use_count(const NDArray* array) { return array->use_count(); }

/// Element (0, ..., 0), after the array detached itself from all others.
ENTRY void* mutable_data_of(NDArray* array) {
  return guarded([&]() -> void* { return array->mutable_data(); });
}

}  // namespace lockstep::ndarray::dlpack
