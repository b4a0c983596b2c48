/// @file
/// Tuned kernels on a device.
#pragma once
#include "backends/cuda/kernels/kernel.h"

namespace lockstep::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr bool kIsAsynchronous = false;
inline constexpr int kSharedOfProcessor = 64 << 10;
#else
inline constexpr bool kIsAsynchronous = true;
inline constexpr int kSharedOfProcessor = 100 << 10;
#endif

/// The blocks that a processor should hold, as far as its shared memory has room.
template <class K> inline constexpr int kResident = K::kOccupancy* K::kShared <= kSharedOfProcessor
    ? K::kOccupancy
    : kSharedOfProcessor / K::kShared;

/// Lets the next kernel start its blocks once all blocks of this one have come here. What those do
/// before they wait themselves, they do beside this kernel.
__device__ inline void start_next() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until the kernels before this one have ended. Memory that they write may be used only
/// after this, and none may be written before.
__device__ inline void await_memory() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <class Registers> struct DeviceThread {
  int id;
  Registers& r;
  Byte* shared;

  template <class T> __device__ T load(int offset) const {
    return *reinterpret_cast<const T*>(shared + offset);
  }
  template <class T> __device__ void store(int offset, const T& v) const {
    *reinterpret_cast<T*>(shared + offset) = v;
  }

  /// Reads or writes an element of a tensor. Not by __ldg(): the kernel before this one may still
  /// write when this one starts.
  template <class T> __device__ T get(const T* from) const {
    if constexpr (sizeof(T) == sizeof(int4)) {
      const int4 v = *reinterpret_cast<const int4*>(from);
      return {{v.x, v.y, v.z, v.w}};
    } else {
      return *from;
    }
  }
  template <class T> __device__ void put(T* to, const T& v) const {
    if constexpr (sizeof(T) == sizeof(int4))
      *reinterpret_cast<int4*>(to) = make_int4(v.item[0], v.item[1], v.item[2], v.item[3]);
    else
      *to = v;
  }

  /// Begins to copy to shared memory. What is copied is there after wait() and a barrier.
  template <int kBytes> __device__ void copy(int offset, const Byte* from) const {
    static_assert(kBytes == 4 || kBytes == 16, "what cp.async copies");
    if constexpr (kIsAsynchronous) {
      const auto to = static_cast<u32>(__cvta_generic_to_shared(shared + offset));
      if constexpr (kBytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
      else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from));
    } else if constexpr (kBytes == 16) {
      store(offset, *reinterpret_cast<const int4*>(from));
    } else {
      store(offset, *reinterpret_cast<const u32*>(from));
    }
  }
  /// Ends a group of copies.
  __device__ void commit() const {
    if constexpr (kIsAsynchronous) asm volatile("cp.async.commit_group;");
  }
  /// Waits for all groups of this thread but the latest.
  template <int kLatest> __device__ void wait() const {
    if constexpr (kIsAsynchronous) asm volatile("cp.async.wait_group %0;" ::"n"(kLatest));
  }

  /// Four matrices of 8 rows of 16 bytes. Row r of matrix m lies at offset_of(8 m + r); register m
  /// receives word lane % 4 of row lane / 4 of matrix m.
  template <class F> __device__ void load_matrices(u32 (&to)[4], const F& offset_of) const {
    const auto from = static_cast<u32>(__cvta_generic_to_shared(shared + offset_of(id % 32)));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
  }
};

template <class K> struct DeviceBlock {
  using Registers = typename K::Registers;
  DeviceThread<Registers> thread;

  __device__ i64 number() const { return blockIdx.x; }
  template <class F> __device__ void each(const F& f) { f(thread); }
  __device__ void sync() const { __syncthreads(); }
  __device__ void sync_warps() const { __syncwarp(); }
  __device__ void await() const { await_memory(); }
  template <class T> __device__ T load(int offset) const { return thread.template load<T>(offset); }
  template <class T> __device__ T get(const T* from) const { return thread.get(from); }
  template <class F> __device__ void multiply(const F& f) { multiply(f(thread.r)); }

 private:
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __device__ static void eighth(i32& c0, i32& c1, u32 a, u32 b) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(c0), "+r"(c1)
        : "r"(a), "r"(b));
  }
  // The registers of m16n8k32 are those of two by two products of half its rows and depth.
  __device__ static void multiply(const Product& p) {
    eighth(p.c[0], p.c[1], p.a[0], p.b[0]);
    eighth(p.c[2], p.c[3], p.a[1], p.b[0]);
    eighth(p.c[0], p.c[1], p.a[2], p.b[1]);
    eighth(p.c[2], p.c[3], p.a[3], p.b[1]);
  }
#else
  __device__ static void multiply(const Product& p) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(p.c[0]), "+r"(p.c[1]), "+r"(p.c[2]), "+r"(p.c[3])
        : "r"(p.a[0]), "r"(p.a[1]), "r"(p.a[2]), "r"(p.a[3]), "r"(p.b[0]), "r"(p.b[1]));
  }
#endif
};

// The number of threads is a part of the name, from which reports of resources read it.
template <class K, int kThreads> __global__ void __launch_bounds__(kThreads, kResident<K>)
    tuned_kernel(const __grid_constant__ typename K::Parameters p) {
  __shared__ alignas(128) Byte shared[K::kShared == 0 ? 1 : K::kShared];
  // A kernel that does nothing before it waits does not let the next one start until then: that one
  // would only occupy the device.
  if constexpr (!awaits<K>) await_memory();
  start_next();
  typename K::Registers registers;
  DeviceBlock<K> block{{static_cast<int>(threadIdx.x), registers, shared}};
  K::run(p, block);
}

/// Whether the current device can start a kernel's blocks before the kernel ahead of it has ended.
inline bool overlaps_kernels() {
  int device = 0, major = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
      "cudaDeviceGetAttribute");
  return major >= 9;
}

template <class K> void start(i64 blocks, const typename K::Parameters& p, cudaStream_t stream) {
  static_assert(sizeof p <= 4096, "the parameters of a kernel end there");
  typename K::Parameters copy = p;
  void* arguments[] = {&copy};
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch{};
  launch.gridDim = static_cast<unsigned>(blocks);
  launch.blockDim = K::kThreads;
  launch.stream = stream;
  launch.attrs = &overlap;
  launch.numAttrs = overlaps_kernels() ? 1 : 0;
  check(cudaLaunchKernelExC(
            &launch, reinterpret_cast<const void*>(&tuned_kernel<K, K::kThreads>), arguments),
      "cudaLaunchKernelExC");
}

}  // namespace lockstep::cuda
