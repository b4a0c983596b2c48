// Tests how the backend reports every failure on the fake runtime, and how it treats threads,
// streams and memory. The judge compares its values (cuda.check_emulated).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backends/client.hpp"
#include "backends/cuda/device.h"

namespace lockstep::cuda {
namespace {

using fake::control;

client::Result<client::Backend> open(const client::Options& options = {}) {
  return client::Backend::open(client::Library(lockstep_backend_v1()), options);
}

constexpr int kElements = 7;
using Values = std::array<int32_t, kElements>;

// relu of a vector.
client::Plan prepare(const client::Backend& backend) {
  constexpr int64_t kShape[] = {kElements}, kStride[] = {1};
  const client::TensorView t{kShape, kStride};
  return backend.prepare({"relu", {}, {t}, {t}}).value();
}

// Runs the plan with memory of its own. Returns the first failure, or the values.
client::Status run(
    const client::Backend& backend, const client::Plan& relu, const Values& x, Values& y) {
  auto in = backend.tensor({kElements}), out = backend.tensor({kElements});
  for (const auto* tensor : {&in, &out})
    if (!tensor->ok()) return tensor->status();
  client::Status said = in->write(x);
  if (said.ok()) said = relu.run({in->data()}, {out->data()});
  if (said.ok()) said = out->read(y);
  return said;
}

constexpr Values kIn = {-3, 4, 0, INT32_MAX, -INT32_MAX, 1, -1};
constexpr Values kOut = {0, 4, 0, INT32_MAX, 0, 1, 0};

void expect_says(const client::Status& said, int32_t code, const std::string& part) {
  const std::string text = said.label + (said.label.empty() ? "" : ": ") + said.text;
  EXPECT_EQ(said.code, code) << text;
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

class Backend : public testing::Test {
 protected:
  void TearDown() override {
    control().failing.clear();
    control().devices = 1;
    control().driver = CUDART_VERSION;
    EXPECT_EQ(control().allocations, 0);
    EXPECT_EQ(control().streams, 0);
    EXPECT_EQ(control().graphs, 0);
  }
};

TEST_F(Backend, ComputesOnTheDevice) {
  const client::Backend o = open().value();
  const client::Plan relu = prepare(o);
  Values y{};
  const client::Status said = run(o, relu, kIn, y);
  EXPECT_EQ(said.code, LS_OK) << said.text;
  EXPECT_EQ(y, kOut);
}

TEST_F(Backend, SaysWhatIsMissing) {
  control().devices = 0;
  expect_says(open().status(), LS_RUNTIME,
      "no NVIDIA device here (cudaGetDeviceCount finds none): nvidia-smi lists those of the "
      "machine, CUDA_VISIBLE_DEVICES those of this process");
  control().devices = 2;
  expect_says(open({{"device", "2"}}).status(), LS_RUNTIME, "no device 2 here: there are 2");
  control().failing = "cudaGetDeviceCount";
  control().error = cudaErrorInsufficientDriver;
  control().driver = 0;
  expect_says(open().status(), LS_RUNTIME,
      "no NVIDIA driver here (cudaGetDeviceCount finds none); install one for CUDA 12.4 or "
      "newer");
  control().driver = 11080;
  expect_says(open().status(), LS_RUNTIME,
      "the NVIDIA driver is too old (cudaGetDeviceCount fails): it is for CUDA 11.8; "
      "install one for CUDA 12.4 or newer");
}

TEST_F(Backend, NamesTheCallThatFails) {
  control().error = cudaErrorMemoryAllocation;
  const auto expected = [](const std::string& call) {
    control().failing = call;
    return call + ": cudaErrorMemoryAllocation (";
  };
  for (const char* call :
      {"cudaSetDevice", "cudaDeviceGetAttribute", "cudaStreamCreateWithFlags"}) {
    const std::string text = expected(call);
    expect_says(open().status(), LS_RUNTIME, text);
  }
  control().failing.clear();
  const client::Backend o = open().value();
  const client::Plan relu = prepare(o);
  Values y{};
  for (const char* call :
      {"cudaMalloc", "cudaMemcpyAsync", "cudaLaunchKernel", "cudaStreamSynchronize"}) {
    const std::string text = expected(call);
    const client::Status said = run(o, relu, kIn, y);
    expect_says(said, LS_RUNTIME, text);
    EXPECT_EQ(said.label, LS_NO_MEMORY);
    EXPECT_EQ(said.text.find("lost"), std::string::npos) << said.text;
    control().failing.clear();
    EXPECT_EQ(run(o, relu, kIn, y).code, LS_OK) << "what passes leaves no trace";
    EXPECT_EQ(y, kOut);
  }
}

TEST_F(Backend, SaysWhatToDo) {
  const client::Backend o = open().value();
  const client::Plan relu = prepare(o);
  Values y{};
  const auto expect = [&](const char* call, cudaError_t error, const std::string& text) {
    control().failing = call;
    control().error = error;
    expect_says(run(o, relu, kIn, y), LS_RUNTIME, std::string(call) + ": ");
    expect_says(run(o, relu, kIn, y), LS_RUNTIME, text);
    control().failing.clear();
  };
  expect("cudaMalloc", cudaErrorMemoryAllocation,
      "cudaErrorMemoryAllocation (the text of the error); the device's memory is full: end other "
      "programs on it, or choose another device");
  control().failing = "cudaMalloc";
  control().error = cudaErrorNoKernelImageForDevice;
  EXPECT_EQ(run(o, relu, kIn, y).label, "") << "another error is no lack of memory";
  expect("cudaLaunchKernel", cudaErrorNoKernelImageForDevice,
      "this build has no code for the device: build it with CMAKE_CUDA_ARCHITECTURES set to its "
      "compute capability");
  expect("cudaLaunchKernel", cudaErrorUnsupportedPtxVersion,
      "the driver cannot translate this build for the device: install a newer driver");
}

TEST_F(Backend, RefusesOptionsByName) {
  expect_says(open({{"colour", "red"}}).status(), LS_LOGIC, "option.unknown: no option 'colour'");
  for (const char* block : {"0", "257", "x"})
    expect_says(open({{"block", block}}).status(), LS_LOGIC, "option.block: ");
  expect_says(open({{"tuned", "2"}}).status(), LS_LOGIC, "option.tuned: ");
  expect_says(open({{"direct", "3"}}).status(), LS_LOGIC, "option.direct: ");
  for (const char* device : {"-1", "1024", ""})
    expect_says(open({{"device", device}}).status(), LS_LOGIC, "option.device: ");
}

TEST_F(Backend, HonoursItsOptions) {
  control().devices = 2;
  for (const auto& [block, blocks] : {std::pair{"1", 7}, {"3", 3}, {"7", 1}, {"256", 1}}) {
    const client::Backend o = open({{"block", block}, {"device", "1"}, {"tuned", "0"}}).value();
    Values y{};
    EXPECT_EQ(run(o, prepare(o), kIn, y).code, LS_OK);
    EXPECT_EQ(y, kOut);
    EXPECT_EQ(control().threads, std::stoi(block));
    EXPECT_EQ(control().blocks, blocks);
    EXPECT_EQ(control().device, 1);
  }
}

TEST_F(Backend, RunsOnePlanInSeveralThreads) {
  const client::Backend o = open().value();
  const client::Plan relu = prepare(o);
  std::vector<std::thread> callers;
  std::atomic<int> right{0};
  for (int32_t c = 0; c < 4; ++c)
    callers.emplace_back([&, c] {
      for (int32_t i = 0; i < 50; ++i) {
        Values x = kIn, y{};
        x[0] = 100 * c + i;
        right += run(o, relu, x, y).code == LS_OK && y[0] == x[0] && y[4] == 0;
      }
    });
  for (std::thread& c : callers) c.join();
  EXPECT_EQ(right, 200);
}

TEST_F(Backend, HandsOutFewStreams) {
  const client::Backend o = open().value();
  std::set<void*> streams;
  for (int i = 0; i < 100; ++i) streams.insert(o.stream().value().handle());
  EXPECT_GT(streams.size(), 1U);
  EXPECT_LT(streams.size(), 10U);
}

TEST_F(Backend, AlignsMemory) {
  const client::Backend o = open().value();
  auto memory = o.allocate(0, 256);
  ASSERT_TRUE(memory.ok()) << "no bytes have an address too";
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->data()) % 256, 0U);
  expect_says(o.allocate(4, 512).status(), LS_RUNTIME, "memory aligned to 512 bytes");
}

TEST_F(Backend, RefusesIllegalCallsByTheirRule) {
  const client::Backend o = open().value();
  constexpr int64_t kShape[] = {2, 2}, kStride[] = {2, 1};
  const client::TensorView in{kShape, kStride, 8}, out{kShape, kStride, 9};
  expect_says(o.prepare({"relu", {}, {in}, {out}}).status(), LS_LOGIC, "backend.outputs: ");
}

// Runs f in a fork. Returns whether f returned true there.
template <class F> bool holds_in_fork(F f) {
  const pid_t child = fork();
  if (child == 0) _exit(f() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(Backend, SaysThatItSurvivesNoFork) {
  const client::Backend o = open().value();
  const client::Plan relu = prepare(o);
  EXPECT_TRUE(holds_in_fork([&] {
    Values y{};
    const client::Status said = run(o, relu, kIn, y);
    return said.code == LS_RUNTIME && said.text.find("in another process") != std::string::npos;
  }));
}

// A sticky error lasts as long as the process, so each test of one needs its own.
TEST_F(Backend, SaysThatTheDeviceIsLost) {
  EXPECT_TRUE(holds_in_fork([] {
    const client::Backend o = open().value();
    const client::Plan relu = prepare(o);
    control().failing = "cudaStreamSynchronize";
    control().error = cudaErrorIllegalAddress;
    control().is_sticky = true;
    Values y{};
    const std::string call = "cudaStreamSynchronize: cudaErrorIllegalAddress (";
    const client::Status first = run(o, relu, kIn, y), later = run(o, relu, kIn, y);
    expect_says(first, LS_RUNTIME, call);
    expect_says(first, LS_RUNTIME, "; this process has lost the device, another one may use it");
    expect_says(later, LS_RUNTIME, "the device was lost to this process by: " + call);
    return !HasFailure();
  }));
}

}  // namespace
}  // namespace lockstep::cuda
