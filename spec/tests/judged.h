/// @file
/// What the specification says of a call, for tests.
#pragma once
#include <string>
#include <vector>

#include "spec/check.h"
#include "spec/ops.h"

namespace lockstep {

/// The label of a call, "" if it is legal.
template <class Op> std::string label(const typename Op::Attrs& a, const std::vector<Type>& in) {
  const auto values = to_attributes<Op>(a);
  return check(info<Op>(), {values.data(), static_cast<int>(values.size())},
      {in.data(), static_cast<int>(in.size())})
      .label();
}
/// The type of output 0.
template <class Op> Type output(const typename Op::Attrs& a, const std::vector<Type>& in) {
  return Op::infer(a, {in.data(), static_cast<int>(in.size())})[0];
}

}  // namespace lockstep
