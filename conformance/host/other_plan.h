/// @file
/// The plan of another call, which lives and runs beside the plan of the call that is judged.
#pragma once
#include <vector>

#include "backends/client.hpp"
#include "conformance/host/channel.h"

namespace lockstep::judge {

/// Its results are not judged: it is there because a backend may keep in one place what belongs to
/// each of its plans.
class OtherPlan {
 public:
  /// Prepares the call of a letter.
  OtherPlan(const client::Backend& backend, const Letter& letter, const char* mail);
  OtherPlan(const OtherPlan&) = delete;
  /// Whether the call was prepared.
  const client::Status& status() const { return plan_.status(); }
  /// Runs it once, on zeros, which every input may hold.
  client::Status run();
  /// How many elements of its outputs it has not written.
  std::size_t unwritten() const;

 private:
  static constexpr int32_t kUnwritten = INT32_MIN;  // no result of any call
  client::Status add_tensor(const client::TensorView& type, int32_t value);

  const client::Backend& backend_;
  const std::vector<Slot> types_;
  const client::Call call_;
  client::Result<client::Plan> plan_;
  std::vector<client::DeviceTensor> tensors_;
};

}  // namespace lockstep::judge
