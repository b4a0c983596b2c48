/// @file
/// Copies between arrays of any layout, on any devices.
#pragma once

#include <dlpack/dlpack.h>

#include <cstddef>

namespace lockstep::ndarray {

/// Copies every element of `from` to its place in `to`, whatever their strides, offsets and
/// alignments, and writes no byte between the elements. If the two overlap, the result is that of
/// copying through a buffer.
/// @throws utils::ValueVerifyFatal when a tensor is not well formed, when types or shapes differ,
///         and when elements of `to` share memory; utils::LogMessageFatal when a device fails.
void copy(const DLTensor& from, const DLTensor& to);

/// The same from and to bytes on the host, which are compact and row-major.
/// @throws utils::ValueVerifyFatal also when there are not as many bytes as the elements have.
void copy_from_bytes(const void* from, std::size_t bytes, const DLTensor& to);
/// The elements as compact, row-major bytes on the host; throws as copy_from_bytes() does.
void copy_to_bytes(const DLTensor& from, void* to, std::size_t bytes);

}  // namespace lockstep::ndarray
