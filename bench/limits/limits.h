/// @file
/// Measures the machine's limits.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/limits/probe.h"

namespace lockstep::bench {

/// Threads that run a function together and wait between runs.
class Team {
 public:
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  int size() const { return static_cast<int>(others_.size()) + 1; }
  /// Calls work(0), ..., work(size() - 1), each in a thread of its own, and returns after the last.
  void run(const std::function<void(int)>& work);

 private:
  void serve(int number);

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(int)>* work_ = nullptr;
  int round_ = 0, running_ = 0;
  bool over_ = false;
  std::vector<std::thread> others_;
};

/// The probes of instruction sets that this processor and its operating system support, the most
/// capable last.
std::vector<const Probe*> runnable_probes();

/// The probe of an instruction set for 8-bit operands; of the most capable one, whatever a busy
/// machine would measure, if `isa` is empty. nullptr if there is none.
const Probe* int8_probe(const std::string& isa = "");

/// Rounds of a probe that take about a millisecond.
long long rounds_of_a_millisecond(const Probe& probe);

/// The multiply-adds of some rounds on some threads.
double macs_of(const Probe& probe, long long rounds, int threads);

/// The processor's name, as the operating system gives it.
std::string processor_name();

}  // namespace lockstep::bench
