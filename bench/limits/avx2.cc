/// @file
/// Probes for AVX2, compiled with -mavx2.
#include <immintrin.h>

#include "bench/limits/chains.h"
#include "bench/limits/probe.h"

namespace lockstep::bench {
namespace {

struct Int8 : Int32<32, 12> {
  static Vector add(Vector sum, Vector x, Vector w) {
    return sum +
        reinterpret_cast<Vector>(
            _mm256_madd_epi16(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(w)));
  }
};

}  // namespace

const Probe kProbeAvx2Int8{"avx2", "vpmaddwd ymm", true, Int8::kMacs * 2, run_chains<Int8>};
const Probe kProbeAvx2Int32{"avx2", "vpmulld ymm", false, Int8::kMacs, run_chains<Int32<32, 12>>};

}  // namespace lockstep::bench
