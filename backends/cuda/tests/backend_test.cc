// The backend on the fake runtime: what it says of every failure, and what it does with threads,
// streams and memory. The judge compares its values (cuda.check_emulated).
#include "backends/backend.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backends/cuda/device.h"

namespace lockstep::cuda {
namespace {

using fake::control;

// What a call of the table answered.
struct Said {
  int32_t code = LS_OK;
  std::string text;
};

using Texts = std::vector<ls_text>;

// An opened backend, called through its table.
class Opened {
 public:
  explicit Opened(const Texts& options = {}) {
    open = say([&](ls_status* s) {
      return api->open(options.data(), static_cast<uint32_t>(options.size()), &self, s);
    });
  }
  ~Opened() {
    if (self) api->close(self);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  template <class F>
  static Said say(F call) {
    ls_status s{};
    s.size = sizeof s;
    const int32_t code = call(&s);
    return {code, std::string(s.label) + (s.label[0] ? ": " : "") + s.text};
  }
  Said alloc(void** memory, uint64_t bytes, uint64_t align = 64) const {
    return say([&](ls_status* s) {
      *memory = api->alloc(self, bytes, align, s);
      return *memory ? LS_OK : s->code;
    });
  }
  Said upload(void* device, const void* host, uint64_t bytes) const {
    return say([&](ls_status* s) { return api->upload(self, device, host, bytes, s); });
  }
  Said download(void* host, const void* device, uint64_t bytes) const {
    return say([&](ls_status* s) { return api->download(self, host, device, bytes, s); });
  }

  const ls_api* api = lockstep_backend_v1();
  ls_backend* self = nullptr;
  Said open;
};

constexpr int kElements = 7;
using Values = std::array<int32_t, kElements>;

// relu of a vector, prepared once and run with memory of its own each time.
class ReluCall {
 public:
  explicit ReluCall(const Opened& o) : o_(o) {
    int64_t shape = kElements, stride = 1;
    ls_tensor t{};
    t.dl.ndim = 1;
    t.dl.shape = &shape;
    t.dl.strides = &stride;
    t.dl.device = {kDLExtDev, 0};
    t.dl.dtype = {kDLInt, 32, 1};
    t.precision = 32;
    uint64_t scratch = 0;
    prepared = Opened::say([&](ls_status* s) {
      return o.api->prepare(o.self, "relu", nullptr, 0, &t, 1, &t, 1, &plan_, &scratch, s);
    });
  }
  ~ReluCall() {
    if (plan_) o_.api->release(plan_);
  }
  ReluCall(const ReluCall&) = delete;
  ReluCall& operator=(const ReluCall&) = delete;

  // The first failure, or the values.
  Said run(const Values& x, Values& y) const {
    void *in = nullptr, *out = nullptr;
    Said said = o_.alloc(&in, sizeof x);
    if (said.code == LS_OK) said = o_.alloc(&out, sizeof y);
    if (said.code == LS_OK) said = o_.upload(in, x.data(), sizeof x);
    if (said.code == LS_OK) said = execute(in, out);
    if (said.code == LS_OK) said = o_.download(y.data(), out, sizeof y);
    for (void* m : {in, out})
      if (m) o_.api->free(o_.self, m);
    return said;
  }
  Said execute(const void* in, void* out) const {
    void* stream = nullptr;
    return Opened::say([&](ls_status* s) {
      int32_t code = o_.api->stream(o_.self, &stream, s);
      if (code == LS_OK) code = o_.api->execute(plan_, &in, &out, nullptr, stream, s);
      return code == LS_OK ? o_.api->wait(o_.self, stream, s) : code;
    });
  }

  Said prepared;

