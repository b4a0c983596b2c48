#include <sys/mman.h>

#include <cstring>

#include "bench/run.h"
#include "containers/array/ndarray.h"
#include "containers/memory/pool.h"

namespace lockstep::bench {
namespace {

using ndarray::NDArray;

/// Prevents the optimizer from removing the computation of a value.
template <class T> void keep(const T& value) { asm volatile("" : : "g"(&value) : "memory"); }

/// A call of a few nanoseconds, timed in batches, because the benchmark's own call costs as much.
template <class Call> Measurement call_row(const std::string& workload, const std::string& call,
    const Call& once, const BenchmarkOptions& wishes) {
  constexpr int kCalls = 1000;
  const auto many = [&] {
    for (int i = 0; i < kCalls; ++i) once();
  };
  Measurement row{.op = "array", .workload = workload, .call = call, .unit = "call"};
  row.time = measure({many}, wishes.effort)[0];
  for (double* ns : {&row.time.median_ns, &row.time.min_ns, &row.time.max_ns}) *ns /= kCalls;
  return row;
}

/// Touches memory that the operating system maps and unmaps each time.
void touch_fresh_pages(std::size_t bytes) {
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::runtime_error("no fresh pages");
  std::memset(pages, 1, bytes);
  keep(pages);
  ::munmap(pages, bytes);
}

Measurement pool_row(
    const std::string& workload, std::size_t bytes, const BenchmarkOptions& wishes) {
  ndarray::BlockPool pool(2 * bytes);
  const auto recycled = [&] {
    std::byte* block = pool.allocate(bytes);
    std::memset(block, 1, bytes);
    keep(block);
    pool.release(block, bytes);
  };
  const auto timings = measure({recycled, [&] { touch_fresh_pages(bytes); }}, wishes.effort);
  return {.op = "pool",
      .workload = workload,
      .call = "allocate, fill, release",
      .unit = "byte",
      .units = static_cast<i64>(bytes),
      .time = timings[0],
      .peers = {{.name = "fresh pages", .time = timings[1]}}};
}

}  // namespace

void run_arrays(const BenchmarkOptions& wishes, const Take& take) {
  const ndarray::Extents shape{64, 64}, window{32, 32}, strides{64, 1};
  const NDArray array = NDArray::empty(shape, {kDLInt, 32, 1});
  if (wishes.want("array", "retain")) {
    take(call_row(
        "retain", "copy and destroy a reference", [&] { keep(NDArray(array)); }, wishes));
  }
  if (wishes.want("array", "view")) {
    take(call_row(
        "view", "make and destroy a view of rank 2",
        [&] { keep(array.view(window, strides, 256)); }, wishes));
  }
  constexpr std::size_t kMegabyte = 1000000;
  for (const std::size_t megabytes : {1, 16, 100}) {
    const std::string workload = std::to_string(megabytes) + "mb";
    if (!wishes.want("pool", workload)) continue;
    wishes.announce("pool/" + workload);
    take(pool_row(workload, megabytes * kMegabyte, wishes));
  }
}

}  // namespace lockstep::bench
