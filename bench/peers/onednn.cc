/// @file
/// oneDNN's int8 convolution and inner product. Tensors are 8-bit in oneDNN's preferred layout with
/// weights packed beforehand, or row-major int32 with oneDNN's reorders before and after, which is
/// what a caller of ours would need. Written for the interface of oneDNN 3; 2 differs in how
/// primitives are described.
#include <dlfcn.h>
#include <stdlib.h>

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "bench/peers/module.h"

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_TBB
#include <tbb/global_control.h>
#endif

namespace {

using dnnl::memory;
using lockstep::bench::MatrixCall, lockstep::bench::ModulePeer, lockstep::bench::PeerModule;

constexpr auto kReference = "ref";  // prefix of oneDNN's slow implementations

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_TBB
void use_threads(int threads) {
  static std::optional<tbb::global_control> control;
  static int now = 0;
  if (now == threads) return;
  now = threads;
  control.reset();
  control.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
}
#else
// oneDNN reads the number from the OpenMP library that it was built with.
void use_threads(int threads) {
  static const auto set =
      reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set) set(threads);
}
#endif

// Where oneDNN reaches the processor through SYCL, SYCL finds it with OpenCL's loader. There are
// two loaders, each with an environment variable of its own.
dnnl::engine processor() {
#if DNNL_CPU_RUNTIME == DNNL_RUNTIME_SYCL
  for (const char* loader : {"OCL_ICD_FILENAMES", "OCL_ICD_VENDORS"})
    ::setenv(loader, LOCKSTEP_OPENCL, 0);
#endif
  return {dnnl::engine::kind::cpu, 0};
}

// The processor and one stream; their order here is the order of construction.
struct Device {
  dnnl::engine engine = processor();
  dnnl::stream stream{engine};
};

memory::format_tag rows_tag(const memory::dims& d) {
  return d.size() == 2 ? memory::format_tag::ab
      : d.size() == 4  ? memory::format_tag::abcd
                       : memory::format_tag::abcde;
}

memory::desc rows(const memory::dims& d, memory::data_type type) { return {d, type, rows_tag(d)}; }

memory::desc preferred(const memory::dims& d, memory::data_type type) {
  return {d, type, memory::format_tag::any};
}

memory::dims weights_of(const MatrixCall& c) {
  memory::dims d = c.w;
  if (c.groups > 1) {
    d[0] /= c.groups;
    d.insert(d.begin(), c.groups);
  }
  return d;
}

// A primitive with its tensors.
class Job {
 public:
  explicit Job(const MatrixCall& c) : w_dims_(weights_of(c)) {
    const auto s8 = memory::data_type::s8, s32 = memory::data_type::s32;
    const auto x = preferred(c.x, s8), w = preferred(w_dims_, s8), y = preferred(c.y, s32);
    const auto forward = dnnl::prop_kind::forward_inference;
    if (c.convolution) {
      memory::dims dilation = c.dilation;
      for (auto& d : dilation) --d;
      const auto direct = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
      const dnnl::convolution_forward::primitive_desc pd(
          device_.engine, forward, direct, x, w, y, c.strides, dilation, c.padding, c.padding);
#else
      const dnnl::convolution_forward::primitive_desc pd(
          {forward, direct, x, w, y, c.strides, dilation, c.padding, c.padding}, device_.engine);
#endif
      primitive_ = dnnl::convolution_forward(pd);
      place(pd, c);
    } else {
#if DNNL_VERSION_MAJOR >= 3
      const dnnl::inner_product_forward::primitive_desc pd(device_.engine, forward, x, w, y);
#else
      const dnnl::inner_product_forward::primitive_desc pd({forward, x, w, y}, device_.engine);
#endif
      primitive_ = dnnl::inner_product_forward(pd);
      place(pd, c);
    }
  }

  const std::string& implementation() const { return implementation_; }
  void compute() {
    execute();
    device_.stream.wait();
  }
  void compute_from_rows() {
    to_own_.execute(device_.stream, x_rows_, x_);
    execute();
    to_rows_.execute(device_.stream, y_, y_rows_);
    device_.stream.wait();
  }
  /// The number of elements of the result that differ.
  int64_t differences(const int32_t* expected) {
    compute_from_rows();
    const auto* y = static_cast<const int32_t*>(y_rows_.get_data_handle());
    int64_t n = 0;
    for (std::size_t k = 0; k < y_rows_.get_desc().get_size() / sizeof(int32_t); ++k)
      n += y[k] != expected[k];
    return n;
  }

 private:
  void execute() {
    primitive_.execute(
        device_.stream, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, w_}, {DNNL_ARG_DST, y_}});
  }

  template <class Description> void place(const Description& pd, const MatrixCall& c) {
    implementation_ = pd.impl_info_str();
    const dnnl::engine& e = device_.engine;
    x_rows_ = memory(rows(c.x, memory::data_type::s32), e);
    y_rows_ = memory(rows(c.y, memory::data_type::s32), e);
    x_ = memory(pd.src_desc(), e);
    w_ = memory(pd.weights_desc(), e);
    y_ = memory(pd.dst_desc(), e);
    fill<int32_t>(x_rows_, c.x_values);
    memory w_rows(rows(w_dims_, memory::data_type::s8), e);
    fill<int8_t>(w_rows, c.w_values);
    dnnl::reorder(w_rows, w_).execute(device_.stream, w_rows, w_);
    to_own_ = dnnl::reorder(x_rows_, x_);
    to_rows_ = dnnl::reorder(y_, y_rows_);
    device_.stream.wait();
  }

  template <class T> static void fill(memory& m, const int32_t* values) {
    auto* to = static_cast<T*>(m.get_data_handle());
    const std::size_t count = m.get_desc().get_size() / sizeof(T);
    for (std::size_t k = 0; k < count; ++k) to[k] = static_cast<T>(values[k]);
  }

  Device device_;
  dnnl::primitive primitive_;
  memory::dims w_dims_;
  std::string implementation_;
  memory x_rows_, x_, w_, y_, y_rows_;
  dnnl::reorder to_own_, to_rows_;
};

std::vector<ModulePeer> prepare(const MatrixCall& call, int threads) {
  ModulePeer rows{.layout = "int32 rows"};
  use_threads(threads);
  try {
    const auto job = std::make_shared<Job>(call);
    rows.implementation = job->implementation();
    if (rows.implementation.rfind(kReference, 0) == 0)
      rows.trouble = "oneDNN chose its plain reference, which is no peer";
    else
      rows.different = job->differences(call.y_values);
    ModulePeer own = rows;
    own.layout = "own layout";
    rows.call = [job, threads] { use_threads(threads), job->compute_from_rows(); };
    own.call = [job, threads] { use_threads(threads), job->compute(); };
    return {rows, own};
  } catch (const dnnl::error& e) {
    rows.trouble = e.what();
    return {rows};
  }
}

std::string name() {
  const dnnl_version_t& v = *dnnl_version();
  return "oneDNN " + std::to_string(v.major) + "." + std::to_string(v.minor) + "." +
      std::to_string(v.patch);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const PeerModule lockstep_peer_module{name, prepare};
