/// @file
/// Choices made from a fuzzer's bytes, so that the fuzzer sees what each byte leads to.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "spec/random.h"

namespace lockstep::judge {

/// Draws from bytes. A choice consumes as many bytes as its range needs, so that one changed byte
/// changes one choice. After the last byte every choice is the smallest.
struct Bytes : Draw {
  constexpr explicit Bytes(std::span<const std::uint8_t> bytes) : rest(bytes) {}
  constexpr i64 operator()(i64 lo, i64 hi) override {
    u64 v = 0;
    for (u64 room = width(lo, hi); room > 0 && !rest.empty(); room >>= 8) {
      v = v << 8 | rest[0];
      rest = rest.subspan(1);
    }
    return within(v, lo, hi);
  }
  /// The number of values from `lo` to `hi`, less one.
  static constexpr u64 width(i64 lo, i64 hi) { return static_cast<u64>(hi) - static_cast<u64>(lo); }
  std::span<const std::uint8_t> rest;
};

/// Draws from another source and records bytes from which Bytes draws the same values.
struct Recorded : Draw {
  constexpr explicit Recorded(Draw& d) : source(d) {}
  constexpr i64 operator()(i64 lo, i64 hi) override {
    const i64 v = source(lo, hi);
    int count = 0;
    for (u64 room = Bytes::width(lo, hi); room > 0; room >>= 8) ++count;
    while (count-- > 0)
      bytes.push_back(
          static_cast<std::uint8_t>((static_cast<u64>(v) - static_cast<u64>(lo)) >> 8 * count));
    return v;
  }
  Draw& source;
  std::vector<std::uint8_t> bytes;
};

}  // namespace lockstep::judge
