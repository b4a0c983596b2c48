/// @file
/// Probes for AVX-512, compiled with -mavx512f -mavx512bw.
#include <immintrin.h>

#include "bench/limits/chains.h"
#include "bench/limits/probe.h"

namespace lockstep::bench {
namespace {

struct Int8 : Int32<64, 24> {
  static Vector add(Vector sum, Vector x, Vector w) {
    return sum +
        reinterpret_cast<Vector>(
            _mm512_madd_epi16(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(w)));
  }
};

}  // namespace

const Probe kProbeAvx512Int8{"avx512", "vpmaddwd zmm", true, Int8::kMacs * 2, run_chains<Int8>};
const Probe kProbeAvx512Int32{
    "avx512", "vpmulld zmm", false, Int8::kMacs, run_chains<Int32<64, 24>>};

}  // namespace lockstep::bench
