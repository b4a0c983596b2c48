#include "bench/limits/limits.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>

#ifdef LOCKSTEP_PROBES_X86
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace lockstep::bench {
namespace {

double ns_of(const Probe& probe, long long rounds) {
  const auto begin = std::chrono::steady_clock::now();
  probe.run(rounds);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

#ifdef LOCKSTEP_PROBES_X86
// __builtin_cpu_supports() of clang 14 does not know this name.
bool has_avxvnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
      (a & bit_AVXVNNI);
}

// A process has to ask for the tiles.
bool has_amx() {
  constexpr unsigned kFeatures = 7, kInt8 = 1U << 25;
  constexpr int kAskForPermission = 0x1023, kTiles = 18;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) && (d & kInt8) &&
      syscall(SYS_arch_prctl, kAskForPermission, kTiles) == 0;
}

bool runs_here(const Probe& p) {
  const auto is = [&](const char* isa) { return std::strcmp(p.isa, isa) == 0; };
  if (is("sse4")) return __builtin_cpu_supports("sse4.2");
  if (is("avx2")) return __builtin_cpu_supports("avx2");
  if (is("avxvnni")) return has_avxvnni();
  if (is("avx512")) return __builtin_cpu_supports("avx512bw");
  if (is("avx512vnni")) return __builtin_cpu_supports("avx512vnni");
  return is("amx") && has_amx();
}
#endif

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
    if (runs_here(*p)) probes.push_back(p);
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
