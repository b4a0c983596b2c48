// Emulates AMX on processors without it: the blocks of dot_amx.cc over eight registers in plain
// C++, which check every use against the shapes that the configuration gave them; and tiles of
// pixels over vectors in plain C++. Replaces dot_amx.cc, dot_avx512vnni.cc and isa.cc.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>

#include "backends/cpu/dot_pixel_blocks.h"
#include "backends/cpu/dot_pixel_tiles.h"
#include "backends/cpu/dot_tile.h"
#include "backends/cpu/isa.h"

namespace lockstep::cpu {
namespace {

struct Emulated : VectorOf<16> {
  static constexpr int kTerms = 4, kCellBytes = 4, kOffset = 128, kLanes = 16, kRows = 4,
                       kSlots = 1;
  static Words cells(const uint8_t* from) { return load(from); }
  static void add_products(Words& sum, Words cells, Words row) {
    for (int l = 0; l < kLanes; ++l)
      for (int bit = 0; bit < 32; bit += 8)
        sum[l] += (cells[l] >> bit & 0xff) *
            static_cast<uint32_t>(static_cast<int8_t>(row[l] >> bit & 0xff));
  }
  static Words shifted(Words v, Words by) {
    return reinterpret_cast<Words>(reinterpret_cast<SignedWords>(v) >> by);
  }
  /// Saturates elements of From to To, with those of the two vectors in turns in every 16 bytes.
  template <class To, class From> static Words saturated(Words a, Words b) {
    constexpr int kEach = 16 / sizeof(From);
    From from[2][sizeof a / sizeof(From)];
    To to[sizeof a / sizeof(To)];
    std::memcpy(from[0], &a, sizeof a);
    std::memcpy(from[1], &b, sizeof b);
    for (int k = 0; const auto& v : from) {
      for (int i = 0; i < static_cast<int>(std::size(v)); ++i)
        to[i / kEach * 2 * kEach + k * kEach + i % kEach] = static_cast<To>(
            std::clamp<From>(v[i], std::numeric_limits<To>::min(), std::numeric_limits<To>::max()));
      ++k;
    }
    return load(to);
  }
  static Words halved(Words a, Words b) { return saturated<int16_t, int32_t>(a, b); }
  static Words halves_narrowed(Words a, Words b) { return saturated<int8_t, int16_t>(a, b); }
  static Words saturated_sum(Words a, Words b) {
    int8_t x[sizeof a], y[sizeof b];
    std::memcpy(x, &a, sizeof a);
    std::memcpy(y, &b, sizeof b);
    for (std::size_t k = 0; k < sizeof a; ++k)
      x[k] = static_cast<int8_t>(std::clamp(x[k] + y[k], INT8_MIN, INT8_MAX));
    return load(x);
  }
  static void store_some(int32_t* to, Words v, int first, int count) {
    for (int l = 0; l < count; ++l) to[l] = static_cast<int32_t>(v[first + l]);
  }
};

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "the emulated unit: %s\n", what);
  std::abort();
}

class EmulatedUnit {
 public:
  static void configure(const TileConfig& c) {
    demand(c.palette == 1 && c.start_row == 0, "palette 1 from row 0");
    for (int t = 0; t < 16; ++t)
      demand(c.rows[t] <= 16 && c.row_bytes[t] <= 64 && (t < 8 || c.rows[t] == 0),
          "eight registers of up to 16 rows of 64 bytes");
    config = c;
    std::memset(tiles, 0, sizeof tiles);
  }
  static void release() { config = {}; }
  template <int T> static void zero() {
    configured<T>();
    std::memset(tiles[T], 0, sizeof tiles[T]);
  }
  // Bytes that the shape leaves out become zero.
  template <int T> static void load(const void* from, int64_t stride) {
    zero<T>();
    for (int r = 0; r < config.rows[T]; ++r)
      std::memcpy(tiles[T][r], static_cast<const char*>(from) + r * stride, config.row_bytes[T]);
  }
  template <int T> static void store(void* to, int64_t stride) {
    configured<T>();
    for (int r = 0; r < config.rows[T]; ++r)
      std::memcpy(static_cast<char*>(to) + r * stride, tiles[T][r], config.row_bytes[T]);
  }
  template <int C, int A, int B> static void add_products() { add<C, A, B, int8_t, uint8_t>(); }
  template <int C, int A, int B> static void add_pixel_products() {
    add<C, A, B, uint8_t, int8_t>();
  }

 private:
  template <int C, int A, int B, class OfA, class OfB> static void add() {
    configured<C>(), configured<A>(), configured<B>();
    demand(config.rows[A] == config.rows[C] && config.row_bytes[B] == config.row_bytes[C] &&
            config.row_bytes[A] == 4 * config.rows[B],
        "a product of matrices whose shapes fit");
    for (int r = 0; r < config.rows[C]; ++r)
      for (int k = 0; k < config.row_bytes[A]; ++k)
        for (int l = 0; l < config.row_bytes[C] / 4; ++l) {
          uint32_t sum = 0;
          std::memcpy(&sum, tiles[C][r] + int64_t{4} * l, sizeof sum);
          sum += static_cast<uint32_t>(
              static_cast<OfA>(tiles[A][r][k]) * static_cast<OfB>(tiles[B][k / 4][4 * l + k % 4]));
          std::memcpy(tiles[C][r] + int64_t{4} * l, &sum, sizeof sum);
        }
  }
  template <int T> static void configured() {
    demand(config.palette == 1 && config.rows[T] > 0, "a register that has a shape");
  }
  static thread_local TileConfig config;
  static thread_local uint8_t tiles[8][16][64];
};

thread_local TileConfig EmulatedUnit::config;
thread_local uint8_t EmulatedUnit::tiles[8][16][64];

constexpr PixelKernels kPixels = PixelTiles<Emulated>::kernels();

}  // namespace

constinit const DotKernels kDotAvx512Vnni =
    Tiles<Emulated>::kernels("avx512vnni", 1, nullptr, &kPixels);
constinit const DotBlocks kDotAmx = MatrixBlocks<Emulated, EmulatedUnit>::kernels(
    "amx", 1, kDotAvx512Vnni, PixelProducts<Emulated, EmulatedUnit>::kernels());

std::span<const Isa> isas() {
  static const Isa all[] = {{"portable", true}, {"avx512vnni", true}, {"amx", true}};
  return all;
}

const Isa* find_isa(std::string_view name) {
  const auto all = isas();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Isa& i) { return i.name == name; });
  return at == all.end() ? nullptr : &*at;
}

const Isa& best_isa() { return isas().back(); }

}  // namespace lockstep::cpu
