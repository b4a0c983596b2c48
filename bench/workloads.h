/// @file
/// The timed calls: named ones, and for an operator without one a large call from its domain.
#pragma once
#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::bench {

/// The unit of a call's speed.
enum class Unit {
  bytes,  ///< of all inputs and outputs, four to an element
  macs,   ///< multiply-adds; inputs after the first are constants, as weights are
  calls   ///< so small that the call itself is the cost
};

/// A call to time.
struct Workload {
  std::string name;  ///< of this call among its operator's
  judge::Case call;
  Unit unit = Unit::bytes;

  std::string id() const { return std::string(call.op->name) + "/" + name; }
  bool constants() const { return unit == Unit::macs; }
  Inferred outputs() const { return call.op->infer(call.attributes(), call.types()); }
  /// The number of units in one call.
  i64 units() const;
  /// Bytes of all inputs and outputs.
  i64 bytes() const;
};

/// A named call, spelled out as every verb accepts it.
struct Named {
  string_view name, call;
  Unit unit = Unit::bytes;
};

/// Calls known from models, and calls that the domain does not draw.
inline constexpr Named kNamed[] = {
    {"c64_56x56_to_64_k3",
        "conv2d/channels=64/kernel_size=3,3/padding=1,1/use_bias=0"
        "/in=1x64x56x56@8+64x64x3x3@8/fill=dense:1",
        Unit::macs},
    {"c128_28x28_to_128_k3",
        "conv2d/channels=128/kernel_size=3,3/padding=1,1/use_bias=0"
        "/in=1x128x28x28@8+128x128x3x3@8/fill=dense:1",
        Unit::macs},
    {"c256_14x14_to_512_k1",
        "conv2d/channels=512/kernel_size=1,1/use_bias=0/"
        "in=1x256x14x14@8+512x256x1x1@8/fill=dense:1",
        Unit::macs},
    {"c3_224x224_to_64_k7_s2",
        "conv2d/channels=64/kernel_size=7,7/padding=3,3/strides=2,2/use_bias=0"
        "/in=1x3x224x224@8+64x3x7x7@8/fill=dense:1",
        Unit::macs},
    {"depthwise_c128_56x56_k3",
        "conv2d/channels=128/kernel_size=3,3/padding=1,1/groups=128/use_bias=0"
        "/in=1x128x56x56@8+128x1x3x3@8/fill=dense:1",
        Unit::macs},
    {"c1_3x3_to_1_k2",
        "conv2d/channels=1/kernel_size=2,2/use_bias=0/in=1x1x3x3@8+1x1x2x2@8/fill=dense:1",
        Unit::calls},
    {"64x1024_1024", "dense/units=1024/use_bias=0/in=64x1024@8+1024x1024@8/fill=dense:1",
        Unit::macs},
    {"1x4096_4096", "dense/units=4096/use_bias=0/in=1x4096@8+4096x4096@8/fill=dense:1", Unit::macs},
    {"1024x1024_1024", "dense/units=1024/use_bias=0/in=1024x1024@8+1024x1024@8/fill=dense:1",
        Unit::macs},
    {"same_shape", "broadcast_add/in=16x64x64x64@16+16x64x64x64@16/fill=dense:1"},
    {"over_channels", "broadcast_add/in=16x64x64x64@16+1x64x1x1@16/fill=dense:1"},
    {"to_8_bits", "cvm_clip/precision=8/in=16x64x64x64@16/fill=dense:1"},
    {"requantize", "cvm_right_shift/precision=8/shift_bit=9/in=16x64x64x64@16/fill=dense:1"},
    {"activation", "relu/in=16x64x64x64@8/fill=dense:1"},
    {"six_elements", "relu/in=2x3@8/fill=dense:1", Unit::calls},
    {"channels", "concatenate/axis=1/in=16x16x64x64@8+16x32x64x64@8+16x16x64x64@8/fill=dense:1"},
    {"crop", "strided_slice/begin=0,0,2,2/end=16,64,62,62/in=16x64x64x64@8/fill=dense:1"},
    {"every_second",
        "strided_slice/begin=0,0,0,0/end=16,64,64,64/stride=1,1,2,2"
        "/in=16x64x64x64@8/fill=dense:1"},
    {"rows", "take/axis=0/in=8192x512@8+8192@16/fill=hinted:3"},
    {"elements", "take/in=65536@8+2048x2048@18/fill=hinted:1"},
    {"global_pool", "sum/axis=2,3/in=16x64x64x64@8/fill=dense:1"},
    {"over_channels", "sum/axis=1/in=16x64x64x64@8/fill=dense:1"},
    {"over_channels", "max/axis=1/in=16x64x64x64@8/fill=dense:1"},
    {"2x2_s2", "max_pool2d/pool_size=2,2/strides=2,2/in=16x64x64x64@8/fill=dense:1"},
    {"3x3_s2", "max_pool2d/pool_size=3,3/strides=2,2/padding=1,1/in=16x64x64x64@8/fill=dense:1"},
    {"8732_boxes", "get_valid_counts/in=16x8732x6@16/fill=hinted:1"},
    {"5000_boxes", "non_max_suppression/iou_threshold=50/in=1x5000x6@16+1@16/fill=hinted:2"},
};

/// The workloads of an operator: those named above, else the drawn one.
/// @throws std::logic_error if a named call is not legal or no large call can be drawn.
std::vector<Workload> workloads(const OpInfo& op);

/// The wanted number of elements of a drawn workload's largest tensor.
inline constexpr i64 kDrawnVolume = i64{1} << 20;

/// A call from an operator's domain, every extent doubled as long as the call stays legal. Its
/// outputs are not constant.
/// @throws std::logic_error if none of many draws grows large.
Workload drawn_workload(const OpInfo& op);

}  // namespace lockstep::bench
