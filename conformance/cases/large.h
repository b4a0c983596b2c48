/// @file
/// Calls of sizes that domains do not draw: tensors and sums that outgrow blocks, caches and
/// counters of kernels, every number of elements that widest vectors leave over, long rows, and one
/// element more than blocks of kernels hold.
#pragma once
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// Elements that the largest input of a large call exceeds, and those of the largest output:
/// kernels may store so many past the caches.
inline constexpr i64 kLargeTensor = i64{1} << 20, kLargeOutput = i64{1} << 21;
/// Terms that deep and deepest sums of a large call exceed.
inline constexpr i64 kDeepSum = i64{1} << 12, kDeepestSum = i64{1} << 16;

/// Legal calls, made by enlarging drawn ones: one long axis of an output, several axes of an input,
/// and where the operator permits deep and deepest sums, each `rounds` times. Enlarged extents are
/// odd, and not all outputs are zero.
std::vector<Case> large_cases(const OpInfo& op, u64 seed, int rounds);

/// The elements of the widest vectors.
inline constexpr i64 kWidestVector = 64;

/// Small legal calls with at least one whole widest vector along the last axis of input 0, the last
/// axis of output 0, and the second axis of an output 0 that has more, and every number of elements
/// left over.
std::vector<Case> tail_cases(const OpInfo& op, u64 seed);

/// A row of this extent or more is long: a vector of 16 numbers and a rest.
inline constexpr i64 kLongRow = 17;

/// Small legal calls with long rows of output 0 and small numbers for which kernels have paths of
/// their own: 2 to 9 and 15 to 17, each as the last number of every attribute on which the length
/// of these rows depends.
std::vector<Case> long_row_cases(const OpInfo& op, u64 seed);

/// The extent of a long axis: whole blocks of any power of two up to 2^14, and one element over.
inline constexpr i64 kLeftOver = (i64{1} << 14) + 1;

/// Legal calls that are not large. In each, another axis of input 0 has this extent, and the
/// elements along it are adjacent in memory.
std::vector<Case> left_over_cases(const OpInfo& op, u64 seed);

/// Rows of a crowded call: more than kernels take at a time.
inline constexpr i64 kCrowd = 600;

/// Legal calls of an operator that is defined as a whole, with kCrowd rows or more, of which the
/// output holds at least kCrowd / 2.
std::vector<Case> crowded_cases(const OpInfo& op, u64 seed);

/// The channels and the products of a sum that a broad call has at least.
inline constexpr i64 kBroad = 64;

/// Small legal calls of operators that add products, with kBroad channels and terms or more and
/// long rows: kernels have paths of their own for them, which may take outputs for neighbours in
/// memory. In each, the elements along another axis of output 0 lie exactly two elements apart.
std::vector<Case> spread_cases(const OpInfo& op, u64 seed);

/// The first count that does not fit 16 bits.
inline constexpr i64 kFullCount = i64{1} << 16;

/// A legal call of an operator that adds products, with as many channels and little work for each.
std::vector<Case> full_count_cases(const OpInfo& op, u64 seed);

/// Terms of a sum for which 16 neighbouring outputs read more than 8 MiB of an 8-bit input.
inline constexpr i64 kDeepRow = i64{1} << 19;

/// A legal call with kDeepRow terms for each output and a long row of output 0, most of which comes
/// from padding. A kernel that gathers what such a row reads may have no room for it.
std::vector<Case> deep_row_cases(const OpInfo& op, u64 seed);

/// A legal call whose plan runs many times although it is large.
std::vector<Case> repeated_cases(const OpInfo& op, u64 seed);

/// The elements of the largest tensor of a legal call.
i64 largest_tensor(const Case& c);

}  // namespace lockstep::judge
