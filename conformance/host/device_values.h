/// @file
/// Ranges of values that a backend is given, and that are compared, in the memory of its device.
#pragma once
#include <optional>
#include <set>
#include <string>

#include "backends/client.hpp"
#include "conformance/host/channel.h"
#include "conformance/witness/witness.h"

namespace lockstep::judge {

/// Has a witness lay values and compare outputs. The witness first has to see mistakes that are
/// made for it, once for each operator.
class DeviceValues {
 public:
  /// Answers Letter::tally.
  /// @throws std::runtime_error if the file holds no witness.
  void answer(const client::Backend& backend, const Letter& letter, const char* mail, Reply& reply);
  /// Gives back the memory, which keeps its backend open.
  void release() { x_.reset(), y_.reset(); }

 private:
  void load(const char* file);
  client::Status take(const client::Backend& backend, i64 words);
  client::Status compare(const ValueRange& range, ValueTally& tally) const;
  client::Status rehearse(ValueRange range, bool& is_blind);

  std::string file_;
  const Witness* witness_ = nullptr;
  const client::Backend* backend_ = nullptr;  // of the memory
  std::optional<client::Memory> x_, y_;
  std::set<string_view> seen_;  // operators of which it has seen mistakes
};

}  // namespace lockstep::judge
