#include "conformance/run/agenda.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

namespace lockstep::judge {
namespace {

constexpr std::size_t kBesideNext = 64;  // bytes that keep the written counter from the read flags

std::size_t shared_bytes() { return kBesideNext + operators().size() * sizeof(std::atomic<bool>); }

}  // namespace

Agenda::Agenda() {
  static_assert(std::atomic<bool>::is_always_lock_free, "a lock belongs to one process");
  static_assert(std::atomic<std::size_t>::is_always_lock_free);
  void* shared =
      mmap(nullptr, shared_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "no memory for judging processes");
  next_ = new (shared) std::atomic<std::size_t>{0};
  aside_ = new (static_cast<char*>(shared) + kBesideNext) std::atomic<bool>[operators().size()] {};
}

Agenda::~Agenda() { munmap(next_, shared_bytes()); }

void Agenda::keep_from_children() const { madvise(next_, shared_bytes(), MADV_DONTFORK); }

std::atomic<bool>& Agenda::aside(const OpInfo& op) const {
  const auto& all = operators();
  return aside_[std::find(all.begin(), all.end(), &op) - all.begin()];
}

}  // namespace lockstep::judge
