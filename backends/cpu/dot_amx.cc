/// @file
/// Blocks for AMX: tdpbsud multiplies 16 signed rows of 64 bytes and unsigned cells of 16 steps. A
/// block leaves the tiles of its thread without a configuration.
#include "backends/cpu/dot_avx512vnni.h"
#include "backends/cpu/dot_pixel_blocks.h"

namespace lockstep::cpu {
namespace {

// Uses inline assembly, because the intrinsics need literal tile numbers and g++ 12's
// `_tile_loadconfig` declares only 8 bytes of what it reads.
struct Amx {
  static void configure(const TileConfig& c) { __asm__ volatile("ldtilecfg %0" : : "m"(c)); }
  static void release() { __asm__ volatile("tilerelease"); }
  template <int T> static void zero() { __asm__ volatile("tilezero %%tmm%c0" : : "i"(T)); }
  template <int T> static void load(const void* from, int64_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(T) : "memory");
  }
  template <int T> static void store(void* to, int64_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(T) : "memory");
  }
  template <int C, int A, int B> static void add_products() {
    __asm__ volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(C), "i"(A), "i"(B));
  }
  template <int C, int A, int B> static void add_pixel_products() {
    __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(C), "i"(A), "i"(B));
  }
};

}  // namespace

constinit const DotBlocks kDotAmx = MatrixBlocks<Avx512Vnni, Amx>::kernels(
    "amx", 1500, kDotAvx512Vnni, PixelProducts<Avx512Vnni, Amx>::kernels());

}  // namespace lockstep::cpu
