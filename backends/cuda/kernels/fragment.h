/// @file
/// Where the elements of the products of tensor cores lie: in the registers of a warp, as PTX says
/// for mma.m16n8k32 of bytes, and in shared memory.
#pragma once
#include "backends/cuda/kernels/kernel.h"

namespace lockstep::cuda {

/// A row and a column of a matrix.
struct Place {
  int row, column;
};

/// The fragments of one product. A register of `a` or `b` holds four bytes that follow each other
/// along the depth, of which the place names the first.
struct Fragment {
  static constexpr int kLanes = 32, kRows = 16, kColumns = 8, kDepth = 32;
  static constexpr int kABytes = kRows * kDepth;

  static constexpr Place a(int lane, int i) {
    return {lane / 4 + i % 2 * 8, lane % 4 * 4 + i / 2 * 16};
  }
  /// The row is a position of the depth, as in the PTX table.
  static constexpr Place b(int lane, int i) { return {lane % 4 * 4 + i * 16, lane / 4}; }
  static constexpr Place c(int lane, int i) { return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2}; }
};

/// The row of the output that a row of products stands for, where warps have `part` rows: the sums
/// of a lane, which has every eighth row of the products, belong to neighbours of the output.
constexpr u32 output_row(u32 row, u32 part) {
  const u32 in_part = row % part;
  return row - in_part + in_part % 8 * (part / 8) + in_part / 8;
}

/// A panel in shared memory: rows of 64 bytes of the depth, in four chunks of 16. Chunks change
/// places from row to row, so that eight rows of one chunk, which is what a warp reads at a time,
/// and two whole rows, which is what eight threads write, lie in different banks.
struct Panel {
  static constexpr int kDepth = 64, kChunk = 16, kChunks = kDepth / kChunk;

  static constexpr int offset(int row, int chunk) {
    return row * kDepth + (chunk ^ (row / 2 % kChunks)) * kChunk;
  }
  /// The row and the chunk at an offset.
  static constexpr Place place(int offset) {
    const int row = offset / kDepth;
    return {row, offset % kDepth / kChunk ^ (row / 2 % kChunks)};
  }
};

}  // namespace lockstep::cuda
