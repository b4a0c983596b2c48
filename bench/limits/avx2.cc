/// @file
/// Probes for AVX2, compiled with -mavx2.
#include <immintrin.h>

#include "bench/limits/chains.h"
#include "bench/limits/probe.h"

namespace lockstep::bench {
namespace {

struct Avx2 {
  using Vector = __m256i;
  static constexpr long long kChains = 12;
  static Vector operand(short v) { return _mm256_set1_epi16(v); }
};

struct Int8 : Avx2 {
  static Vector add(Vector sum, Vector x, Vector w) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(x, w));
  }
};

struct Int32 : Avx2 {
  static Vector add(Vector sum, Vector x, Vector w) {
    return _mm256_add_epi32(sum, _mm256_mullo_epi32(x, w));
  }
};

}  // namespace

const Probe kProbeAvx2Int8{"avx2", "vpmaddwd ymm", true, Int8::kChains * 16, run_chains<Int8>};
const Probe kProbeAvx2Int32{"avx2", "vpmulld ymm", false, Int32::kChains * 8, run_chains<Int32>};

}  // namespace lockstep::bench
