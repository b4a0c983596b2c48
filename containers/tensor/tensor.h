/// @file
/// A tensor whose element type, rank and kind of device the compiler knows.
///
/// Tensors share memory or own it alone; which of the two a line of code does is never left to `=`:
/// ShareData() shares, Copy() copies, and a moved-from tensor is empty.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "containers/memory/allocation.h"
#include "containers/tensor/dim.h"
#include "spec/params.h"

namespace lockstep::ndarray {

/// The type of element that T is, in a parameter file and in DLPack.
template <class T> constexpr params::DType dtype_of() {
  constexpr int kCode = std::is_floating_point_v<T> ? 2 : std::is_unsigned_v<T> ? 1 : 0;
  return {static_cast<std::uint8_t>(kCode), static_cast<std::uint8_t>(8 * sizeof(T))};
}

/// A number type that tensors can hold; bool is not one.
template <class T>
concept Element = std::is_arithmetic_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T> &&
    !std::is_same_v<T, bool> && !params::dtype_name(dtype_of<T>()).empty();

/// A tensor of `Rank` axes with elements of type T in memory of a device.
template <class T, int Rank, class Device> class Tensor {
  static_assert(Element<T>, "elements are integers or floating-point numbers, and are written");

 public:
  using Size = Dim<Rank>;  ///< a number for each axis
  /// Memory that several tensors may share.
  using Memory = std::shared_ptr<const Allocation<Device>>;

  /// No memory, and zero along every axis.
  Tensor() = default;

  /// New memory, its contents not initialized; the last axis moves fastest.
  /// @throws utils::ValueVerifyFatal for a negative extent and for more bytes than int64 counts.
  Tensor(const Size& size, Device device)
      : size_(size), stride_(contiguous_strides(size)), allocation_(allocate(size, device)) {}

  /// Shares the memory of a tensor with as many elements, of any rank.
  /// @throws utils::ValueVerifyFatal for another number of elements, and for a source whose
  ///         elements do not lie one after the other.
  template <int SourceRank> Tensor(const Size& size, const Tensor<T, SourceRank, Device>& source)
      : size_(size),
        stride_(contiguous_strides(size)),
        offset_(source.offset()),
        allocation_(source.allocation()) {
    if (numel() != source.numel())
      refuse(shape_text(size.span()) + " has not as many elements as " +
          shape_text(source.size().span()));
    source.require_contiguous();
  }

  /// Views memory that others may view too: element (0, ..., 0) is `offset` elements from its
  /// beginning. Elements may share their place, as those of a broadcast do.
  /// @throws utils::ValueVerifyFatal for a negative stride, for an element outside the memory, and
  ///         for memory that is not aligned as T must be.
  Tensor(Memory allocation, const Size& size, const Size& stride, i64 offset)
      : size_(size), stride_(stride), offset_(offset), allocation_(std::move(allocation)) {
    const i64 end = add(offset, minimal_length(size.span(), stride.span()), "the end of a view");
    if (offset < 0 || end > capacity())
      refuse("a view of elements " + std::to_string(offset) + " to " + std::to_string(end) +
          " of memory that has " + std::to_string(capacity()));
    if (reinterpret_cast<std::uintptr_t>(base()) % alignof(T) != 0)
      refuse("memory that is not aligned to " + std::to_string(alignof(T)) + " bytes");
  }

  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  /// Takes memory and size; `other` has none afterwards.
  Tensor(Tensor&& other) noexcept { swap(other); }
  /// Lets its own memory go and takes the other's.
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor(std::move(other)).swap(*this);
    return *this;
  }

  /// The first element; null without memory.
  T* raw_ptr() const { return base() == nullptr ? nullptr : base() + offset_; }

  /// The extents, the outermost axis first.
  const Size& size() const { return size_; }
  /// The step from an element to the next along each axis, in elements.
  const Size& stride() const { return stride_; }
  /// The number of elements.
  i64 numel() const { return product(size_); }
  /// The device of the memory; the default one without.
  Device device() const { return allocation_ ? allocation_->device() : Device(); }
  /// What this shares with others; null without memory.
  const Memory& allocation() const { return allocation_; }
  /// The first element, counted from the beginning of the memory.
  i64 offset() const { return offset_; }

