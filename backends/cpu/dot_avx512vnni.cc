/// @file
/// Tiles for AVX-512 with VNNI.
#include "backends/cpu/dot_avx512vnni.h"

#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {}  // namespace

constinit const DotKernels kDotAvx512Vnni = Tiles<Avx512Vnni>::kernels("avx512vnni", 300);

}  // namespace lockstep::cpu
