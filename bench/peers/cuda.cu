/// @file
/// What bounds a CUDA device: a copy within its memory, and products of bytes on its tensor cores
/// without memory.
#include "bench/peers/device.h"
#include "bench/peers/module.h"

namespace {

using namespace lockstep::bench;

// A product of fragments, and the chains of them that a warp has in flight.
constexpr int kMacs = 16 * 8 * 32, kChains = 8, kRounds = 2048, kThreads = 256, kBlocksEach = 4;

// Adds a product of 16 by 8 by 32 bytes; before sm_80 as four of 8 by 8 by 16.
__device__ void add_product(int (&sums)[4], int a, int b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0,%1,%2,%3}, {%4,%5,%4,%5}, {%5,%4}, {%0,%1,%2,%3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a), "r"(b));
#else
  for (int k = 0; k < 4; ++k)
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+r"(sums[k % 2 * 2]), "+r"(sums[k % 2 * 2 + 1])
                 : "r"(a), "r"(b));
#endif
}

// Adds products in chains that do not depend on each other. The store, of a result that never
// occurs, only keeps the compiler from removing the work.
__global__ void multiply(int* out) {
  int sums[kChains][4] = {};
  const int a = static_cast<int>(threadIdx.x) | 1, b = a << 8;
  for (int round = 0; round < kRounds; ++round)
#pragma unroll
    for (int k = 0; k < kChains; ++k) add_product(sums[k], a, b);
  int all = 0;
  for (const auto& chain : sums)
    for (const int sum : chain) all ^= sum;
  if (all == 0x5eed5eed) *out = all;
}

std::vector<ModulePeer> none(const MatrixCall&, int) { return {}; }

std::vector<ModulePeer> copy(int64_t bytes) {
  if (!has_device()) return {};
  const auto half = static_cast<std::size_t>(bytes) / 2;
  const auto from = std::make_shared<DeviceBuffer>(std::vector<char>(half, '\x11'));
  const auto to = std::make_shared<DeviceBuffer>(half);
  const auto stream = std::make_shared<DeviceStream>();
  ModulePeer peer{.implementation = "copy on the device"};
  peer.call = [=] {
    lockstep::cuda::send(to->data(), from->data(), half, cudaMemcpyDeviceToDevice, *stream);
    stream->wait();
  };
  peer.call();
  if (to->read<char>() != from->read<char>()) peer.trouble = "the copy differs from its source";
  return {peer};
}

std::vector<ModulePeer> products(int64_t* macs) {
  int processors = 0;
  if (!has_device() ||
      cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0) != cudaSuccess)
    return {};
  const int blocks = processors * kBlocksEach;
  *macs = int64_t{blocks} * (kThreads / 32) * kRounds * kChains * kMacs;
  const auto out = std::make_shared<DeviceBuffer>(sizeof(int));
  const auto stream = std::make_shared<DeviceStream>();
  ModulePeer peer{.implementation = "mma.sync s8"};
  peer.call = [=] {
    multiply<<<blocks, kThreads, 0, *stream>>>(static_cast<int*>(out->data()));
    lockstep::cuda::check(cudaGetLastError(), "cudaLaunchKernel");
    stream->wait();
  };
  return {peer};
}

std::string name() { return "CUDA " + lockstep::cuda::version_text(CUDART_VERSION); }

}  // namespace

extern "C" __attribute__((visibility("default")))
const PeerModule lockstep_peer_module{name, none, "CUDA", copy, products};
