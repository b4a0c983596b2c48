#include "conformance/host/scratch_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "conformance/host/channel.h"

namespace lockstep::judge {
namespace {

constexpr std::size_t kScratchAlignment = 64;
constexpr char kBeside = 0x5a;

}  // namespace

ScratchMemory::ScratchMemory(std::uint64_t bytes, std::int32_t poison) : bytes_(bytes) {
  const std::uint64_t beyond = poison % 2 != 0 ? kScratchAlignment : 0;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 47;  // bytes of an address space
  mapped_ = bytes > kMost ? 0 : round_up(bytes + beyond, kPage) + 2 * kPage;
  void* map = mapped_ == 0 ? MAP_FAILED
                           : mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED ||
      mprotect(static_cast<char*>(map) + kPage, mapped_ - 2 * kPage, PROT_READ | PROT_WRITE) != 0) {
    if (map != MAP_FAILED) munmap(map, mapped_);
    throw std::runtime_error("no memory for " + std::to_string(bytes) + " bytes of scratch");
  }
  map_ = static_cast<char*>(map);
  char* const end = map_ + mapped_ - kPage;
  data_ = end - round_up(bytes, kScratchAlignment) - beyond;
  std::memset(map_ + kPage, kBeside, static_cast<std::size_t>(data_ - map_) - kPage);
  for (std::size_t k = 0; k < bytes_; ++k) data_[k] = reinterpret_cast<char*>(&poison)[k % 4];
  std::memset(data_ + bytes_, kBeside, static_cast<std::size_t>(end - data_) - bytes_);
}

ScratchMemory& ScratchMemory::operator=(ScratchMemory&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

ScratchMemory::~ScratchMemory() {
  if (map_) munmap(map_, mapped_);
}

bool ScratchMemory::is_intact() const {
  const auto untouched = [](const char* from, const char* to) {
    return std::all_of(from, to, [](char c) { return c == kBeside; });
  };
  return !map_ ||
      (untouched(map_ + kPage, data_) && untouched(data_ + bytes_, map_ + mapped_ - kPage));
}

}  // namespace lockstep::judge
