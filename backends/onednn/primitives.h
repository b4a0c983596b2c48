/// @file
/// The operators that oneDNN offers, each as a call of one of its primitives.
#pragma once
#include <memory>
#include <string_view>

#include "backends/onednn/job.h"

namespace lockstep::onednn {

/// An operator, the primitive that computes it, and its claim.
struct Adaptation {
  std::string_view op;
  const char* primitive;   ///< the kernel's name in the manifest
  std::string_view claim;  ///< JSON of the manifest
  std::unique_ptr<backend::Plan> (*prepare)(const Device&, const backend::Call&, const Adaptation&);
};

/// All claimed operators.
std::span<const Adaptation> rows_of_operators();

}  // namespace lockstep::onednn
