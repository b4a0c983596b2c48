// The witness on a CUDA device.
#include "conformance/witness/cuda_witness.h"

namespace lockstep::judge::witness {

// The threads of a block add what they return in pairs, in an order that does not change.
template <class Work> __global__ void __launch_bounds__(kThreads)
    work_kernel(const Work work, ValueTally* sums) {
  __shared__ alignas(ValueTally) unsigned char memory[kThreads * sizeof(ValueTally)];
  auto* const all = reinterpret_cast<ValueTally*>(memory);
  const i64 threads = i64{gridDim.x} * blockDim.x;
  all[threadIdx.x] = work(i64{blockIdx.x} * blockDim.x + threadIdx.x, threads);
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) all[threadIdx.x].add(all[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = all[0];
}

template <class Work>
void start_work(const Work& work, ValueTally* sums, i64 blocks, cudaStream_t stream) {
  Work copy = work;
  void* arguments[] = {&copy, &sums};
  cuda::check(cudaLaunchKernel(reinterpret_cast<const void*>(&work_kernel<Work>),
                  static_cast<unsigned>(blocks), kThreads, arguments, 0, stream),
      "cudaLaunchKernel");
}

}  // namespace lockstep::judge::witness

const lockstep::judge::Witness* lockstep_witness_v1() { return &lockstep::judge::witness::kCuda; }
