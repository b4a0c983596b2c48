/// @file
/// The probe for VNNI without AVX-512, compiled with -mavx2 -mavxvnni.
#include <immintrin.h>

#include "bench/limits/chains.h"
#include "bench/limits/probe.h"

namespace lockstep::bench {
namespace {

struct Dot : Int32<32, 12> {
  static Vector add(Vector sum, Vector x, Vector w) {
    return reinterpret_cast<Vector>(_mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sum),
        reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(w)));
  }
};

}  // namespace

const Probe kProbeAvxVnni{"avxvnni", "vpdpbusd ymm", true, Dot::kMacs * 4, run_chains<Dot>};

}  // namespace lockstep::bench
