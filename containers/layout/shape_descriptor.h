/// @file
/// A layout: where in a buffer the elements of a tensor lie. All of it can be computed while
/// compiling, and what does not fit int64 is refused.
///
///   compact          the elements lie one after the other
///   padded           they lie as some elements of a larger compact tensor do, a part of it with
///                    room around it, all of which is allocated
///   general strided  in some order of the axes every stride spans what the axes inside it span
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "containers/layout/strides.h"

namespace lockstep::ndarray {

/// A bit of ShapeDescriptor::flags.
struct ArrayFlag {
  std::string_view name;      ///< as the format spells it
  std::uint32_t bit;          ///< one bit, no other flag's
  params::DType dtype{0, 0};  ///< the type of element that the bit stands for, if any
};

/// All flags that this project reads or writes.
inline constexpr ArrayFlag kArrayFlags[] = {
    {"ARRAY_EMPTY", 1u << 3},
    {"ARRAY_HALF", 1u << 12, {2, 16}},
    {"ARRAY_FLOAT", 1u << 13, {2, 32}},
    {"ARRAY_DOUBLE", 1u << 14, {2, 64}},
    {"ARRAY_CHAR", 1u << 15, {0, 8}},
    {"ARRAY_SHORT", 1u << 16, {0, 16}},
    {"ARRAY_INT", 1u << 17, {0, 32}},
    {"ARRAY_LONG", 1u << 18, {0, 64}},
    {"ARRAY_UNSIGNED", 1u << 23},
    {"ARRAY_HAS_PADDED_BUFFER", 1u << 25},
};

/// The bit of this name; a name that the table lacks does not compile.
consteval std::uint32_t array_flag(std::string_view name) {
  for (const ArrayFlag& row : kArrayFlags)
    if (row.name == name) return row.bit;
  throw "no such flag";
}

static_assert(
    [] {
      std::uint32_t seen = 0;
      for (const ArrayFlag& row : kArrayFlags) {
        if (!std::has_single_bit(row.bit) || (seen & row.bit) != 0) return false;
        seen |= row.bit;
      }
      return true;
    }(),
    "every flag is a bit of its own");

/// The bit of a layout with room around its elements.
// NOLINTNEXTLINE(readability-identifier-naming): the name is that of the format.
inline constexpr std::uint32_t ARRAY_HAS_PADDED_BUFFER = array_flag("ARRAY_HAS_PADDED_BUFFER");

/// The flags that follow from type and shape alone.
constexpr std::uint32_t flags_of(params::DType dtype, std::span<const i64> shape) {
  std::uint32_t flags = is_empty(shape) ? array_flag("ARRAY_EMPTY") : 0;
  if (dtype.code == 1) flags |= array_flag("ARRAY_UNSIGNED");
  // An unsigned element has the bit of the signed one of its width beside its own.
  const params::DType named{dtype.code == 1 ? std::uint8_t{0} : dtype.code, dtype.bits};
  for (const ArrayFlag& row : kArrayFlags)
    if (row.dtype.bits != 0 && row.dtype == named) flags |= row.bit;
  return flags;
}

/// The kinds of layout. An empty shape is compact.
enum class LayoutClass {
  kCompact,
  kPadded,
  kGeneralStrided,
  kNone,  ///< none of these: elements may share memory, or a step leads backward
};

/// How a layout was padded, or why that cannot be told.
struct RecoveredPadding {
  std::string_view failure;  ///< why it is not recoverable; empty when it was recovered
  Extents paddings;          ///< elements added to each axis
  Extents offsets;           ///< how many of them precede the first element
  /// Whether paddings and offsets say how the layout was padded.
  constexpr bool recovered() const { return failure.empty(); }
};

/// Where the elements of a tensor lie. Everything is counted in elements.
struct ShapeDescriptor {
  params::DType dtype{2, 32};  ///< the type of an element
  Order order = Order::kC;     ///< which axis moves fastest
  Extents shape{};             ///< extents, the outermost axis first
  Extents strides{};           ///< the step from an element to the next, for each axis
  i64 ews = 0;              ///< the step from each element to the next in `order`; 0 when it varies
  i64 offset = 0;           ///< of the first element in the buffer
  i64 allocated = 0;        ///< the length of the buffer
  std::uint32_t flags = 0;  ///< bits of kArrayFlags

