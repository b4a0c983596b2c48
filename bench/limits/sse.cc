/// @file
/// Probes for x86-64's own instructions and SSE4.1, compiled for SSE4.1.
#include <immintrin.h>

#include "bench/limits/chains.h"
#include "bench/limits/probe.h"

namespace lockstep::bench {
namespace {

struct Sse {
  using Vector = __m128i;
  static constexpr long long kChains = 12;
  static Vector operand(short v) { return _mm_set1_epi16(v); }
};

struct Int8 : Sse {
  static Vector add(Vector sum, Vector x, Vector w) {
    return _mm_add_epi32(sum, _mm_madd_epi16(x, w));
  }
};

struct Int32 : Sse {
  static Vector add(Vector sum, Vector x, Vector w) {
    return _mm_add_epi32(sum, _mm_mullo_epi32(x, w));
  }
};

}  // namespace

const Probe kProbeSseInt8{"sse4", "pmaddwd xmm", true, Int8::kChains * 8, run_chains<Int8>};
const Probe kProbeSseInt32{"sse4", "pmulld xmm", false, Int32::kChains * 4, run_chains<Int32>};

}  // namespace lockstep::bench
