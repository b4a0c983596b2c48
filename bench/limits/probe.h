/// @file
/// Register-only probes: how many multiply-adds an instruction set can do when nothing waits for
/// memory. Each instruction set has a unit of its own, compiled for it; this header, which they
/// share, defines no function that the linker could take from the wrong one.
#pragma once

namespace lockstep::bench {

/// A loop of independent multiply-adds.
struct Probe {
  const char* isa;           ///< as the processor calls it
  const char* instructions;  ///< what it repeats
  bool int8;                 ///< exact for 8-bit operands only; else for any int32
  long long macs_per_round;
  void (*run)(long long rounds);
};

extern const Probe kProbeAvx2Int8, kProbeAvx2Int32, kProbeAvx512Int8, kProbeAvx512Int32, kProbeVnni;

}  // namespace lockstep::bench
