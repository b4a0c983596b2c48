/// @file
/// Tiles for AVX-512 with VNNI.
#include "backends/cpu/dot_avx512vnni.h"

#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

constexpr DotKernels kKernels = Tiles<Avx512Vnni>::kernels("avx512vnni", 300);

}  // namespace

const DotKernels& dot_avx512vnni() { return kKernels; }

}  // namespace lockstep::cpu
