/// @file
/// The probe for AMX, compiled with -mamx-tile -mamx-int8: four sums of products of tiles, which
/// are never zero, because products of zeros are faster.
#include <immintrin.h>

#include "bench/limits/probe.h"

namespace lockstep::bench {
namespace {

struct alignas(64) Config {
  unsigned char palette = 1, start_row = 0, reserved[14] = {};
  unsigned short row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  unsigned char rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

void run(long long rounds) {
  const Config config;
  alignas(64) unsigned char operand[1024];
  unsigned value = 1;
  for (unsigned char& byte : operand) byte = static_cast<unsigned char>((value *= 48271U) >> 24);
  __asm__ volatile("ldtilecfg %0" : : "m"(config));
  __asm__ volatile("" : : "r"(operand) : "memory");
  _tile_loadd(4, operand, 64);
  _tile_loadd(5, operand, 64);
  _tile_loadd(6, operand, 64);
  _tile_loadd(7, operand, 64);
  for (long long i = 0; i < rounds; ++i) {
    _tile_dpbsud(0, 4, 6);
    _tile_dpbsud(1, 4, 7);
    _tile_dpbsud(2, 5, 6);
    _tile_dpbsud(3, 5, 7);
  }
  _tile_release();
}

}  // namespace

const Probe kProbeAmx{"amx", "tdpbsud", true, 4LL * 16 * 16 * 64, run};

}  // namespace lockstep::bench
