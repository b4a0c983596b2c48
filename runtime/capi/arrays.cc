#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "containers/array/copy.h"
#include "containers/array/dictionary.h"
#include "containers/logging.h"
#include "runtime/capi/cvm.h"
#include "runtime/capi/handles.h"
#include "runtime/capi/status.h"

namespace lockstep::ndarray {
namespace {

template <class To> To narrow(int number, std::string_view name) {
  VERIFY(std::in_range<To>(number)) << name << " is " << number << ", out of its range";
  return static_cast<To>(number);
}

DLDevice device_of(int type, int id) {
  DLDevice device{kDLCPU, id};
  // The number may be no enumerator, and a cast to one would then mean nothing.
  static_assert(sizeof(device.device_type) == sizeof(type));
  std::memcpy(&device.device_type, &type, sizeof(type));
  return device;
}

/// Reads `size` pointers, by turns to a name and to its tensor.
std::vector<params::NamedTensor> tensors_of(const void** params, std::size_t size) {
  VERIFY(size % 2 == 0) << "params holds names and tensors by turns, and " << size
                        << " pointers are no pairs";
  VERIFY(params != nullptr || size == 0) << "params is null";
  std::vector<params::NamedTensor> tensors;
  for (std::size_t i = 0; i < size; i += 2) {
    VERIFY(params[i] != nullptr) << "name " << i / 2 << " is null";
    std::string name = static_cast<const char*>(params[i]);
    auto array = std::make_unique<NDArray>(borrow(
        static_cast<const DLTensor*>(params[i + 1]), "tensor \"" + params::printable(name) + "\""));
    // The program may have changed shape, strides and offset, so the tensor is described anew.
    const NDArray described = NDArray::adopt(
        array->tensor(), array.get(), [](void* owner) { delete static_cast<NDArray*>(owner); },
        true);
    static_cast<void>(array.release());
    tensors.push_back({std::move(name), to_params(described)});
  }
  return tensors;
}

params::Params file_of(const char* data, std::size_t size) {
  VERIFY(data != nullptr || size == 0) << "data is null";
  return params::read(std::as_bytes(std::span(data, size)));
}

std::vector<DLTensor*> hand_out(std::span<const params::NamedTensor> tensors) {
  std::vector<NDArray> arrays;
  for (const auto& [name, tensor] : tensors) arrays.push_back(from_params(tensor));
  return hand_out(arrays);
}

}  // namespace
}  // namespace lockstep::ndarray

using namespace lockstep::ndarray;
using lockstep::capi::guarded, lockstep::capi::result;
namespace params = lockstep::params;

int CVMArrayAlloc(const int64_t* shape, int ndim, int dtype_code, int dtype_bits, int dtype_lanes,
    int device_type, int device_id, CVMArrayHandle* out) {
  return guarded([&] {
    CVMArrayHandle& handle = result(out, "out");
    VERIFY(ndim >= 0) << "ndim is " << ndim;
    VERIFY(shape != nullptr || ndim == 0) << "shape is null";
    const DLDataType dtype{narrow<std::uint8_t>(dtype_code, "dtype_code"),
        narrow<std::uint8_t>(dtype_bits, "dtype_bits"),
        narrow<std::uint16_t>(dtype_lanes, "dtype_lanes")};
    NDArray array = NDArray::empty(
        {shape, static_cast<std::size_t>(ndim)}, dtype, device_of(device_type, device_id));
    handle = hand_out({&array, 1}).front();
  });
}

int CVMArrayBorrow(const DLTensor* tensor, CVMArrayHandle* out) {
  return guarded([&] {
    CVMArrayHandle& handle = result(out, "out");
    VERIFY(tensor != nullptr) << "tensor is null";
    NDArray array = NDArray::adopt(*tensor, nullptr, nullptr, false);
    handle = hand_out({&array, 1}).front();
  });
}

int CVMArrayFree(CVMArrayHandle handle) {
  return guarded([&] {
    if (handle != nullptr) take_back(handle);
  });
}

