#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace lockstep::cuda::fake {
namespace {

constexpr std::size_t kPage = 4096;

// One lock for everything: only one kernel runs at a time.
std::mutex mutex;
struct Block {
  std::size_t bytes;
  int device;
};
std::map<const void*, Block> memory;
cudaError_t lost = cudaSuccess;  // a sticky error that has happened
int recorded = 0;                // streams

// The error that a call returns before it does anything. The caller holds the mutex.
cudaError_t fault(const std::string& call) {
  if (lost != cudaSuccess) return lost;
  const Control& c = control();
  if (c.failing != call) return cudaSuccess;
  if (c.is_sticky) lost = c.error;
  return c.error;
}

// Addresses for all blocks. Between these an empty file is mapped, where every access fails, so
// that one system call can make all blocks accessible, or none.
class Addresses {
 public:
  // Takes whole pages, and leaves one of the file after them. A device clears no memory, so nothing
  // may rely on what it holds.
  void* take(std::size_t bytes) {
    constexpr int kPoison = 0x5a;
    if (memory.empty()) next_ = 0;
    char* const at = first_ + next_;
    if (first_ == MAP_FAILED || bytes > kAll || next_ + bytes > kAll - kPage) return nullptr;
    if (map(at, bytes, MAP_ANONYMOUS, -1) == MAP_FAILED) return nullptr;
    mprotect(at, bytes, PROT_READ | PROT_WRITE);
    std::memset(at, kPoison, bytes);
    mprotect(at, bytes, PROT_NONE);
    next_ += bytes + kPage;
    return at;
  }
  void give_back(void* at, std::size_t bytes) { map(at, bytes, 0, file_); }

 private:
  static constexpr std::size_t kAll = std::size_t{1} << 42;

  void* map(void* at, std::size_t bytes, int flags, int file) const {
    const int all = MAP_PRIVATE | MAP_NORESERVE | flags | (at ? MAP_FIXED : 0);
    const auto offset = file < 0 || !at ? 0 : static_cast<char*>(at) - first_;
    return mmap(at, bytes, PROT_NONE, all, file, offset);
  }

  int file_ = memfd_create("empty", MFD_CLOEXEC);
  char* first_ = static_cast<char*>(map(nullptr, kAll, 0, file_));
  std::size_t next_ = 0;
};
Addresses addresses;

// Makes the device's memory accessible while this object lives. The caller holds the mutex.
class Reach {
 public:
  Reach() { protect(PROT_READ | PROT_WRITE); }
  ~Reach() { protect(PROT_NONE); }
  Reach(const Reach&) = delete;
  Reach& operator=(const Reach&) = delete;

 private:
  static void protect(int protection) {
    if (memory.empty()) return;
    auto* const first = static_cast<char*>(const_cast<void*>(memory.begin()->first));
    const auto& [last, block] = *memory.rbegin();
    const char* const end = static_cast<const char*>(last) + block.bytes;
    mprotect(first, static_cast<std::size_t>(end - first), protection);
  }
};

}  // namespace

Control& control() {
  static Control only = [] {
    const char* devices = std::getenv("FAKE_CUDA_DEVICES");
    Control c{};
    c.devices = devices ? std::atoi(devices) : 1;
    const char* launches = std::getenv("FAKE_CUDA_LAUNCHES");
    c.last_launch = launches ? std::atoi(launches) : 0;
    return c;
  }();
  return only;
}

}  // namespace lockstep::cuda::fake

// The work of a stream that is not yet done.
struct CUstream_st {
  std::vector<std::function<void()>> work;
  bool is_recorded = false;
};
struct CUgraph_st {
  std::vector<std::function<void()>> work;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};

namespace lockstep::cuda::fake {
namespace {

// The first device, unless another was chosen.
int current() { return std::max(control().device, 0); }

// The caller holds the mutex.
void finish(cudaStream_t stream) {
  if (stream->work.empty()) return;
  const Reach reach;
  for (const auto& job : stream->work) job();
  stream->work.clear();
}

}  // namespace

cudaError_t launch(const std::string& kernel, int64_t blocks, int64_t threads, cudaStream_t stream,
    std::function<void(int64_t)> f) {
  const std::lock_guard lock(mutex);
  const Control& c = control();
  if (c.last_launch > 0 && c.launches == c.last_launch) lost = cudaErrorIllegalAddress;
  if (const cudaError_t e = fault("cudaLaunchKernel")) return e;
  if (blocks < 1 || threads < 1 || threads > 1024) return cudaErrorInvalidValue;
  control().launches += stream->is_recorded ? 0 : 1;
  control().kernels.insert(kernel);
  control().blocks = blocks;
  control().threads = threads;
  stream->work.emplace_back([blocks, f = std::move(f)] {
    for (int64_t b = blocks; b-- > 0;) f(b);
  });
  return cudaSuccess;
}

}  // namespace lockstep::cuda::fake

