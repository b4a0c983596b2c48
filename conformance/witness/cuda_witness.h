/// @file
/// The witness of devices that CUDA reaches. The unit that includes this says how work is started:
/// on a device, or in tests on the host.
#pragma once
#include <algorithm>
#include <exception>
#include <memory>
#include <string_view>
#include <vector>

#include "conformance/witness/values.h"
#include "cuda/runtime.h"
#include "spec/ops.h"

namespace lockstep::judge::witness {

inline constexpr int kThreads = 256;  ///< of a block

/// Starts work(thread, threads) in each thread of some blocks, which each write the sum of what
/// their threads return.
template <class Work>
void start_work(const Work& work, ValueTally* sums, i64 blocks, cudaStream_t stream);

inline constexpr i64 kMostBlocks = 2048;  ///< as many as the largest devices hold at once

/// A stream of the device to which a range's memory belongs, which becomes the current one.
class RangeStream {
 public:
  explicit RangeStream(const ValueRange& range) {
    cudaPointerAttributes attributes{};
    cuda::check(cudaPointerGetAttributes(&attributes, range.x), "cudaPointerGetAttributes");
    cuda::check(cudaSetDevice(attributes.device), "cudaSetDevice");
    stream_ = cuda::make_stream();
  }
  ~RangeStream() { cudaStreamDestroy(stream_); }
  RangeStream(const RangeStream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Runs work on the words of a range. @return the sum of what it returned
template <class Work> ValueTally sum_of(const Work& work) {
  const RangeStream stream(work.range);
  const i64 blocks = std::min(ceil_div(work.range.words(), kThreads), kMostBlocks);
  std::vector<ValueTally> sums(static_cast<std::size_t>(blocks));
  const std::size_t bytes = sums.size() * sizeof(ValueTally);
  const std::unique_ptr<void, decltype(&cuda::release)> memory(
      cuda::allocate(bytes), cuda::release);
  start_work(work, static_cast<ValueTally*>(memory.get()), blocks, stream.get());
  cuda::copy(sums.data(), memory.get(), bytes, cudaMemcpyDeviceToHost, stream.get());
  ValueTally all;
  for (const ValueTally& sum : sums) all.add(sum);
  return all;
}

template <class Op> void compare_if(const ValueRange& r, ValueTally& tally) {
  if constexpr (kOfOneElement<Op>)
    if (r.op == Op::name)
      tally = sum_of(CompareWords<Op>{from_attributes<Op>(Attributes{r.attrs, r.attr_count}), r});
}
template <class... Op>
void compare_among(const ValueRange& r, ValueTally& tally, OperatorList<Op...>) {
  (compare_if<Op>(r, tally), ...);
}

/// Calls f, and turns what it throws into text.
template <class F> bool succeeds(const F& f, Witness::Text& why) {
  try {
    f();
    return true;
  } catch (const std::exception& e) {
    why.text[std::string_view(e.what()).copy(why.text, sizeof why.text - 1)] = '\0';
    return false;
  }
}

inline bool reaches(const void* memory) {
  cudaPointerAttributes attributes{};
  const bool is_known = cudaPointerGetAttributes(&attributes, memory) == cudaSuccess;
  static_cast<void>(cudaGetLastError());
  return is_known && attributes.type == cudaMemoryTypeDevice;
}

inline bool lay(const ValueRange& range, Witness::Text& why) {
  return succeeds([&] { sum_of(LayWords{range}); }, why);
}

inline bool compare(const ValueRange& range, ValueTally& tally, Witness::Text& why) {
  return succeeds([&] { compare_among(range, tally, Operators{}); }, why);
}

inline constexpr Witness kCuda{reaches, lay, compare};

}  // namespace lockstep::judge::witness