int CVMArrayCopyFromBytes(CVMArrayHandle handle, const void* data, size_t nbytes) {
  return guarded([&] {
    const NDArray array = borrow(handle, "the array");
    copy_from_bytes(data, nbytes, array.tensor());
  });
}

int CVMArrayCopyToBytes(CVMArrayHandle handle, void* data, size_t nbytes) {
  return guarded([&] {
    const NDArray array = borrow(handle, "the array");
    copy_to_bytes(array.tensor(), data, nbytes);
  });
}

int CVMArrayCopyFromTo(CVMArrayHandle from, CVMArrayHandle to, CVMStreamHandle stream) {
  return guarded([&] {
    const NDArray source = borrow(from, "the source of a copy");
    const NDArray target = borrow(to, "the target of a copy");
    VERIFY(stream == nullptr) << "a stream other than NULL is not known";
    copy(source.tensor(), target.tensor());
  });
}

int CVMSaveParamsDict(const void** params, int params_size, CVMByteArray* out) {
  return guarded([&] {
    CVMByteArray& file = result(out, "out");
    VERIFY(params_size >= 0) << "params_size is " << params_size;
    thread_local std::vector<std::byte> bytes;
    bytes = {};
    bytes = params::write(tensors_of(params, static_cast<std::size_t>(params_size)));
    file = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  });
}

int CVMSaveParamsDictSized(
    const void** params, size_t params_size, void* buffer, size_t capacity, size_t* size) {
  return guarded([&] {
    std::size_t& needed = result(size, "size");
    VERIFY(buffer != nullptr || capacity == 0) << "buffer is null";
    const std::span<std::byte> memory(static_cast<std::byte*>(buffer), capacity);
    needed = params::write(memory, tensors_of(params, params_size));
    VERIFY(needed <= capacity || capacity == 0)
        << "the file has " << needed << " bytes, buffer has " << capacity;
  });
}

int CVMLoadParamsDict(
    const char* data, int datalen, int* retNum, void*** retNames, void*** retValues) {
  return guarded([&] {
    int& count = result(retNum, "retNum");
    void**& names = result(retNames, "retNames");
    void**& values = result(retValues, "retValues");
    VERIFY(datalen >= 0) << "datalen is " << datalen;
    thread_local struct {
      std::vector<std::string> names;
      std::vector<void*> lists;  // the names, then the handles
    } last;
    last = {};
    auto [tensors, trailing] = file_of(data, static_cast<std::size_t>(datalen));
    const std::size_t found = tensors.size();
    VERIFY(std::in_range<int>(found)) << "the file has " << found << " arrays; int counts fewer";
    last.names.resize(found);
    last.lists.resize(2 * found);
    for (std::size_t i = 0; i < found; ++i) {
      last.names[i] = std::move(tensors[i].name);
      last.lists[i] = last.names[i].data();
    }
    std::ranges::copy(hand_out(tensors), last.lists.begin() + static_cast<std::ptrdiff_t>(found));
    names = last.lists.data();
    values = names + found;
    count = static_cast<int>(found);
  });
}

int CVMLoadParamsDictSized(const char* data, size_t datalen, CVMByteArray* names,
    CVMArrayHandle* values, size_t capacity, size_t* count) {
  return guarded([&] {
    std::size_t& needed = result(count, "count");
    VERIFY((names != nullptr && values != nullptr) || capacity == 0) << "names or values is null";
    const params::Params file = file_of(data, datalen);
    needed = file.tensors.size();
    if (capacity == 0) return;
    VERIFY(needed <= capacity) << "the file has " << needed << " arrays, the lists have room for "
                               << capacity;
    std::ranges::copy(hand_out(file.tensors), values);
    // Each name follows its length; the reader has checked that both are there.
    constexpr int kHeader = params::field("magic").width() + params::field("reserved").width() +
        params::field("name_count").width();
    const char* at = data + kHeader;
    for (std::size_t i = 0; i < needed; ++i) {
      at += params::field("name_length").width();
      names[i] = {at, file.tensors[i].name.size()};
      at += names[i].size;
    }
  });
}
