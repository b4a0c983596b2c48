/// @file
/// Tiles for AVX-512 with VNNI.
#include "backends/cpu/dot_avx512vnni.h"

#include "backends/cpu/dot_pixel_tiles.h"
#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {
constexpr PixelKernels kPixels = PixelTiles<Avx512Vnni>::kernels();
}

constinit const DotKernels kDotAvx512Vnni =
    Tiles<Avx512Vnni>::kernels("avx512vnni", 300, nullptr, &kPixels);

}  // namespace lockstep::cpu
