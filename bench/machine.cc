#include "bench/limits/limits.h"
#include "bench/peers/peer.h"
#include "bench/run.h"

namespace lockstep::bench {
namespace {

// The bytes that a memcpy moves: within a second cache, within a last one, and beyond all of them.
constexpr std::pair<const char*, i64> kCopies[] = {
    {"memcpy.l2", i64{1} << 19}, {"memcpy.llc", i64{1} << 23}, {"memcpy.memory", i64{1} << 28}};

Measurement probe_row(const Probe& probe, Team& team, const Effort& effort) {
  const long long rounds = rounds_of_a_millisecond(probe);
  return {.op = "limit",
      .call = probe.instructions,
      .isa = probe.isa,
      .threads = team.size(),
      .unit = "mac",
      .units = static_cast<i64>(macs_of(probe, rounds, team.size())),
      .time = measure({[&] { team.run([&](int) { probe.run(rounds); }); }}, effort)[0]};
}

Measurement copy_row(i64 bytes, const std::shared_ptr<Team>& team, const Effort& effort) {
  return {.op = "limit",
      .call = "memcpy, half read and half written",
      .threads = team->size(),
      .unit = "byte",
      .units = bytes,
      .time = measure({copy_peer(bytes, team).call}, effort)[0]};
}

}  // namespace

void run_limits(const BenchmarkOptions& wishes, const Take& take) {
  const auto give = [&](const std::string& workload, const std::function<Measurement()>& row) {
    if (!wishes.want("limit", workload)) return;
    wishes.announce("limit/" + workload);
    Measurement m = row();
    m.workload = workload;
    take(std::move(m));
  };
  for (const int threads : wishes.threads) {
    const auto team = std::make_shared<Team>(threads);
    for (const Probe* p : runnable_probes())
      give(std::string(p->isa) + (p->int8 ? ".int8" : ".int32"),
          [&] { return probe_row(*p, *team, wishes.effort); });
    for (const auto& [name, bytes] : kCopies)
      give(name, [&, n = bytes] { return copy_row(n, team, wishes.effort); });
  }
}

}  // namespace lockstep::bench
