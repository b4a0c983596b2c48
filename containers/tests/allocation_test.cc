#include "containers/memory/allocation.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "containers/tests/refusal.h"

namespace lockstep::ndarray {
namespace {

using Host = Allocation<CpuDevice>;

// All hosts are equal, GPUs only with equal numbers. Both can be a template's parameter.
static_assert(CpuDevice() == CpuDevice());
static_assert(GpuDevice() == GpuDevice(0) && GpuDevice(1) != GpuDevice(2));
template <auto kDevice> constexpr auto kSame = kDevice;
static_assert(kSame<GpuDevice(3)>.device_id == 3 && kSame<CpuDevice{}> == CpuDevice());

static_assert(
    std::is_nothrow_move_constructible_v<Host> && std::is_nothrow_move_assignable_v<Host>);
static_assert(!std::is_copy_constructible_v<Host> && !std::is_copy_assignable_v<Host>);

bool is_nothing(const Host& memory) {
  return memory.ptr() == nullptr && memory.end() == nullptr && memory.size() == 0;
}

TEST(Allocation, IsNothingByDefault) { EXPECT_TRUE(is_nothing(Host())); }

TEST(Allocation, OfNoBytesHasNoAddress) { EXPECT_TRUE(is_nothing(Host(0, CpuDevice()))); }

TEST(Allocation, IsAlignedAndWritable) {
  for (std::size_t size : {1, 63, 64, 65, 4096, 1 << 20}) {
    const Host memory(size, CpuDevice());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.ptr()) % 64, 0u);
    EXPECT_EQ(memory.size(), size);
    EXPECT_EQ(static_cast<char*>(memory.end()) - static_cast<char*>(memory.ptr()),
        static_cast<std::ptrdiff_t>(size));
    std::memset(memory.ptr(), 7, size);
  }
}

TEST(Allocation, SaysWhenThereIsTooLittle) {
  const std::string said =
      failure([] { Host(std::numeric_limits<std::size_t>::max() / 2, CpuDevice()); });
  EXPECT_NE(said.find("no memory for 9223372036854775807 bytes"), std::string::npos) << said;
}

TEST(Allocation, MovesAndLeavesNothing) {
  Host a(100, CpuDevice());
  void* const address = a.ptr();
  Host b(std::move(a));
  EXPECT_EQ(b.ptr(), address);
  EXPECT_TRUE(is_nothing(a));  // NOLINT(bugprone-use-after-move): what is left is the subject
  Host c(1, CpuDevice());
  c = std::move(b);
  EXPECT_EQ(c.ptr(), address);
  EXPECT_EQ(c.size(), 100u);
  EXPECT_TRUE(is_nothing(b));  // NOLINT(bugprone-use-after-move)
}

TEST(Allocation, EndsALoanOnceWithItsAddress) {
  char lent[8];
  std::vector<void*> ended;
  const auto deleter = [&](void* address) { ended.push_back(address); };
  {
    Host a(lent, sizeof lent, CpuDevice(), deleter);
    EXPECT_EQ(a.ptr(), lent);
    EXPECT_EQ(a.end(), lent + 8);
    Host b(std::move(a));
    Host c;
    c = std::move(b);
    EXPECT_TRUE(ended.empty());
    c = Host();
    EXPECT_EQ(ended, std::vector<void*>{lent});
  }
  EXPECT_EQ(ended.size(), 1u);
  // A loan of no bytes is a loan, too.
  { const Host none(nullptr, 0, CpuDevice(), deleter); }
  EXPECT_EQ(ended.size(), 2u);
}

TEST(Allocation, LeavesALoanWithoutADeleterAlone) {
  char lent[8] = "abc";
  { const Host borrowed(lent, sizeof lent, CpuDevice(), nullptr); }
  EXPECT_STREQ(lent, "abc");
}

}  // namespace
}  // namespace lockstep::ndarray