  /// The place of an element. The caller makes sure that the index is inside the size.
  /// @throws utils::ValueVerifyFatal when the place is not in the memory: the index is wrong, or
  ///         nothing was allocated for the size that resize() set.
  T* index(const Size& idx) const {
    const i64 place = add(offset_, linearize(idx, stride_), "the place of an element");
    if (place < 0 || place >= capacity())
      refuse("element " + shape_text(idx.span()) + " is outside the memory, which has " +
          std::to_string(capacity()) + " elements");
    return base() + place;
  }

  /// As index(), and refuses an index outside the size.
  T* at(const Size& idx) const {
    if (!contained(idx, size_))
      refuse("there is no element " + shape_text(idx.span()) + " in a tensor of size " +
          shape_text(size_.span()));
    return index(idx);
  }

  /// Sets the size, and strides without gaps. The memory stays as it is until mutable_data().
  void resize(const Size& size) {
    static_cast<void>(byte_count(size));
    stride_ = contiguous_strides(size);
    size_ = size;
  }

  /// Another size for the same elements.
  /// @throws utils::ValueVerifyFatal for another number of elements, and when they do not lie one
  ///         after the other.
  void reshape(const Size& size) {
    if (product(size) != numel())
      refuse(shape_text(size.span()) + " has not as many elements as " + shape_text(size_.span()));
    require_contiguous();
    stride_ = contiguous_strides(size);
    size_ = size;
  }

  /// Memory for the size: the present memory, or new and uninitialized memory if the present is too
  /// small. Other tensors that share the old memory keep it. Null for no elements and no memory.
  T* mutable_data() {
    const i64 length = minimal_length(size_.span(), stride_.span());
    if (length > capacity() - offset_) {
      allocation_ = allocate(size_, device());
      stride_ = contiguous_strides(size_);
      offset_ = 0;
    }
    return raw_ptr();
  }

  /// @throws utils::ValueVerifyFatal unless the elements lie one after the other, all in memory.
  void require_contiguous() const {
    if (!contiguous(size_, stride_))
      refuse("the elements of a tensor of size " + shape_text(size_.span()) + " and strides " +
          shape_text(stride_.span()) + " do not lie one after the other");
    require_memory();
  }

  /// @throws utils::ValueVerifyFatal when elements are outside the memory, which resize() alone
  ///         can bring about.
  void require_memory() const {
    if (minimal_length(size_.span(), stride_.span()) > capacity() - offset_)
      refuse("a tensor of size " + shape_text(size_.span()) + " has memory for " +
          std::to_string(capacity() - offset_) + " elements; mutable_data() allocates");
  }

  /// Exchanges memory, size and strides.
  void swap(Tensor& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(stride_, other.stride_);
    std::swap(offset_, other.offset_);
    allocation_.swap(other.allocation_);
  }

 private:
  static i64 byte_count(const Size& size) {
    return multiply(product(size), static_cast<i64>(sizeof(T)), "the size of a tensor in bytes");
  }

  static Memory allocate(const Size& size, Device device) {
    return std::make_shared<const Allocation<Device>>(
        static_cast<std::size_t>(byte_count(size)), device);
  }

  T* base() const { return allocation_ ? static_cast<T*>(allocation_->ptr()) : nullptr; }

  /// How many elements the memory has room for.
  i64 capacity() const {
    return allocation_ ? static_cast<i64>(allocation_->size() / sizeof(T)) : 0;
  }

  Size size_;
  Size stride_;
  i64 offset_ = 0;
  Memory allocation_;
};

/// Another tensor for the same memory.
template <class T, int Rank, class Device>
// NOLINTNEXTLINE(readability-identifier-naming): the name is that of the design.
Tensor<T, Rank, Device> ShareData(const Tensor<T, Rank, Device>& source) {
  source.require_memory();
  return {source.allocation(), source.size(), source.stride(), source.offset()};
}

}  // namespace lockstep::ndarray
