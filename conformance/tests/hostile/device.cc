/// @file
/// A device whose memory the host cannot read: it is host memory, scrambled at rest. Its streams do
/// nothing until the host waits for them. Only a judge that uploads, waits and downloads can pass
/// it. It claims relu and work shared among threads, but never reports the number of threads. The
/// option `fault` breaks one of the steps, and the variable WITNESS the witness of this memory.
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "backends/backend.hpp"
#include "conformance/witness/values.h"
#include "spec/ops/relu.h"

namespace lockstep::backend {
namespace {

constexpr int32_t kKey = 0x5a5aa5a5;

struct Relu;

// What start() was given, until wait() does it in order.
struct Work {
  const Relu* plan;
  const int32_t* in;
  int32_t *out, *scratch;
};

struct Relu : DevicePlan {
  std::vector<int64_t> shape, in_stride, out_stride;
  int64_t elements;

  Relu(const ls_tensor& x, const ls_tensor& y)
      : shape(x.dl.shape, x.dl.shape + x.dl.ndim),
        in_stride(x.dl.strides, x.dl.strides + x.dl.ndim),
        out_stride(y.dl.strides, y.dl.strides + x.dl.ndim),
        elements(volume(x)) {}
  void start(
      const int32_t* const* in, int32_t* const* out, void* scratch, void* stream) const override {
    static_cast<std::vector<Work>*>(stream)->push_back(
        {this, in[0], out[0], static_cast<int32_t*>(scratch)});
  }
  const char* path() const override { return "scrambled"; }
  uint64_t scratch_bytes() const override {
    return sizeof(int32_t) * static_cast<uint64_t>(elements);
  }
  // Where element `number` lies, in row-major order.
  int64_t offset(const std::vector<int64_t>& stride, int64_t number) const {
    int64_t at = 0;
    for (std::size_t d = shape.size(); d-- > 0; number /= shape[d])
      at += number % shape[d] * stride[d];
    return at;
  }
};

void scramble(void* to, const void* from, uint64_t bytes) {
  for (uint64_t at = 0; at + 4 <= bytes; at += 4) {
    int32_t word;
    std::memcpy(&word, static_cast<const char*>(from) + at, 4);
    word ^= kKey;
    std::memcpy(static_cast<char*>(to) + at, &word, 4);
  }
}

class Scrambler {
 public:
  static const char* manifest() {
    return R"({"name": "device", "version": "1", "device": "scrambler",
               "options": ["fault", "threads"], "kernels": [{"op": "relu", "name": "scrambled",
               "isa": "scrambler", "runnable": true}], "claims": {"operators": {"relu": {}},
               "layouts": ["compact", "strided"], "threads": [1, 2], "determinism": "D1",
               "errors": "none"}})";
  }
  explicit Scrambler(const Options& options) {
    for (const auto& [key, value] : options)
      if (key == "fault")
        fault_ = value;
      else if (key != "threads")
        throw LogicError("option.unknown", key);
  }
  void* alloc(uint64_t bytes, uint64_t align) {
    fails("alloc", "no room on the device");
    void* memory = nullptr;
    if (fault_ == "mute_alloc" || posix_memalign(&memory, align, bytes) != 0) return nullptr;
    return memory;
  }
  static void free(void* memory) { ::free(memory); }
  void upload(void* device, const void* host, uint64_t bytes) const {
    fails("upload", "the bus is on strike");
    scramble(device, host, bytes);
  }
  void download(void* host, const void* device, uint64_t bytes) const {
    fails("download", "the bus is on strike");
    scramble(host, device, bytes);
  }
  void* stream() const {
    static std::vector<Work> all[8];  // a judge needs few at a time
    static unsigned next = 0;
    fails("stream", "no stream is free");
    return &all[next++ % std::size(all)];
  }
  void wait(void* stream) const {
    for (const Work& w : std::exchange(*static_cast<std::vector<Work>*>(stream), {})) finish(w);
  }
  void finish(const Work& w) const {
    const Relu& plan = *w.plan;
    // A device that a tensor of three axes breaks, for as long as the process lives.
    static bool lost = false;
    lost = lost || (fault_ == "lost" && plan.shape.size() == 3);
    if (lost) throw std::runtime_error("the device is lost to this process");
    fails("wait", "the device fell off the bus");
    for (int k = 0; fault_ == "starts" && plan.shape.size() == 3 && k < 700; ++k)
      if (fork() == 0)
        for (;;) pause();
    if (fault_ == "scratch_unset") w.out[0] = w.scratch[0];
    for (int64_t k = fault_ == "scratch_unset" ? 1 : 0; k < plan.elements; ++k) {
      w.scratch[k] = w.in[plan.offset(plan.in_stride, k)] ^ kKey;
      w.out[plan.offset(plan.out_stride, k)] = std::max(w.scratch[k], 0) ^ kKey;
    }
    if (fault_ == "value") w.out[0] ^= 1;
    if (fault_ == "one_value")
      for (int64_t k = 0; k < plan.elements; ++k)
        if (w.scratch[k] == 777) w.out[plan.offset(plan.out_stride, k)] ^= 1;
    if (fault_ == "large" && plan.elements > 5000) w.out[1234] ^= 1;
    const bool is_huge = plan.elements > 200'000;
    if (fault_ == "huge" && is_huge) w.out[1234] ^= 1;
    if (fault_ == "huge_scratch" && is_huge) w.scratch[-1] ^= 1;
    if (fault_ == "huge_input" && is_huge) const_cast<int32_t*>(w.in)[0] ^= 1;
    if (fault_ == "overrun") w.out[plan.offset(plan.out_stride, plan.elements - 1) + 1] ^= 1;
    if (fault_ == "scratch_end") w.scratch[plan.elements] ^= 1;
    if (fault_ == "scratch_begin") w.scratch[-1] ^= 1;
    if (fault_ == "input") const_cast<int32_t*>(w.in)[0] ^= 1;
  }
  static std::unique_ptr<DevicePlan> prepare(const Call& call) {
    if (!call.in.empty() && call.in[0].dl.device.device_type != kDLExtDev)
      throw std::runtime_error("a tensor outside the device");
    if (call.op != "relu" || call.in.size() != 1 || call.out.size() != 1)
      throw Unsupported(std::string(call.op));
    return std::make_unique<Relu>(call.in[0], call.out[0]);
  }

