/// @file
/// Register-only probes: how many multiply-adds an instruction set does without waiting for memory.
/// Each instruction set has its own unit, compiled for it. This header, which they share, must not
/// define a function, because the linker could take it from the wrong unit.
#pragma once

namespace lockstep::bench {

/// A loop of independent multiply-adds.
struct Probe {
  const char* isa;           ///< as the option `isa` of the backends names it
  const char* instructions;  ///< the repeated instructions
  bool int8;                 ///< exact for 8-bit operands only; else for any int32
  long long macs_per_round;
  void (*run)(long long rounds);
};

extern const Probe kProbeSseInt8, kProbeSseInt32, kProbeAvx2Int8, kProbeAvx2Int32, kProbeAvxVnni,
    kProbeAvx512Int8, kProbeAvx512Int32, kProbeVnni, kProbeAmx;

}  // namespace lockstep::bench
