/// @file
/// Gas: the price that a network charges for a model, an integer that is the same on every machine.
#pragma once
#include "spec/info.h"

namespace lockstep {

inline constexpr i64 kGasPerElement = 5;          ///< of a variable or of an operator's output
inline constexpr i64 kMaxGasBase = i64{1} << 30;  ///< of one element of an operator's output 0
inline constexpr i64 kMaxGasTerm = i64{1} << 40;  ///< each of the two terms

/// Adds up gas = 5 * (elements of all variables and outputs) + sum over the calls of base *
/// (elements of output 0). Limits are judged at every step, before anything can overflow: a legal
/// tensor has at most 2^30 elements, and a base is compared before it is a factor.
class GasMeter {
 public:
  /// Charges for a variable of a legal shape.
  constexpr void variable(const Type& t) {
    add(elements_, kGasPerElement * volume(t.shape), "the gas of all tensors is above 2^40");
  }
  /// Charges for the outputs and the work of a legal call.
  constexpr void call(const OpInfo& op, Attributes attrs, Types in) {
    const Inferred y = op.infer(attrs, in);
    for (int k = 0; k < y.count; ++k) variable(y[k]);
    const i64 base = op.gas(attrs, in);
    if (base > kMaxGasBase) {
      exceeded_ = "the gas of one element is above 2^30";
    } else {
      add(work_, base * volume(y[0].shape), "the gas of all calls is above 2^40");
    }
  }
  /// The limit that is exceeded, in words; empty if none is.
  constexpr string_view exceeded() const { return exceeded_; }
  /// The gas, valid if no limit is exceeded.
  constexpr i64 total() const { return elements_ + work_; }

 private:
  constexpr void add(i64& term, i64 gas, string_view limit) {
    if (!exceeded_.empty()) return;
    term += gas;
    if (term > kMaxGasTerm) exceeded_ = limit;
  }

  i64 elements_ = 0, work_ = 0;
  string_view exceeded_;
};

/// The gas of a legal call as a model of one call, whose inputs are the variables.
constexpr GasMeter gas_of(const OpInfo& op, Attributes attrs, Types in) {
  GasMeter meter;
  for (const Type& t : in) meter.variable(t);
  meter.call(op, attrs, in);
  return meter;
}

}  // namespace lockstep
