#include "containers/array/dictionary.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "containers/array/copy.h"
#include "containers/logging.h"

namespace lockstep::ndarray {
namespace {

constexpr bool kLittleEndian = std::endian::native == std::endian::little;

/// Between the host's byte order and the file's, which is an involution.
void swap_bytes([[maybe_unused]] std::span<std::byte> bytes, [[maybe_unused]] std::size_t width) {
  if constexpr (!kLittleEndian) {
    for (; !bytes.empty(); bytes = bytes.subspan(width)) std::ranges::reverse(bytes.first(width));
  }
}

DLDataType type_of(const params::Tensor& tensor) {
  return {tensor.dtype.code, tensor.dtype.bits, 1};
}

std::vector<params::NamedTensor> tensors_of(std::span<const NamedArray> arrays) {
  std::vector<params::NamedTensor> tensors;
  tensors.reserve(arrays.size());
  for (const auto& [name, array] : arrays) tensors.push_back({name, to_params(array)});
  return tensors;
}

}  // namespace

params::Tensor to_params(const NDArray& array) {
  VERIFY(array) << "a null array cannot be saved";
  NDArray stored = array;
  const std::size_t bytes = byte_count(array.tensor());
  if (!kLittleEndian || !is_host(array.device()) || !array.is_compact()) {
    // Not copy(), which keeps the padding of an array that was made from a descriptor.
    stored = NDArray::empty(array.shape(), array.dtype());
    copy(array.tensor(), stored.mutable_tensor());
    if (!kLittleEndian) {
      swap_bytes({stored.mutable_data(), bytes}, array.dtype().bits / 8u);
    }
  }
  const std::span<const i64> shape = array.shape();
  const auto owner = std::make_shared<NDArray>(std::move(stored));
  return {{array.dtype().code, array.dtype().bits}, {shape.begin(), shape.end()},
      params::Bytes(std::shared_ptr<const std::byte>(owner, owner->data()), bytes)};
}

NDArray from_params(const params::Tensor& tensor) {
  NDArray array = NDArray::empty(tensor.shape, type_of(tensor));
  const params::Bytes& bytes = tensor.bytes;
  copy_from_bytes(bytes.data(), bytes.size(), array.mutable_tensor());
  swap_bytes({array.mutable_data(), bytes.size()}, tensor.dtype.bits / 8u);
  return array;
}

NDArray adopt_params(params::Tensor tensor) {
  if (!kLittleEndian) return from_params(tensor);
  auto owner = std::make_unique<params::Tensor>(std::move(tensor));
  DLTensor layout{};
  layout.data = const_cast<std::byte*>(owner->bytes.data());
  layout.device = kHost;
  layout.ndim = static_cast<int>(owner->shape.size());
  layout.dtype = type_of(*owner);
  layout.shape = owner->shape.data();
  return NDArray::adopt(layout, std::move(owner), true);
}

std::vector<std::byte> save(std::span<const NamedArray> arrays) {
  return params::write(tensors_of(arrays));
}

void save_file(const std::string& path, std::span<const NamedArray> arrays) {
  params::write_file(path, tensors_of(arrays));
}

std::vector<NamedArray> load(std::span<const std::byte> file, const params::ReadOptions& options) {
  std::vector<NamedArray> arrays;
  for (auto& [name, tensor] : params::read(file, options).tensors) {
    arrays.push_back({std::move(name), from_params(tensor)});
  }
  return arrays;
}

std::vector<NamedArray> load_file(const std::string& path, const params::ReadOptions& options) {
  return utils::naming_out_of_memory("reading", path, [&] {
    std::vector<NamedArray> arrays;
    for (auto& [name, tensor] : params::read_file(path, options).tensors)
      arrays.push_back({std::move(name), adopt_params(std::move(tensor))});
    return arrays;
  });
}

std::vector<std::byte> save(const NDArray& array) { return params::write_record(to_params(array)); }

NDArray load_array(std::span<const std::byte> record, const params::ReadOptions& options) {
  return from_params(params::read_record(params::Bytes::borrow(record), options));
}

}  // namespace lockstep::ndarray
