/// @file
/// The probe for VNNI without AVX-512, compiled with -mavx2 -mavxvnni.
#include <immintrin.h>

#include "bench/limits/chains.h"
#include "bench/limits/probe.h"

namespace lockstep::bench {
namespace {

struct Dot {
  using Vector = __m256i;
  static constexpr long long kChains = 12;
  static Vector operand(short v) { return _mm256_set1_epi32(v * 0x01010101); }
  static Vector add(Vector sum, Vector x, Vector w) { return _mm256_dpbusd_avx_epi32(sum, x, w); }
};

}  // namespace

const Probe kProbeAvxVnni{"avxvnni", "vpdpbusd ymm", true, Dot::kChains * 32, run_chains<Dot>};

}  // namespace lockstep::bench
