/// @file
/// The probe for AVX-512 VNNI, compiled with -mavx512f -mavx512vnni.
#include <immintrin.h>

#include "bench/limits/chains.h"
#include "bench/limits/probe.h"

namespace lockstep::bench {
namespace {

struct Dot : Int32<64, 24> {
  static Vector add(Vector sum, Vector x, Vector w) {
    return reinterpret_cast<Vector>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum),
        reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(w)));
  }
};

}  // namespace

const Probe kProbeVnni{"avx512vnni", "vpdpbusd zmm", true, Dot::kMacs * 4, run_chains<Dot>};

}  // namespace lockstep::bench
