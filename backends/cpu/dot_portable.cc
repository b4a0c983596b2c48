/// @file
/// Tiles for any machine, with vector types that g++ and clang++ map to its baseline instructions.
#include "backends/cpu/dot_tile.h"

namespace lockstep::cpu {
namespace {

struct Portable : VectorOf<4> {
  static constexpr int kTerms = 4, kCellBytes = 4, kOffset = 0, kLanes = 4, kRows = 2, kSlots = 3;
  using Shorts [[gnu::vector_size(16)]] = uint16_t;
  using SignedShorts [[gnu::vector_size(16)]] = int16_t;
  using SignedWords [[gnu::vector_size(16)]] = int32_t;

  static Words cells(const uint8_t* from) { return load(from); }
  static Shorts low_bytes(Words v) {
    return reinterpret_cast<Shorts>(
        reinterpret_cast<SignedShorts>(reinterpret_cast<Shorts>(v) << 8) >> 8);
  }
  static Shorts high_bytes(Words v) {
    return reinterpret_cast<Shorts>(reinterpret_cast<SignedShorts>(v) >> 8);
  }
  // Two products of 8-bit values add up to at most 2 * 127 * 127 < 2^15, so that 16-bit multiply
  // and add are exact where no widening product exists.
  static void add_products(Words& sum, Words cells, Words row) {
    const auto pairs = reinterpret_cast<Words>(
        low_bytes(cells) * low_bytes(row) + high_bytes(cells) * high_bytes(row));
    sum += reinterpret_cast<Words>(reinterpret_cast<SignedWords>(pairs << 16) >> 16);
    sum += reinterpret_cast<Words>(reinterpret_cast<SignedWords>(pairs) >> 16);
  }
};

}  // namespace

constinit const DotKernels kDotPortable = Tiles<Portable>::kernels("portable", 18);

}  // namespace lockstep::cpu
