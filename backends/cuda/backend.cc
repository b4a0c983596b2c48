/// @file
/// The CUDA backend: every operator on a device, tensors in the device's own memory.
#include "backends/cuda/graph.h"
#include "backends/cuda/launch.h"
#include "backends/cuda/plans.h"

namespace lockstep::cuda {
namespace {

using backend::Call, backend::Options;

constexpr int kDevicesMax = 1024;

// The manifest must be available on machines without a driver too.
bool has_device() {
  try {
    return device_count() > 0;
  } catch (const std::exception&) {
    return false;
  }
}

class Cuda {
 public:
  static const char* manifest() {
    static const std::string text = backend::manifest_of(
        "cuda", all_kernels(has_device()), backend::Claims{.text = true}, option_names(), "CUDA");
    return text.c_str();
  }
  explicit Cuda(const Options& options) {
    backend::refuse_options(options, option_names());
    block_ = backend::number_option(options, "block", 1, kBlockMax, kBlockMax);
    is_tuned_ = backend::number_option(options, "tuned", 0, 1, 1) == 1;
    direct_ = static_cast<Direct>(backend::number_option(options, "direct", 0, 2, 1));
    const int index = backend::number_option(options, "device", 0, kDevicesMax - 1, 0);
    device_ = std::make_shared<Device>(index);
  }
  void* alloc(uint64_t bytes, uint64_t align) { return device_->alloc(bytes, align); }
  void free(void* memory) { device_->free(memory); }
  void upload(void* device, const void* host, uint64_t n) { device_->upload(device, host, n); }
  void download(void* host, const void* device, uint64_t n) { device_->download(host, device, n); }
  void* stream() { return device_->stream(); }
  void wait(void* stream) { device_->wait(static_cast<cudaStream_t>(stream)); }

  std::unique_ptr<DevicePlan> prepare(const Call& call) {
    Arguments a{backend::legal_call(call), {}, device_, block_, is_tuned_, direct_};
    for (const ls_tensor& t : call.in)
      a.constants.push_back((t.flags & LS_CONSTANT) ? static_cast<const i32*>(t.dl.data) : nullptr);
    return plan_of(a);
  }
  std::unique_ptr<DevicePlan> compile(const backend::Graph& graph) {
    return graph_plan(graph, {{}, {}, device_, block_, is_tuned_, direct_});
  }
  std::vector<backend::TensorType> infer(const Call& call) { return backend::inferred_types(call); }

 private:
  static std::vector<std::string> option_names() { return {"block", "device", "direct", "tuned"}; }

  std::shared_ptr<Device> device_;
  int block_ = kBlockMax;
  bool is_tuned_ = true;
  Direct direct_ = Direct::where_faster;
};

}  // namespace
}  // namespace lockstep::cuda

const ls_api* lockstep_backend_v1() { return lockstep::backend::table<lockstep::cuda::Cuda>(); }
