/// @file
/// Cases selected for a run.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// A selected case and its purpose.
struct Item {
  enum What {
    legal,
    illegal,
    vector,
    typed  ///< legal and too large to run: only the types of its outputs are asked for
  } what = legal;
  Case call;
  std::string label;             ///< the error an illegal call must give
  std::string id;                ///< the case's line, or the vector's id
  std::vector<Tensor> expected;  ///< frozen outputs of a vector
  /// The attributes of an illegal call that has no values for them: only backends that take text
  /// get it, and `call` has operator and types.
  std::optional<AttrTexts> texts = {};
  bool runs() const { return what == legal || what == vector; }
};

/// Elements of all inputs and, where the call is legal, of all outputs.
i64 elements_of(const Case& c);

/// The most elements of a call that is run although no domain drew it.
inline constexpr i64 kMaxRun = i64{1} << 14;

/// The most elements of a call that is not large.
inline constexpr i64 kNotLarge = i64{1} << 17;

/// Whether a call is so large that it comes last and is put in few ways.
bool is_large(const Case& c);

/// Whether a legal call is large, and yet so small and cheap that its plan can run many times.
bool is_repeated(const Case& c);

/// The purpose of a call: illegal, typed if it has more than `most` elements, else legal.
Item::What what_of(const Case& c, i64 most = i64{1} << 24);

}  // namespace lockstep::judge
