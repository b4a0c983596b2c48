/// @file
/// oneDNN's int8 convolution and inner product for the same call. Tensors are 8-bit in oneDNN's
/// preferred layout with weights packed beforehand, or row-major int32 with oneDNN's reorders
/// before and after, which is what a caller of ours would need.
#include <dlfcn.h>

#include <dnnl.hpp>

#include "bench/peers/peer.h"

namespace lockstep::bench {
namespace {

using dnnl::memory;

constexpr auto kRefuse = "ref";  // prefix of oneDNN's slow reference implementations

// The processor and one stream; their order here is the order of construction.
struct Device {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

// oneDNN reads the number from the OpenMP library that it was built with.
void use_threads(int threads) {
  static const auto set =
      reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set) set(threads);
}

memory::dims dims_of(const Shape& s) { return {s.begin(), s.end()}; }

memory::format_tag rows_tag(const memory::dims& d) {
  return d.size() == 2 ? memory::format_tag::ab : memory::format_tag::abcd;
}

memory::desc rows(const memory::dims& d) { return {d, memory::data_type::s32, rows_tag(d)}; }

memory::desc preferred(const memory::dims& d, memory::data_type type) {
  return {d, type, memory::format_tag::any};
}

// A primitive with its tensors.
class Job {
 public:
  virtual ~Job() = default;
  Job(const Job&) = delete;

  const std::string& implementation() const { return implementation_; }
  void compute() {
    primitive_.execute(
        device_.stream, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, w_}, {DNNL_ARG_DST, y_}});
    device_.stream.wait();
  }
  void compute_from_rows() {
    to_own_.execute(device_.stream, x_rows_, x_);
    primitive_.execute(
        device_.stream, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, w_}, {DNNL_ARG_DST, y_}});
    to_rows_.execute(device_.stream, y_, y_rows_);
    device_.stream.wait();
  }
  /// The number of elements of the result that differ.
  i64 differences(const judge::Tensor& expected) {
    compute_from_rows();
    const auto* y = static_cast<const i32*>(y_rows_.get_data_handle());
    i64 n = 0;
    for (std::size_t k = 0; k < expected.data.size(); ++k) n += y[k] != expected.data[k];
    return n;
  }

 protected:
  Job() = default;
  template <class PrimitiveDesc> void place(const PrimitiveDesc& pd,
      const std::vector<judge::Tensor>& in, const memory::dims& w_dims,
      const memory::dims& y_dims) {
    implementation_ = pd.impl_info_str();
    const dnnl::engine& e = device_.engine;
    x_rows_ = memory(rows(dims_of(in[0].type.shape)), e);
    y_rows_ = memory(rows(y_dims), e);
    x_ = memory(pd.src_desc(), e);
    w_ = memory(pd.weights_desc(), e);
    y_ = memory(pd.dst_desc(), e);
    std::copy(in[0].data.begin(), in[0].data.end(), static_cast<i32*>(x_rows_.get_data_handle()));
    std::vector<std::int8_t> weights(in[1].data.begin(), in[1].data.end());
    const auto tag = w_dims.size() == 5 ? memory::format_tag::abcde : rows_tag(w_dims);
    memory w_rows({w_dims, memory::data_type::s8, tag}, e, weights.data());
    dnnl::reorder(w_rows, w_).execute(device_.stream, w_rows, w_);
    to_own_ = dnnl::reorder(x_rows_, x_);
    to_rows_ = dnnl::reorder(y_, y_rows_);
    device_.stream.wait();
  }

  Device device_;
  dnnl::primitive primitive_;

 private:
  std::string implementation_;
  memory x_rows_, x_, w_, y_, y_rows_;
  dnnl::reorder to_own_, to_rows_;
};

class Convolution : public Job {
 public:
  Convolution(const Workload& w, const std::vector<judge::Tensor>& in) {
    const auto tuple = [&](string_view name, i64 less) {
      memory::dims d;
      for (i64 v : attribute(w, name).ints) d.push_back(v - less);
      return d;
    };
    const i64 groups = attribute(w, "groups").ints[0];
    memory::dims w_dims = dims_of(in[1].type.shape);
    if (groups > 1) {
      w_dims[0] /= groups;
      w_dims.insert(w_dims.begin(), groups);
    }
    const memory::dims y_dims = dims_of(w.outputs()[0].shape), padding = tuple("padding", 0);
    const dnnl::convolution_forward::primitive_desc pd(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
            preferred(dims_of(in[0].type.shape), memory::data_type::s8),
            preferred(w_dims, memory::data_type::s8), preferred(y_dims, memory::data_type::s32),
            tuple("strides", 0), tuple("dilation", 1), padding, padding},
        device_.engine);
    place(pd, in, w_dims, y_dims);
    primitive_ = dnnl::convolution_forward(pd);
  }

 private:
  static const Attr& attribute(const Workload& w, string_view name) {
    for (int i = 0; i < w.call.op->attrs.size(); ++i)
      if (w.call.op->attrs[i].name == name) return w.call.attrs[static_cast<std::size_t>(i)];
    throw std::out_of_range("no attribute " + std::string(name));
  }
};

class InnerProduct : public Job {
 public:
  InnerProduct(const Workload& w, const std::vector<judge::Tensor>& in) {
    const memory::dims w_dims = dims_of(in[1].type.shape), y_dims = dims_of(w.outputs()[0].shape);
    const dnnl::inner_product_forward::primitive_desc pd(
        {dnnl::prop_kind::forward_inference,
            preferred(dims_of(in[0].type.shape), memory::data_type::s8),
            preferred(w_dims, memory::data_type::s8), preferred(y_dims, memory::data_type::s32)},
        device_.engine);
    place(pd, in, w_dims, y_dims);
    primitive_ = dnnl::inner_product_forward(pd);
  }
};

std::shared_ptr<Job> job_of(const Workload& w, const std::vector<judge::Tensor>& in) {
  // oneDNN serves 8-bit operands without a bias.
  const bool served = w.unit == Unit::macs && in.size() == 2 && in[0].type.precision <= 8 &&
      in[1].type.precision <= 8;
  if (served && w.call.op->name == "conv2d") return std::make_shared<Convolution>(w, in);
  if (served && w.call.op->name == "dense") return std::make_shared<InnerProduct>(w, in);
  return nullptr;
}

}  // namespace

std::vector<Peer> onednn_peers(const Workload& workload, const std::vector<judge::Tensor>& in,
    const judge::Tensor& expected, int threads) {
  Peer rows{{.name = "oneDNN int32 rows", .compared = std::ssize(expected.data)}};
  use_threads(threads);
  try {
    const std::shared_ptr<Job> job = job_of(workload, in);
    if (!job) return {};
    rows.implementation = job->implementation();
    if (rows.implementation.rfind(kRefuse, 0) == 0)
      rows.trouble = "oneDNN chose its plain reference, which is no peer";
    else
      rows.different = job->differences(expected);
    Peer own = rows;
    own.name = "oneDNN own layout";
    rows.call = [job, threads] { use_threads(threads), job->compute_from_rows(); };
    own.call = [job, threads] { use_threads(threads), job->compute(); };
    return {rows, own};
  } catch (const dnnl::error& e) {
    rows.trouble = std::string("oneDNN: ") + e.what();
    return {rows};
  }
}

std::string onednn_version() {
  const dnnl_version_t& v = *dnnl_version();
  return "oneDNN " + std::to_string(v.major) + "." + std::to_string(v.minor) + "." +
      std::to_string(v.patch);
}

}  // namespace lockstep::bench