  /// What validate() finds wrong, or worth saying: bits.
  enum Finding : unsigned {
    kOk = 0,
    kBadStrides = 1,  ///< an axis steps backward, or onto what the axes inside it span
    kBadEws = 2,      ///< `ews` is not what shape and strides make it
    kBadRank = 4,     ///< more axes than 32, or not one stride for each
    kEmpty = 8,       ///< an extent is 0: strides and ews say nothing and are not judged
    kBadExtent = 16,  ///< an extent is negative
  };

  /// Whether every field is equal.
  constexpr bool operator==(const ShapeDescriptor&) const = default;

  /// Judges shape, strides and ews for the order that is stated; a view with permuted axes may be
  /// bad here and still be general strided.
  constexpr unsigned validate() const;

  /// The right value of `ews`: the innermost stride if every step from an element to the next one
  /// equals it, else 0. Axes of extent 1 and axes whose steps overlap an inner axis do not count;
  /// if all axes have extent 1, it is 1. For legal ranks and extents.
  constexpr i64 elementwise_stride() const { return judge_strides().ews; }

  /// The first kind of layout, in the order of LayoutClass, that this is.
  constexpr LayoutClass layout_class() const;

  /// How many elements a buffer must have: all of the padded one, else as far as elements reach.
  // NOLINTNEXTLINE(readability-identifier-naming): the name is that of the design.
  constexpr i64 allocLength() const {
    if ((validate() & (kBadRank | kBadExtent)) != 0) refuse("the shape and its strides do not fit");
    return is_flagged_padded() ? allocated : minimal_length(shape, strides);
  }

  /// The paddings and offsets with which paddedBufferDescriptor gives this layout, or why there are
  /// none. The stride of an axis of extent 1 counts here where all strides together are those of a
  /// padded tensor: {1, 5} with strides {8, 1} in 24 elements is padded by {2, 3}. Where they are
  /// not, such a stride is left over from something else; the axis is then taken to have no padding
  /// and the others are judged alone. In either case the elements lie where this layout puts them.
  constexpr RecoveredPadding recover_padding() const;

 private:
  struct Judgement {
    bool strides_fit;
    i64 ews;
  };
  constexpr Judgement judge_strides() const;

  constexpr bool is_flagged_padded() const { return (flags & ARRAY_HAS_PADDED_BUFFER) != 0; }

  /// All axes, the one that moves fastest first.
  constexpr Extents all_axes() const {
    Extents axes;
    for (int k = 0; k < shape.size; ++k) axes.push(from_innermost(k, shape.size, order));
    return axes;
  }
  /// Those among them that are stepped along.
  constexpr Extents axes_longer_than_one() const {
    Extents axes;
    for (const i64 axis : all_axes())
      if (shape[static_cast<int>(axis)] != 1) axes.push(axis);
    return axes;
  }

