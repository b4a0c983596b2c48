/// @file
/// How conv2d computes a call.
#pragma once
#include <optional>

#include "backends/cpu/patch.h"
#include "spec/ops/conv2d.h"

namespace lockstep::cpu {

inline constexpr i64 kPatchBytes = i64{1} << 19;  ///< of the patches packed at a time
inline constexpr i64 kLinesBytes = i64{1} << 14;  ///< of a patch on the stack

enum class Way {
  blocks,    ///< of the image, packed for all outputs
  in_place,  ///< the image is the patch
  lines,     ///< of one group at a time
  depthwise  ///< lines of channels that share cells
};

/// How a call is computed. For depthwise a group is what shares cells.
struct Design {
  Way way;
  View x;
  Out y;
  Patch patch;
  i64 groups, group_inputs, group_outputs;
};

/// None where the generic kernel serves, or nothing serves the fusion.
std::optional<Design> design_of(
    const Arguments& a, const Conv2dAttrs& attrs, const DotKernels& dot);

/// Whether blocks take less time than tiles of vectors.
bool suits_blocks(const Design& d);

/// The plan of a call with these tiles, or nullptr where they do not serve it.
std::unique_ptr<Plan> conv2d_plan(const Arguments& a, const Kernel& kernel, const DotKernels& dot);

/// The call as a matrix product, where the window is the whole image. @return whether it is one
bool become_dense(Arguments& a, const Conv2dAttrs& attrs);

/// The same for calls of conv2d or dense that read or write pixels.
std::unique_ptr<Plan> pixel_conv2d_plan(
    const Arguments& a, const Kernel& kernel, const DotKernels& dot);

/// Whether that serves the call with its fusion.
bool pixel_conv2d_serves(const Arguments& a, const DotKernels& dot);

/// Whether a tuned kernel serves the call with its fusion.
bool conv2d_serves(const Arguments& a);

}  // namespace lockstep::cpu
