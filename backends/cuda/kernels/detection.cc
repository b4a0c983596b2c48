// The plans of non_max_suppression and get_valid_counts.
#include "backends/cuda/kernels/detection.h"

#include <algorithm>

#include "backends/cuda/families.h"

namespace lockstep::cuda {
namespace {

constexpr i64 kRivalBytesMax = i64{1} << 28;

constexpr i64 aligned(i64 words) { return ceil_div(words, 16) * 16; }

WriteRows::Parameters writing(const View& x, const Out& y) {
  WriteRows::Parameters p{};
  p.elements = static_cast<u32>(volume(y.shape));
  p.rows = Divisor(y.dim(1));
  p.columns = Divisor(y.dim(2));
  std::copy_n(x.stride, 3, p.xs);
  std::copy_n(y.stride, 3, p.ys);
  return p;
}

class Suppression : public KernelPlan {
 public:
  Suppression(const Arguments& a, const char* name) : KernelPlan(name, a.device) {
    const View& x = a.call.in[NonMaxSuppression::X];
    p_.attrs = from_attributes<NonMaxSuppression>(a.call.attributes());
    p_.batches = static_cast<u32>(x.dim(0));
    p_.rows = static_cast<u32>(x.dim(1));
    p_.most_read = p_.read(p_.rows);
    p_.words = static_cast<u32>(ceil_div(p_.most_read, kWordRows));
    p_.sort_blocks = Divisor(ceil_div(p_.rows, SortRows::kRows));
    std::copy_n(x.stride, 3, p_.xs);
    p_.valid_stride = a.call.in[NonMaxSuppression::Valid].stride[0];
    write_ = writing(View(static_cast<const Type&>(x), nullptr), a.call.out[0]);
  }
  /// Whether the bits of all pairs have room.
  bool serves() const {
    return p_.words <= KeepRows::kWordsMax && rival_words() * 4 <= kRivalBytesMax;
  }
  void start(
      const int32_t* const* in, int32_t* const* out, void* scratch, void* stream) const override {
    auto* const on = static_cast<cudaStream_t>(stream);
    DetectionParameters p = p_;
    p.x = in[NonMaxSuppression::X];
    p.valid = in[NonMaxSuppression::Valid];
    p.sorted = static_cast<i32*>(scratch);
    p.rivals = reinterpret_cast<u32*>(p.sorted + aligned(boxes() * kBoxWords));
    p.chosen = reinterpret_cast<i32*>(p.rivals + aligned(rival_words()));
    p.count = p.chosen + aligned(boxes());
    WriteRows::Parameters w = write_;
    w.x = p.sorted;
    w.chosen = p.chosen;
    w.count = p.count;
    w.y = out[0];
    device_->use([&] {
      cuda::start<SortRows>(i64{p.batches} * p.sort_blocks.value(), p, on);
      if (rival_words() > 0)
        cuda::start<CompareRows>(blocks_for<CompareRows>(rival_words()), p, on);
      cuda::start<KeepRows>(p.batches, p, on);
      cuda::start<WriteRows>(blocks_for<WriteRows>(w.elements), w, on);
    });
  }
  uint64_t scratch_bytes() const override {
    return static_cast<uint64_t>(aligned(boxes() * kBoxWords) + aligned(rival_words()) +
               aligned(boxes()) + aligned(p_.batches)) *
        sizeof(i32);
  }

 private:
  i64 boxes() const { return i64{p_.batches} * p_.rows; }
  i64 rival_words() const { return i64{p_.batches} * p_.most_read * p_.words; }

  DetectionParameters p_{};
  WriteRows::Parameters write_{};
};

class ValidCounts : public KernelPlan {
 public:
  ValidCounts(const Arguments& a, const char* name) : KernelPlan(name, a.device) {
    constexpr i64 kMostSlabs = 64;  // each of them reads all scores
    const View& x = a.call.in[0];
    const Out& y = a.call.out[GetValidCounts::Rows];
    const i64 rows = x.dim(1),
              slab =
                  ceil_div(ceil_div(rows, kMostSlabs), SelectRows::kThreads) * SelectRows::kThreads;
    p_.threshold = from_attributes<GetValidCounts>(a.call.attributes()).score_threshold;
    p_.rows = static_cast<u32>(rows);
    p_.slab = static_cast<u32>(slab);
    p_.slabs = Divisor(ceil_div(rows, slab));
    p_.columns = Divisor(x.dim(2));
    p_.count_stride = a.call.out[GetValidCounts::Count].stride[0];
    std::copy_n(x.stride, 3, p_.xs);
    std::copy_n(y.stride, 3, p_.ys);
    blocks_ = x.dim(0) * p_.slabs.value();
  }
  void start(const int32_t* const* in, int32_t* const* out, void*, void* stream) const override {
    SelectRows::Parameters p = p_;
    p.x = in[0];
    p.y = out[GetValidCounts::Rows];
    p.count = out[GetValidCounts::Count];
    device_->use([&] { cuda::start<SelectRows>(blocks_, p, static_cast<cudaStream_t>(stream)); });
  }

 private:
  SelectRows::Parameters p_{};
  i64 blocks_;
};

std::unique_ptr<DevicePlan> suppression_plan(const Arguments& a, const char* name) {
  auto plan = std::make_unique<Suppression>(a, name);
  return plan->serves() ? std::move(plan) : nullptr;
}

}  // namespace

std::vector<Kernel> detection_kernels() {
  return {{NonMaxSuppression::name, "detection", suppression_plan},
      {GetValidCounts::name, "detection", [](const Arguments& a, const char* name) {
         return std::make_unique<ValidCounts>(a, name);
       }}};
}

}  // namespace lockstep::cuda
