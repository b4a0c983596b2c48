/// @file
/// What becomes of the sums of products, for all kernels that compute some: the bias, what finishes
/// them in a compiled graph (cpu/fusion.h), and where they go, to a tensor or to the cells of an
/// activation that the next product reads.
#pragma once
#include <type_traits>

#include "backends/cpu/fusion.h"
#include "backends/cuda/kernels/cells.h"

namespace lockstep::cuda {

/// A tensor, or the cells of packed images from the first position that is no padding.
template <class Data> struct Surface {
  Data* data = nullptr;
  bool is_packed = false;
  bool is_wide = false;  ///< whether four channels of a tensor can be moved at once
  i64 stride[4]{};       ///< of images, channels, lines and columns: elements, or bytes of cells

  LOCKSTEP_DEVICE constexpr i64 offset(const Position& at, u32 channel) const {
    return at.image * stride[0] + channel * stride[1] + at.line * stride[2] + at.column * stride[3];
  }
};

/// The padding of packed images. A border is what lies before the first line of an image, and after
/// each of its lines up to the next one or to the end. Where there is no padding beside lines, all
/// of them count as one line.
struct Border {
  i32* cells = nullptr;
  u32 words = 0;    ///< of all borders
  u32 threads = 0;  ///< of the launch
  Divisor image;    ///< words of an image's border
  Divisor gap;      ///< words between two lines
  u32 head = 0;     ///< words before the first line
  u32 lines = 0;
  i64 line_words = 0, image_words = 0;

  /// Clears the words of a thread.
  template <class Thread> LOCKSTEP_DEVICE void clear(u32 thread, Thread& t) const {
    for (u32 k = thread; k < words; k += threads) {
      const Divided at = divide(k, image);
      u32 passed = 0;
      if (at.rest >= head) passed = gap.quotient(at.rest - head) + 1;
      if (passed > lines) passed = lines;
      t.put(cells + at.quotient * image_words + at.rest + passed * line_words, 0);
    }
  }
};

LOCKSTEP_DEVICE constexpr i32 rescaled(i32 v, const cpu::Rescale& r) {
  const i32 rounded = add(v, r.half) >> r.shift;
  return rounded < r.low ? r.low : rounded > r.high ? r.high : rounded;
}

struct Epilogue {
  const i32* bias = nullptr;  ///< nullptr: none
  i64 bias_stride = 0;
  cpu::Finish finish{};
  Surface<const void> added{};
  Surface<void> y{};
  Border border{};

  /// The bytes of neighbouring channels, in words.
  template <int kRows> using Words = u32[(kRows + 3) / 4];

  /// Begins the sums of neighbouring channels with the bias, for those before `end`.
  template <int kRows, class Thread>
  LOCKSTEP_DEVICE void begin(u32 channel, u32 end, i32 (&v)[kRows], Thread& t) const {
    LOCKSTEP_UNROLL
    for (u32 r = 0; r < kRows; ++r)
      v[r] = bias && channel + r < end ? t.get(bias + (channel + r) * bias_stride) : 0;
  }

  /// Reads what is added from cells. A kernel that stores several positions first reads for all of
  /// them, because no read overtakes a store.
  template <int kRows, class Thread> LOCKSTEP_DEVICE void fetch(
      const Position& at, u32 channel, u32 end, Words<kRows>& words, Thread& t) const {
    if (!finish.adds || !added.is_packed || channel >= end) return;
    constexpr int kUnit = sizeof(Unit<kRows>);
    const Byte* from = static_cast<const Byte*>(added.data) + added.offset(at, channel);
    LOCKSTEP_UNROLL
    for (u32 r = 0; r < kRows; r += kUnit)
      if (channel + r < end) words[r / 4] = t.get(reinterpret_cast<const Unit<kRows>*>(from + r));
  }

  /// Finishes and stores the sums of neighbouring channels at a position, those before `end`.
  /// @param words what fetch() has read
  template <int kRows, class Thread> LOCKSTEP_DEVICE void store(const Position& at, u32 channel,
      u32 end, i32 (&v)[kRows], const Words<kRows>& words, Thread& t) const {
    if (channel >= end) return;
    const u32 count = end - channel;
    i32 others[kRows]{};
    if (finish.adds && added.is_packed) {
      LOCKSTEP_UNROLL
      for (int r = 0; r < kRows; ++r)
        others[r] = static_cast<std::int8_t>(words[r / 4] >> (r % 4 * 8));
    } else if (finish.adds) {
      read(added.offset(at, channel), count, others, t);
    }
    LOCKSTEP_UNROLL
    for (u32 r = 0; r < kRows; ++r) {
      if (r >= count) break;
      v[r] = rescaled(v[r], finish.sum);
      if (finish.adds) v[r] = rescaled(add(v[r], others[r]), finish.total);
    }
    write(y.offset(at, channel), count, v, t);
  }

 private:
  /// As many neighbouring bytes as threads move at once. Cells go on to a whole word.
  template <int kRows> using Unit =
      std::conditional_t<kRows == 1, Byte, std::conditional_t<kRows == 2, std::uint16_t, u32>>;

  /// Reads what is added from a tensor.
  template <int kRows, class Thread>
  LOCKSTEP_DEVICE void read(i64 offset, u32 count, i32 (&v)[kRows], Thread& t) const {
    const i32* from = static_cast<const i32*>(added.data) + offset;
    if constexpr (kRows % 4 == 0) {
      if (added.is_wide && count >= kRows) {
        LOCKSTEP_UNROLL
        for (int r = 0; r < kRows; r += 4) {
          const Four four = t.get(reinterpret_cast<const Four*>(from + r));
          LOCKSTEP_UNROLL
          for (int k = 0; k < 4; ++k) v[r + k] = four.item[k];
        }
        return;
      }
    }
    LOCKSTEP_UNROLL
    for (u32 r = 0; r < kRows; ++r)
      if (r < count) v[r] = t.get(from + r * added.stride[1]);
  }

  template <int kRows, class Thread>
  LOCKSTEP_DEVICE void write(i64 offset, u32 count, const i32 (&v)[kRows], Thread& t) const {
    constexpr int kUnit = sizeof(Unit<kRows>);
    if (y.is_packed) {
      Byte* to = static_cast<Byte*>(y.data) + offset;
      LOCKSTEP_UNROLL
      for (u32 r = 0; r < kRows; r += kUnit) {
        if (r >= count) break;
        u32 unit = 0;
        LOCKSTEP_UNROLL
        for (int k = 0; k < kUnit; ++k) unit |= (static_cast<u32>(v[r + k]) & 0xff) << (8 * k);
        t.put(reinterpret_cast<Unit<kRows>*>(to + r), static_cast<Unit<kRows>>(unit));
      }
      return;
    }
    i32* to = static_cast<i32*>(y.data) + offset;
    if constexpr (kRows % 4 == 0) {
      if (y.is_wide && count >= kRows) {
        LOCKSTEP_UNROLL
        for (int r = 0; r < kRows; r += 4)
          t.put(reinterpret_cast<Four*>(to + r), Four{{v[r], v[r + 1], v[r + 2], v[r + 3]}});
        return;
      }
    }
    LOCKSTEP_UNROLL
    for (u32 r = 0; r < kRows; ++r)
      if (r < count) t.put(to + r * y.stride[1], v[r]);
  }
};

}  // namespace lockstep::cuda
