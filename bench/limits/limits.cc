#include "bench/limits/limits.h"

#include <algorithm>
#include <chrono>
#include <fstream>

#include "backends/cpu/isa.h"

namespace lockstep::bench {
namespace {

double ns_of(const Probe& probe, long long rounds) {
  const auto begin = std::chrono::steady_clock::now();
  probe.run(rounds);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Team::Team(int threads) {
  for (int k = 1; k < threads; ++k) others_.emplace_back([this, k] { serve(k); });
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  for (std::thread& t : others_) t.join();
}

void Team::run(const std::function<void(int)>& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    running_ = static_cast<int>(others_.size());
    ++round_;
  }
  changed_.notify_all();
  work(0);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return running_ == 0; });
}

void Team::serve(int number) {
  std::unique_lock lock(mutex_);
  for (int seen = 0;;) {
    changed_.wait(lock, [&] { return over_ || round_ != seen; });
    if (over_) return;
    seen = round_;
    lock.unlock();
    (*work_)(number);
    lock.lock();
    if (--running_ == 0) changed_.notify_all();
  }
}

std::vector<const Probe*> runnable_probes() {
  std::vector<const Probe*> probes;
#ifdef LOCKSTEP_PROBES_X86
  for (const Probe* p : {&kProbeSseInt8, &kProbeSseInt32, &kProbeAvx2Int8, &kProbeAvx2Int32,
           &kProbeAvxVnni, &kProbeAvx512Int8, &kProbeAvx512Int32, &kProbeVnni, &kProbeAmx})
    if (cpu::find_isa(p->isa)->runnable) probes.push_back(p);
#endif
  return probes;
}

const Probe* int8_probe(const std::string& isa) {
  const std::vector<const Probe*> probes = runnable_probes();
  const auto last = std::find_if(probes.rbegin(), probes.rend(),
      [&](const Probe* p) { return p->int8 && (isa.empty() || isa == p->isa); });
  return last == probes.rend() ? nullptr : *last;
}

long long rounds_of_a_millisecond(const Probe& probe) {
  constexpr double kMillisecond = 1e6;
  long long rounds = 1000;
  while (ns_of(probe, rounds) < kMillisecond / 2) rounds *= 2;
  return rounds;
}

double macs_of(const Probe& probe, long long rounds, int threads) {
  return static_cast<double>(probe.macs_per_round) * static_cast<double>(rounds) * threads;
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

}  // namespace lockstep::bench
