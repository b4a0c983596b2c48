#include "containers/tensor/interop.h"

#include <cstdint>

#include "containers/logging.h"

namespace lockstep::ndarray::detail {
namespace {

std::string type_text(DLDataType dtype) {
  return std::string(params::dtype_name({dtype.code, dtype.bits}));
}

}  // namespace

void require(const NDArray& array, int rank, DLDataType dtype) {
  VERIFY(static_cast<bool>(array)) << "there is no array to make a tensor of: the NDArray is null";
  VERIFY_EQ(array.rank(), rank) << "the array's rank and the tensor's";
  VERIFY(same_type(array.dtype(), dtype))
      << "the array has elements of " << type_text(array.dtype()) << ", the tensor of "
      << type_text(dtype);
}

void require_tensor_layout(const NDArray& array, std::size_t alignment) {
  VERIFY(!array.is_read_only()) << "the array is read-only and a tensor is written to";
  if (is_empty(array.shape())) return;
  VERIFY(is_disjoint(array.shape(), array.strides()))
      << "an array of shape " << shape_text(array.shape()) << " and strides "
      << shape_text(array.strides()) << " has elements that share memory, or steps backward";
  VERIFY_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % alignment, 0U)
      << "the array's elements are not aligned to " << alignment << " bytes";
}

CpuDevice device_of(const NDArray& array, CpuDevice) {
  VERIFY(is_host(array.device())) << "the array is on " << device_text(array.device())
                                  << " and the tensor on the host";
  return {};
}

GpuDevice device_of(const NDArray& array, GpuDevice) {
  VERIFY(!is_host(array.device())) << "the array is on the host and the tensor on a GPU";
  return GpuDevice(array.device().device_id);
}

}  // namespace lockstep::ndarray::detail
