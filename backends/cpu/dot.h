/// @file
/// The inner loop of conv2d and dense, once per instruction set: dot products of many rows with
/// many lanes, two int16 terms at a time.
///
/// Units compiled for newer instruction sets include this header, so it must define no function:
/// the linker might keep a copy that this machine cannot run.
#pragma once
#include <stdint.h>

namespace lockstep::cpu {

/// Two neighbouring terms of a dot product: int16 values, in memory one after the other. Which
/// half of the word comes first does not matter, as both operands are packed alike.
using Pair = uint32_t;

inline constexpr int kLanes = 8;    ///< neighbouring outputs that share one load
inline constexpr int kSlots = 2;    ///< groups of lanes of one tile, anywhere in memory
inline constexpr int kRowsMax = 6;  ///< of any tile

/// With R rows: tile[r][slot][lane] = sum over t < terms of the two products of
/// row[t * R + r] and slot[offset[t] + lane].
/// Exact for values of 8 bits: each pair of products stays below 2^15, and the rules of conv2d and
/// dense bound their sum below 2^31 in any order.
using Tile = void (*)(const Pair* row, const int32_t* offset, int64_t terms, const Pair* slot0,
    const Pair* slot1, int32_t* tile);

/// The tiles of an instruction set.
struct DotKernels {
  const char* isa;
  int rows;             ///< of its largest tile
  Tile tile[kRowsMax];  ///< by the number of rows less one
  double macs_per_ns;   ///< of one thread, roughly; decides what to run in parallel
};

const DotKernels& dot_portable();
#ifdef __x86_64__
const DotKernels& dot_avx2();
#endif

}  // namespace lockstep::cpu
