/// @file
/// The probe for AVX-512 VNNI, compiled with -mavx512f -mavx512vnni.
#include <immintrin.h>

#include "bench/limits/chains.h"
#include "bench/limits/probe.h"

namespace lockstep::bench {
namespace {

struct Dot {
  using Vector = __m512i;
  static constexpr long long kChains = 24;
  static Vector operand(short v) { return _mm512_set1_epi32(v * 0x01010101); }
  static Vector add(Vector sum, Vector x, Vector w) { return _mm512_dpbusd_epi32(sum, x, w); }
};

}  // namespace

const Probe kProbeVnni{"avx512vnni", "vpdpbusd zmm", true, Dot::kChains * 64, run_chains<Dot>};

}  // namespace lockstep::bench
