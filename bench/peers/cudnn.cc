/// @file
/// cuDNN's convolution of bytes, through a graph of one operation or the older interface. What runs
/// depends on the library and the device, so each way is tried, and the fastest one is timed.
#include <cudnn.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "bench/peers/device.h"
#include "bench/peers/pack.h"

namespace {

using namespace lockstep::bench;

using Extents = MatrixCall::Extents;

void check(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char why[256] = "";
  cudnnGetLastErrorString(why, sizeof why);
  throw std::runtime_error(std::string(call) + ": " + cudnnGetErrorString(status) + " " + why);
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

// The tensors of a call in the device's memory, the channels last and padded to a multiple. Sums
// leave as 32 bits; as float they are exact up to 2^24.
class Convolution {
 public:
  Convolution(const MatrixCall& c, int64_t multiple)
      : in_(padded(c.x[1], multiple)),
        out_(padded(c.w[0], multiple)),
        x_(channels_last(c.x_values, c.x, c.x[0], in_)),
        w_(channels_last(c.w_values, c.w, out_, in_)),
        y_(static_cast<std::size_t>(c.y[0] * c.y[2] * c.y[3] * out_) * sizeof(float)) {
    check(cudnnSetStream(library_.it, stream_), "cudnnSetStream");
  }
  Convolution(const Convolution&) = delete;
  virtual ~Convolution() = default;

  virtual void start() const = 0;
  void run() const {
    start();
    stream_.wait();
  }
  int64_t different(const MatrixCall& c) const {
    run();
    return sums_ == CUDNN_DATA_FLOAT
        ? differences(y_.read<float>().data(), c.y_values, c.y, out_)
        : differences(y_.read<int32_t>().data(), c.y_values, c.y, out_);
  }

 protected:
  cudnnDataType_t sums_ = CUDNN_DATA_FLOAT;
  int64_t in_, out_;
  DeviceBuffer x_, w_, y_;
  DeviceStream stream_;
  Library library_;
  std::unique_ptr<DeviceBuffer> workspace_;
};

// ---- a graph of one operation ------------------------------------------------------------------

// A descriptor of the graph interface.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    check(cudnnBackendCreateDescriptor(type, &it_), "cudnnBackendCreateDescriptor");
  }
  Descriptor(Descriptor&& other) noexcept : it_(std::exchange(other.it_, nullptr)) {}
  ~Descriptor() {
    if (it_) cudnnBackendDestroyDescriptor(it_);
  }

  template <class T> Descriptor& set(cudnnBackendAttributeName_t name,
      cudnnBackendAttributeType_t type, const std::vector<T>& values) {
    check(cudnnBackendSetAttribute(it_, name, type, std::ssize(values), values.data()),
        "cudnnBackendSetAttribute");
    return *this;
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Extents& values) {
    return set(name, CUDNN_TYPE_INT64, values);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    return set<cudnnBackendDescriptor_t>(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, {value.it_});
  }
  Descriptor&& finalized() {
    check(cudnnBackendFinalize(it_), "cudnnBackendFinalize");
    return std::move(*this);
  }
  cudnnBackendDescriptor_t get() const { return it_; }

 private:
  cudnnBackendDescriptor_t it_ = nullptr;
};

// A tensor N C H W, the channels last.
Descriptor tensor(int64_t id, cudnnDataType_t type, const Extents& e) {
  Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  d.set<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, {type})
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, e)
      .set(CUDNN_ATTR_TENSOR_STRIDES, {e[1] * e[2] * e[3], 1, e[1] * e[3], e[1]})
      .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, {id})
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
  return d.finalized();
}

