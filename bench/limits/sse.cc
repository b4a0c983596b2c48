/// @file
/// Probes for x86-64's own instructions and SSE4.1, compiled for SSE4.1.
#include <immintrin.h>

#include "bench/limits/chains.h"
#include "bench/limits/probe.h"

namespace lockstep::bench {
namespace {

struct Int8 : Int32<16, 12> {
  static Vector add(Vector sum, Vector x, Vector w) {
    return sum +
        reinterpret_cast<Vector>(
            _mm_madd_epi16(reinterpret_cast<__m128i>(x), reinterpret_cast<__m128i>(w)));
  }
};

}  // namespace

const Probe kProbeSseInt8{"sse4", "pmaddwd xmm", true, Int8::kMacs * 2, run_chains<Int8>};
const Probe kProbeSseInt32{"sse4", "pmulld xmm", false, Int8::kMacs, run_chains<Int32<16, 12>>};

}  // namespace lockstep::bench