 private:
  void fails(std::string_view step, const char* text) const {
    if (fault_ == step) throw std::runtime_error(text);
  }
  std::string fault_;
};

using judge::ValueRange, judge::ValueTally, judge::Witness;

bool is_witness(std::string_view fault) {
  const char* const set = std::getenv("WITNESS");
  return set && fault == set;
}

// Does work on the words of a range as the host can read them.
template <class DoWork> ValueTally on_host(const ValueRange& range, const DoWork& work) {
  const auto bytes = static_cast<uint64_t>(range.words()) * sizeof(int32_t);
  std::vector<int32_t> x(static_cast<std::size_t>(range.words())), y(x);
  scramble(x.data(), range.x, bytes);
  scramble(y.data(), range.y, bytes);
  ValueRange host = range;
  host.x = x.data(), host.y = y.data();
  const ValueTally tally = work(host);
  scramble(range.x, x.data(), bytes);
  scramble(range.y, y.data(), bytes);
  return tally;
}

bool lay(const ValueRange& range, Witness::Text&) {
  on_host(range, [](const ValueRange& r) { return judge::LayWords{r}(0, 1); });
  return true;
}

bool compare(const ValueRange& range, ValueTally& tally, Witness::Text& why) {
  static bool was_asked = false;
  const bool is_first = !std::exchange(was_asked, true);
  std::strcpy(why.text, "the witness is ill");
  tally = on_host(range, [](const ValueRange& r) {
    return judge::CompareWords<lockstep::Relu>{{}, r}(0, 1);
  });
  if (is_witness("blind") || (is_witness("tires") && !is_first)) tally.wrong = tally.beside = 0;
  if (is_witness("lies") && !is_first) tally.place = range.values;
  if (is_witness("miscounts")) tally.sum ^= 1;
  return !is_witness("ill");
}

}  // namespace
}  // namespace lockstep::backend

const lockstep::judge::Witness* lockstep_witness_v1() {
  static constexpr lockstep::judge::Witness kWitness{
      [](const void*) { return !lockstep::backend::is_witness("elsewhere"); },
      lockstep::backend::lay, lockstep::backend::compare};
  return &kWitness;
}

const ls_api* lockstep_backend_v1() {
  return lockstep::backend::table<lockstep::backend::Scrambler>();
}
