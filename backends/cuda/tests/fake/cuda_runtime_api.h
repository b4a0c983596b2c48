/// @file
/// A CUDA runtime on the host, as far as the backend uses one: it lets machines without a device,
/// or without a toolkit, test everything but the kernels' machine code. Device memory is out of
/// the host's reach, and streams do nothing until they are waited for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.

#define CUDART_VERSION 12040

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorIllegalAddress = 700,
  cudaErrorStreamCaptureUnsupported = 900,
};
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16 };
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed = 2 };
inline constexpr unsigned cudaStreamNonBlocking = 1;
using cudaStream_t = struct CUstream_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
enum cudaMemoryType { cudaMemoryTypeUnregistered = 0, cudaMemoryTypeDevice = 2 };
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
};

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* run, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t run);
cudaError_t cudaMemcpyAsync(
    void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);

// NOLINTEND(readability-identifier-naming)

namespace lockstep::cuda::fake {

/// What the runtime finds and what it was asked for. The variable FAKE_CUDA_DEVICES sets the
/// initial number of devices, 1 by default. With FAKE_CUDA_LAUNCHES=N a process loses them at the
/// launch after N others.
struct Control {
  int devices;
  std::string failing;                   ///< the call that fails, "" for none
  cudaError_t error = cudaSuccess;       ///< with what it fails
  bool is_sticky = false;                ///< whether everything fails after that
  int driver = CUDART_VERSION;           ///< for which version of CUDA; 0 where it is missing
  int device = -1;                       ///< chosen last
  int processors = 4;                    ///< of each device
  int64_t last_launch = 0;               ///< the last launch that works; 0: all do
  int64_t blocks = 0, threads = 0;       ///< of the last launch
  int64_t launches = 0, replays = 0;     ///< of kernels, recorded ones not counted; of graphs
  int64_t allocations = 0, streams = 0;  ///< that live
  int64_t graphs = 0;                    ///< that live
  std::set<std::string> kernels = {};    ///< that were launched
};
Control& control();

/// As cudaLaunchKernel: later calls f(b) once for each block, backwards.
cudaError_t launch(const std::string& kernel, int64_t blocks, int64_t threads, cudaStream_t stream,
    std::function<void(int64_t)> f);

}  // namespace lockstep::cuda::fake
