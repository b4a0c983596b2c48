/// @file
/// sum and max. The threads of a block share outputs and, of each output, the elements: neighbours
/// take neighbouring elements of the input, whether those meet in one output (rows) or not
/// (columns). The results of the threads that share an output are combined in a tree. Where there
/// are few outputs, blocks reduce parts of the input, which a second launch combines.
#pragma once
#include "backends/cuda/kernels/nest.h"

namespace lockstep::cuda {

struct Adding {
  static constexpr i32 kIdentity = 0;
  static constexpr i32 combine(i32 a, i32 b) { return add(a, b); }
};
struct Largest {
  static constexpr i32 kIdentity = INT32_MIN;
  static constexpr i32 combine(i32 a, i32 b) { return a < b ? b : a; }
};

/// Strides count integers; all else counts what a thread reads, computes or writes at once.
struct ReduceParameters {
  Axes<2> kept;           ///< tensor 0 is Y, tensor 1 is X
  Axes<1> reduced;        ///< of X
  u32 outputs, elements;  ///< elements that meet in each
  int sharing_bits;       ///< 2 to this power: threads that share an output
  bool is_rows;
  Divisor output_blocks;  ///< blocks for all outputs; times the splits there are blocks in all
  u32 splits, part;       ///< elements of a split
  i64 split_stride;       ///< of Y
  const i32* x;
  i32* y;
};

/// A thread reads an integer or four (Read) at once and computes an output or four (Result): four
/// elements of a row meet, those of four columns do not.
template <class Combiner, class Read, class Result> struct ReduceElements {
  using Parameters = ReduceParameters;
  struct Registers {
    Result value;
    i64 to;
  };
  static constexpr int kThreads = 256, kSize = sizeof(Result), kShared = kThreads * kSize;
  static constexpr int kOccupancy = 4;

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    const Divided at = divide(static_cast<u32>(block.number()), p.output_blocks);
    const int sharing = 1 << p.sharing_bits, abreast = kThreads >> p.sharing_bits;
    const auto part = [&](int id) { return p.is_rows ? id & (sharing - 1) : id / abreast; };
    const auto output = [&](int id) {
      return at.rest * static_cast<u32>(abreast) +
          static_cast<u32>(p.is_rows ? id >> p.sharing_bits : id & (abreast - 1));
    };
    block.each([&](auto& t) {
      i64 offset[2] = {at.quotient * p.split_stride, 0};
      Read v = identity<Read>();
      if (output(t.id) < p.outputs) {
        p.kept.move(output(t.id), offset);
        const u32 first = at.quotient * p.part, end = first + p.part;
        v = reduced(p, p.x + offset[1], first + static_cast<u32>(part(t.id)),
            end < p.elements ? end : p.elements, t);
      }
      t.r.to = offset[0];
      t.r.value = met(v);
      t.store(t.id * kSize, t.r.value);
    });
    for (int left = sharing; left > 1;) {
      const int rest = left > kMeeting ? left / kMeeting : 1;
      block.sync();
      block.each([&](auto& t) {
        if (part(t.id) >= rest) return;
        for (int k = rest; k < left; k += rest) {
          const int other = t.id + k * (p.is_rows ? 1 : abreast);
          t.r.value = combine(t.r.value, t.template load<Result>(other * kSize));
        }
        t.store(t.id * kSize, t.r.value);
      });
      left = rest;
    }
    block.each([&](auto& t) {
      if (part(t.id) == 0 && output(t.id) < p.outputs)
        t.put(reinterpret_cast<Result*>(p.y + t.r.to), t.r.value);
    });
  }

 private:
  static constexpr int kMeeting = 16;                        ///< results that meet between barriers
  static constexpr u32 kAhead = sizeof(Read) == 16 ? 4 : 8;  ///< reads on their way at once

  static constexpr i32 combine(i32 a, i32 b) { return Combiner::combine(a, b); }
  static constexpr Four combine(const Four& a, const Four& b) {
    Four v{};
    LOCKSTEP_UNROLL
    for (int j = 0; j < 4; ++j) v.item[j] = combine(a.item[j], b.item[j]);
    return v;
  }
  template <class T> static constexpr T identity() {
    constexpr i32 kNone = Combiner::kIdentity;
    if constexpr (sizeof(T) == 16)
      return {{kNone, kNone, kNone, kNone}};
    else
      return kNone;
  }
  static constexpr Result met(const Read& v) {
    if constexpr (sizeof(Read) == sizeof(Result))
      return v;
    else
      return combine(combine(v.item[0], v.item[1]), combine(v.item[2], v.item[3]));
  }

