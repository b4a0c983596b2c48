/// @file
/// The form of a tuned kernel. Its text is C++ for the host and for the device, in phases that
/// barriers separate, so that tests on the host run the same text in blocks of emulated threads
/// (tests/emulated_block.h) and see races, missing waits and bank conflicts.
///
/// A kernel K is a struct with
///   Parameters        what a launch passes, at most 4 KiB
///   Registers         what each thread keeps from one phase to the next
///   kThreads          threads of a block
///   kShared           bytes of shared memory of a block
///   kOccupancy        blocks that one processor should hold, which limits the registers
///   run(parameters, block)
///   kAwaits           where run() itself calls await(), before which it reads constants alone
///
/// A block offers `number()`; `each(f)`, which calls f(thread) for all of its threads; `sync()`, a
/// barrier; `sync_warps()`, one of each warp alone; `await()`, which waits for the kernels before
/// this one; `multiply(f)`, a product of tensor cores, of the fragments that f(registers) names;
/// and `load()` and `get()`, with which all threads read the same. A thread has `id`, the registers
/// `r`, and the shared memory, by offsets in bytes.
#pragma once
#include <cstdint>
#include <tuple>

#include "backends/cuda/device.h"
#include "spec/arithmetic.h"

#ifdef __CUDACC__
#define LOCKSTEP_DEVICE __device__
#else
#define LOCKSTEP_DEVICE
#endif
#ifdef __CUDA_ARCH__  // nvcc shows templates to the host's compiler, too
#define LOCKSTEP_UNROLL _Pragma("unroll")
#else
#define LOCKSTEP_UNROLL
#endif

namespace lockstep::cuda {

using u32 = std::uint32_t;
using Byte = std::uint8_t;

/// Whether a kernel itself waits for those before it.
template <class K> inline constexpr bool awaits = requires { K::kAwaits; };

/// Starts a kernel. Declared here, instantiated in the unit of the kernel's family.
template <class K> void start(i64 blocks, const typename K::Parameters& p, cudaStream_t stream);

/// The kernels of a family.
template <class... K> struct KernelList {};

/// An explicit instantiation compiles all kernels of a list.
template <class K> using Start = void (*)(i64, const typename K::Parameters&, cudaStream_t);
template <class List> struct Compiled;
template <class... K> struct Compiled<KernelList<K...>> {
  static const std::tuple<Start<K>...> all;
};
template <class... K> const std::tuple<Start<K>...> Compiled<KernelList<K...>>::all{&start<K>...};

/// For kernels whose threads keep nothing.
struct NoRegisters {};

/// A kernel whose threads work by themselves: K::work(parameters, number, thread), where threads
/// are numbered through all blocks, some beyond the last one that is needed.
template <class K, int kThreadsOfBlock = 256, int kBlocks = 4> struct ThreadByThread {
  using Registers = NoRegisters;
  static constexpr int kThreads = kThreadsOfBlock, kShared = 0, kOccupancy = kBlocks;

  template <class Parameters, class Block>
  static LOCKSTEP_DEVICE void run(const Parameters& p, Block& block) {
    block.each([&](auto& t) {
      K::work(p, static_cast<u32>(block.number()) * kThreads + static_cast<u32>(t.id), t);
    });
  }
};

/// Sixteen bytes, as a thread moves them at once.
struct alignas(16) Four {
  i32 item[4];
};

/// A product of tensor cores: c += a b, with a of 16 x 32 bytes, b of 32 x 8 and c of 16 x 8
/// integers, each spread over the registers of a warp (fragment.h).
struct Product {
  i32 (&c)[4];
  const u32 (&a)[4];
  const u32 (&b)[2];
};

/// Division of 0 <= n < 2^31 by a constant, 1 <= d < 2^31, without a division: n times a rounded-up
/// reciprocal, which is off by less than 2^-31 of a quotient.
class Divisor {
 public:
  constexpr Divisor() = default;
  constexpr explicit Divisor(i64 d) : d_(static_cast<u32>(d)) {
    while (shift_ < kBits && (u32{1} << shift_) < d_) ++shift_;
    const std::uint64_t power = std::uint64_t{1} << (kBits + shift_);
    magic_ = static_cast<u32>((power + d_ - 1) / d_);
  }
  constexpr u32 value() const { return d_; }
  constexpr u32 quotient(u32 n) const {
    return static_cast<u32>(std::uint64_t{n} * magic_ >> kBits >> shift_);
  }

 private:
  static constexpr int kBits = 31;
  u32 d_ = 1, magic_ = u32{1} << kBits;
  int shift_ = 0;
};

/// A quotient and what remains.
struct Divided {
  u32 quotient, rest;
};
constexpr Divided divide(u32 n, const Divisor& d) {
  const u32 q = d.quotient(n);
  return {q, n - q * d.value()};
}

/// The sum modulo 2^32: no undefined behaviour for values beyond their declared precision.
constexpr i32 add(i32 a, i32 b) {
  return static_cast<i32>(static_cast<u32>(a) + static_cast<u32>(b));
}

/// Their product modulo 2^32, likewise.
constexpr i32 multiply(i32 a, i32 b) {
  return static_cast<i32>(static_cast<u32>(a) * static_cast<u32>(b));
}

/// The low bytes of four integers, the first lowest.
constexpr u32 narrowed(i32 a, i32 b, i32 c, i32 d) {
  const auto byte = [](i32 v) { return static_cast<u32>(v) & 0xff; };
  return byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24;
}

/// The sum and the products of four signed bytes each: s + a0 b0 + ... + a3 b3.
LOCKSTEP_DEVICE constexpr i32 add_products(i32 s, u32 a, u32 b) {
#ifdef __CUDA_ARCH__
  return __dp4a(static_cast<i32>(a), static_cast<i32>(b), s);
#else
  for (int k = 0; k < 32; k += 8)
    s = add(s, multiply(static_cast<std::int8_t>(a >> k), static_cast<std::int8_t>(b >> k)));
  return s;
#endif
}

}  // namespace lockstep::cuda
