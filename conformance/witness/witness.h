/// @file
/// A witness lays ranges of values in the memory of a device, and compares there what a backend
/// made of them with the specification. It is a library of the judge's own, which the process that
/// holds the backend loads.
#pragma once
#include "spec/info.h"
#include "spec/random.h"

namespace lockstep::judge {

/// Words before and after the values, which nobody may write.
inline constexpr i64 kWitnessBeside = 64;

/// A range of the values of a setting, numbered from the least one on, and where it lies: the
/// inputs at `x` and the outputs at `y`, each behind kWitnessBeside words and before as many.
struct ValueRange {
  string_view op = {};
  const Attr* attrs = nullptr;
  int attr_count = 0;
  int precision = 1;  ///< of the input
  i64 first = 0, values = 0;
  i32 *x = nullptr, *y = nullptr;
  i32 poison = 0;  ///< what all words hold before the call but the inputs

  /// The words of each tensor.
  constexpr i64 words() const { return values + 2 * kWitnessBeside; }
};

/// What a comparison found.
struct ValueTally {
  u64 sum = 0;            ///< of value_sum() over all outputs, modulo 2^64
  i64 wrong = 0;          ///< outputs that are not the specification's
  i64 place = -1;         ///< of the first of them in the range
  i32 got = 0;            ///< that output
  i64 beside = 0;         ///< other words that were written: inputs, and those beside tensors
  bool is_blind = false;  ///< whether the witness missed mistakes that were made for it

  /// Adds what another part of the range gave.
  constexpr void add(const ValueTally& other) {
    const bool is_first = other.wrong > 0 && (wrong == 0 || other.place < place);
    if (is_first) place = other.place, got = other.got;
    sum += other.sum;
    wrong += other.wrong;
    beside += other.beside;
  }
};

/// What an output adds to the sum that tells the outputs of two runs apart.
constexpr u64 value_sum(i64 number, i32 output) {
  return mix(static_cast<u64>(number) << 32 | static_cast<std::uint32_t>(output));
}

/// The functions of a witness. Each returns whether it succeeded, and else writes a text.
struct Witness {
  struct Text {
    char text[256];
  };
  /// Whether it reaches the memory of an address.
  bool (*reaches)(const void* memory);
  /// Writes inputs, and poison everywhere else.
  bool (*lay)(const ValueRange& range, Text& why);
  bool (*compare)(const ValueRange& range, ValueTally& tally, Text& why);
};

}  // namespace lockstep::judge

/// What the library of a witness exports.
extern "C" __attribute__((visibility("default"))) const lockstep::judge::Witness*
lockstep_witness_v1();
