// Threads read words of shared memory that others write, and no barrier lies between. A checker of
// races that misses this checks nothing.
#include <cuda_runtime_api.h>

namespace {

constexpr int kThreads = 256;

__global__ void reverse(int* out) {
  __shared__ int words[kThreads];
  words[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = words[kThreads - 1 - threadIdx.x];
}

}  // namespace

int main() {
  int* out = nullptr;
  if (cudaMalloc(&out, kThreads * sizeof(int)) != cudaSuccess) return 1;
  reverse<<<1, kThreads>>>(out);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
