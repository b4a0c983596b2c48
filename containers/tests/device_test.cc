/// Arrays on a device whose memory the host cannot touch. This program brings the functions of
/// memory/device.h for GPUs itself: a device address is a page without access, its bytes are kept
/// elsewhere, and code that follows the address instead of asking for a copy crashes at once.
#include "containers/memory/device.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <map>

#include "containers/array/dictionary.h"
#include "containers/exceptions.h"
#include "containers/tests/numbers.h"

namespace lockstep::ndarray {
namespace {

struct DeviceBlock {
  int device;
  std::vector<std::byte> bytes;
};

std::map<std::byte*, DeviceBlock> blocks;
int accesses = 0;

/// The bytes behind a device address.
std::byte* behind(const void* address, GpuDevice device, std::size_t size) {
  ++accesses;
  auto* at = static_cast<std::byte*>(const_cast<void*>(address));
  auto next = blocks.upper_bound(at);
  if (next == blocks.begin()) throw utils::LogMessageFatal("no device memory");
  auto& [start, block] = *--next;
  const auto offset = static_cast<std::size_t>(at - start);
  if (block.device != device.device_id || offset + size > block.bytes.size())
    throw utils::LogMessageFatal("outside device memory");
  return block.bytes.data() + offset;
}

}  // namespace

void* acquire(std::size_t bytes, GpuDevice device) {
  if (device.device_id > 1) throw utils::ValueVerifyFatal("there are two devices");
  void* page = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw utils::LogMessageFatal("no address");
  blocks[static_cast<std::byte*>(page)] = {device.device_id, std::vector<std::byte>(bytes)};
  return page;
}

void release(void* memory, std::size_t bytes, GpuDevice) noexcept {
  ::munmap(memory, bytes);
  blocks.erase(static_cast<std::byte*>(memory));
}

void copy_bytes(void* to, GpuDevice device, const void* from, CpuDevice, std::size_t bytes) {
  std::memcpy(behind(to, device, bytes), from, bytes);
}

void copy_bytes(void* to, CpuDevice, const void* from, GpuDevice device, std::size_t bytes) {
  std::memcpy(to, behind(from, device, bytes), bytes);
}

void copy_bytes(
    void* to, GpuDevice to_device, const void* from, GpuDevice from_device, std::size_t bytes) {
  std::memcpy(behind(to, to_device, bytes), behind(from, from_device, bytes), bytes);
}

namespace {

constexpr DLDevice kGpu{kDLCUDA, 0};
constexpr DLDevice kOtherGpu{kDLCUDA, 1};

TEST(Device, ArraysTravelThereAndBack) {
  {
    const NDArray host = numbers({2, 3}, {1, 2, 3, 4, 5, 6});
    const NDArray there = host.copy(kGpu);
    EXPECT_EQ(there.device().device_type, kDLCUDA);
    const NDArray further = there.copy(kOtherGpu);
    EXPECT_EQ(further.device().device_id, 1);
    EXPECT_EQ(values_of(further.copy(kHost)), (Values{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(values_of(there), (Values{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(blocks.size(), 2u);
  }
  EXPECT_TRUE(blocks.empty()) << "device memory was not given back";
}

TEST(Device, StridesAreHonouredThere) {
  NDArray there = numbers({2, 3}, {1, 2, 3, 4, 5, 6}).copy(kGpu);
  const NDArray transposed = there.view(Extents{3, 2}, Extents{1, 3});
  EXPECT_EQ(values_of(transposed), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(values_of(transposed.copy()), (Values{1, 4, 2, 5, 3, 6}));

  Extents square{2, 2}, strides{3, 1};
  DLTensor left = there.mutable_tensor();
  left.shape = square.item;
  left.strides = strides.item;
  DLTensor right = left;
  right.byte_offset = 4;
  copy(numbers({2, 2}, {7, 8, 9, 10}).tensor(), right);
  EXPECT_EQ(values_of(there), (Values{1, 7, 8, 4, 9, 10})) << "only those elements were written";
  copy(right, left);
  EXPECT_EQ(values_of(there), (Values{7, 8, 8, 9, 10, 10})) << "an overlap on the device";
}

TEST(Device, IsAskedOnceForElementsThatLieApart) {
  const NDArray host = numbers({2, 3}, {1, 2, 3, 4, 5, 6});
  const NDArray there = host.copy(kGpu);
  const Extents shape{3, 2}, strides{-1, 3};
  accesses = 0;
  const NDArray apart = there.view(shape, strides, 8);
  EXPECT_EQ(values_of(apart.copy(kHost)), (Values{3, 6, 2, 5, 1, 4}));
  EXPECT_EQ(accesses, 1);
  accesses = 0;
  const NDArray sent = host.view(shape, strides, 8).copy(kOtherGpu);
  EXPECT_EQ(accesses, 1);
  EXPECT_EQ(values_of(sent), (Values{3, 6, 2, 5, 1, 4}));
  accesses = 0;
  const NDArray moved = apart.copy(kOtherGpu);
  EXPECT_EQ(accesses, 2);
  EXPECT_EQ(values_of(moved), (Values{3, 6, 2, 5, 1, 4}));
}

TEST(Device, CopyOnWriteStaysThere) {
  NDArray a = numbers({2}, {1, 2}).copy(kGpu);
  const NDArray b = a;
  const std::int32_t nine = 9;
  std::memcpy(behind(a.mutable_data(), GpuDevice(), 4), &nine, 4);
  EXPECT_EQ(values_of(a), (Values{9, 2}));
  EXPECT_EQ(values_of(b), (Values{1, 2}));
}

TEST(Device, SavingCopiesToTheHost) {
  const NDArray host = numbers({2, 2}, {1, 2, 3, 4});
  const NDArray there = host.copy(kGpu);
  const NamedArray entries[] = {{"x", there}, {"y", there.view(Extents{2, 2}, Extents{1, 2})}};
  const NamedArray expected[] = {{"x", host}, {"y", numbers({2, 2}, {1, 3, 2, 4})}};
  EXPECT_EQ(save(entries), save(expected));
}

TEST(Device, AFailureLeavesNothingBehind) {
  const NDArray host = numbers({2}, {1, 2});
  EXPECT_THROW(host.copy({kDLCUDA, 2}), utils::ValueVerifyFatal);
  DLTensor elsewhere = host.tensor();
  elsewhere.device = kGpu;
  EXPECT_THROW(copy(host.tensor(), elsewhere), utils::LogMessageFatal);
  EXPECT_TRUE(blocks.empty());
}

}  // namespace
}  // namespace lockstep::ndarray
