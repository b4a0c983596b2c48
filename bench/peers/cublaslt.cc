/// @file
/// cuBLASLt's product of bytes with sums of 32 bits, as its heuristic chooses the kernel. Rows are
/// padded to multiples of 16.
#include <cublasLt.h>

#include "bench/peers/device.h"
#include "bench/peers/pack.h"

namespace {

using namespace lockstep::bench;

constexpr int64_t kMultiple = 16;
constexpr std::size_t kWorkspace = std::size_t{32} << 20;

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cublasLtGetStatusString(status));
}

// A matrix in columns, as the library sees one.
struct Layout {
  cublasLtMatrixLayout_t it = nullptr;
  Layout(cudaDataType_t type, int64_t rows, int64_t columns) {
    check(cublasLtMatrixLayoutCreate(
              &it, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), rows),
        "cublasLtMatrixLayoutCreate");
  }
  Layout(const Layout&) = delete;
  ~Layout() { cublasLtMatrixLayoutDestroy(it); }
};

class Product {
 public:
  explicit Product(const MatrixCall& c)
      : depth_(padded(c.x[1], kMultiple)),
        columns_(padded(c.w[0], kMultiple)),
        x_(channels_last(c.x_values, c.x, c.x[0], depth_)),
        w_(channels_last(c.w_values, c.w, columns_, depth_)),
        y_(static_cast<std::size_t>(c.x[0] * columns_) * sizeof(int32_t)),
        w_layout_(CUDA_R_8I, depth_, columns_),
        x_layout_(CUDA_R_8I, depth_, c.x[0]),
        y_layout_(CUDA_R_32I, columns_, c.x[0]) {
    check(cublasLtCreate(&library_), "cublasLtCreate");
    check(cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32I, CUDA_R_32I),
        "cublasLtMatmulDescCreate");
    const cublasOperation_t transposed = CUBLAS_OP_T;
    check(cublasLtMatmulDescSetAttribute(
              product_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
        "cublasLtMatmulDescSetAttribute");
    choose();
  }
  Product(const Product&) = delete;
  ~Product() {
    cublasLtMatmulDescDestroy(product_);
    cublasLtDestroy(library_);
  }

  void start() const {
    const int32_t one = 1, none = 0;
    check(cublasLtMatmul(library_, product_, &one, w_.data(), w_layout_.it, x_.data(), x_layout_.it,
              &none, y_.data(), y_layout_.it, y_.data(), y_layout_.it, &chosen_.algo,
              workspace_.data(), workspace_.bytes(), stream_),
        "cublasLtMatmul");
  }
  void run() const {
    start();
    stream_.wait();
  }
  int64_t different(const MatrixCall& c) const {
    run();
    return differences(y_.read<int32_t>().data(), c.y_values, c.y, columns_);
  }
  std::string implementation() const {
    int number = 0;
    cublasLtMatmulAlgoConfigGetAttribute(
        &chosen_.algo, CUBLASLT_ALGO_CONFIG_ID, &number, sizeof number, nullptr);
    return "algorithm " + std::to_string(number);
  }

 private:
  void choose() {
    cublasLtMatmulPreference_t wishes = nullptr;
    check(cublasLtMatmulPreferenceCreate(&wishes), "cublasLtMatmulPreferenceCreate");
    cublasLtMatmulPreferenceSetAttribute(
        wishes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace, sizeof kWorkspace);
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(library_, product_, w_layout_.it,
        x_layout_.it, y_layout_.it, y_layout_.it, wishes, 1, &chosen_, &found);
    cublasLtMatmulPreferenceDestroy(wishes);
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0) throw std::runtime_error("cuBLASLt has no kernel for this product of bytes");
  }

  int64_t depth_, columns_;
  DeviceBuffer x_, w_, y_, workspace_{kWorkspace};
  DeviceStream stream_;
  Layout w_layout_, x_layout_, y_layout_;
  cublasLtHandle_t library_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatmulHeuristicResult_t chosen_{};
};

std::vector<ModulePeer> prepare(const MatrixCall& call, int) {
  if (call.convolution || !has_device()) return {};
  ModulePeer peer{.layout = "own layout"};
  try {
    const auto product = std::make_shared<Product>(call);
    peer.implementation = product->implementation();
    peer.different = product->different(call);
    peer.call = [product] { product->run(); };
    peer.start = [product] { product->start(); };
  } catch (const std::exception& e) {
    peer.trouble = e.what();
  }
  return {peer};
}

std::string name() {
  const std::size_t v = cublasLtGetVersion();
  return "cuBLASLt " + std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." +
      std::to_string(v % 100);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const PeerModule lockstep_peer_module{name, prepare, "CUDA"};
