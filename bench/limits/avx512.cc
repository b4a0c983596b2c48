/// @file
/// Probes for AVX-512, compiled with -mavx512f -mavx512bw.
#include <immintrin.h>

#include "bench/limits/chains.h"
#include "bench/limits/probe.h"

namespace lockstep::bench {
namespace {

struct Avx512 {
  using Vector = __m512i;
  static constexpr long long kChains = 24;
  static Vector operand(short v) { return _mm512_set1_epi16(v); }
};

struct Int8 : Avx512 {
  static Vector add(Vector sum, Vector x, Vector w) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(x, w));
  }
};

struct Int32 : Avx512 {
  static Vector add(Vector sum, Vector x, Vector w) {
    return _mm512_add_epi32(sum, _mm512_mullo_epi32(x, w));
  }
};

}  // namespace

const Probe kProbeAvx512Int8{"avx512", "vpmaddwd zmm", true, Int8::kChains * 32, run_chains<Int8>};
const Probe kProbeAvx512Int32{
    "avx512", "vpmulld zmm", false, Int32::kChains * 16, run_chains<Int32>};

}  // namespace lockstep::bench