 private:
  const Opened& o_;
  ls_plan* plan_ = nullptr;
};

constexpr Values kIn = {-3, 4, 0, INT32_MAX, -INT32_MAX, 1, -1};
constexpr Values kOut = {0, 4, 0, INT32_MAX, 0, 1, 0};

void expect_says(const Said& said, int32_t code, const std::string& part) {
  EXPECT_EQ(said.code, code) << said.text;
  EXPECT_NE(said.text.find(part), std::string::npos) << "'" << part << "' is not in: " << said.text;
}

class Backend : public testing::Test {
 protected:
  void TearDown() override {
    control().failing.clear();
    control().devices = 1;
    control().driver = CUDART_VERSION;
    EXPECT_EQ(control().allocations, 0);
    EXPECT_EQ(control().streams, 0);
  }
};

TEST_F(Backend, ComputesOnTheDevice) {
  const Opened o;
  const ReluCall relu(o);
  Values y{};
  const Said said = relu.run(kIn, y);
  EXPECT_EQ(said.code, LS_OK) << said.text;
  EXPECT_EQ(y, kOut);
}

TEST_F(Backend, SaysWhatIsMissing) {
  control().devices = 0;
  expect_says(Opened().open, LS_RUNTIME, "no NVIDIA device here");
  control().devices = 2;
  expect_says(Opened(Texts{{"device", "2"}}).open, LS_RUNTIME, "no device 2 here: there are 2");
  control().failing = "cudaGetDeviceCount";
  control().error = cudaErrorInsufficientDriver;
  control().driver = 0;
  expect_says(Opened().open, LS_RUNTIME,
              "no NVIDIA driver here (cudaGetDeviceCount finds none); install one for CUDA 12.4 or "
              "newer");
  control().driver = 11080;
  expect_says(Opened().open, LS_RUNTIME,
              "the NVIDIA driver is too old (cudaGetDeviceCount fails): it is for CUDA 11.8; "
              "install one for CUDA 12.4 or newer");
}

TEST_F(Backend, NamesTheCallThatFails) {
  control().error = cudaErrorMemoryAllocation;
  const auto expected = [](const std::string& call) {
    control().failing = call;
    return call + ": cudaErrorMemoryAllocation (";
  };
  for (const char* call : {"cudaSetDevice", "cudaStreamCreateWithFlags"}) {
    const std::string text = expected(call);
    expect_says(Opened().open, LS_RUNTIME, text);
  }
  control().failing.clear();
  const Opened o;
  const ReluCall relu(o);
  Values y{};
  for (const char* call :
       {"cudaMalloc", "cudaMemcpyAsync", "cudaLaunchKernel", "cudaStreamSynchronize"}) {
    const std::string text = expected(call);
    const Said said = relu.run(kIn, y);
    expect_says(said, LS_RUNTIME, text);
    EXPECT_EQ(said.text.find("lost"), std::string::npos) << said.text;
    control().failing.clear();
    EXPECT_EQ(relu.run(kIn, y).code, LS_OK) << "what passes leaves no trace";
    EXPECT_EQ(y, kOut);
  }
}

TEST_F(Backend, RefusesOptionsByName) {
  expect_says(Opened(Texts{{"colour", "red"}}).open, LS_LOGIC,
              "option.unknown: no option 'colour'");
  for (const char* block : {"0", "257", "x"})
    expect_says(Opened(Texts{{"block", block}}).open, LS_LOGIC, "option.block: ");
  for (const char* device : {"-1", "1024", ""})
    expect_says(Opened(Texts{{"device", device}}).open, LS_LOGIC, "option.device: ");
}

TEST_F(Backend, HonoursItsOptions) {
  control().devices = 2;
  for (const auto& [block, blocks] : {std::pair{"1", 7}, {"3", 3}, {"7", 1}, {"256", 1}}) {
    const Opened o(Texts{{"block", block}, {"device", "1"}});
    Values y{};
    EXPECT_EQ(ReluCall(o).run(kIn, y).code, LS_OK);
    EXPECT_EQ(y, kOut);
    EXPECT_EQ(control().threads, std::stoi(block));
    EXPECT_EQ(control().blocks, blocks);
    EXPECT_EQ(control().device, 1);
  }
}

TEST_F(Backend, RunsOnePlanInSeveralThreads) {
  const Opened o;
  const ReluCall relu(o);
  std::vector<std::thread> callers;
  std::atomic<int> right{0};
  for (int32_t c = 0; c < 4; ++c)
    callers.emplace_back([&, c] {
      for (int32_t i = 0; i < 50; ++i) {
        Values x = kIn, y{};
        x[0] = 100 * c + i;
        right += relu.run(x, y).code == LS_OK && y[0] == x[0] && y[4] == 0;
      }
    });
  for (std::thread& c : callers) c.join();
  EXPECT_EQ(right, 200);
}

TEST_F(Backend, HandsOutFewStreams) {
  const Opened o;
  std::set<void*> streams;
  for (int i = 0; i < 100; ++i) {
    void* stream = nullptr;
    ASSERT_EQ(o.api->stream(o.self, &stream, nullptr), LS_OK);
    streams.insert(stream);
  }
  EXPECT_GT(streams.size(), 1U);
  EXPECT_LT(streams.size(), 10U);
}

TEST_F(Backend, AlignsMemory) {
  const Opened o;
  void* memory = nullptr;
  ASSERT_EQ(o.alloc(&memory, 0, 256).code, LS_OK) << "no bytes have an address too";
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0U);
  o.api->free(o.self, memory);
  expect_says(o.alloc(&memory, 4, 512), LS_RUNTIME, "memory aligned to 512 bytes");
}

TEST_F(Backend, RefusesIllegalCallsByTheirRule) {
  const Opened o;
  int64_t shape[] = {2, 2}, stride[] = {2, 1};
  ls_tensor in{}, out{};
  in.dl.ndim = out.dl.ndim = 2;
  in.dl.shape = out.dl.shape = shape;
  in.dl.strides = out.dl.strides = stride;
  in.precision = 8;
  out.precision = 9;
  ls_plan* plan = nullptr;
  uint64_t scratch = 0;
  expect_says(Opened::say([&](ls_status* s) {
                return o.api->prepare(o.self, "relu", nullptr, 0, &in, 1, &out, 1, &plan, &scratch,
                                      s);
              }),
              LS_LOGIC, "backend.outputs: ");
}

// Runs f in a fork. Whether it returned true there.
template <class F>
bool holds_in_fork(F f) {
  const pid_t child = fork();
  if (child == 0) _exit(f() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(Backend, SaysThatItSurvivesNoFork) {
  const Opened o;
  const ReluCall relu(o);
  EXPECT_TRUE(holds_in_fork([&] {
    Values y{};
    const Said said = relu.run(kIn, y);
    return said.code == LS_RUNTIME && said.text.find("in another process") != std::string::npos;
  }));
}

// A sticky error lasts as long as the process, so each test of one needs its own.
TEST_F(Backend, SaysThatTheDeviceIsLost) {
  EXPECT_TRUE(holds_in_fork([] {
    const Opened o;
    const ReluCall relu(o);
    control().failing = "cudaStreamSynchronize";
    control().error = cudaErrorIllegalAddress;
    control().is_sticky = true;
    Values y{};
    const std::string call = "cudaStreamSynchronize: cudaErrorIllegalAddress (";
    const Said first = relu.run(kIn, y), later = relu.run(kIn, y);
    expect_says(first, LS_RUNTIME, call);
    expect_says(first, LS_RUNTIME, "; this process has lost the device");
    expect_says(later, LS_RUNTIME, "the device was lost to this process by: " + call);
    return !HasFailure();
  }));
}

}  // namespace
}  // namespace lockstep::cuda
