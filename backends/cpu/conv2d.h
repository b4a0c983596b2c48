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
  blocks,    ///< packs a block of the image once for all its outputs
  in_place,  ///< reads the image itself as the patch
  lines,     ///< packs a block of one group at a time
  depthwise  ///< likewise, for channels that share cells
};

/// How a call is computed. With Way::depthwise a group is the channels that share cells.
struct Design {
  Way way;
  View x;
  Out y;
  Patch patch;
  i64 groups, group_inputs, group_outputs;
  i64 patch_bytes = 0;  ///< of the patches that are packed at a time
};

/// The design of a call; none where the generic kernel must serve it, or none serves its fusion.
std::optional<Design> design_of(
    const Arguments& a, const Conv2dAttrs& attrs, const DotKernels& dot);

/// Whether blocks take less time than tiles of vectors.
bool suits_blocks(const Design& d);

/// The plan of a call with these tiles, or nullptr where they do not serve it.
std::unique_ptr<Plan> conv2d_plan(const Arguments& a, const Kernel& kernel, const DotKernels& dot);

/// Whether the tensor that a product adds may lie where its output lies. Tiles of any kind add to
/// their sums before they store them, and no two of them store the same output.
bool adds_in_place(const Fusion& f, const Out& y);

/// Turns a call whose window is the whole image into a matrix product. @return whether it is one
bool become_dense(Arguments& a, const Conv2dAttrs& attrs);

/// The plan of a call of conv2d or dense that reads or writes pixels, or nullptr.
std::unique_ptr<Plan> pixel_conv2d_plan(
    const Arguments& a, const Kernel& kernel, const DotKernels& dot);

/// Whether pixel_conv2d_plan() serves the call with its fusion.
bool pixel_conv2d_serves(const Arguments& a, const DotKernels& dot);

/// Whether a tuned kernel serves the call with its fusion.
bool conv2d_serves(const Arguments& a);

}  // namespace lockstep::cpu