class Graph : public Convolution {
 public:
  Graph(const MatrixCall& c, cudnnDataType_t sums) : Convolution(c, 16) {
    sums_ = sums;
    Descriptor x = tensor(1, CUDNN_DATA_INT8, {c.x[0], in_, c.x[2], c.x[3]}),
               w = tensor(2, CUDNN_DATA_INT8, {out_, in_, c.w[2], c.w[3]}),
               y = tensor(3, sums, {c.y[0], out_, c.y[2], c.y[3]});
    Descriptor type(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    type.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2})
        .set<cudnnDataType_t>(
            CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_INT32})
        .set<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
            {CUDNN_CROSS_CORRELATION})
        .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, c.padding)
        .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, c.padding)
        .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, c.dilation)
        .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, c.strides)
        .finalized();
    Descriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, type)
        .set<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, {1})
        .set<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, {0})
        .finalized();
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation)
        .set<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, {library_.it})
        .finalized();
    choose(graph);
    for (Descriptor* part : {&x, &w, &y, &type, &operation, &graph})
      parts_.push_back(std::move(*part));
    pack_.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {1, 2, 3})
        .set<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
            {x_.data(), w_.data(), y_.data()})
        .set<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, {workspace_->data()})
        .finalized();
  }

 private:
  void start() const override {
    check(cudnnBackendExecute(library_.it, plan_->get(), pack_.get()), "cudnnBackendExecute");
  }

  // The first engine of the heuristic that takes the graph: to try all would take minutes.
  void choose(const Descriptor& graph) {
    Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
        .set<cudnnBackendHeurMode_t>(
            CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, {CUDNN_HEUR_MODE_A})
        .finalized();
    std::vector<Descriptor> engines;
    std::vector<cudnnBackendDescriptor_t> places;
    constexpr int kEngines = 8;
    for (int k = 0; k < kEngines; ++k)
      places.push_back(engines.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
    int64_t found = 0;
    check(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
              CUDNN_TYPE_BACKEND_DESCRIPTOR, kEngines, &found, places.data()),
        "cudnnBackendGetAttribute");
    std::string why = "no engine for bytes";
    for (int64_t k = 0; k < found && !plan_; ++k) try {
        Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        plan.set<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, {library_.it})
            .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engines[static_cast<std::size_t>(k)]);
        plan_ = std::make_unique<Descriptor>(plan.finalized());
      } catch (const std::exception& e) {
        why = e.what();
      }
    if (!plan_) throw std::runtime_error(why);
    parts_ = std::move(engines);
    int64_t bytes = 0, count = 0;
    check(cudnnBackendGetAttribute(plan_->get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
              CUDNN_TYPE_INT64, 1, &count, &bytes),
        "cudnnBackendGetAttribute");
    workspace_ = std::make_unique<DeviceBuffer>(static_cast<std::size_t>(bytes));
  }

  std::vector<Descriptor> parts_;  // the descriptors that the plan refers to
  std::unique_ptr<Descriptor> plan_;
  Descriptor pack_{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
};

// ---- the older interface -----------------------------------------------------------------------

class Older : public Convolution {
 public:
  explicit Older(const MatrixCall& c) : Convolution(c, 4) {
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
    workspace_ = std::make_unique<DeviceBuffer>(bytes);
  }

 private:
  static constexpr auto kAlgorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;

  void start() const override {
    const float one = 1, none = 0;
    check(cudnnConvolutionForward(library_.it, &one, x_type_.it, x_.data(), w_type_.it, w_.data(),
              type_.it, kAlgorithm, workspace_->data(), workspace_->bytes(), &none, y_type_.it,
              y_.data()),
        "cudnnConvolutionForward");
  }

  TensorType x_type_, y_type_;
  FilterType w_type_;
  ConvolutionType type_;
};

// ---- the choice --------------------------------------------------------------------------------

using Made = std::shared_ptr<Convolution>;
struct Way {
  const char* name;
  Made (*make)(const MatrixCall&);
};
const Way kWays[] = {
    {"graph, int32 sums",
        [](const MatrixCall& c) -> Made { return std::make_shared<Graph>(c, CUDNN_DATA_INT32); }},
    {"graph, float sums",
        [](const MatrixCall& c) -> Made { return std::make_shared<Graph>(c, CUDNN_DATA_FLOAT); }},
    {"implicit precomputed GEMM",
        [](const MatrixCall& c) -> Made { return std::make_shared<Older>(c); }}};

double fastest_s(const Convolution& convolution) {
  double fastest = 1e9;
  for (int run = 0; run < 5; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    convolution.run();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    fastest = std::min(fastest, spent.count());
  }
  return fastest;
}

std::vector<ModulePeer> prepare(const MatrixCall& call, int) {
  // It convolves bytes in one group only.
  if (!call.convolution || call.groups != 1 || !has_device()) return {};
  ModulePeer best{.layout = "own layout"};
  Made kept;
  double least = 0;
  for (const Way& way : kWays) try {
      Made made = way.make(call);
      const int64_t different = made->different(call);
      const double seconds = fastest_s(*made);
      // Exact ways come before inexact ones, then the fastest first.
      if (kept && std::pair(different > 0, seconds) >= std::pair(best.different > 0, least))
        continue;
      kept = std::move(made);
      least = seconds;
      best.implementation = way.name;
      best.different = different;
    } catch (const std::exception& e) {
      best.trouble += (best.trouble.empty() ? "" : "; ") + std::string(way.name) + ": " + e.what();
    }
  if (kept) {
    // Why the other ways failed tells a reader whether the peer is a fair one.
    if (!best.trouble.empty()) best.implementation += "; " + std::exchange(best.trouble, "");
    best.call = [kept] { kept->run(); };
    best.start = [kept] { kept->start(); };
  }
  return {best};
}

std::string name() {
  const std::size_t v = cudnnGetVersion();
  return "cuDNN " + std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." +
      std::to_string(v % 100);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const PeerModule lockstep_peer_module{name, prepare, "CUDA"};
