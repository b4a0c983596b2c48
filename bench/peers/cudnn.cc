/// @file
/// cuDNN's convolution of bytes, channels last and padded to multiples of 4. Its sums have 32 bits
/// and leave it as float, which is exact up to 2^24.
#include <cudnn.h>

#include "bench/peers/device.h"
#include "bench/peers/pack.h"

namespace {

using namespace lockstep::bench;

constexpr int64_t kMultiple = 4;
constexpr auto kAlgorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;

void check(cudnnStatus_t status, const char* call) {
  if (status != CUDNN_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cudnnGetErrorString(status));
}

// One of the library's objects.
template <class T, cudnnStatus_t (*create)(T*), cudnnStatus_t (*destroy)(T)> struct Object {
  T it = nullptr;
  Object() { check(create(&it), "cudnnCreate"); }
  Object(const Object&) = delete;
  ~Object() { destroy(it); }
};
using Library = Object<cudnnHandle_t, cudnnCreate, cudnnDestroy>;
using TensorType =
    Object<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterType =
    Object<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvolutionType = Object<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
    cudnnDestroyConvolutionDescriptor>;

int number(int64_t n) { return static_cast<int>(n); }

class Convolution {
 public:
  explicit Convolution(const MatrixCall& c)
      : in_(padded(c.x[1], kMultiple)),
        out_(padded(c.w[0], kMultiple)),
        x_(channels_last(c.x_values, c.x, c.x[0], in_)),
        w_(channels_last(c.w_values, c.w, out_, in_)),
        y_(static_cast<std::size_t>(c.y[0] * c.y[2] * c.y[3] * out_) * sizeof(float)) {
    check(cudnnSetStream(library_.it, stream_), "cudnnSetStream");
    check(cudnnSetTensor4dDescriptor(x_type_.it, CUDNN_TENSOR_NHWC, CUDNN_DATA_INT8, number(c.x[0]),
              number(in_), number(c.x[2]), number(c.x[3])),
        "cudnnSetTensor4dDescriptor");
    check(cudnnSetFilter4dDescriptor(w_type_.it, CUDNN_DATA_INT8, CUDNN_TENSOR_NHWC, number(out_),
              number(in_), number(c.w[2]), number(c.w[3])),
        "cudnnSetFilter4dDescriptor");
    check(cudnnSetConvolution2dDescriptor(type_.it, number(c.padding[0]), number(c.padding[1]),
              number(c.strides[0]), number(c.strides[1]), number(c.dilation[0]),
              number(c.dilation[1]), CUDNN_CROSS_CORRELATION, CUDNN_DATA_INT32),
        "cudnnSetConvolution2dDescriptor");
    check(cudnnSetTensor4dDescriptor(y_type_.it, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT,
              number(c.y[0]), number(out_), number(c.y[2]), number(c.y[3])),
        "cudnnSetTensor4dDescriptor");
    std::size_t bytes = 0;
    check(cudnnGetConvolutionForwardWorkspaceSize(
              library_.it, x_type_.it, w_type_.it, type_.it, y_type_.it, kAlgorithm, &bytes),
        "cudnnGetConvolutionForwardWorkspaceSize");
    workspace_ = std::make_unique<DeviceMemory>(bytes);
  }

  void run() const {
    const float one = 1, none = 0;
    check(cudnnConvolutionForward(library_.it, &one, x_type_.it, x_.data(), w_type_.it, w_.data(),
              type_.it, kAlgorithm, workspace_->data(), workspace_->bytes(), &none, y_type_.it,
              y_.data()),
        "cudnnConvolutionForward");
    stream_.wait();
  }
  int64_t different(const MatrixCall& c) const {
    run();
    return differences(y_.read<float>().data(), c.y_values, c.y, out_);
  }

 private:
  int64_t in_, out_;
  DeviceMemory x_, w_, y_;
  DeviceStream stream_;
  Library library_;
  TensorType x_type_, y_type_;
  FilterType w_type_;
  ConvolutionType type_;
  std::unique_ptr<DeviceMemory> workspace_;
};

std::vector<ModulePeer> prepare(const MatrixCall& call, int) {
  // It convolves bytes in one group only.
  if (!call.convolution || call.groups != 1 || !has_device()) return {};
  ModulePeer peer{.layout = "own layout", .implementation = "implicit precomputed GEMM"};
  try {
    const auto convolution = std::make_shared<Convolution>(call);
    peer.different = convolution->different(call);
    peer.call = [convolution] { convolution->run(); };
  } catch (const std::runtime_error& e) {
    peer.trouble = e.what();
  }
  return {peer};
}

std::string name() {
  const std::size_t v = cudnnGetVersion();
  return "cuDNN " + std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." +
      std::to_string(v % 100);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const PeerModule lockstep_peer_module{name, prepare, "CUDA"};
