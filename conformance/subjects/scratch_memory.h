/// @file
/// Host memory that a kernel may use while it computes.
#pragma once
#include <cstddef>
#include <cstdint>

namespace lockstep::judge {

/// Memory aligned to 64 bytes, full of a number, so that who reads what it has not written computes
/// something else for another number. The pages around are guarded; what lies between them and the
/// memory is watched.
class ScratchMemory {
 public:
  ScratchMemory() = default;
  /// @throws std::runtime_error if there is no such memory.
  ScratchMemory(std::uint64_t bytes, std::int32_t poison);
  ScratchMemory& operator=(ScratchMemory&& other) noexcept;
  ~ScratchMemory();

  void* data() const { return data_; }
  /// Whether nobody wrote beside it.
  bool is_intact() const;

 private:
  char* map_ = nullptr;  ///< everything, guarded pages included
  std::size_t mapped_ = 0;
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace lockstep::judge
