#include "conformance/run/quarantine.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <system_error>

namespace lockstep::judge {
namespace {

constexpr i64 kMaxHangs = 3, kMaxCrashes = 10;      // per operator
constexpr i64 kMaxHangsInAll = 10, kMaxSilent = 3;  // per backend; before any answer

std::size_t shared_bytes() { return operators().size() * sizeof(std::atomic<bool>); }

}  // namespace

std::string Quarantine::reason(const std::string& op) const {
  if (!answered_ && (hangs_ > 0 || crashes_ >= kMaxSilent))
    return "the backend never answered: " + last_;
  if (hangs_ >= kMaxHangsInAll) return "the backend hangs too often";
  const auto at = ops_.find(op);
  if (at == ops_.end()) return "";
  if (at->second.hangs >= kMaxHangs) return op + " hung " + std::to_string(kMaxHangs) + " times";
  if (at->second.crashes >= kMaxCrashes)
    return op + " crashed " + std::to_string(kMaxCrashes) + " times";
  return "";
}

void Quarantine::note(const std::string& op, Outcome outcome, const std::string& text) {
  answered_ = answered_ || outcome == Outcome::passed || outcome == Outcome::failed;
  if (outcome == Outcome::timed_out) ++ops_[op].hangs, ++hangs_, last_ = text;
  if (outcome == Outcome::crashed) ++ops_[op].crashes, ++crashes_, last_ = text;
}

QuarantineFlags::QuarantineFlags() {
  static_assert(std::atomic<bool>::is_always_lock_free, "a lock belongs to one process");
  void* shared =
      mmap(nullptr, shared_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "no memory for judging processes");
  flags_ = new (shared) std::atomic<bool>[operators().size()] {};
}

QuarantineFlags::~QuarantineFlags() { munmap(flags_, shared_bytes()); }

void QuarantineFlags::add(const OpInfo& op) { flag(op) = true; }

bool QuarantineFlags::holds(const OpInfo& op) const { return flag(op); }

void QuarantineFlags::keep_from_children() const { madvise(flags_, shared_bytes(), MADV_DONTFORK); }

std::atomic<bool>& QuarantineFlags::flag(const OpInfo& op) const {
  const auto& all = operators();
  return flags_[std::find(all.begin(), all.end(), &op) - all.begin()];
}

}  // namespace lockstep::judge
