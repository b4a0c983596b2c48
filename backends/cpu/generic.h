/// @file
/// Any operator in parallel, by the code of its specification.
#pragma once
#include <algorithm>

#include "backends/cpu/nests.h"
#include "backends/cpu/plans.h"
#include "backends/cpu/stages.h"

namespace lockstep::cpu {

/// What an elementwise operator's `at` sees of an input while it computes a row of a nest: one
/// axis, of extent 1 if the row repeats its element.
struct NestRow {
  const i32* data = nullptr;
  i64 stride = 0;

  static constexpr int rank() { return 1; }
  i64 dim(int) const { return stride == 0 ? 1 : kMaxExtent; }
  const i32& operator()(i64 i) const { return data[i * stride]; }
  const i32& operator()(const Index& i) const { return (*this)(i[0]); }
  template <class F> const i32& at(F f) const { return (*this)(f(0)); }
};

template <class Op, class... Listed> constexpr bool is_listed(OperatorList<Listed...>) {
  return (std::is_same_v<Op, Listed> || ...);
}

/// Runs `at` for each output element, or `eval` once.
template <Operator Op> class Generic : public Plan {
 public:
  explicit Generic(const Arguments& a)
      : call_(a.call), attrs_(from_attributes<Op>(call_.attributes())), pool_(a.pool) {
    i64 elements = 0;
    for (const View& v : call_.in) elements += volume(v.shape);
    const i64 results = volume(call_.out[0].shape);
    element_ns_ = kAtNs + kReadNs * static_cast<double>(elements) / static_cast<double>(results);
    if constexpr (kIsElementwise) {
      loops_ = loops_of(call_.out[0], chain_inputs(call_));
      loops_.cut_rows(kBoxElements);
    }
  }
  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override {
    if constexpr (kIsElementwise)
      return pool_->run(loops_.boxes(), element_ns_ * static_cast<double>(loops_.box_volume()),
          [&](i64 begin, i64 end) {
            loops_.visit(begin, end, [&](const LoopBox& box) { rows(box, in, out[0]); });
          });
    auto* const x = static_cast<View*>(scratch);
    for (std::size_t k = 0; k < call_.in.size(); ++k) (new (x + k) View(call_.in[k]))->data = in[k];
    const Span<View> inputs{x, static_cast<int>(call_.in.size())};
    Out y[kMaxOutputs];
    for (std::size_t k = 0; k < call_.out.size(); ++k) (y[k] = call_.out[k]).data = out[k];
    if constexpr (Whole<Op>)
      Op::eval(attrs_, inputs, Span<Out>{y, static_cast<int>(call_.out.size())});
    else
      pool_->run(volume(y[0].shape), element_ns_,
          [&](i64 begin, i64 end) { elements(inputs, y[0], begin, end); });
  }
  const char* path() const override { return "generic"; }
  /// An execution's views of its inputs, of which concatenate has any number.
  uint64_t scratch_bytes() const override {
    return kIsElementwise ? 0 : call_.in.size() * sizeof(View);
  }
  bool works_in_place(std::size_t input) const override {
    return kIsElementwise && loops_.moves_as_output(static_cast<int>(input) + 1);
  }

 private:
  static constexpr bool kIsElementwise = is_listed<Op>(ElementwiseOperators{});
  // The estimated time of one output: a minimum, plus the inputs read per output.
  static constexpr double kAtNs = 4, kReadNs = 1;
  static constexpr i64 kBoxElements = i64{1} << 12;

  void elements(const Span<View>& in, const Out& out, i64 begin, i64 end) const {
    const Type type = out;
    const int last = type.rank() - 1;
    Index y = unravel(begin, type.shape);
    while (begin < end) {
      i32* to = &out(y);
      const i64 first = y[last], past = min(type.dim(last), first + end - begin);
      for (i64 j = first; j < past; ++j, to += out.stride[last]) {
        y[last] = j;
        *to = static_cast<i32>(value_at<Op>(attrs_, in, y, type));
      }
      begin += past - first;
      next(y, type.shape);
    }
  }

  void rows(const LoopBox& box, const i32* const* in, i32* out) const {
    const int rank = loops_.rank();
    const Type type = call_.out[0];
    const LoopAxis inner = rank > 0 ? loops_[rank - 1] : LoopAxis{1, {}};
    const LoopAxis outer = rank > 1 ? loops_[rank - 2] : LoopAxis{1, {}};
    const i64 n = rank > 0 ? box.extent[static_cast<std::size_t>(rank - 1)] : 1;
    const i64 count = rank > 1 ? box.extent[static_cast<std::size_t>(rank - 2)] : 1;
    NestRow x[kOperandsMax];
    const Span<NestRow> inputs{x, loops_.tensors() - 1};
    loops_.planes(box, [&](const PerTensor& from) {
      for (i64 r = 0; r < count; ++r) {
        const auto first = [&](std::size_t t) { return from[t] + r * outer.stride[t]; };
        for (std::size_t k = 0; k < call_.in.size(); ++k)
          x[k] = {in[k] + first(k + 1), inner.stride[k + 1]};
        i32* to = out + first(0);
        for (Index y{0}; y[0] < n; ++y[0], to += inner.stride[0])
          *to = static_cast<i32>(value_at<Op>(attrs_, inputs, y, type));
      }
    });
  }

  backend::LegalCall call_;
  typename Op::Attrs attrs_;
  std::shared_ptr<ThreadPool> pool_;
  double element_ns_;
  Loops loops_{1};  // of an elementwise operator; others need the index of each output
};

}  // namespace lockstep::cpu
