#include "containers/array/dltensor.h"

#include <cstring>
#include <limits>

#include "containers/logging.h"
#include "containers/memory/device.h"

namespace lockstep::ndarray {
namespace {

/// The device type as a number. A foreign tensor may hold one that is no enumerator, and reading
/// that as the enumeration is undefined.
int type_number(DLDevice device) {
  static_assert(sizeof(device.device_type) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &device.device_type, sizeof(number));
  return number;
}

/// Calls `f` with a device of legal kind as memory/device.h knows it.
template <class F> decltype(auto) with_device(DLDevice device, const F& f) {
  return is_host(device) ? f(CpuDevice()) : f(GpuDevice(device.device_id));
}

}  // namespace

bool is_host(DLDevice device) { return type_number(device) == kDLCPU && device.device_id == 0; }

bool is_device(DLDevice device) {
  return is_host(device) || (type_number(device) == kDLCUDA && device.device_id >= 0);
}

bool same_device(DLDevice a, DLDevice b) {
  return type_number(a) == type_number(b) && a.device_id == b.device_id;
}

std::string device_text(DLDevice device) {
  if (is_host(device)) return "cpu";
  const int type = type_number(device);
  const std::string kind = type == kDLCUDA ? "cuda" : "device type " + std::to_string(type);
  return kind + " " + std::to_string(device.device_id);
}

bool is_element_type(DLDataType type) {
  return type.lanes == 1 && !params::dtype_name({type.code, type.bits}).empty();
}

bool same_type(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

Extents strides_of(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return compact_strides(shape_of(tensor));
  Extents strides;
  for (const i64 stride : std::span(tensor.strides, shape_of(tensor).size())) strides.push(stride);
  return strides;
}

std::size_t byte_count(const DLTensor& tensor) {
  const auto bytes = params::byte_size(shape_of(tensor), {tensor.dtype.code, tensor.dtype.bits});
  return static_cast<std::size_t>(bytes.value());
}

Reach reach_of_nothing(std::span<const i64> shape, i64 element_bytes) {
  i64 bytes = element_bytes;
  bool too_many = false, empty = false;
  for (const i64 extent : shape) {
    if (extent < 0) refuse("a negative extent in " + shape_text(shape));
    empty |= extent == 0;
    too_many |= __builtin_mul_overflow(bytes, max(extent, 1), &bytes);
  }
  if (too_many) refuse_overflow("the size of an array");
  if (!empty) refuse_overflow("the place of an element");
  return {};
}

bool elements_are_distinct(std::span<const i64> shape, std::span<const i64> strides) {
  // A reversed axis visits the same places.
  Extents forward;
  for (const i64 stride : strides) {
    constexpr i64 kMost = std::numeric_limits<i64>::max();
    forward.push(stride >= 0 ? stride : stride < -kMost ? kMost : -stride);
  }
  return is_disjoint(shape, forward);
}

void verify(std::span<const i64> shape, DLDataType type, DLDevice device, std::string_view name) {
  VERIFY(shape.size() <= params::kMaxDimensions)
      << name << " has " << shape.size() << " dimensions; legal are 0 to "
      << params::kMaxDimensions;
  VERIFY(is_element_type(type)) << name << " has elements of type code " << type.code << ", "
                                << type.bits << " bits and " << type.lanes
                                << " lanes, which is no element type";
  VERIFY(is_device(device)) << name << " is on " << device_text(device)
                            << "; known are cpu and cuda";
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    VERIFY(shape[axis] >= 0) << name << " has extent " << shape[axis] << " on axis " << axis
                             << ", less than 0";
  VERIFY(params::byte_size(shape, {type.code, type.bits}))
      << name << " has more elements than int64 counts bytes for";
}

void verify(const DLTensor& tensor, std::string_view name) {
  VERIFY(tensor.ndim >= 0) << name << " has " << tensor.ndim << " dimensions";
  VERIFY(tensor.ndim == 0 || tensor.shape != nullptr) << name << " has no shape";
  verify(shape_of(tensor), tensor.dtype, tensor.device, name);
  static_cast<void>(reach(shape_of(tensor), strides_of(tensor), element_bytes(tensor.dtype)));
  VERIFY(tensor.data != nullptr || byte_count(tensor) == 0) << name << " has elements and no data";
}

void* acquire(std::size_t bytes, DLDevice device) {
  return with_device(device, [&](auto d) { return acquire(bytes, d); });
}

void release(void* memory, std::size_t bytes, DLDevice device) noexcept {
  with_device(device, [&](auto d) { release(memory, bytes, d); });
}

void copy_bytes(
    void* to, DLDevice to_device, const void* from, DLDevice from_device, std::size_t bytes) {
  with_device(to_device, [&](auto to_kind) {
    with_device(
        from_device, [&](auto from_kind) { copy_bytes(to, to_kind, from, from_kind, bytes); });
  });
}

}  // namespace lockstep::ndarray
