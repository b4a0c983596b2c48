#include "containers/array/ndarray.h"

#include <algorithm>
#include <string>
#include <utility>

#include "containers/array/copy.h"

namespace lockstep::ndarray {
namespace {

// Separate functions, because the stack frame of an assertion would cost every legal view a tenth
// of its time.

[[noreturn]] void refuse_null() { refuse("there is no array: the NDArray is null"); }

[[noreturn]] void refuse_axes(std::size_t extents, std::size_t strides) {
  refuse("a view has " + std::to_string(extents) + " extents and " + std::to_string(strides) +
      " strides; legal are as many of both, up to " + std::to_string(params::kMaxDimensions));
}

[[noreturn]] void refuse_place(i64 first, i64 end, std::size_t bytes) {
  refuse("an array reaches from byte " + std::to_string(first) + " to " + std::to_string(end) +
      " of memory that has " + std::to_string(bytes));
}

/// The memory of a container as an array of bytes.
class Block {
 public:
  explicit Block(const Container& c) : bytes_(static_cast<i64>(c.bytes)) {
    tensor_ = {.data = c.memory,
        .device = c.device,
        .ndim = 1,
        .dtype = {kDLUInt, 8, 1},
        .shape = &bytes_,
        .strides = nullptr,
        .byte_offset = 0};
  }
  Block(const Block&) = delete;
  const DLTensor& tensor() const { return tensor_; }

 private:
  i64 bytes_;
  DLTensor tensor_;
};

void delete_owned(Container* self) {
  if (self->memory != nullptr) release(self->memory, self->bytes, self->device);
  Container::destroy(self);
}

void delete_adopted(Container* self) {
  if (self->release != nullptr) self->release(self->owner);
  Container::destroy(self);
}

void delete_view(Container* self) {
  self->root()->drop();
  Container::destroy(self);
}

}  // namespace

NDArray NDArray::empty(std::span<const i64> shape, DLDataType dtype, DLDevice device) {
  verify(shape, dtype, device, "an array");
  const Extents strides = compact_strides(shape);
  const Reach around = reach(shape, strides, element_bytes(dtype));
  return owned(shape, strides, dtype, device, static_cast<std::size_t>(around.end), 0);
}

NDArray NDArray::empty(const ShapeDescriptor& layout, DLDevice device) {
  constexpr std::string_view kBuffer = "the buffer of a layout";
  const DLDataType dtype{layout.dtype.code, layout.dtype.bits, 1};
  verify(layout.shape, dtype, device, "an array");
  const i64 size = element_bytes(dtype), length = layout.allocLength();
  const Reach around = reach(layout.shape, layout.strides, size);
  const i64 bytes = multiply(std::max(length, layout.allocated), size, kBuffer);
  const i64 start = multiply(layout.offset, size, kBuffer);
  const i64 first = add(start, around.first, kBuffer), end = add(start, around.end, kBuffer);
  if (first < 0 || end > bytes) refuse_place(first, end, static_cast<std::size_t>(bytes));
  return owned(layout.shape, layout.strides, dtype, device, static_cast<std::size_t>(bytes),
      static_cast<std::size_t>(start));
}

NDArray NDArray::owned(std::span<const i64> shape, std::span<const i64> strides, DLDataType dtype,
    DLDevice device, std::size_t bytes, std::size_t byte_offset) {
  NDArray array(
      Container::make(Container::TypeCode::kOwned, delete_owned, dtype, device, shape, strides));
  if (bytes == 0) return array;
  Container& self = *array.container_;
  self.memory = static_cast<std::byte*>(acquire(bytes, device));
  self.bytes = bytes;
  self.tensor.data = self.memory;
  self.tensor.byte_offset = byte_offset;
  return array;
}

NDArray NDArray::adopt(
    const DLTensor& tensor, void* owner, void (*release)(void* owner), bool read_only) {
  verify(tensor, "an adopted array");
  const std::span<const i64> shape = shape_of(tensor);
  const Extents strides = strides_of(tensor);
  const Reach around = reach(shape, strides, element_bytes(tensor.dtype));
  NDArray array(Container::make(
      Container::TypeCode::kAdopted, delete_adopted, tensor.dtype, tensor.device, shape, strides));
  Container& self = *array.container_;
  self.tensor.data = tensor.data;
  self.tensor.byte_offset = tensor.data == nullptr ? 0 : tensor.byte_offset;
  self.read_only = read_only;
  self.memory = first_element(self.tensor) + around.first;
  self.bytes = static_cast<std::size_t>(around.end - around.first);
  self.owner = owner;
  self.release = release;
  return array;
}

std::byte* NDArray::mutable_data() {
  if (container_ == nullptr) refuse_null();
  const bool in_place =
      container_->is_exclusive() && !is_read_only() && elements_are_distinct(shape(), strides());
  if (!in_place) *this = copy();
  return first_element(container_->tensor);
}

const DLTensor& NDArray::mutable_tensor() {
  static_cast<void>(mutable_data());
  return container_->tensor;
}

NDArray NDArray::view(
    std::span<const i64> shape, std::span<const i64> strides, i64 byte_offset) const {
  if (container_ == nullptr) refuse_null();
  if (shape.size() != strides.size() || shape.size() > params::kMaxDimensions)
    refuse_axes(shape.size(), strides.size());
  constexpr std::string_view kPlace = "the place of a view";
  const Reach around = reach(shape, strides, element_bytes(dtype()));
  Container* root = container_->root();
  const i64 start = add(data() - root->memory, byte_offset, kPlace);
  const i64 first = add(start, around.first, kPlace);
  const i64 end = add(start, around.end, kPlace);
  if (first < 0 || std::cmp_greater(end, root->bytes)) refuse_place(first, end, root->bytes);
  NDArray view(
      Container::make(Container::TypeCode::kView, delete_view, dtype(), device(), shape, strides));
  Container& self = *view.container_;
  self.tensor.data = root->memory;
  self.tensor.byte_offset = static_cast<std::uint64_t>(start);
  self.memory = root->memory;
  self.bytes = root->bytes;
  root->retain();
  self.owner = root;
  return view;
}

NDArray NDArray::copy(DLDevice device) const {
  if (container_ == nullptr) refuse_null();
  const Container& self = *container_;
  if (self.type_code != Container::TypeCode::kOwned || self.bytes == byte_count(tensor())) {
    NDArray result = empty(shape(), dtype(), device);
    ndarray::copy(tensor(), result.mutable_tensor());
    return result;
  }
  NDArray result = owned(shape(), strides(), dtype(), device, self.bytes, self.tensor.byte_offset);
  ndarray::copy(Block(self).tensor(), Block(*result.container_).tensor());
  return result;
}

}  // namespace lockstep::ndarray
