#include "containers/array/dlpack.h"

#include <memory>
#include <string_view>

#include "containers/logging.h"

namespace lockstep::ndarray::dlpack {
namespace {

/// Refuses what NDArray accepts but a consumer of DLPack need not expect.
void verify_steps(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return;
  for (int axis = 0; axis < tensor.ndim; ++axis)
    VERIFY(tensor.strides[axis] >= 0) << "the imported tensor has stride " << tensor.strides[axis]
                                      << " along axis " << axis << ", less than 0";
}

/// Whether the addresses of all elements exist.
void verify_addresses(const DLTensor& tensor) {
  constexpr std::string_view kWhat = "the address of an imported element";
  const Reach within = reach(shape_of(tensor), strides_of(tensor), element_bytes(tensor.dtype));
  VERIFY(std::in_range<i64>(tensor.byte_offset))
      << "the imported tensor begins " << tensor.byte_offset
      << " bytes into its memory, more than int64 counts";
  const auto data = static_cast<i64>(reinterpret_cast<std::uintptr_t>(tensor.data));
  const i64 first = add(data, static_cast<i64>(tensor.byte_offset), kWhat);
  static_cast<void>(add(first, within.end, kWhat));
}

bool may_write(const DLTensor& tensor, bool is_forbidden) {
  return !is_forbidden && elements_are_distinct(shape_of(tensor), strides_of(tensor));
}

template <class Managed> void call_deleter(void* owner) {
  auto* managed = static_cast<Managed*>(owner);
  if (managed->deleter != nullptr) managed->deleter(managed);
}

template <class Managed>
NDArray adopt_managed(Managed& managed, bool is_forbidden, std::optional<Access> access) {
  const DLTensor& tensor = managed.dl_tensor;
  verify(tensor, "the imported tensor");
  verify_steps(tensor);
  verify_addresses(tensor);
  const bool is_legal = may_write(tensor, is_forbidden);
  VERIFY(is_legal || access != Access::kWrite)
      << "the imported tensor cannot be written to: "
      << (is_forbidden ? "its producer forbids it" : "its elements share memory");
  const bool read_only = !is_legal || access == Access::kRead;
  return NDArray::adopt(tensor, &managed, call_deleter<Managed>, read_only);
}

/// A struct for a consumer and the reference that keeps its memory alive.
template <class Managed> struct Export {
  Managed managed{};
  NDArray array;
};

template <class Managed> Managed* make_export(const NDArray& array) {
  auto result = std::make_unique<Export<Managed>>();
  result->array = array;
  DLTensor& tensor = result->managed.dl_tensor;
  tensor = array.tensor();
  // Some consumers ignore byte_offset, so it is folded into `data`.
  tensor.data = first_element(tensor);
  tensor.byte_offset = 0;
  result->managed.manager_ctx = result.get();
  result->managed.deleter = [](Managed* self) {
    delete static_cast<Export<Managed>*>(self->manager_ctx);
  };
  return &result.release()->managed;
}

void detach(NDArray& array) {
  VERIFY(!array.is_read_only()) << "a read-only array cannot be lent to be written to";
  static_cast<void>(array.mutable_data());
}

}  // namespace

NDArray import_versioned(ManagedTensorVersioned* managed, std::optional<Access> access) {
  VERIFY(managed != nullptr) << "there is no tensor to import: the pointer is null";
  // In another major version the fields after the flags are unknown.
  VERIFY_EQ(managed->version.major, kVersion.major)
      << "the imported tensor is of DLPack " << managed->version.major << "."
      << managed->version.minor;
  return adopt_managed(*managed, (managed->flags & kReadOnly) != 0, access);
}

NDArray import_legacy(DLManagedTensor* managed, Access access) {
  VERIFY(managed != nullptr) << "there is no tensor to import: the pointer is null";
  return adopt_managed(*managed, false, access);
}

ManagedTensorVersioned* export_versioned(NDArray& array, Access access) {
  VERIFY(static_cast<bool>(array)) << "there is no array to export: the NDArray is null";
  if (access == Access::kWrite) detach(array);
  auto* managed = make_export<ManagedTensorVersioned>(array);
  managed->version = kVersion;
  managed->flags = access == Access::kRead ? kReadOnly : 0;
  return managed;
}

DLManagedTensor* export_legacy(NDArray& array) {
  VERIFY(static_cast<bool>(array)) << "there is no array to export: the NDArray is null";
  detach(array);
  return make_export<DLManagedTensor>(array);
}

}  // namespace lockstep::ndarray::dlpack