  /// Elements first, first + sharing and so on of an output.
  template <class Thread> static LOCKSTEP_DEVICE Read reduced(
      const Parameters& p, const i32* x, u32 first, u32 end, Thread& t) {
    Read sum = identity<Read>();
    const u32 step = u32{1} << p.sharing_bits;
    const auto over = [&](const auto& place) {
      for (u32 k = first; k < end; k += kAhead * step) {
        Read v[kAhead];
        LOCKSTEP_UNROLL
        for (u32 j = 0; j < kAhead; ++j) {
          const u32 element = k + j * step;
          v[j] = identity<Read>();
          if (element < end) v[j] = t.get(reinterpret_cast<const Read*>(x + place(element)));
        }
        LOCKSTEP_UNROLL
        for (u32 j = 0; j < kAhead; ++j) sum = combine(sum, v[j]);
      }
    };
    if (p.reduced.rank <= 1) {
      over([&](u32 k) { return k * p.reduced.stride[0][0]; });
    } else {
      over([&](u32 k) {
        i64 along[1] = {};
        p.reduced.move(k, along);
        return along[0];
      });
    }
    return sum;
  }
};

struct ShortRowsParameters {
  u32 rows, length;
  int rows_bits;  ///< 2 to this power: rows of a block
  i64 y_stride;
  const i32* x;
  i32* y;
};

/// Short rows of odd length, one after the other: a block copies its rows to shared memory as one
/// range, sixteen bytes at a time. There a column of odd rows spreads over all banks.
template <class Combiner> struct ReduceShortRows {
  using Parameters = ShortRowsParameters;
  struct Registers {
    i32 value;
  };
  static constexpr int kThreads = 256, kWords = 6400, kShared = kWords * 4, kOccupancy = 3;

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    const int abreast = 1 << p.rows_bits, sharing = kThreads >> p.rows_bits;
    const u32 first = static_cast<u32>(block.number()) << p.rows_bits;
    const int rows = static_cast<int>(min(abreast, p.rows - first));
    const int length = static_cast<int>(p.length), words = rows * length;
    const i32* x = p.x + i64{first} * length;
    block.each([&](auto& t) {
      const auto from = [&](int word) { return reinterpret_cast<const Byte*>(x + word); };
      for (int w = t.id * 4; w + 4 <= words; w += kThreads * 4) t.template copy<16>(w * 4, from(w));
      const int last = words / 4 * 4 + t.id;
      if (last < words) t.template copy<4>(last * 4, from(last));
      t.commit();
      t.template wait<0>();
    });
    block.sync();
    block.each([&](auto& t) {
      t.r.value = Combiner::kIdentity;
      const int row = t.id & (abreast - 1);
      if (row >= rows) return;
      for (int k = t.id >> p.rows_bits; k < length; k += sharing)
        t.r.value = Combiner::combine(t.r.value, t.template load<i32>((row * length + k) * 4));
    });
    block.sync();
    block.each([&](auto& t) { t.store(t.id * 4, t.r.value); });
    block.sync();
    block.each([&](auto& t) {
      if (t.id >= rows) return;
      i32 v = t.r.value;
      for (int k = 1; k < sharing; ++k)
        v = Combiner::combine(v, t.template load<i32>((t.id + k * abreast) * 4));
      t.put(p.y + (first + static_cast<u32>(t.id)) * p.y_stride, v);
    });
  }
};

using ReductionsKernels = KernelList<ReduceElements<Adding, i32, i32>,
    ReduceElements<Adding, Four, i32>, ReduceElements<Adding, Four, Four>,
    ReduceElements<Largest, i32, i32>, ReduceElements<Largest, Four, i32>,
    ReduceElements<Largest, Four, Four>, ReduceShortRows<Adding>, ReduceShortRows<Largest>>;

}  // namespace lockstep::cuda
