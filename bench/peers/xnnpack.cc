/// @file
/// XNNPACK's int8 convolution and fully connected layer. It has no int32 output: it scales sums to
/// 8 bits, here by a power of two, so that the expected outputs follow from the expected sums.
#include <pthreadpool.h>
#include <xnnpack.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "bench/peers/module.h"

namespace {

using lockstep::bench::MatrixCall, lockstep::bench::ModulePeer, lockstep::bench::PeerModule;

void require(xnn_status status, const char* what) {
  if (status != xnn_status_success)
    throw std::runtime_error(std::string(what) + ": status " + std::to_string(status));
}

int64_t volume(const MatrixCall::Extents& e) {
  int64_t n = 1;
  for (int64_t v : e) n *= v;
  return n;
}

// The place in a tensor N C H W, or N C, of the element that is number `i` in the order N H W C.
int64_t channels_last(const MatrixCall::Extents& e, int64_t i) {
  if (e.size() == 2) return i;
  const int64_t c = i % e[1], w = i / e[1] % e[3], h = i / (e[1] * e[3]) % e[2];
  const int64_t n = i / (e[1] * e[3] * e[2]);
  return ((n * e[1] + c) * e[2] + h) * e[3] + w;
}

std::vector<int8_t> narrowed(const MatrixCall::Extents& e, const int32_t* values) {
  std::vector<int8_t> v(static_cast<std::size_t>(volume(e)) + XNN_EXTRA_BYTES);
  for (int64_t i = 0; i < volume(e); ++i)
    v[static_cast<std::size_t>(i)] = static_cast<int8_t>(values[channels_last(e, i)]);
  return v;
}

// The power of two that brings the largest sum into 8 bits.
float scale_of(const MatrixCall& c) {
  int32_t most = 1;
  for (int64_t i = 0; i < volume(c.y); ++i) most = std::max(most, std::abs(c.y_values[i]));
  float scale = 1;
  while (static_cast<float>(most) / scale > 127) scale *= 2;
  return scale;
}

class Job {
 public:
  Job(const MatrixCall& c, int threads)
      : x_(narrowed(c.x, c.x_values)),
        w_(narrowed(c.w, c.w_values)),
        y_(static_cast<std::size_t>(volume(c.y)) + XNN_EXTRA_BYTES),
        scale_(scale_of(c)),
        pool_(pthreadpool_create(static_cast<std::size_t>(threads)), pthreadpool_destroy) {
    if (c.convolution)
      make_convolution(c);
    else
      make_product(c);
  }
  ~Job() { xnn_delete_operator(operator_); }
  Job(const Job&) = delete;

  void compute() { require(xnn_run_operator(operator_, pool_.get()), "running"); }
  int64_t differences(const MatrixCall& c) {
    compute();
    int64_t n = 0;
    for (int64_t i = 0; i < volume(c.y); ++i) {
      const float sum = static_cast<float>(c.y_values[channels_last(c.y, i)]);
      n += y_[static_cast<std::size_t>(i)] != std::lrint(sum / scale_);
    }
    return n;
  }

 private:
  void make_convolution(const MatrixCall& c) {
    const auto u = [](int64_t v) { return static_cast<uint32_t>(v); };
    const auto channels = static_cast<std::size_t>(c.x[1]),
               outputs = static_cast<std::size_t>(c.w[0]);
    const auto groups = static_cast<std::size_t>(c.groups);
    const uint32_t vertical = u(c.padding[0]), horizontal = u(c.padding[1]);
    require(xnn_create_convolution2d_nhwc_qs8(vertical, horizontal, vertical, horizontal, u(c.w[2]),
                u(c.w[3]), u(c.strides[0]), u(c.strides[1]), u(c.dilation[0]), u(c.dilation[1]),
                u(c.groups), channels / groups, outputs / groups, channels, outputs, 0, 1, 1,
                w_.data(), nullptr, 0, scale_, INT8_MIN, INT8_MAX, 0, &operator_),
        "convolution");
    require(xnn_setup_convolution2d_nhwc_qs8(operator_, static_cast<std::size_t>(c.x[0]),
                static_cast<std::size_t>(c.x[2]), static_cast<std::size_t>(c.x[3]), x_.data(),
                y_.data(), pool_.get()),
        "convolution");
  }
  void make_product(const MatrixCall& c) {
    const auto k = static_cast<std::size_t>(c.w[1]), outputs = static_cast<std::size_t>(c.w[0]);
    require(xnn_create_fully_connected_nc_qs8(k, outputs, k, outputs, 0, 1, 1, w_.data(), nullptr,
                0, scale_, INT8_MIN, INT8_MAX, 0, &operator_),
        "fully connected layer");
    require(xnn_setup_fully_connected_nc_qs8(
                operator_, static_cast<std::size_t>(c.x[0]), x_.data(), y_.data(), pool_.get()),
        "fully connected layer");
  }

  std::vector<int8_t> x_, w_, y_;
  float scale_;
  std::unique_ptr<pthreadpool, void (*)(pthreadpool_t)> pool_;
  xnn_operator_t operator_ = nullptr;
};

std::vector<ModulePeer> prepare(const MatrixCall& call, int threads) {
  ModulePeer peer{.layout = "own layout, 8-bit results"};
  try {
    require(xnn_initialize(nullptr), "beginning");
    const auto job = std::make_shared<Job>(call, threads);
    peer.different = job->differences(call);
    peer.call = [job] { job->compute(); };
  } catch (const std::runtime_error& e) {
    peer.trouble = e.what();
  }
  return {peer};
}

std::string name() { return "XNNPACK"; }

}  // namespace

extern "C" __attribute__((visibility("default")))
const PeerModule lockstep_peer_module{name, prepare};
