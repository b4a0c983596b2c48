/// @file
/// sum and max. The threads of a block share outputs and, of each output, the elements: neighbours
/// take neighbouring elements of the input, whether those meet in one output (rows) or not
/// (columns). What the threads of an output have found is combined in a tree. Where there are few
/// outputs, blocks reduce parts of the input, which a second launch combines.
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

struct ReduceParameters {
  Axes<2> kept;           ///< tensor 0 is Y, tensor 1 is X
  Axes<1> reduced;        ///< of X
  u32 outputs, elements;  ///< elements that meet in each
  int sharing;            ///< threads that share an output, a power of two
  bool is_rows;
  Divisor output_blocks;  ///< blocks for all outputs; times the splits there are blocks in all
  u32 splits;
  i64 split_stride;  ///< of Y
  const i32* x;
  i32* y;
};

template <class Combiner> struct ReduceElements {
  using Parameters = ReduceParameters;
  struct Registers {
    i32 value;
  };
  static constexpr int kThreads = 256, kShared = kThreads * 4, kOccupancy = 4;

  template <class Block> static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    const Divided at = divide(static_cast<u32>(block.number()), p.output_blocks);
    const int abreast = kThreads / p.sharing;
    const auto part = [&](int id) { return p.is_rows ? id % p.sharing : id / abreast; };
    const auto output = [&](int id) {
      return at.rest * static_cast<u32>(abreast) +
          static_cast<u32>(p.is_rows ? id / p.sharing : id % abreast);
    };
    block.each([&](auto& t) {
      t.r.value = Combiner::kIdentity;
      if (output(t.id) < p.outputs) accumulate(p, output(t.id), at.quotient, part(t.id), t);
      t.store(t.id * 4, t.r.value);
    });
    for (int half = p.sharing / 2; half > 0; half /= 2) {
      block.sync();
      block.each([&](auto& t) {
        if (part(t.id) >= half) return;
        const int other = t.id + half * (p.is_rows ? 1 : abreast);
        t.r.value = Combiner::combine(t.r.value, t.template load<i32>(other * 4));
        t.store(t.id * 4, t.r.value);
      });
    }
    block.each([&](auto& t) {
      if (part(t.id) != 0 || output(t.id) >= p.outputs) return;
      i64 offset[2] = {at.quotient * p.split_stride, 0};
      p.kept.move(output(t.id), offset);
      t.put(p.y + offset[0], t.r.value);
    });
  }

 private:
  template <class Thread> static LOCKSTEP_DEVICE void accumulate(
      const Parameters& p, u32 output, u32 split, int part, Thread& t) {
    i64 offset[2] = {};
    p.kept.move(output, offset);
    const i32* x = p.x + offset[1];
    const auto bound = [&](u32 k) {
      return static_cast<u32>(std::uint64_t{p.elements} * k / p.splits);
    };
    const u32 last = bound(split + 1), step = static_cast<u32>(p.sharing);
    i32 v = Combiner::kIdentity;
    if (p.reduced.rank <= 1) {
      const i64 stride = p.reduced.stride[0][0];
      for (u32 k = bound(split) + static_cast<u32>(part); k < last; k += step)
        v = Combiner::combine(v, t.get(x + k * stride));
    } else {
      for (u32 k = bound(split) + static_cast<u32>(part); k < last; k += step) {
        i64 along[1] = {};
        p.reduced.move(k, along);
        v = Combiner::combine(v, t.get(x + along[0]));
      }
    }
    t.r.value = v;
  }
};

using ReductionsKernels = KernelList<ReduceElements<Adding>, ReduceElements<Largest>>;

}  // namespace lockstep::cuda
