#include "conformance/host/scratch_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "conformance/host/channel.h"
#include "conformance/host/drawn_number.h"
#include "spec/random.h"

namespace lockstep::judge {
namespace {

constexpr std::size_t kScratchAlignment = 64;
constexpr std::size_t kBehind = 2 * kScratchAlignment;  // bytes behind the memory, at most

// Numbers for the bytes beside a memory, from another place for each memory. None of them is 0, the
// number that kernels write most often, so that every such write is a change.
const char* draw_bytes() {
  constexpr u64 kNumbers = 255;
  static const u64 secret = drawn_number();
  static const auto all = [] {
    std::array<char, 2 * kPage + kBehind> bytes{};
    for (std::size_t k = 0; k < bytes.size(); ++k)
      bytes[k] = static_cast<char>(1 + word(secret, 0, k) % kNumbers);
    return bytes;
  }();
  static std::atomic<u64> memories = 0;
  return all.data() + word(secret, 1, memories++) % kPage;
}

}  // namespace

ScratchMemory::ScratchMemory(std::uint64_t bytes, std::int32_t poison) : bytes_(bytes) {
  const std::uint64_t beyond = poison % 2 != 0 ? kScratchAlignment : 0;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 47;  // bytes of an address space
  mapped_ =
      bytes > kMost ? 0 : round_up(std::max(bytes + beyond, std::uint64_t{1}), kPage) + 2 * kPage;
  constexpr int kKind = MAP_PRIVATE | MAP_ANONYMOUS;
  // No memory of 0 bytes can be mapped. All of it is written below, so the kernel provides it now
  // and not page by page.
  void* map = mmap(nullptr, mapped_, PROT_NONE, kKind, -1, 0);
  if (map == MAP_FAILED ||
      mmap(static_cast<char*>(map) + kPage, mapped_ - 2 * kPage, PROT_READ | PROT_WRITE,
          kKind | MAP_FIXED | MAP_POPULATE, -1, 0) == MAP_FAILED) {
    if (map != MAP_FAILED) munmap(map, mapped_);
    throw std::runtime_error("no memory for " + std::to_string(bytes) + " bytes of scratch");
  }
  map_ = static_cast<char*>(map);
  char* const end = map_ + mapped_ - kPage;
  data_ = end - round_up(bytes, kScratchAlignment) - beyond;
  drawn_ = draw_bytes();
  std::memcpy(map_ + kPage, drawn_, static_cast<std::size_t>(data_ - map_) - kPage);
  for (std::size_t k = 0; k < bytes_; ++k) data_[k] = reinterpret_cast<char*>(&poison)[k % 4];
  std::memcpy(data_ + bytes_, drawn_ + kPage, static_cast<std::size_t>(end - data_) - bytes_);
}

ScratchMemory& ScratchMemory::operator=(ScratchMemory&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(drawn_, other.drawn_);
  return *this;
}

ScratchMemory::~ScratchMemory() {
  if (map_) munmap(map_, mapped_);
}

bool ScratchMemory::is_intact() const {
  return !map_ ||
      (std::equal(map_ + kPage, data_, drawn_) &&
          std::equal(data_ + bytes_, map_ + mapped_ - kPage, drawn_ + kPage));
}

}  // namespace lockstep::judge