using namespace lockstep::cuda::fake;

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.

const char* cudaGetErrorName(cudaError_t error) {
  static const std::map<cudaError_t, const char*> names = {{cudaSuccess, "cudaSuccess"},
      {cudaErrorInvalidValue, "cudaErrorInvalidValue"},
      {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation"},
      {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver"},
      {cudaErrorNoDevice, "cudaErrorNoDevice"}, {cudaErrorInvalidDevice, "cudaErrorInvalidDevice"},
      {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice"},
      {cudaErrorUnsupportedPtxVersion, "cudaErrorUnsupportedPtxVersion"},
      {cudaErrorIllegalAddress, "cudaErrorIllegalAddress"}};
  const auto at = names.find(error);
  return at == names.end() ? "cudaErrorUnknown" : at->second;
}

const char* cudaGetErrorString(cudaError_t) { return "the text of the error"; }

cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaDriverGetVersion(int* version) {
  const std::lock_guard lock(mutex);
  *version = control().driver;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = fault("cudaGetDeviceCount")) return e;
  *count = control().devices;
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaGetDevice(int* device) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = fault("cudaGetDevice")) return e;
  *device = current();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = fault("cudaSetDevice")) return e;
  if (device < 0 || device >= control().devices) return cudaErrorInvalidDevice;
  control().device = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = fault("cudaDeviceGetAttribute")) return e;
  *value = control().processors;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  const std::lock_guard lock(mutex);
  return lost == cudaSuccess && recorded > 0 ? cudaErrorStreamCaptureUnsupported : lost;
}

cudaError_t cudaMalloc(void** result, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = fault("cudaMalloc")) return e;
  const std::size_t pages = (bytes + kPage - 1) / kPage * kPage;
  void* const at = addresses.take(pages);
  if (at == nullptr) return cudaErrorMemoryAllocation;
  memory[at] = {pages, current()};
  ++control().allocations;
  *result = at;
  return cudaSuccess;
}

cudaError_t cudaFree(void* at) {
  const std::lock_guard lock(mutex);
  const auto found = memory.find(at);
  if (found == memory.end()) return cudaErrorInvalidValue;
  addresses.give_back(at, found->second.bytes);
  memory.erase(found);
  --control().allocations;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* at) {
  const std::lock_guard lock(mutex);
  const auto found = memory.find(at);
  *attributes = {cudaMemoryTypeUnregistered, 0};
  if (found != memory.end()) *attributes = {cudaMemoryTypeDevice, found->second.device};
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = fault("cudaStreamCreateWithFlags")) return e;
  *stream = new CUstream_st;
  ++control().streams;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  delete stream;
  --control().streams;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = fault("cudaStreamSynchronize")) return e;
  finish(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = fault("cudaStreamBeginCapture")) return e;
  stream->is_recorded = true;
  ++recorded;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::lock_guard lock(mutex);
  stream->is_recorded = false;
  --recorded;
  if (const cudaError_t e = fault("cudaStreamEndCapture")) return e;
  *graph = new CUgraph_st{std::move(stream->work)};
  stream->work.clear();
  ++control().graphs;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* run, cudaGraph_t graph, unsigned long long) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = fault("cudaGraphInstantiate")) return e;
  *run = new CUgraphExec_st{graph->work};
  ++control().graphs;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const std::lock_guard lock(mutex);
  delete graph;
  --control().graphs;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = fault("cudaGraphLaunch")) return e;
  ++control().replays;
  stream->work.insert(stream->work.end(), run->work.begin(), run->work.end());
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t run) {
  const std::lock_guard lock(mutex);
  delete run;
  --control().graphs;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(
    void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t e = fault("cudaMemcpyAsync")) return e;
  if (kind == cudaMemcpyHostToDevice) {
    const char* first = static_cast<const char*>(from);
    stream->work.emplace_back([to, copy = std::vector<char>(first, first + bytes)] {
      std::copy(copy.begin(), copy.end(), static_cast<char*>(to));
    });
  } else {
    stream->work.emplace_back([=] { std::memcpy(to, from, bytes); });
    finish(stream);
  }
  return cudaSuccess;
}

// NOLINTEND(readability-identifier-naming)
