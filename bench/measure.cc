#include "bench/measure.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

namespace lockstep::bench {
namespace {

constexpr int kRepetitionsMin = 3;

// Collects the time of every repetition, by contender.
class Collector : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(std::size_t contenders) : ns_(contenders) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& r : runs)
      if (r.run_type == Run::RT_Iteration && !r.error_occurred)
        ns_[std::stoul(r.run_name.function_name)].push_back(
            1e9 * r.real_accumulated_time / static_cast<double>(r.iterations));
  }
  Timing timing(std::size_t contender) const {
    std::vector<double> ns = ns_[contender];
    if (ns.empty()) throw std::runtime_error("the timing engine reported no repetition");
    std::sort(ns.begin(), ns.end());
    const std::size_t n = ns.size();
    const double median = (ns[(n - 1) / 2] + ns[n / 2]) / 2;
    return {median, ns.front(), ns.back(), static_cast<int>(n)};
  }

 private:
  std::vector<std::vector<double>> ns_;
};

void initialize() {
  static const bool once = [] {
    char name[] = "lockstep_bench", interleave[] = "--benchmark_enable_random_interleaving=true";
    char* arguments[] = {name, interleave, nullptr};
    int count = 2;
    benchmark::Initialize(&count, arguments);
    return true;
  }();
  static_cast<void>(once);
}

double seconds_of(const Contender& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::vector<Timing> measure(const std::vector<Contender>& contenders, const Effort& effort) {
  initialize();
  std::exception_ptr thrown;
  for (std::size_t k = 0; k < contenders.size(); ++k) {
    const Contender& call = contenders[k];
    const double repetition = std::max(seconds_of(call), effort.repetition_s);
    const double affordable = std::min(effort.contender_s / repetition, 1e6);
    const int repetitions =
        std::min(effort.repetitions, std::max(kRepetitionsMin, static_cast<int>(affordable)));
    benchmark::RegisterBenchmark(std::to_string(k).c_str(),
        [&](benchmark::State& state) {
          std::this_thread::sleep_for(std::chrono::duration<double>(effort.pause_s));
          try {
            for (auto _ : state) call();
          } catch (...) {
            thrown = std::current_exception();
            state.SkipWithError("thrown");
          }
        })
        ->Repetitions(repetitions)
        ->MinTime(effort.repetition_s)
        ->UseRealTime();
  }
  Collector collector(contenders.size());
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();
  if (thrown) std::rethrow_exception(thrown);
  std::vector<Timing> timings;
  for (std::size_t k = 0; k < contenders.size(); ++k) timings.push_back(collector.timing(k));
  return timings;
}

}  // namespace lockstep::bench
