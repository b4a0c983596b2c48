/// @file
/// Arrays as parameter files store them (containers/params/params.h): converts between
/// NDArray, which has strides, a device and the host's byte order, and the file, which has none of
/// these.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "containers/array/ndarray.h"
#include "containers/params/params.h"

namespace lockstep::ndarray {

/// An entry of a dictionary.
struct NamedArray {
  std::string name;  ///< as a file spells it
  NDArray array;     ///< not null
};

/// What a file stores of an array: compact, on the host, little-endian. If the array is so already,
/// the tensor shares its memory instead of copying it. Padding is not stored.
params::Tensor to_params(const NDArray& array);

/// An array with a copy of what a file stored.
NDArray from_params(const params::Tensor& tensor);

/// An array over the memory of a tensor that owns it: read-only, so that a writer gets a copy.
/// On a big-endian host it is a copy at once.
NDArray adopt_params(params::Tensor tensor);

/// The bytes of the file that holds these arrays in this order.
/// @throws params::Error and what copying to the host throws.
std::vector<std::byte> save(std::span<const NamedArray> arrays);
/// Writes that file. @throws as save(), utils::ValueVerifyFatal when it cannot be created.
void save_file(const std::string& path, std::span<const NamedArray> arrays);

/// The arrays of a file, in file order, in host memory of their own.
/// @throws params::Error when the file is faulty.
std::vector<NamedArray> load(
    std::span<const std::byte> file, const params::ReadOptions& options = {});
/// The arrays of the file at a path. @throws as load(), utils::ValueVerifyFatal without the file.
std::vector<NamedArray> load_file(const std::string& path, const params::ReadOptions& options = {});

/// The bytes of one array alone, as a file's record of it, and the reverse.
/// @throws params::Error as save() and load() do.
std::vector<std::byte> save(const NDArray& array);
/// The array of one record. @throws params::Error when the record is faulty.
NDArray load_array(std::span<const std::byte> record, const params::ReadOptions& options = {});

}  // namespace lockstep::ndarray
