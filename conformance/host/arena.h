/// @file
/// The addresses at which a backend sees tensors. Only the tensors of the present call are
/// accessible, their inputs only for reading; everything between them is not.
#pragma once
#include <span>

#include "conformance/host/channel.h"

namespace lockstep::judge {

class Arena {
 public:
  /// @throws std::runtime_error if there are no such addresses.
  Arena();
  Arena(const Arena&) = delete;

  /// Makes room for a call's tensors and fills it from their images.
  /// @param writable says of a tensor's number whether the backend may write it.
  template <class F> void lay(std::span<const Slot> slots, const char* mail, F writable) {
    begin(slots);
    for (std::size_t k = 0; k < slots.size(); ++k) lay(k, slots[k], mail, writable(k));
  }
  /// Copies the tensors back into their images.
  void take(std::span<const Slot> slots, char* mail) const;
  /// Whether the tensors equal their images.
  bool holds(std::span<const Slot> slots, const char* mail) const;

  /// Where the backend finds the memory of tensor `k`.
  char* seen(std::size_t k) const;
  /// The same memory at an address that the backend does not know, always writable.
  char* own(std::size_t k) const { return own_ + (seen(k) - seen_); }

  /// Notes forbidden accesses in this reply from now on.
  void watch(Reply& reply) { reply_ = &reply; }
  /// The reply to what the backend is asked now; nullptr before the first question.
  Reply* reply() const { return reply_; }
  /// For a signal handler: notes an access that the kernel has refused. @return whether the access
  /// may go on, as a write to an input may
  bool let_through(const char* address);

 private:
  struct Region {
    u64 bytes = 0;
    bool writable = false;
    bool operator==(const Region&) const = default;
  };
  void begin(std::span<const Slot> slots);
  void lay(std::size_t k, const Slot& slot, const char* mail, bool writable);
  void protect(std::size_t k, const Region& wanted);

  char *seen_ = nullptr, *own_ = nullptr;
  u64 span_ = span_of(0);
  std::size_t used_ = 0;  // tensors of the present call
  Region regions_[kMaxSlots];
  Reply* reply_ = nullptr;
};

}  // namespace lockstep::judge
