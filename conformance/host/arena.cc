#include "conformance/host/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "conformance/host/memory_file.h"

namespace lockstep::judge {
namespace {

char* reserve(int file, int access) {
  const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* m = mmap(nullptr, kArena, access, kind | MAP_NORESERVE, file, 0);
  if (m == MAP_FAILED) throw std::runtime_error("no addresses for tensors");
  return static_cast<char*>(m);
}

}  // namespace

Arena::Arena() {
  const int file = memory_file(kArena);
  seen_ = reserve(file, PROT_NONE);
  reserve(-1, PROT_NONE);  // keeps the two apart: a stray write beyond one must not reach the other
  own_ = reserve(file, PROT_READ | PROT_WRITE);
  close(file);
}

// All memory of tensor k ends in the middle of its span, whatever its size.
char* Arena::seen(std::size_t k) const { return seen_ + k * span_ + span_ / 2 - regions_[k].bytes; }

void Arena::begin(std::span<const Slot> slots) {
  u64 most = 0;
  for (const Slot& s : slots) most = std::max(most, s.bytes);
  const u64 span = span_of(most);
  if (slots.size() > kMaxSlots || slots.size() > kArena / span)
    throw std::runtime_error("the tensors of a call exceed the addresses for them");
  for (std::size_t k = span == span_ ? slots.size() : 0; k < used_; ++k) protect(k, {});
  span_ = span;
  used_ = slots.size();
}

void Arena::lay(std::size_t k, const Slot& slot, const char* mail, bool writable) {
  protect(k, {slot.bytes, writable});
  std::memcpy(own(k), mail + slot.image, slot.bytes);
}

void Arena::protect(std::size_t k, const Region& wanted) {
  Region& now = regions_[k];
  if (now == wanted) return;
  if (now.bytes > wanted.bytes) mprotect(seen(k), now.bytes, PROT_NONE);
  now = wanted;
  mprotect(seen(k), now.bytes, now.writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

void Arena::take(std::span<const Slot> slots, char* mail) const {
  for (std::size_t k = 0; k < slots.size(); ++k)
    std::memcpy(mail + slots[k].image, own(k), slots[k].bytes);
}

bool Arena::holds(std::span<const Slot> slots, const char* mail) const {
  for (std::size_t k = 0; k < slots.size(); ++k)
    if (std::memcmp(mail + slots[k].image, own(k), slots[k].bytes) != 0) return false;
  return true;
}

bool Arena::let_through(const char* address) {
  if (!reply_ || used_ == 0 || address < seen_ || address >= seen_ + kArena) return false;
  const auto offset = static_cast<u64>(address - seen_);
  const std::size_t k = std::min(offset / span_, used_ - 1);
  const i64 at = address - seen(k);
  Region& r = regions_[k];
  if (at < 0 || at >= static_cast<i64>(r.bytes) || r.writable) {
    reply_->fault_slot = static_cast<int>(k);
    reply_->fault_at = at;
    return false;
  }
  if (reply_->written_slot < 0 || std::cmp_less(k, reply_->written_slot)) {
    reply_->written_slot = static_cast<int>(k);
    reply_->written_at = at;
  }
  r.writable = true;
  return mprotect(seen(k), r.bytes, PROT_READ | PROT_WRITE) == 0;
}

}  // namespace lockstep::judge
