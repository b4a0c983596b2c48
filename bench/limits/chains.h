/// @file
/// The loop of every probe. It is internal to each unit that includes it, so that the linker cannot
/// give one instruction set the loop of another.
#pragma once

namespace lockstep::bench {
namespace {

/// kSums sums of 32-bit integers in vectors of kBytes, and their multiply-adds. Other instructions
/// replace add().
template <int kBytes, long long kSums> struct Int32 {
  typedef unsigned Vector __attribute__((vector_size(kBytes)));
  static constexpr long long kChains = kSums, kMacs = kSums * kBytes / 4;
  static Vector operand(unsigned byte) { return byte * 0x01010101 - Vector{}; }
  static Vector add(Vector sum, Vector x, Vector w) { return sum + x * w; }
};

/// Runs kChains independent sums, as many as registers hold beside the operands and a product.
template <class Step> void run_chains(long long rounds) {
  typename Step::Vector x = Step::operand(3), w = Step::operand(5), sum[Step::kChains];
#pragma GCC unroll 32
  for (int c = 0; c < Step::kChains; ++c) sum[c] = Step::operand(0);
  __asm__ volatile("" : "+v"(w));  // a product with a constant would become shifts and sums
  for (long long i = 0; i < rounds; ++i) {
#pragma GCC unroll 32
    for (int c = 0; c < Step::kChains; ++c) {
      __asm__ volatile("" : "+v"(x));  // otherwise the compiler computes only one product
      sum[c] = Step::add(sum[c], x, w);
      __asm__ volatile("" : "+v"(sum[c]));
    }
  }
}

}  // namespace
}  // namespace lockstep::bench
