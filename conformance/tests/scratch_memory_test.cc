// Scratch memory for kernels: what it holds, where it lies, and what the judge watches beside it.
#include "conformance/host/scratch_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstring>
#include <set>
#include <stdexcept>
#include <string>

#include "conformance/host/channel.h"

namespace lockstep::judge {
namespace {

// Writes to an address where that may end the process, without leaving a core file.
void touch(char* at) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  *at = 1;
}

char* begin_of(const ScratchMemory& m) { return static_cast<char*>(m.data()); }

TEST(ScratchMemory, EndsAsNearToAGuardedPageAsItsAlignmentLets) {
  for (const std::uint64_t bytes : {1, 63, 64, 65, 4032, 4095, 4096, 4097, 8192}) {
    const ScratchMemory m(bytes, 0x01020304);
    const std::uint64_t aligned = (bytes + 63) / 64 * 64;
    EXPECT_EQ((reinterpret_cast<std::uintptr_t>(m.data()) + aligned) % kPage, 0U) << bytes;
    EXPECT_DEATH(touch(begin_of(m) + aligned), "") << bytes;
    const std::uint64_t below = (kPage - aligned % kPage) % kPage;
    EXPECT_DEATH(touch(begin_of(m) - below - 1), "") << bytes;
  }
}

TEST(ScratchMemory, IsAlignedToNoMoreThanItMustBe) {
  for (const int poison : {1, -1})
    for (const std::uint64_t bytes : {1, 64, 128, 4096}) {
      const ScratchMemory m(bytes, poison);
      const std::uint64_t end = (bytes + 63) / 64 * 64 + 64;
      EXPECT_EQ((reinterpret_cast<std::uintptr_t>(m.data()) + end) % kPage, 0U) << bytes;
      begin_of(m)[end - 1] ^= 1;
      EXPECT_FALSE(m.is_intact()) << bytes;
    }
}

TEST(ScratchMemory, HoldsTheNumberToItsLastByte) {
  const char number[] = {4, 3, 2, 1};
  for (const std::uint64_t bytes : {0, 1, 3, 4, 7, 64, 4097}) {
    const ScratchMemory m(bytes, 0x01020304);
    for (std::uint64_t k = 0; k < bytes; ++k) ASSERT_EQ(begin_of(m)[k], number[k % 4]) << bytes;
    EXPECT_TRUE(m.is_intact());
  }
}

TEST(ScratchMemory, IsWatchedOnBothSides) {
  constexpr int kBytes = 100;  // 28 less than are aligned
  const int first = -static_cast<int>(kPage - 128), last = 127;
  for (const int at : {first, -1, kBytes, last}) {
    const ScratchMemory m(kBytes, 0);
    begin_of(m)[at] ^= 1;
    EXPECT_FALSE(m.is_intact()) << at;
  }
  const ScratchMemory m(kBytes, 0);
  std::memset(m.data(), 7, kBytes);
  EXPECT_TRUE(m.is_intact());
}

TEST(ScratchMemory, HasBytesBesideItThatNobodyCanKnow) {
  constexpr int kBytes = 100, kBefore = static_cast<int>(kPage - 128);
  const ScratchMemory one(kBytes, 0), other(kBytes, 0);
  const auto beside = [](const ScratchMemory& m) {
    return std::string(begin_of(m) - kBefore, kBefore) + std::string(begin_of(m) + kBytes, 28);
  };
  const std::string bytes = beside(one);
  EXPECT_EQ(std::set<char>(bytes.begin(), bytes.end()).size(), 255U);
  EXPECT_EQ(bytes.find('\0'), bytes.npos) << "kernels write zeros";
  EXPECT_NE(bytes, beside(other));
}

TEST(ScratchMemory, OfMoreThanThereIsIsRefused) {
  for (const std::uint64_t bytes :
      {std::uint64_t{1} << 47, std::uint64_t{1} << 63, ~std::uint64_t{0}})
    EXPECT_THROW(ScratchMemory(bytes, 0), std::runtime_error) << bytes;
}

TEST(ScratchMemory, IsGivenBack) {
  const auto is_mapped = [](void* page) { return msync(page, kPage, MS_ASYNC) == 0; };
  ScratchMemory m;
  EXPECT_EQ(m.data(), nullptr);
  EXPECT_TRUE(m.is_intact());
  m = ScratchMemory(kPage, 4);
  void* const first = m.data();
  EXPECT_TRUE(is_mapped(first));
  m = ScratchMemory(2 * kPage, 2);
  EXPECT_TRUE(is_mapped(m.data()));
  EXPECT_FALSE(is_mapped(first));
}

}  // namespace
}  // namespace lockstep::judge
