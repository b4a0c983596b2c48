/// @file
/// Any operator in parallel, by the code of its specification.
#pragma once
#include <algorithm>

#include "backends/cpu/plans.h"
#include "spec/broadcast.h"
#include "spec/elementwise.h"

namespace lockstep::cpu {

/// A view of a rank that the compiler knows, so that it unrolls the loops over axes and takes what
/// does not change out of the loop over a row.
template <class T, int kRank> struct Ranked : Strided<T, false> {
  using Base = Strided<T, false>;
  Ranked() = default;
  explicit Ranked(const Base& v) : Base(v) {}

  constexpr int rank() const { return kRank; }
  T& operator()(const Index& i) const {
    return at([&](int d) { return i[d]; });
  }
  template <std::integral... I> T& operator()(I... i) const { return Base::operator()(i...); }
  template <class F> T& at(F f) const {
    i64 k = 0;
    for (int d = 0; d < kRank; ++d) k += f(d) * this->stride[d];
    return this->data[k];
  }
};

/// Operators whose outputs come from the elements in their own place; these gain from rows of a
/// rank that the compiler knows.
template <class Op>
concept InPlace = std::is_base_of_v<Elementwise, Op> || std::is_base_of_v<Pairwise, Op> ||
    std::is_base_of_v<Broadcast, Op>;

/// Runs `at` for each output element, or `eval` once.
template <Operator Op> class Generic : public Plan {
 public:
  explicit Generic(const Arguments& a)
      : call_(a.call), attrs_(from_attributes<Op>(call_.attributes())), pool_(a.pool) {
    i64 elements = 0;
    for (const View& v : call_.in) elements += volume(v.shape);
    const i64 results = volume(call_.out[0].shape);
    element_ns_ = kAtNs + kReadNs * static_cast<double>(elements) / static_cast<double>(results);
    const int rank = call_.out[0].rank();
    if (call_.in.size() <= kRankedInputs &&
        std::all_of(call_.in.begin(), call_.in.end(), [&](auto& x) { return x.rank() == rank; }))
      rank_ = rank;
  }
  void run(const int32_t* const* in, int32_t* const* out, void*) const override {
    const std::vector<View> x = backend::bound(call_.in, in);
    const std::vector<Out> y = backend::bound(call_.out, out);
    const Span<View> inputs{x.data(), static_cast<int>(x.size())};
    if constexpr (Whole<Op>)
      Op::eval(attrs_, inputs, Span<Out>{y.data(), static_cast<int>(y.size())});
    else
      pool_->run(volume(y[0].shape), element_ns_,
          [&](i64 begin, i64 end) { elements(inputs, y[0], begin, end); });
  }
  const char* path() const override { return "generic"; }

 private:
  // The estimated time of one output: a minimum, plus the inputs read per output.
  static constexpr double kAtNs = 4, kReadNs = 1;
  static constexpr std::size_t kRankedInputs = 3;

  void elements(const Span<View>& in, const Out& out, i64 begin, i64 end) const {
    if constexpr (InPlace<Op>) switch (rank_) {
        case 1: return ranked<1>(in, out, begin, end);
        case 2: return ranked<2>(in, out, begin, end);
        case 3: return ranked<3>(in, out, begin, end);
        case 4: return ranked<4>(in, out, begin, end);
        case 5: return ranked<5>(in, out, begin, end);
        case 6: return ranked<6>(in, out, begin, end);
        default: break;
      }
    const Type type = out;
    Index y = unravel(begin, type.shape);
    for (i64 k = begin; k < end; ++k, next(y, type.shape))
      out(y) = static_cast<i32>(value_at<Op>(attrs_, in, y, type));
  }

  /// The same, row by row, where all tensors have one rank.
  template <int kRank> void ranked(const Span<View>& in, const Out& out, i64 begin, i64 end) const {
    Ranked<const i32, kRank> x[kRankedInputs];
    for (int k = 0; k < in.size(); ++k) x[k] = Ranked<const i32, kRank>(in[k]);
    const Span<Ranked<const i32, kRank>> inputs{x, in.size()};
    const Type type = out;
    const i64 width = type.dim(kRank - 1), step = out.stride[kRank - 1];
    Index y = unravel(begin, type.shape);
    while (begin < end) {
      const i64 first = y[kRank - 1], last = min(width, first + end - begin);
      i32* to = &out(y);
      Index at = Index::filled(kRank, 0);
      for (int d = 0; d + 1 < kRank; ++d) at[d] = y[d];
      for (i64 j = first; j < last; ++j, to += step) {
        at[kRank - 1] = j;
        *to = static_cast<i32>(value_at<Op>(attrs_, inputs, at, type));
      }
      begin += last - first;
      y[kRank - 1] = last - 1;
      next(y, type.shape);
    }
  }

  backend::LegalCall call_;
  typename Op::Attrs attrs_;
  std::shared_ptr<ThreadPool> pool_;
  double element_ns_;
  int rank_ = 0;  // of all tensors; 0 if they differ
};

}  // namespace lockstep::cpu
