/// @file
/// A reference to an array of numbers that behaves as a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "containers/array/container.h"
#include "containers/array/dltensor.h"
#include "containers/layout/shape_descriptor.h"

namespace lockstep::ndarray {

/// One pointer to a Container, or null. Copying an array shares its memory and moving it steals
/// the reference; the elements are copied when one of those who share writes (mutable_data()).
///
/// A view shares memory in the same way. An array that is written to first detaches itself from all
/// others, views included, so no write shows in another NDArray. This type does not support memory
/// that several arrays write to together; a DLTensor does.
///
/// Different NDArrays may be used by different threads even where they share memory; one NDArray
/// by one thread at a time, as with an integer.
class NDArray {
 public:
  /// Null: no array at all.
  NDArray() = default;
  /// Another reference to the same array.
  NDArray(const NDArray& other) noexcept : container_(other.container_) {
    if (container_ != nullptr) container_->retain();
  }
  /// Takes the reference; `other` becomes null.
  NDArray(NDArray&& other) noexcept : container_(std::exchange(other.container_, nullptr)) {}
  /// Drops its own reference for one to the other array.
  NDArray& operator=(const NDArray& other) noexcept {
    NDArray(other).swap(*this);
    return *this;
  }
  /// Drops its own reference for the other's, which becomes null.
  NDArray& operator=(NDArray&& other) noexcept {
    NDArray(std::move(other)).swap(*this);
    return *this;
  }
  ~NDArray() {
    if (container_ != nullptr) container_->drop();
  }

  /// A compact, row-major array in memory of its own, of unspecified contents.
  /// @throws utils::ValueVerifyFatal for what verify() refuses, utils::LogMessageFatal without
  ///         memory.
  static NDArray empty(std::span<const i64> shape, DLDataType dtype, DLDevice device = kHost);

  /// An array whose elements lie in memory of its own as the descriptor says. It keeps its padding:
  /// copies of it have the same layout, and the same bytes between the elements. A file holds its
  /// values alone: what is loaded is compact.
  /// @throws utils::ValueVerifyFatal for what verify() refuses and where elements lie outside the
  ///         buffer, utils::LogMessageFatal without memory.
  static NDArray empty(const ShapeDescriptor& layout, DLDevice device = kHost);

  /// An array over foreign memory, described by `tensor`; copies everything but the data.
  /// `release(owner)` is called when the last reference has gone; null leaves the memory with its
  /// lender, who must outlive it. Read-only memory is never written: a writer gets a copy.
  /// @throws utils::ValueVerifyFatal for what verify() refuses; then nothing is released.
  static NDArray adopt(
      const DLTensor& tensor, void* owner, void (*release)(void* owner), bool read_only);
  /// The same; the array keeps the owner, and deletes it last.
  template <class Owner>
  static NDArray adopt(const DLTensor& tensor, std::unique_ptr<Owner> owner, bool read_only) {
    const auto release = [](void* self) { delete static_cast<Owner*>(self); };
    NDArray array = adopt(tensor, owner.get(), release, read_only);
    static_cast<void>(owner.release());
    return array;
  }

  /// Exchanges the references.
  void swap(NDArray& other) noexcept { std::swap(container_, other.container_); }
  /// Drops the reference and becomes null.
  void reset() noexcept { NDArray().swap(*this); }
  /// Whether this is not null.
  explicit operator bool() const { return container_ != nullptr; }
  /// Whether both are references to one container, or both null.
  bool same_as(const NDArray& other) const { return container_ == other.container_; }
  /// How many NDArrays refer to the container, and how many views show its memory, in one number:
  /// 0 for null, and only a guess while other threads copy.
  std::int32_t use_count() const {
    return container_ == nullptr ? 0 : container_->references.load(std::memory_order_relaxed);
  }

  // Of an array that is not null:

  /// The array as DLPack describes it, strides included; not to be written through.
  const DLTensor& tensor() const { return container_->tensor; }
  /// The number of axes, 0 to 32.
  int rank() const { return tensor().ndim; }
  /// The extents, the outermost axis first.
  std::span<const i64> shape() const { return shape_of(tensor()); }
  /// In elements.
  std::span<const i64> strides() const { return {tensor().strides, shape().size()}; }
  /// The type of an element.
  DLDataType dtype() const { return tensor().dtype; }
  /// Where the memory is.
  DLDevice device() const { return tensor().device; }
  /// Element (0, ..., 0); byte_offset is in it.
  const std::byte* data() const { return first_element(tensor()); }
  /// Whether the elements lie one after the other, the last axis fastest.
  bool is_compact() const { return ndarray::is_compact(shape(), strides()); }
  /// Whether nobody may write to this memory, however few share it.
  bool is_read_only() const { return container_->root()->read_only; }

  /// Element (0, ..., 0), to be written to. Where the memory is shared or read-only, or elements
  /// overlap, the array first becomes a copy(), whose strides it then has.
  /// @throws utils::ValueVerifyFatal for null, utils::LogMessageFatal without memory.
  std::byte* mutable_data();
  /// The array as a target to copy to, prepared as mutable_data() prepares it.
  const DLTensor& mutable_tensor();

  /// A view of other elements of the same memory, which it keeps alive. `byte_offset` is the place
  /// of its first element, relative to this array's. Any strides are legal, 0 and negative ones
  /// too.
  /// @throws utils::ValueVerifyFatal for null and for elements outside the memory.
  NDArray view(std::span<const i64> shape, std::span<const i64> strides, i64 byte_offset = 0) const;

  /// A copy in memory of its own: compact and row-major, unless the array was made from a
  /// descriptor.
  /// @throws utils::ValueVerifyFatal for null, utils::LogMessageFatal without memory.
  NDArray copy(DLDevice device) const;
  /// The copy on the array's own device.
  NDArray copy() const { return copy(device()); }

 private:
  explicit NDArray(Container* container) noexcept : container_(container) {}
  static NDArray owned(std::span<const i64> shape, std::span<const i64> strides, DLDataType dtype,
      DLDevice device, std::size_t bytes, std::size_t byte_offset);

  Container* container_ = nullptr;
};

static_assert(sizeof(NDArray) == sizeof(void*));

}  // namespace lockstep::ndarray