  /// The paddings of these axes, the others having none.
  constexpr RecoveredPadding recover_along(const Extents& axes) const;
};

constexpr ShapeDescriptor::Judgement ShapeDescriptor::judge_strides() const {
  const Extents axes = axes_longer_than_one();
  if (axes.size == 0) return {true, 1};
  bool fit = strides[static_cast<int>(axes[0])] > 0;
  bool continuous = true;
  for (int k = 1; k < axes.size; ++k) {
    const int axis = static_cast<int>(axes[k]);
    const int inner = static_cast<int>(axes[k - 1]);
    const auto span = try_multiply(strides[inner], shape[inner]);
    if (!span || strides[axis] < *span)
      fit = false;
    else if (strides[axis] != *span)
      continuous = false;
  }
  return {fit, continuous ? strides[static_cast<int>(axes[0])] : 0};
}

constexpr unsigned ShapeDescriptor::validate() const {
  if (!shape.fits() || strides.size != shape.size) return kBadRank;
  for (const i64 extent : shape)
    if (extent < 0) return kBadExtent;
  if (is_empty(shape)) return kEmpty;
  const Judgement judgement = judge_strides();
  return (judgement.strides_fit ? kOk : kBadStrides) | (judgement.ews == ews ? kOk : kBadEws);
}

constexpr LayoutClass ShapeDescriptor::layout_class() const {
  if ((validate() & (kBadRank | kBadExtent)) != 0) return LayoutClass::kNone;
  if (!is_flagged_padded() && is_compact(shape, strides, order)) return LayoutClass::kCompact;
  if (recover_padding().recovered()) return LayoutClass::kPadded;
  return is_nested(shape, strides) ? LayoutClass::kGeneralStrided : LayoutClass::kNone;
}

constexpr RecoveredPadding ShapeDescriptor::recover_padding() const {
  if ((validate() & (kBadRank | kBadExtent)) != 0) return {"the shape is illegal", {}, {}};
  const RecoveredPadding found = recover_along(all_axes());
  return found.recovered() ? found : recover_along(axes_longer_than_one());
}

constexpr RecoveredPadding ShapeDescriptor::recover_along(const Extents& axes) const {
  const auto none = [](std::string_view failure) { return RecoveredPadding{failure, {}, {}}; };
  if (axes.size == 0)
    return allocated == 1 && offset == 0
        ? RecoveredPadding{"", Extents::filled(shape.size, 0), Extents::filled(shape.size, 0)}
        : none("no axis has more than one element");
  if (strides[static_cast<int>(axes[0])] != 1) return none("the innermost stride is not 1");
  RecoveredPadding found{"", Extents::filled(shape.size, 0), Extents::filled(shape.size, 0)};
  i64 rest = offset;
  for (int k = axes.size - 1; k >= 0; --k) {
    const int axis = static_cast<int>(axes[k]);
    const i64 stride = strides[axis];
    const bool is_outermost = k == axes.size - 1;
    const i64 span = is_outermost ? allocated : strides[static_cast<int>(axes[k + 1])];
    if (stride <= 0 || span < 0 || span % stride != 0)
      return none("a stride does not divide the one around it");
    found.paddings[axis] = span / stride - shape[axis];
    if (found.paddings[axis] < 0) return none("a stride is too small for the extent inside it");
    found.offsets[axis] = rest / stride;
    rest %= stride;
    if (found.offsets[axis] < 0 || found.offsets[axis] > found.paddings[axis])
      return none("the offset lies outside the padding");
  }
  return found;
}

/// The descriptor of a compact tensor.
constexpr ShapeDescriptor compact_descriptor(
    params::DType dtype, Order order, const Extents& shape) {
  ShapeDescriptor d{.dtype = dtype, .order = order, .shape = shape};
  d.strides = compact_strides(shape, order);
  d.ews = 1;
  d.allocated = element_count(shape);
  d.flags = flags_of(dtype, shape);
  return d;
}

/// The descriptor of a tensor inside a larger compact one: `paddings` elements are added to each
/// axis, `offsets` of them before the first element. Missing trailing entries are 0.
/// @throws utils::ValueVerifyFatal for more entries than axes, a negative one, and an offset that
///         is larger than its padding.
// NOLINTNEXTLINE(readability-identifier-naming): the name is that of the design.
constexpr ShapeDescriptor paddedBufferDescriptor(params::DType dtype, Order order,
    const Extents& shape, const Extents& paddings, const Extents& offsets = {}) {
  require_rank(static_cast<std::size_t>(shape.size));
  if (paddings.size > shape.size || offsets.size > shape.size)
    refuse("paddings or offsets for more than the " + std::to_string(shape.size) + " axes");
  const auto entry = [](const Extents& list, int axis) {
    return axis < list.size ? list[axis] : 0;
  };
  Extents full = shape;
  for (int axis = 0; axis < shape.size; ++axis) {
    const i64 padding = entry(paddings, axis);
    const i64 before = entry(offsets, axis);
    if (shape[axis] < 0 || padding < 0 || before < 0 || before > padding)
      refuse("axis " + std::to_string(axis) + ": extent " + std::to_string(shape[axis]) +
          ", padding " + std::to_string(padding) + ", offset " + std::to_string(before) +
          "; none may be negative, nor the offset beyond the padding");
    full[axis] = add(shape[axis], padding, "a padded extent");
  }
  ShapeDescriptor d = compact_descriptor(dtype, order, full);
  for (int axis = 0; axis < shape.size; ++axis)
    d.offset =
        add(d.offset, multiply(entry(offsets, axis), d.strides[axis], "the offset"), "the offset");
  d.shape = shape;
  d.flags = flags_of(dtype, shape) | ARRAY_HAS_PADDED_BUFFER;
  d.ews = is_empty(shape) ? 1 : d.elementwise_stride();
  return d;
}

}  // namespace lockstep::ndarray
