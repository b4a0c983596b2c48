/// @file
/// Scratch memory on the host.
#pragma once
#include <cstddef>
#include <cstdint>

namespace lockstep::judge {

/// Memory aligned to 64 bytes and filled with `poison`, so that a kernel which reads before it
/// writes computes something else for another poison. An odd poison moves the memory by 64 bytes.
/// Guard pages lie around it. The bytes between guard and memory are checked for changes; each
/// process draws them anew, and each memory differently, so that no backend can know them.
class ScratchMemory {
 public:
  ScratchMemory() = default;
  /// @throws std::runtime_error if there is no such memory.
  ScratchMemory(std::uint64_t bytes, std::int32_t poison);
  ScratchMemory& operator=(ScratchMemory&& other) noexcept;
  ~ScratchMemory();

  void* data() const { return data_; }
  /// Whether the bytes beside it are unchanged.
  bool is_intact() const;

 private:
  char* map_ = nullptr;  ///< everything, guarded pages included
  std::size_t mapped_ = 0;
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
  const char* drawn_ = nullptr;  ///< what the bytes on the first page hold; others follow
};

}  // namespace lockstep::judge
